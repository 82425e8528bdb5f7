/// A request as a server's handler gets it, with its body whole or as a stream.
public struct HTTPRequest: Sendable {
  public var method: HTTPMethod
  /// As it came, percent-encoded, from the first slash up to the question mark.
  public var path: String
  /// As it came, without the question mark; nil if there was none.
  public var query: String?
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// The body while it arrives, where the doorman chose so (`HTTPAdmission.stream`); nil where there
  /// is none, or where `body` has it.
  ///
  /// One reader at a time. Nothing is read from the client beyond a small buffer until the next piece
  /// is asked for. `abort`: the client has hung up, or was too slow, or sent too much.
  public var bodyStream: (any HTTPBodySource)?
  /// Who is at the other end of the connection (a proxy, if one stands between); for logs.
  public var peer: String?
  /// The user whose process sent it through a Unix socket of this machine; nil over the network.
  public var peerUser: UInt32?
  /// The certificate, as DER, whose key the client has proved to have over TLS; nil where it showed
  /// none. Nobody has judged yet who issued it.
  public var clientCertificate: [UInt8]?

  public init(
    method: HTTPMethod, path: String, query: String? = nil, headers: HTTPHeaders = [:],
    body: [UInt8] = [], peer: String? = nil, peerUser: UInt32? = nil
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.peer = peer
    self.peerUser = peerUser
  }

  /// The path between its slashes, each part decoded; nil if a part is not valid.
  ///
  /// A part that decodes to `.` or `..` or holds a slash or a zero is refused, so that what is
  /// compared here cannot mean something else to whoever looks at the path next.
  public var pathSegments: [String]? {
    var segments: [String] = []
    for part in path.utf8.split(separator: UInt8(ascii: "/")) {
      guard let text = PercentEncoding.decode(part), text != ".", text != "..",
        !text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
      else { return nil }
      segments.append(text)
    }
    return segments
  }

  /// The first value of a name in the query, decoded; `+` means a blank.
  public func queryValue(_ name: String) -> String? {
    for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = sides.first, PercentEncoding.decode(key, plusIsBlank: true) == name else {
        continue
      }
      return sides.count == 2 ? PercentEncoding.decode(sides[1], plusIsBlank: true) : ""
    }
    return nil
  }

  /// The token of `Authorization: Bearer …` (RFC 6750); nil if the header is missing, is sent
  /// twice, names another scheme, or holds what no token can hold.
  public var bearerToken: String? {
    let values = headers.values("Authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let parts = value.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard parts.count == 2, HTTPHeaders.isSame(String(Substring(parts[0])), "Bearer"),
      parts[1].allSatisfy(Self.isTokenByte)
    else { return nil }
    return String(Substring(parts[1]))
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~+/=".utf8.contains(byte)
    }
  }
}
