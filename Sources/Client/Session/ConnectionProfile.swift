/// Where the server is and how patient the session is (the reference's connection profile, sync/I3).
public struct ConnectionProfile: Sendable, Equatable {
  /// `http` or `https`, host, port and, behind a proxy, a path: `https://ferry.example.com/sales`.
  public var server: String
  public var connectTimeout: Duration
  public var session: SessionSettings

  public init(
    server: String, connectTimeout: Duration = .seconds(10), session: SessionSettings = .init()
  ) {
    self.server = server
    self.connectTimeout = connectTimeout
    self.session = session
  }

  func address(of path: String) -> String {
    var base = server
    while base.hasSuffix("/") { base.removeLast() }
    return "\(base)/ferry/1/\(path)"
  }
}
