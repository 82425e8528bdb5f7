import FerryHTTP
import FoundationEssentials

/// Name and password of `Authorization: Basic` (RFC 7617).
struct BasicCredentials: Equatable {
  let user: String
  let password: String

  init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Nil where the header is missing, is there twice, names another scheme or cannot be read.
  init?(_ headers: HTTPHeaders) {
    let values = headers.values("Authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "basic",
      let bytes = Data(base64Encoded: parts[1].filter { $0 != " " }),
      let text = String(validating: bytes, as: UTF8.self),
      !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
      let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    user = String(text[..<colon])
    password = String(text[text.utf8.index(after: colon)...])
    guard !user.isEmpty else { return nil }
  }

  var header: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }
}
