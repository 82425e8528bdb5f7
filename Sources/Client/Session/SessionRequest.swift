import FerryWire

/// A request that the session wants to be made; the answer comes back in pieces.
package struct SessionRequest: Sendable, Equatable {
  package let lane: SessionMachine.Lane
  /// Below the server's address.
  package let path: String
  package let body: [UInt8]
  /// For the Authorization header.
  package let token: String?
}

/// The answer to a request, as far as it has come.
struct Reception {
  enum Kind { case login, token, exchange, channel }

  let kind: Kind
  /// How many confirms the request carried.
  let confirms: Int
  /// Personalization keys that the request carried to the server.
  let changedKeys: [String: String?]
  var status = 0
  var reader = FrameReader()
  /// Bytes that came since the last whole frame, or since they were enough to be a sign of life.
  var restBytes = 0
  /// The app was told that it comes.
  var isBegun = false
  /// What is no row of frames: answers to logins, and errors.
  var text: [UInt8] = []

  init(_ kind: Kind, confirms: Int = 0, changedKeys: [String: String?] = [:]) {
    self.kind = kind
    self.confirms = confirms
    self.changedKeys = changedKeys
  }
}

/// Who logs in; kept in memory only, until the server has answered.
package struct Credentials: Sendable, Equatable {
  package let user: String
  package let password: String

  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }
}
