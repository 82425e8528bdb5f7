import FerryCrypto
import Foundation

/// A certificate with its private key.
public struct CertificateIdentity: Sendable, Equatable {
  public let certificate: X509Certificate
  /// nil if there is only the certificate.
  public let key: CertificateKey?
  /// The certificates that signed it, if the file had them.
  public let chain: [X509Certificate]

  public init(certificate: X509Certificate, key: CertificateKey?, chain: [X509Certificate] = []) {
    self.certificate = certificate
    self.key = key
    self.chain = chain
  }

  /// Reads a PKCS#12 file. Throws `.password` for a wrong password, `.damaged`, `.tooLarge`.
  ///
  /// Blocks its thread for as many rounds as the file requires.
  public init(pkcs12 bytes: [UInt8], password: String) throws(CertificateError) {
    guard bytes.count <= PKCS12.limitBytes else {
      throw CertificateError(
        .tooLarge, "the file has \(bytes.count) bytes, the limit is \(PKCS12.limitBytes)")
    }
    let opened: PKCS12?
    do throws(CryptoError) {
      opened = try PKCS12.open(bytes, password: password)
    } catch {
      throw CertificateError(.damaged, error.message)
    }
    guard let file = opened else {
      throw CertificateError(.password, "the password does not open the file")
    }
    certificate = try X509Certificate(der: file.certificate)
    key = file.key.map { CertificateKey($0) }
    var chain: [X509Certificate] = []
    for der in file.chain { chain.append(try X509Certificate(der: der)) }
    self.chain = chain
  }

  /// The certificate of a PKCS#12 file as Base64, for a registration in place of a password.
  ///
  /// Throws the errors of reading the file, and `.noFile`.
  public static func signedCertificate(
    file path: String, password: String
  ) throws(CertificateError) -> String {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      throw CertificateError(.noFile, "the file \(path) cannot be read")
    }
    return try CertificateIdentity(pkcs12: [UInt8](data), password: password).certificate.base64
  }

  /// The login of a connection; nil without an RSA key or a common name.
  public func login(_ algorithm: CertBlob.Algorithm = .sha256) -> LoginCertificate? {
    guard case .rsa(let key)? = key else { return nil }
    return LoginCertificate(certificate, key: key, algorithm)
  }
}

/// A store of certificates by label: a vault (its `setCertificate`), or the app's own.
public protocol CertificateStore {
  /// All labels, in the order in which they are shown.
  func certificateLabels() throws -> [String]
  /// The certificate as DER; nil when the label has none.
  func certificate(label: String) throws -> [UInt8]?
  /// Stores a certificate; one with the same label is replaced.
  func storeCertificate(_ der: [UInt8], label: String) throws
  /// Removes a certificate; false when there was none.
  func removeCertificate(label: String) throws -> Bool
}

extension CertificateStore {
  /// The certificates from which a user can choose, each with its label. A certificate that cannot
  /// be read is left out, so that it does not hide the others.
  public func availableCertificates() throws -> [(label: String, certificate: X509Certificate)] {
    try certificateLabels().compactMap { label in
      guard let der = try certificate(label: label),
        let read = try? X509Certificate(der: der)
      else { return nil }
      return (label, read)
    }
  }

  /// The chosen certificate as Base64, for a registration; nil if the label has none.
  public func signedCertificate(label: String) throws -> String? {
    try certificate(label: label).map { try X509Certificate(der: $0).base64 }
  }
}
