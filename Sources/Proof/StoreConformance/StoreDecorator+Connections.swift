import FerryServer

extension StoreDecorator {
  package func connection(_ id: String) throws(StoreError) -> StoredConnection? {
    try inner.connection(id)
  }

  package func connections(
    of application: String, user: String?
  ) throws(StoreError) -> [StoredConnection] {
    try inner.connections(of: application, user: user)
  }

  package func add(_ connection: StoredConnection) throws(StoreError) -> Bool {
    try inner.add(connection)
  }

  package func update(
    _ connection: StoredConnection, from changes: Int64
  ) throws(StoreError) -> Bool {
    try inner.update(connection, from: changes)
  }

  package func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(StoreError) -> Int64? {
    try inner.add(payload, to: owner, limit: limit)
  }

  package func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(StoreError) -> [StoredPayload] {
    try inner.payloads(of: owner, after: number, count: count)
  }

  package func payloadCount(of owner: Owner) throws(StoreError) -> Int {
    try inner.payloadCount(of: owner)
  }

  package func forgetPayloads(of owner: Owner, upTo number: Int64) throws(StoreError) {
    try inner.forgetPayloads(of: owner, upTo: number)
  }
}
