import FerryHTTPClient

/// The server's address and the timing of the session (the reference's connection profile).
public struct ConnectionProfile: Sendable, Equatable {
  /// `http` or `https`, host, port and, behind a proxy, a path: `https://ferry.example.com/sales`.
  public var server: String
  public var connectTimeout: Duration
  public var session: SessionSettings
  /// Whether passwords, tokens and data may travel over `http://` to another machine, where others
  /// on the network can read and change them. Not needed for the loopback address of this machine.
  public var allowsInsecureHTTP: Bool
  /// The options of the connection: a company's own certificate authority, the app's decision about
  /// a certificate, a client certificate, a proxy.
  public var transport: TransportOptions
  /// The source of tokens of the company's own login; nil: users log in with name and password.
  public var tokenSource: (any TokenSource)?
  /// The store of the database's tokens and key; nil: the tokens are in the database itself, and
  /// the app keeps the key. A wipe that the operator orders destroys both there.
  public var secrets: DatabaseSecrets?

  /// Opening a database with an invalid address throws `badAddress`; so does `http://` to another
  /// machine unless `allowsInsecureHTTP` is true.
  public init(
    server: String, connectTimeout: Duration = .seconds(10), session: SessionSettings = .init(),
    allowsInsecureHTTP: Bool = false, transport: TransportOptions = TransportOptions()
  ) {
    self.server = server
    self.connectTimeout = connectTimeout
    self.session = session
    self.allowsInsecureHTTP = allowsInsecureHTTP
    self.transport = transport
  }

  /// Compares all values; objects are compared by identity.
  public static func == (left: ConnectionProfile, right: ConnectionProfile) -> Bool {
    left.server == right.server && left.connectTimeout == right.connectTimeout
      && left.session == right.session && left.allowsInsecureHTTP == right.allowsInsecureHTTP
      && left.transport == right.transport && left.tokenSource === right.tokenSource
      && left.secrets == right.secrets
  }

  package func check() throws(FerryError) { try check(server) }

  /// Without a scheme each system guesses another one.
  func check(_ server: String) throws(FerryError) {
    let parts = server.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    let hasScheme = ["http:", "https:"].contains(parts[0].lowercased())
    guard parts.count == 3, hasScheme, parts[1].isEmpty,
      let host = parts[2].first, host != "/", host != ":", !server.contains(" ")
    else {
      throw FerryError(
        .badAddress, "The server's address \"\(server)\" is not valid",
        hint: "Write it with http:// or https://, as in https://ferry.example.com.")
    }
    guard hasPort(parts[2]) else {
      throw FerryError(
        .badAddress, "The port in the server's address \"\(server)\" is not valid",
        hint: "A port is a number from 1 to 65535, as in https://ferry.example.com:8443.")
    }
    guard parts[0].lowercased() == "https:" || allowsInsecureHTTP || isLoopback(parts[2]) else {
      throw FerryError(
        .badAddress,
        "The server's address \"\(server)\" belongs to another machine and begins with http://",
        hint: "Write https://. For a network that you trust, set allowsInsecureHTTP.")
    }
  }

  /// Whether what follows the host is a port, or nothing.
  private func hasPort(_ rest: Substring) -> Bool {
    var authority = rest.prefix { !["/", "?", "#", "\\"].contains($0) }
    if let user = authority.lastIndex(of: "@") { authority = authority[user...] }
    if let end = authority.lastIndex(of: "]") { authority = authority[end...] }
    guard let colon = authority.lastIndex(of: ":") else { return true }
    let port = authority[authority.index(after: colon)...]
    guard port.allSatisfy(isDigit) else { return false }
    return port.isEmpty || Int(port).map { (1...65_535).contains($0) } ?? false
  }

  /// Whether this machine alone is meant. What is not plainly so counts as another machine, also a
  /// name and a sign before the host.
  private func isLoopback(_ rest: Substring) -> Bool {
    let authority = rest.prefix { !["/", "?", "#", "\\"].contains($0) }
    if authority.hasPrefix("[::1]") {
      let port = authority.dropFirst(5)
      return port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy(isDigit)
    }
    let pieces = authority.split(separator: ":", omittingEmptySubsequences: false)
    guard pieces.count <= 2, pieces.dropFirst().joined().allSatisfy(isDigit) else { return false }
    if pieces[0].lowercased() == "localhost" { return true }
    let numbers = pieces[0].split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127"
      && numbers.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(isDigit) }
  }

  private func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
