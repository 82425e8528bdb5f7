import FerryCrypto
import FerryJSON
import FerryText

/// JSON web tokens as push services want them (RFC 7515).
enum SignedClaims {
  /// `header` and `claims` are objects of JSON.
  static func token(
    header: [UInt8], claims: [UInt8], sign: ([UInt8]) throws(CryptoError) -> [UInt8]
  ) throws(CryptoError) -> String {
    let signed = "\(Base64.encode(header, .url)).\(Base64.encode(claims, .url))"
    return "\(signed).\(Base64.encode(try sign(Array(signed.utf8)), .url))"
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
