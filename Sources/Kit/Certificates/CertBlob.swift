import FerryCrypto
import Foundation

/// A certificate with a signature over it, which a server accepts as a login without a password:
/// `SEQUENCE { OCTET STRING certificate, OCTET STRING signature, INTEGER algorithm }`.
public enum CertBlob {
  /// The algorithm byte: PKCS#1 v1.5 over a digest of the certificate.
  public enum Algorithm: UInt8, Sendable {
    /// For old servers that support only this.
    case sha1 = 1
    case sha256 = 2
  }

  /// The blob; nil when the certificate or the key is missing, or the key cannot sign.
  public static func make(
    certificate: [UInt8]?, key: RSAKey?, _ algorithm: Algorithm = .sha256
  ) -> [UInt8]? {
    guard let certificate, !certificate.isEmpty, let key,
      let signature = try? key.sign(certificate, algorithm == .sha1 ? .sha1 : .sha256)
    else { return nil }
    return bytes(certificate, signature, algorithm.rawValue)
  }

  /// What a blob holds.
  public struct Parts: Sendable, Equatable {
    public let certificate: X509Certificate
    public let algorithm: Algorithm
    let signature: [UInt8]

    /// Whether the key of the certificate made the signature: whoever made the blob had that key.
    public var isSigned: Bool {
      guard let key = certificate.rsaPublicKey else { return false }
      return RSAKey.verify(
        signature, of: certificate.der, publicDER: key, algorithm == .sha1 ? .sha1 : .sha256)
    }
  }

  /// Reads a blob; nothing of it is checked. Throws `.damaged`, `.unsupported` for another algorithm
  /// byte, `.tooLarge`.
  public static func read(_ bytes: [UInt8]) throws(CertificateError) -> Parts {
    var outer = DERReader(bytes[...])
    let blob = try outer.next(0x30)
    var parts = DERReader(blob.content)
    let (certificate, signature) = (try parts.next(0x04), try parts.next(0x04))
    let number = try parts.next(0x02).content
    guard outer.isAtEnd, parts.isAtEnd else {
      throw CertificateError(.damaged, "more bytes follow the end of the blob")
    }
    guard number.count == 1, let algorithm = number.first.flatMap(Algorithm.init) else {
      throw CertificateError(.unsupported, "the algorithm byte of the blob is neither 1 nor 2")
    }
    return Parts(
      certificate: try X509Certificate(der: Array(certificate.content)), algorithm: algorithm,
      signature: Array(signature.content))
  }

  /// The two-pass form. Without memory it returns only the size. If the memory is too small, it
  /// returns false, writes nothing, and sets `count` to the required size.
  public static func write(
    certificate: [UInt8], signature: [UInt8], algorithm: UInt8,
    into memory: UnsafeMutableBufferPointer<UInt8>?, count: inout Int
  ) -> Bool {
    write(bytes(certificate, signature, algorithm), memory, &count)
  }

  /// The two-pass form for a length: one byte below 128, otherwise the number of bytes and the
  /// bytes in big-endian order.
  public static func writeLength(
    _ length: Int, into memory: UnsafeMutableBufferPointer<UInt8>?, count: inout Int
  ) -> Bool {
    precondition(length >= 0, "a length of \(length)")
    return write(DER.length(length), memory, &count)
  }

  /// MD5 in lower-case hexadecimal digits, for old formats only.
  public static func md5sum(_ bytes: [UInt8]) -> String { hexadecimal(FormatDigest.md5(bytes)) }

  /// SHA-1 in hexadecimal digits with blanks between the bytes, for old formats only.
  public static func sha1(_ bytes: [UInt8]) -> String {
    FormatDigest.sha1(bytes).map { hexadecimal([$0]) }.joined(separator: " ")
  }

  private static func bytes(
    _ certificate: [UInt8], _ signature: [UInt8], _ algorithm: UInt8
  ) -> [UInt8] {
    let content =
      DER.value(0x04, certificate) + DER.value(0x04, signature) + DER.value(0x02, [algorithm])
    return DER.value(0x30, content)
  }

  private static func write(
    _ bytes: [UInt8], _ memory: UnsafeMutableBufferPointer<UInt8>?, _ count: inout Int
  ) -> Bool {
    defer { count = bytes.count }
    guard let memory else { return true }
    guard memory.count >= bytes.count, count >= bytes.count else { return false }
    for (place, byte) in bytes.enumerated() { memory[place] = byte }
    return true
  }
}

/// The data of a login with a certificate: the subject's common name and the blob.
public struct LoginCertificate: Sendable, Equatable {
  public let subjectCN: String
  /// The blob, not the certificate alone.
  public let signedCertificate: [UInt8]

  /// The blob as Base64: a connection profile takes `subjectCN` as its user and this as its password.
  ///
  /// A server that was started with `--login-authority` accepts it. It stays the same for each login,
  /// so treat it as a password.
  public var password: String { Data(signedCertificate).base64EncodedString() }

  /// nil when the certificate has no common name or the blob cannot be made.
  public init?(
    _ certificate: X509Certificate, key: RSAKey, _ algorithm: CertBlob.Algorithm = .sha256
  ) {
    guard let name = certificate.subjectCommonName,
      let blob = CertBlob.make(certificate: certificate.der, key: key, algorithm)
    else { return nil }
    subjectCN = name
    signedCertificate = blob
  }
}
