/// The calls about application connections and their payloads.
extension Service {
  package func connection(_ id: String) throws(ServerError) -> StoredConnection? {
    defer { handOut() }
    return try accounts.connection(id)
  }

  package func connections(
    of application: String, user: String?
  ) throws(ServerError) -> [StoredConnection] {
    try guarded { () throws(StoreError) in
      try accounts.store.connections(of: application, user: user)
    }
  }

  package func register(
    _ connection: StoredConnection
  ) throws(ServerError) -> RegisteredOutcome {
    defer { handOut() }
    return try accounts.register(connection)
  }

  package func useActivation(
    _ code: String, of user: String, for id: String
  ) throws(ServerError) -> ActivationVerdict {
    defer { handOut() }
    return try accounts.useActivation(code, of: user, for: id)
  }

  /// False: it has changed since `changes`, or is not registered any more.
  package func update(
    _ connection: StoredConnection, from changes: Int64
  ) throws(ServerError) -> Bool {
    try guarded { () throws(StoreError) in
      try accounts.store.update(connection, from: changes)
    }
  }

  package func unregister(_ connection: StoredConnection) throws(ServerError) -> Bool {
    defer { handOut() }
    return try accounts.unregister(connection)
  }

  /// Nil: the queue is full, or the connection is not registered any more.
  package func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(ServerError) -> Int64? {
    try guarded { () throws(StoreError) in
      try accounts.store.add(payload, to: owner, limit: limit)
    }
  }

  package func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(ServerError) -> [StoredPayload] {
    try guarded { () throws(StoreError) in
      try accounts.store.payloads(of: owner, after: number, count: count)
    }
  }

  package func payloadCount(of owner: Owner) throws(ServerError) -> Int {
    try guarded { () throws(StoreError) in try accounts.store.payloadCount(of: owner) }
  }

  package func forgetPayloads(of owner: Owner, upTo number: Int64) throws(ServerError) {
    try guarded { () throws(StoreError) in
      try accounts.store.forgetPayloads(of: owner, upTo: number)
    }
  }
}
