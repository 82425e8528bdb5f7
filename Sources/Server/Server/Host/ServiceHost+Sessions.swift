import FerryModel
import FerryWorld

/// Sessions of users, and what becomes of them.
extension ServiceHost {
  func login(
    _ record: UserRecord, device: String, package: String?, key: [UInt8]?
  ) throws(ServerError) -> TokenPair {
    try service.login(record, device: device, package: package, key: key)
  }

  func login(
    _ login: TokenLogin, device: String, package: String?, key: [UInt8]?
  ) throws(ServerError) -> TokenPair {
    let arrived = service.arrivedOperations
    defer { if service.arrivedOperations != arrived { wakeWorkers() } }
    return try service.login(login, device: device, package: package, key: key)
  }

  /// What a login said are the user's rights of now.
  func note(_ login: TokenLogin) throws(ServerError) {
    let arrived = service.arrivedOperations
    defer { if service.arrivedOperations != arrived { wakeWorkers() } }
    try service.note(login)
  }

  /// Renews a session; `login` is what a newer token of the user's issuer says.
  func renew(
    _ token: String, device: String, proof: TokenProof?, login: TokenLogin?
  ) throws(ServerError) -> TokenPair {
    let arrived = service.arrivedOperations
    defer { if service.arrivedOperations != arrived { wakeWorkers() } }
    if let login { try service.note(login) }
    guard let provider else { throw Accounts.ended }
    return try service.renew(token, device: device, proof: proof, provider: provider)
  }

  func devices() throws(ServerError) -> [RegisteredDevice] { try service.devices() }

  func decide(
    _ verb: DeviceVerb, _ owner: Owner, reason: String, withPending: Bool
  ) throws(ServerError) -> RegisteredDevice {
    try service.decide(verb, owner, reason: reason, withPending: withPending)
  }

  func openOutcomes() throws(ServerError) -> [OpenOutcome] { try service.openOutcomes() }

  func decide(_ id: OperationID, _ decision: OperationDecision) throws(ServerError) {
    defer { wakeWorkers() }
    try service.decide(id, decision)
  }

  func take(_ receipt: WipeReceipt, _ text: String, from owner: Owner) throws(ServerError) {
    try service.take(receipt, text, from: owner)
  }

  /// The records of users may have changed.
  func recordsChanged() {
    do throws(ServerError) { try service.recordsChanged() } catch {
      world.log.error("changed users cannot be looked at", ("reason", error.description))
    }
  }

  nonisolated var now: Timestamp { world.clock.now }

  nonisolated func daysLeft(_ device: RegisteredDevice, now: Timestamp) -> Int64 {
    device.daysLeft(of: inactiveDays, now: now)
  }

  func makeActivation(
    of user: String, template: String?
  ) throws(ServerError) -> (code: String, expires: Timestamp) {
    try service.makeActivation(of: user, template: template)
  }

  func activate(
    _ code: String, of user: String, device: String, package: String?, key: [UInt8]?
  ) throws(ServerError) -> (UserRecord, TokenPair) {
    try service.activate(code, of: user, device: device, package: package, key: key)
  }

  /// The user; nil: there is no such session.
  func logout(_ request: LogoutRequest) throws(ServerError) -> String? {
    try service.logout(
      request.refreshToken, device: request.device, isUnregistering: request.isUnregistering)
  }

  func assign(_ template: String, to owner: Owner) throws(ServerError) -> RegisteredDevice {
    try service.assign(template, to: owner)
  }

  func setLogLevel(_ level: String?, of owner: Owner) throws(ServerError) -> RegisteredDevice {
    try service.setLogLevel(level, of: owner)
  }

  func rotateKeys() throws(ServerError) { try service.rotateKeys() }

  func templatesChanged() { service.templatesChanged() }

  /// Returns after the time; the service's thread is free meanwhile.
  nonisolated func wait(for duration: Duration) async { await executor.sleep(for: duration) }
}
