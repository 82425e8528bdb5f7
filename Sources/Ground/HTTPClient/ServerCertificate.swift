import FerryCrypto
import FerryText

/// What a server's certificate says of itself, for people who decide about it.
public struct ServerCertificate: Sendable, Equatable {
  /// The certificate as it is.
  public let der: [UInt8]
  /// As `CN=host, O=Company`.
  public let subject: String
  /// Who signed it, in the form of `subject`.
  public let issuer: String
  /// As `2026-01-31 23:59:59Z`.
  public let validFrom: String
  /// In the form of `validFrom`; later the certificate has expired.
  public let validUntil: String
  /// SHA-256 of the certificate, in hexadecimal with colons, as browsers show it.
  public let fingerprint: String
  /// SHA-256 of the public key, as `sha256//` and Base64: what stays when it is renewed.
  public let publicKeyPin: String

  /// The certificates of a text of PEM; what is none is passed over.
  static func all(pem text: String) -> [ServerCertificate] {
    PEM.certificates(text).compactMap { $0.flatMap { ServerCertificate(der: $0) } }
  }

  /// Nil for bytes that are no certificate of X.509.
  public init?(der: [UInt8]) {
    var outer = DERReader(der[...])
    guard var certificate = outer.enter(0x30), var body = certificate.enter(0x30) else {
      return nil
    }
    if body.tag == 0xA0 { _ = body.next() }
    guard body.next()?.tag == 0x02, body.next()?.tag == 0x30,
      let issuer = body.next(), issuer.tag == 0x30, var validity = body.enter(0x30),
      let from = validity.next().flatMap(Self.date), let until = validity.next().flatMap(Self.date),
      let subject = body.next(), subject.tag == 0x30, let key = body.next(), key.tag == 0x30
    else { return nil }
    self.der = der
    self.subject = Self.name(subject.content)
    self.issuer = Self.name(issuer.content)
    validFrom = from
    validUntil = until
    fingerprint = SHA256Digest.hash(der)
      .map { Hexadecimal.encode(CollectionOfOne($0), isUppercase: true) }.joined(separator: ":")
    publicKeyPin = "sha256//" + Base64.encode(SHA256Digest.hash(Array(key.whole)))
  }

  private static func date(_ item: DERReader.Item) -> String? {
    var text = String(decoding: item.content, as: UTF8.self)
    if item.tag == 0x17 {
      guard let year = Int(text.prefix(2)) else { return nil }
      text = (year < 50 ? "20" : "19") + text
    } else if item.tag != 0x18 {
      return nil
    }
    let digits = Array(text)
    guard digits.count >= 14 else { return nil }
    func part(_ start: Int, _ end: Int) -> String { String(digits[start..<end]) }
    return "\(part(0, 4))-\(part(4, 6))-\(part(6, 8)) "
      + "\(part(8, 10)):\(part(10, 12)):\(part(12, 14))Z"
  }

  private static func name(_ bytes: ArraySlice<UInt8>) -> String {
    var parts: [String] = []
    var sets = DERReader(bytes)
    while let set = sets.next() {
      var pairs = DERReader(set.content)
      while var pair = pairs.enter(0x30) {
        guard let type = pair.next(), let value = pair.next() else { break }
        let key =
          names[Array(type.content)] ?? "OID.\(Hexadecimal.encode(type.content, isUppercase: true))"
        let text = String(decoding: value.content, as: UTF8.self).filter { $0 >= " " }
        parts.append("\(key)=\(text)")
      }
    }
    return parts.joined(separator: ", ")
  }

  private static let names: [[UInt8]: String] = [
    [0x55, 4, 3]: "CN", [0x55, 4, 6]: "C", [0x55, 4, 7]: "L", [0x55, 4, 8]: "ST",
    [0x55, 4, 10]: "O", [0x55, 4, 11]: "OU",
  ]
}

/// Walks through the items of DER (X.690).
private struct DERReader {
  struct Item {
    let tag: UInt8
    let content: ArraySlice<UInt8>
    /// With tag and length.
    let whole: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The tag of the next item.
  var tag: UInt8? { rest.first }

  mutating func next() -> Item? {
    guard rest.count >= 2 else { return nil }
    let start = rest.startIndex
    var place = start + 2
    var count = Int(rest[start + 1])
    if count >= 0x80 {
      let digits = count & 0x7F
      guard digits > 0, digits <= 4, rest.count >= 2 + digits else { return nil }
      count = rest[place..<place + digits].reduce(0) { $0 << 8 | Int($1) }
      place += digits
    }
    guard count <= rest.endIndex - place else { return nil }
    let item = Item(
      tag: rest[start], content: rest[place..<place + count], whole: rest[start..<place + count])
    rest = rest[(place + count)...]
    return item
  }

  mutating func enter(_ tag: UInt8) -> DERReader? {
    guard self.tag == tag, let item = next() else { return nil }
    return DERReader(item.content)
  }
}
