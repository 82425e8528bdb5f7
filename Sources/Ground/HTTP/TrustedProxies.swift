/// Proxies before a server, and which of their fields says who their client is.
///
/// Believed is only a connection of one of these addresses. What others write is what they like.
public struct TrustedProxies: Sendable, Equatable {
  /// Where the client's address is. A proxy that writes one of them passes the other as its client
  /// wrote it, so that only one is believed.
  public enum Field: String, Sendable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    /// Of RFC 7239.
    case forwarded = "Forwarded"
  }

  public var addresses: Set<String>
  public var field: Field

  public init(_ addresses: Set<String> = [], field: Field = .xForwardedFor) {
    self.addresses = addresses
    self.field = field
  }

  /// Whether the other end of the connection is one of them.
  public func include(_ request: HTTPRequest) -> Bool {
    request.peer.map(addresses.contains) ?? false
  }

  /// The client's address: that of the connection, or what a trusted proxy says. Behind several of
  /// them it is the last address that none of them has.
  public func client(of request: HTTPRequest) -> String {
    let peer = request.peer ?? ""
    guard include(request) else { return peer }
    return named(request.headers).last { !addresses.contains($0) } ?? peer
  }

  /// Whether the client came over TLS; nil where no trusted proxy says so.
  public func isSecure(_ request: HTTPRequest) -> Bool? {
    guard include(request) else { return nil }
    switch field {
    case .xForwardedFor:
      return request.headers["X-Forwarded-Proto"].map { $0.lowercased() == "https" }
    case .forwarded:
      return TrustedProxies.values(of: "proto", in: request.headers).last
        .map { $0.lowercased() == "https" }
    }
  }

  private func named(_ headers: HTTPHeaders) -> [String] {
    switch field {
    case .xForwardedFor:
      headers.values("X-Forwarded-For").flatMap { $0.split(separator: ",") }
        .map(TrustedProxies.trim)
    case .forwarded: TrustedProxies.values(of: "for", in: headers).map(TrustedProxies.bare)
    }
  }

  /// The values of one parameter, in the order of the hops.
  private static func values(of name: String, in headers: HTTPHeaders) -> [String] {
    headers.values("Forwarded").flatMap { elements($0, at: ",") }.flatMap { element in
      elements(element, at: ";").compactMap { pair -> String? in
        let sides = pair.split(separator: "=", maxSplits: 1).map(trim)
        guard sides.count == 2, sides[0].lowercased() == name else { return nil }
        let value = Array(sides[1].utf8)
        let quote = UInt8(ascii: "\"")
        guard value.count > 1, value.first == quote, value.last == quote else { return sides[1] }
        return String(decoding: value.dropFirst().dropLast(), as: UTF8.self)
      }
    }
  }

  /// Parts between separators that are not within quotes.
  private static func elements(_ text: String, at separator: Unicode.Scalar) -> [String] {
    var parts: [[UInt8]] = [[]]
    var isQuoted = false
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: separator), !isQuoted {
        parts.append([])
      } else {
        parts[parts.count - 1].append(byte)
      }
    }
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }

  /// `192.0.2.1:4711` and `[2001:db8::1]:4711` without port and brackets.
  private static func bare(_ node: String) -> String {
    if node.hasPrefix("[") { return String(node.dropFirst().prefix { $0 != "]" }) }
    return node.count(where: { $0 == ":" }) == 1 ? String(node.prefix { $0 != ":" }) : node
  }

  private static func trim(_ text: some StringProtocol) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(start[...$0]) } ?? ""
  }
}
