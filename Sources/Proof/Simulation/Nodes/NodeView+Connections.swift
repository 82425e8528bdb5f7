import FerryServer

extension NodeView {
  func connection(_ id: String) throws(StoreError) -> StoredConnection? {
    try any { store throws(StoreError) in try store.connection(id) }
  }

  func connections(
    of application: String, user: String?
  ) throws(StoreError) -> [StoredConnection] {
    try any { store throws(StoreError) in try store.connections(of: application, user: user) }
  }

  func add(_ connection: StoredConnection) throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.add(connection) }
  }

  func update(_ connection: StoredConnection, from changes: Int64) throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.update(connection, from: changes) }
  }

  func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(StoreError) -> Int64? {
    try any { store throws(StoreError) in try store.add(payload, to: owner, limit: limit) }
  }

  func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(StoreError) -> [StoredPayload] {
    try any { store throws(StoreError) in
      try store.payloads(of: owner, after: number, count: count)
    }
  }

  func payloadCount(of owner: Owner) throws(StoreError) -> Int {
    try any { store throws(StoreError) in try store.payloadCount(of: owner) }
  }

  func forgetPayloads(of owner: Owner, upTo number: Int64) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetPayloads(of: owner, upTo: number) }
  }
}
