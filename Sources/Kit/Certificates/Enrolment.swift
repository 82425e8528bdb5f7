import FerryCrypto

/// Sends a request for a certificate to an authority. The app implements it, or a transport.
public protocol EnrolmentChannel: Sendable {
  /// Sends the request and returns the status of HTTP and the body; throws when there was no answer.
  func send(
    _ request: [UInt8], contentType: String
  ) async throws -> (status: Int, body: [UInt8])
}

/// Gets a certificate for a key of this device from an authority that knows a challenge.
///
/// The request is PKCS#10 with the challenge as its challenge password; the answer is the
/// certificate as DER. The key never leaves the device.
///
/// ```swift
/// let key = CertificateKey.p256(try P256Key.generate())
/// let enrolment = Enrolment(commonName: "anna", challenge: code, key: key)
/// let identity = try await enrolment.enrol(over: channel)
/// ```
public struct Enrolment: Sendable {
  /// The content type of the request.
  public static let contentType = "application/pkcs10"
  /// The maximum length of a common name, in characters, as in X.520.
  public static let commonNameLimit = 64
  /// The maximum size of a challenge, in bytes of UTF-8.
  public static let challengeLimitBytes = 255

  public let commonName: String
  public let challenge: String
  public let key: CertificateKey

  /// `challenge` is the code that the authority gave this user for one certificate.
  public init(commonName: String, challenge: String, key: CertificateKey) {
    self.commonName = commonName
    self.challenge = challenge
    self.key = key
  }

  /// The request as DER, signed by the key. Throws `.invalidRequest`.
  public func request() throws(CertificateError) -> [UInt8] {
    guard (1...Self.commonNameLimit).contains(commonName.unicodeScalars.count) else {
      throw CertificateError(.invalidRequest, "the common name has no letter, or more than 64")
    }
    guard (1...Self.challengeLimitBytes).contains(challenge.utf8.count) else {
      throw CertificateError(.invalidRequest, "the challenge is empty, or has more than 255 bytes")
    }
    let name = DER.value(
      0x30,
      DER.value(
        0x31, DER.value(0x30, DER.commonName + DER.value(0x0C, Array(commonName.utf8)))))
    let attribute = DER.value(
      0x30,
      DER.challengePassword + DER.value(0x31, DER.value(0x0C, Array(challenge.utf8))))
    let body = DER.value(
      0x30, DER.value(0x02, [0]) + name + key.publicKeyInfo + DER.value(0xA0, attribute))
    do throws(CryptoError) {
      let signature = try key.sign(body)
      return DER.value(
        0x30, body + key.signatureAlgorithm + DER.value(0x03, [0] + signature))
    } catch {
      throw CertificateError(.invalidRequest, "\(error)")
    }
  }

  /// Sends the request once, and checks that the certificate has the requested key and name.
  ///
  /// Throws `.invalidRequest`, `.refused` with the authority's status, `.noAnswer`, `.damaged`, and
  /// `.foreign` for a certificate with another key or name.
  public func enrol(
    over channel: some EnrolmentChannel
  ) async throws(CertificateError) -> CertificateIdentity {
    let request = try request()
    let answer: (status: Int, body: [UInt8])
    do {
      answer = try await channel.send(request, contentType: Self.contentType)
    } catch {
      throw CertificateError(.noAnswer, "the authority did not answer: \(error)")
    }
    guard (200..<300).contains(answer.status) else {
      throw CertificateError(.refused, "the authority answered with status \(answer.status)")
    }
    let certificate = try X509Certificate(der: answer.body)
    guard certificate.publicKeyInfo == key.publicKeyInfo else {
      throw CertificateError(.foreign, "the certificate belongs to another key")
    }
    guard certificate.subjectCommonName == commonName else {
      throw CertificateError(.foreign, "the certificate does not have the requested common name")
    }
    return CertificateIdentity(certificate: certificate, key: key)
  }
}
