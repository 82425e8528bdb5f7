extension Database {
  /// Sends a log or a trace to the server, which keeps it beside its own log. At most 1 MB at once.
  ///
  /// It waits for 30 seconds at most and sends nothing twice. Errors: `notLoggedIn` without a session
  /// that is good now, `offline`, `server` where the server does not take it, `closed`.
  public func upload(_ body: [UInt8], as kind: DeviceUpload) async throws(FerryError) {
    try await runner.upload(body, as: kind)
  }
}
