#if canImport(Security)
  import Foundation
  import Security

  /// The certificates of a PEM file, which stand in place of the system's authorities.
  ///
  /// The file is read at each handshake, so that a renewed authority needs no restart.
  struct TrustedAuthorities: Sendable {
    let file: String

    /// Whether one of the file's certificates signed the chain, and the chain is good otherwise.
    func accepts(_ trust: SecTrust) -> Bool {
      let certificates = self.certificates
      guard !certificates.isEmpty,
        SecTrustSetAnchorCertificates(trust, certificates as CFArray) == errSecSuccess,
        SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
      else { return false }
      return SecTrustEvaluateWithError(trust, nil)
    }

    private var certificates: [SecCertificate] {
      guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
      let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
      return parts.compactMap { part -> SecCertificate? in
        guard let body = part.components(separatedBy: "-----END CERTIFICATE-----").first,
          let bytes = Data(base64Encoded: body, options: .ignoreUnknownCharacters)
        else { return nil }
        return SecCertificateCreateWithData(nil, bytes as CFData)
      }
    }
  }
#endif
