import FerryHTTP
import FerryModel
import FerryText

/// Name and password of `Authorization: Basic …` (RFC 7617), in UTF-8.
package struct BasicLogin: Sendable {
  package let user: String
  package let password: String

  private static let longestBytes: Int = 4 << 10

  package init(_ user: String, _ password: String) {
    self.user = user
    self.password = password
  }

  /// Nil where the header is missing, is sent twice, or holds no name.
  package init?(_ request: HTTPRequest) {
    let values = request.headers.values("Authorization")
    guard values.count == 1, let value = values.first,
      value.utf8.count <= BasicLogin.longestBytes
    else { return nil }
    let parts = value.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "basic",
      let bytes = Base64.decode(String(parts[1])),
      let text = String(validating: bytes, as: UTF8.self),
      let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    user = String(text[..<colon])
    password = String(text[text.utf8.index(after: colon)...])
    guard !user.isEmpty else { return nil }
  }
}
