/// What a server does with a request of which it has the head only.
public enum HTTPAdmission: Sendable {
  /// The body is read, up to this many bytes and the limit of the server; more is answered 413. What
  /// the request takes up of the server's room counts for `by`.
  case take(bodyBytes: Int, by: HTTPCaller = HTTPCaller())
  /// The handler begins at once, and reads the body from `HTTPRequest.bodyStream` while it arrives:
  /// up to this many bytes, whatever the limit of the server for a body in memory.
  case stream(bodyBytes: Int, by: HTTPCaller = HTTPCaller())
  /// This is the answer. No byte of the body is kept, and the handler is not called.
  case refuse(HTTPResponse)

  /// The same, for a caller.
  public func counted(for caller: @autoclosure () -> HTTPCaller) -> HTTPAdmission {
    switch self {
    case .take(let bytes, _): .take(bodyBytes: bytes, by: caller())
    case .stream(let bytes, _): .stream(bodyBytes: bytes, by: caller())
    case .refuse: self
    }
  }
}

/// For whom counts what a request takes up: room for bodies, and places of connections.
public struct HTTPCaller: Sendable, Hashable {
  /// Nil where nobody has said who asks.
  public var user: String?
  /// Of the client, or the network that it is in; nil: that of the connection.
  public var address: String?
  /// Whether it may take the room that is kept free for logins.
  public var usesReserve: Bool

  public init(user: String? = nil, address: String? = nil, usesReserve: Bool = false) {
    self.user = user
    self.address = address
    self.usesReserve = usesReserve
  }
}
