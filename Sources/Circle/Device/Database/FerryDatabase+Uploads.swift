extension FerryDatabase {
  /// Sends a log or a trace to the server, which stores it beside its own log. At most 1 MB at
  /// once.
  ///
  /// It waits for 30 seconds at most and sends nothing twice. Errors: `notLoggedIn` without a valid
  /// session, `offline`, `server` if the server does not accept it, `closed`.
  public func upload(_ body: [UInt8], as kind: DeviceUpload) async throws(FerryError) {
    try await runner.upload(body, as: kind)
  }
}
