import FerryCrypto
import FerryText
import Foundation

/// The content of an X.509 certificate, read from its DER; signature and dates are not checked.
public struct X509Certificate: Sendable, Equatable {
  /// The maximum size in bytes.
  public static let limitBytes = 1 << 20

  /// One part of a distinguished name, such as `CN` and `Anna`.
  public struct NamePart: Sendable, Equatable {
    public let type: String
    public let value: String
  }

  /// The bytes of the certificate, unchanged.
  public let der: [UInt8]
  /// The serial number in lower-case hexadecimal digits.
  public let serialNumber: String
  public let issuerParts: [NamePart]
  public let subjectParts: [NamePart]
  /// Seconds since 1970-01-01T00:00:00Z at which it begins to be valid.
  public let notBeforeSeconds: Int64
  /// Seconds since 1970-01-01T00:00:00Z until which it is valid.
  public let notAfterSeconds: Int64
  /// SubjectPublicKeyInfo as DER.
  public let publicKeyInfo: [UInt8]

  /// Reads one certificate. Throws `.damaged`, `.unsupported`, `.tooLarge`.
  public init(der: [UInt8]) throws(CertificateError) {
    guard der.count <= Self.limitBytes else {
      throw CertificateError(
        .tooLarge, "the certificate has \(der.count) bytes, the limit is \(Self.limitBytes)")
    }
    var outer = DERReader(der[...])
    let certificate = try outer.next(0x30)
    guard outer.isAtEnd else {
      throw CertificateError(.damaged, "more bytes follow the end of the certificate")
    }
    var parts = DERReader(certificate.content)
    let body = try parts.next(0x30)
    _ = try parts.next(0x30)
    _ = try parts.next(0x03)
    guard parts.isAtEnd else {
      throw CertificateError(.damaged, "the certificate has too many parts")
    }
    var fields = DERReader(body.content)
    if fields.nextTag == 0xA0 {
      let version = try fields.next(0xA0)
      var reader = DERReader(version.content)
      guard let number = try reader.next(0x02).content.last, number <= 2 else {
        throw CertificateError(.unsupported, "the version of the certificate is above 3")
      }
    }
    serialNumber = hexadecimal(try fields.next(0x02).content)
    _ = try fields.next(0x30)
    issuerParts = try Self.name(try fields.next(0x30))
    var validity = DERReader(try fields.next(0x30).content)
    notBeforeSeconds = try Self.seconds(try validity.next())
    notAfterSeconds = try Self.seconds(try validity.next())
    subjectParts = try Self.name(try fields.next(0x30))
    publicKeyInfo = Array(try fields.next(0x30).whole)
    self.der = der
  }

  /// All certificates of a text of PEM, in its order; nothing between and around them matters.
  ///
  /// Throws `.damaged` when it has none, and the errors of reading one.
  public static func all(pem text: String) throws(CertificateError) -> [X509Certificate] {
    var found: [X509Certificate] = []
    for der in PEM.certificates(text) {
      guard let der else {
        throw CertificateError(.damaged, "certificate \(found.count + 1) is not complete PEM")
      }
      found.append(try X509Certificate(der: der))
    }
    guard !found.isEmpty else {
      throw CertificateError(.damaged, "the text has no certificate in PEM")
    }
    return found
  }

  /// The public key as RSAPublicKey of PKCS#1; nil for a key of another kind.
  var rsaPublicKey: [UInt8]? {
    do throws(CertificateError) {
      var outer = DERReader(publicKeyInfo[...])
      var info = DERReader(try outer.next(0x30).content)
      var algorithm = DERReader(try info.next(0x30).content)
      guard DER.identifier(try algorithm.next(0x06).content) == "1.2.840.113549.1.1.1" else {
        return nil
      }
      let bits = try info.next(0x03).content
      // No bits of the last byte are unused.
      return bits.first == 0 ? Array(bits.dropFirst()) : nil
    } catch { return nil }
  }

