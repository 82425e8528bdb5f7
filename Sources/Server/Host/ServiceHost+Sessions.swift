/// Sessions of users, and what becomes of them.
extension ServiceHost {
  func login(_ record: UserRecord, device: String) throws(ServerError) -> TokenPair {
    try service.login(record, device: device)
  }

  func login(_ login: TokenLogin, device: String) throws(ServerError) -> TokenPair {
    let arrived = service.arrivedOperations
    defer { if service.arrivedOperations != arrived { wakeWorkers() } }
    return try service.login(login, device: device)
  }

  /// Renews a session; `login` is what a newer token of the user's issuer says.
  func renew(
    _ token: String, device: String, login: TokenLogin?
  ) throws(ServerError) -> TokenPair {
    let arrived = service.arrivedOperations
    defer { if service.arrivedOperations != arrived { wakeWorkers() } }
    if let login { try service.note(login) }
    guard let provider else { throw Service.ended }
    return try service.renew(token, device: device, provider: provider)
  }

  func devices() throws(ServerError) -> [RegisteredDevice] { try service.devices() }

  func decide(
    _ verb: Service.DeviceVerb, _ owner: Owner, reason: String, withPending: Bool
  ) throws(ServerError) -> RegisteredDevice {
    try service.decide(verb, owner, reason: reason, withPending: withPending)
  }

  func take(_ receipt: Service.Receipt, _ text: String, from owner: Owner) throws(ServerError) {
    try service.take(receipt, text, from: owner)
  }

  /// The records of users may have changed.
  func recordsChanged() {
    do throws(ServerError) { try service.recordsChanged() } catch {
      world.log.error("changed users cannot be looked at", ("reason", error.description))
    }
  }

  func templatesChanged() { service.templatesChanged() }

  /// Returns after the time; the service's thread is free meanwhile.
  nonisolated func wait(for duration: Duration) async { await executor.sleep(for: duration) }
}
