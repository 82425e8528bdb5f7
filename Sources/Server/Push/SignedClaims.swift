import FerryCrypto
import FerryJSON

/// JSON web tokens as push services want them (RFC 7515).
enum SignedClaims {
  static func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let number = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for place in 0...part.count { text.append(letters[number >> (18 - 6 * place) & 0x3F]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `header` and `claims` are objects of JSON.
  static func token(
    header: [UInt8], claims: [UInt8], sign: ([UInt8]) throws(CryptoError) -> [UInt8]
  ) throws(CryptoError) -> String {
    let signed = "\(base64(header)).\(base64(claims))"
    return "\(signed).\(base64(try sign(Array(signed.utf8))))"
  }

  static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return writer.bytes
  }
}

/// A text that is made now and then and used by many.
actor KeptToken {
  private var text: String?
  private var end: Int64 = 0

  /// The known one, unless its time is over. `make` gives a text and how many seconds it is good.
  func value(
    now: Int64, _ make: @Sendable () async throws -> (String, seconds: Int64)
  ) async throws -> String {
    if let text, now < end { return text }
    let (made, seconds) = try await make()
    text = made
    end = now + seconds
    return made
  }

  /// The push service does not take it any more.
  func forget(_ old: String) { if text == old { text = nil } }
}