  /// The issuer as text, as `CN=Authority, O=Example`.
  public var issuer: String { Self.text(issuerParts) }
  /// The subject as text.
  public var subject: String { Self.text(subjectParts) }
  /// The issuer's common name; nil without one.
  public var issuerCommonName: String? { issuerParts.first { $0.type == "CN" }?.value }
  /// The subject's common name; nil without one.
  public var subjectCommonName: String? { subjectParts.first { $0.type == "CN" }?.value }
  /// A name for lists: the common name, or the whole subject, or the serial number.
  public var displayName: String {
    subjectCommonName ?? (subjectParts.isEmpty ? serialNumber : subject)
  }
  /// The DER as Base64 in one line, for a registration in place of a password.
  public var base64: String { Data(der).base64EncodedString() }
  /// SHA-256 of the DER in hexadecimal digits.
  public var fingerprint: String { hexadecimal(SHA256Digest.hash(der)) }

  /// Whether the certificate is valid at a moment, in seconds since 1970; both ends are included.
  public func isValid(atSeconds moment: Int64) -> Bool {
    notBeforeSeconds <= moment && moment <= notAfterSeconds
  }

  private static func text(_ parts: [NamePart]) -> String {
    parts.reversed().map { "\($0.type)=\($0.value)" }.joined(separator: ", ")
  }

  private static let types: [String: String] = [
    "2.5.4.3": "CN", "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST",
    "2.5.4.10": "O", "2.5.4.11": "OU", "1.2.840.113549.1.9.1": "EMAIL",
    "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
  ]

  private static func name(_ value: DERValue) throws(CertificateError) -> [NamePart] {
    var parts: [NamePart] = []
    var sets = DERReader(value.content)
    while !sets.isAtEnd {
      var pairs = DERReader(try sets.next(0x31).content)
      while !pairs.isAtEnd {
        var pair = DERReader(try pairs.next(0x30).content)
        let type = try pair.next(0x06)
        let text = try pair.next()
        guard let identifier = DER.identifier(type.content) else {
          throw CertificateError(.damaged, "a name in the certificate has a wrong type")
        }
        parts.append(
          NamePart(type: types[identifier] ?? identifier, value: try string(text)))
      }
    }
    return parts
  }

  private static func string(_ value: DERValue) throws(CertificateError) -> String {
    switch value.tag {
    case 0x1E:
      // Two bytes to a letter.
      guard value.content.count % 2 == 0 else {
        throw CertificateError(.damaged, "a name in the certificate is not text")
      }
      let bytes = Array(value.content)
      let units = stride(from: 0, to: bytes.count, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
      }
      return String(decoding: units, as: UTF16.self)
    case 0x0C, 0x13, 0x14, 0x16, 0x12, 0x1A:
      return String(decoding: value.content, as: UTF8.self)
    default:
      throw CertificateError(
        .unsupported,
        "a name in the certificate has the string type \(value.tag), which is not supported")
    }
  }

  /// UTCTime (two digits of a year, from 1950 on) or GeneralizedTime, both ending with Z.
  private static func seconds(_ value: DERValue) throws(CertificateError) -> Int64 {
    let yearDigits = value.tag == 0x17 ? 2 : 4
    let digits = value.content.dropLast().map { Int64($0) - 48 }
    guard value.tag == 0x17 || value.tag == 0x18, value.content.last == UInt8(ascii: "Z"),
      digits.count == yearDigits + 10, digits.allSatisfy({ (0...9).contains($0) })
    else { throw CertificateError(.damaged, "a date in the certificate cannot be read") }
    func number(_ start: Int, _ count: Int) -> Int64 {
      digits[start..<start + count].reduce(0) { 10 * $0 + $1 }
    }
    var year = number(0, yearDigits)
    if yearDigits == 2 { year += year < 50 ? 2_000 : 1_900 }
    let (month, day) = (number(yearDigits, 2), number(yearDigits + 2, 2))
    let (hour, minute) = (number(yearDigits + 4, 2), number(yearDigits + 6, 2))
    let second = number(yearDigits + 8, 2)
    guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
    else {
      throw CertificateError(.damaged, "a date in the certificate has an impossible day or hour")
    }
    return CivilDay.number(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60
      + second
  }
}
