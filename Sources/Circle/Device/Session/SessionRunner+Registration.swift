import FerryJSON

/// The server hears that an application is registered no more, or that a user has logged out.
extension SessionRunner {
  func registrationStatus() throws(FerryError) -> RegistrationStatus {
    drain()
    guard !isStopped else { throw Store.closed(session.store.path) }
    return try session.registrationStatus()
  }

  func stopConnection() throws(FerryError) -> Bool {
    drain()
    guard !isStopped else { throw Store.closed(session.store.path) }
    defer { run() }
    return session.stopConnection()
  }

  func unregister() async throws(FerryError) {
    session.announce(.unregistering)
    if let token = try session.token(.refreshToken) {
      let device = try session.setting(.device) ?? ""
      let status = await send(
        SessionRunner.logoutBody(token, device, isUnregistering: true), to: "logout")
      guard status == 200 else {
        let error = FerryError(
          .offline, "this device was not unregistered: the server cannot be reached",
          hint: "Try again with a network.", isTransient: true)
        session.announce(.registrationError, error)
        throw error
      }
    }
    try session.unregistered()
    run()
  }

  /// Tells the server of a session that ended here; it is tried again until the server answers.
  func sendOwedLogout() async {
    do throws(FerryError) {
      guard !isStopped, let kept = try session.setting(.endedToken) else { return }
      guard let token = try session.endedToken() else { return try session.forgetEnded(kept) }
      let body = SessionRunner.logoutBody(
        token, try session.setting(.device) ?? "", isUnregistering: false)
      if let status = await send(body, to: "logout"), status == 200 || status == 404 {
        return try session.forgetEnded(kept)
      }
    } catch {
      world.log.warn("the end of a session cannot be sent", ("reason", error.description))
    }
    Task {
      do { try await Task.sleep(for: SessionRunner.logoutRetry) } catch { return }
      await self.sendOwedLogout()
    }
  }

  private static let logoutRetry: Duration = .seconds(5)

  private static func logoutBody(
    _ token: String, _ device: String, isUnregistering: Bool
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("refreshToken", token)
    writer.field("device", device)
    if isUnregistering { writer.field("unregister", true) }
    writer.endObject()
    return writer.bytes
  }
}
