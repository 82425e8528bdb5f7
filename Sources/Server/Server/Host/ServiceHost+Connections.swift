/// Application connections, on the thread of the store.
extension ServiceHost {
  package func connection(_ id: String) throws(ServerError) -> StoredConnection? {
    try service.connection(id)
  }

  package func connections(
    of application: String, user: String?
  ) throws(ServerError) -> [StoredConnection] {
    try service.connections(of: application, user: user)
  }

  package func register(
    _ connection: StoredConnection
  ) throws(ServerError) -> RegisteredOutcome {
    try service.register(connection)
  }

  package func useActivation(
    _ code: String, of user: String, for id: String
  ) throws(ServerError) -> ActivationVerdict {
    try service.useActivation(code, of: user, for: id)
  }

  package func update(
    _ connection: StoredConnection, from changes: Int64
  ) throws(ServerError) -> Bool {
    try service.update(connection, from: changes)
  }

  package func unregister(_ connection: StoredConnection) throws(ServerError) -> Bool {
    try service.unregister(connection)
  }

  package func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(ServerError) -> Int64? {
    try service.add(payload, to: owner, limit: limit)
  }

  package func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(ServerError) -> [StoredPayload] {
    try service.payloads(of: owner, after: number, count: count)
  }

  package func payloadCount(of owner: Owner) throws(ServerError) -> Int {
    try service.payloadCount(of: owner)
  }

  package func forgetPayloads(of owner: Owner, upTo number: Int64) throws(ServerError) {
    try service.forgetPayloads(of: owner, upTo: number)
  }

  /// Whether other servers write to the same register.
  package var sharesRegister: Bool { service.store.isShared }

  /// The templates that devices may be registered by.
  package var connectionTemplates: [ConnectionTemplate] { service.templates.all }
}

extension ServerHost {
  /// Who has the register: the first package that is served, as for sessions and devices. Nil while
  /// none is.
  package var registerHost: ServiceHost? { router?.service }
}
