/// The parts of an absolute address of `http` or `https` that decide where a request goes.
public struct HTTPAddress: Sendable, Hashable {
  /// Whether the scheme is `https`.
  public let isSecure: Bool
  /// In lower case; an address of IPv6 with its brackets.
  public let host: String
  /// That of the scheme where the address names none.
  public let port: Int
  /// As it is written, percent-encoded, from the first slash up to the question mark; `/` where
  /// there is none.
  public let path: String

  /// Nil for what is no such address.
  public init?(_ url: String) {
    let sides = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2, sides[1].hasPrefix("//") else { return nil }
    switch sides[0].lowercased() {
    case "http": isSecure = false
    case "https": isSecure = true
    default: return nil
    }
    let rest = sides[1].dropFirst(2)
    var authority = rest.prefix { !["/", "?", "#", "\\"].contains($0) }
    let behind = rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
    path = behind.hasPrefix("/") ? String(behind) : "/"
    if let at = authority.lastIndex(of: "@") {
      authority = authority[authority.index(after: at)...]
    }
    var name = authority
    var number = Substring()
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      name = authority[...end]
      let tail = authority[authority.index(after: end)...]
      guard tail.isEmpty || tail.hasPrefix(":") else { return nil }
      number = tail.dropFirst()
    } else if let colon = authority.lastIndex(of: ":") {
      name = authority[..<colon]
      number = authority[authority.index(after: colon)...]
    }
    guard !name.isEmpty, !name.contains(where: { $0.isWhitespace || $0 == "@" }) else { return nil }
    host = name.lowercased()
    if number.isEmpty {
      port = isSecure ? 443 : 80
    } else {
      guard let given = UInt16(number), given > 0 else { return nil }
      port = Int(given)
    }
  }

  /// `https` or `http`.
  public var scheme: String { isSecure ? "https" : "http" }

  /// Scheme, host and port: what credentials and cookies of one server must not leave.
  public var origin: String { "\(scheme)://\(host):\(port)" }
}
