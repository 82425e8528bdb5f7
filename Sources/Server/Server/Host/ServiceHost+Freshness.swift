/// Looks for changes of others, as the host that makes them reports them.
extension ServiceHost {
  func beginLook(forRows: Bool) -> Int64 { service.beginLook(forRows: forRows) }

  func endLook(_ look: Int64, needsLoad: Bool) { service.endLook(look, needsLoad: needsLoad) }

  func failLook(_ look: Int64) { service.failLook(look) }
}

extension ServiceHost {
  /// Whether other nodes use the store.
  var sharesStore: Bool { service.store.isShared }

  /// Throws where another node leads in the store by now.
  func requireLead() throws(ServerError) { try service.probe() }
}
