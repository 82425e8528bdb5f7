import FerryCrypto

extension ApplicationRegistration {
  /// Gives the server the token with which Apple's service wakes the app, as the system has handed it
  /// over, and lets the server use it. Call it at each start: the system may have another one.
  public func setDeviceToken(_ token: [UInt8]) async throws(RegistrationError) {
    guard !token.isEmpty else {
      throw RegistrationError(.emptyParameters, "the device token has no bytes")
    }
    try await update(["ApnsDeviceToken": .text(hexadecimal(token)), "ApnsPushEnable": true])
  }

  /// The system has refused a token: the server wakes the app no longer. What services push waits for
  /// the app's channel.
  public func deviceTokenFailed() async throws(RegistrationError) {
    try await update(["ApnsDeviceToken": nil, "ApnsPushEnable": false])
  }
}
