/// Where the server is and how patient the session is (the reference's connection profile, sync/I3).
public struct ConnectionProfile: Sendable, Equatable {
  /// `http` or `https`, host, port and, behind a proxy, a path: `https://ferry.example.com/sales`.
  public var server: String
  public var connectTimeout: Duration
  public var session: SessionSettings

  /// An address of another form is refused with `badAddress` when the database is opened.
  public init(
    server: String, connectTimeout: Duration = .seconds(10), session: SessionSettings = .init()
  ) {
    self.server = server
    self.connectTimeout = connectTimeout
    self.session = session
  }

  /// Without a scheme each system guesses another one.
  func check() throws(FerryError) {
    let parts = server.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    let hasScheme = ["http:", "https:"].contains(parts[0].lowercased())
    guard parts.count == 3, hasScheme, parts[1].isEmpty,
      let host = parts[2].first, host != "/", host != ":", !server.contains(" ")
    else {
      throw FerryError(
        .badAddress, "The server's address \"\(server)\" is none",
        hint: "Write it with http:// or https://, as in https://ferry.example.com.")
    }
  }

  func address(of path: String) -> String {
    var base = server
    while base.hasSuffix("/") { base.removeLast() }
    return "\(base)/ferry/1/\(path)"
  }
}
