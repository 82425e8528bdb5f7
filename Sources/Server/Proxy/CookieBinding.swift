import FerryCrypto
import FerryHTTP

/// Lets a cookie of a service back to the service only from the user to whom it was given.
///
/// Its value at the door begins with a proof; the key of the proofs lives as long as the process. After
/// a restart the service gives new cookies.
struct CookieBinding: Sendable {
  private let key: [UInt8]
  /// Of the door, with a slash at its end.
  private let path: String

  init(key: [UInt8], path: String = "/") {
    self.key = key
    self.path = path
  }

  /// `Set-Cookie` of the service as the caller gets it; nil for one that cannot be read.
  func given(_ line: String, to user: String, by backEnd: String, isSecure: Bool) -> String? {
    let parts = line.split(separator: ";", omittingEmptySubsequences: false).map(CookieBinding.trim)
    guard let (name, value) = CookieBinding.pair(parts[0]) else { return nil }
    var attributes = [
      "\(name)=\(proof(name, value, user, backEnd)).\(value)", "Path=\(path)\(backEnd)/",
    ]
    var isMarked = false
    for attribute in parts.dropFirst() where !attribute.isEmpty {
      let label = attribute.prefix { $0 != "=" }.lowercased()
      // Name and path of the service's own host mean nothing at the door.
      if label == "domain" || label == "path" { continue }
      if label == "secure" {
        isMarked = true
        if !isSecure { continue }
      }
      attributes.append(attribute)
    }
    if isSecure, !isMarked { attributes.append("Secure") }
    return attributes.joined(separator: "; ")
  }

  /// The caller's cookies as the service gets them; nil where none is the user's own.
  func own(_ headers: HTTPHeaders, of user: String, for backEnd: String) -> String? {
    var kept: [String] = []
    for line in headers.values("Cookie") {
      for part in line.split(separator: ";") {
        guard let (name, bound) = CookieBinding.pair(CookieBinding.trim(part)),
          let dot = bound.firstIndex(of: ".")
        else { continue }
        let value = String(bound[bound.index(after: dot)...])
        let right = Array(proof(name, value, user, backEnd).utf8)
        if equalInConstantTime(Array(bound[..<dot].utf8), right) { kept.append("\(name)=\(value)") }
      }
    }
    return kept.isEmpty ? nil : kept.joined(separator: "; ")
  }

  /// `name=value` of the caller's own cookie; nil where it is missing or there twice.
  static func unbound(_ name: String, _ headers: HTTPHeaders) -> String? {
    let found = headers.values("Cookie").flatMap { $0.split(separator: ";") }
      .compactMap { pair(trim($0)) }.filter { $0.0 == name }
    return found.count == 1 ? "\(name)=\(found[0].1)" : nil
  }

  private func proof(_ name: String, _ value: String, _ user: String, _ backEnd: String) -> String {
    // Lengths between the parts: no two lists of parts are the same bytes.
    let parts = [backEnd, user, name, value].map { "\($0.utf8.count):\($0)" }.joined()
    return hexadecimal(SHA256Digest.authenticate(Array(parts.utf8), key: key).prefix(16))
  }

  private static func pair(_ text: some StringProtocol) -> (String, String)? {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  private static func trim(_ text: some StringProtocol) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(start[...$0]) } ?? ""
  }
}
