#if canImport(Security)
  import Foundation
  import Security
#else
  import COpenSSL
#endif

/// Whether certificates of persons and devices come from authorities that are named.
public enum CertificateTrust {
  /// Why a certificate is not trusted for a login; nil when it is.
  ///
  /// It must have been signed by one of the authorities, be valid at that moment, and be allowed for
  /// clients. Signatures with SHA-1 and RSA keys below 2,048 bits are refused.
  ///
  /// - Parameters:
  ///   - certificate: DER.
  ///   - authorities: DER; each is trusted by itself, so that authorities in the middle may be named.
  ///   - revocations: DER. With one, the issuer of the certificate must have a list that is still good;
  ///     Apple's systems read none, and trust nobody then.
  ///   - seconds: since 1970-01-01T00:00:00Z.
  public static func refusal(
    of certificate: [UInt8], authorities: [[UInt8]], revocations: [[UInt8]] = [],
    atSeconds seconds: Int64
  ) -> String? {
    CertificateTrustAdapter.refusal(certificate, authorities, revocations, seconds)
  }
}

#if canImport(Security)
  private enum CertificateTrustAdapter {
    static func refusal(
      _ der: [UInt8], _ authorities: [[UInt8]], _ revocations: [[UInt8]], _ seconds: Int64
    ) -> String? {
      guard revocations.isEmpty else { return "revocation lists cannot be read on this system" }
      guard let certificate = SecCertificateCreateWithData(nil, Data(der) as CFData) else {
        return "the certificate cannot be read"
      }
      let anchors = authorities.compactMap {
        SecCertificateCreateWithData(nil, Data($0) as CFData)
      }
      var trust: SecTrust?
      let policy = SecPolicyCreateSSL(false, nil)
      guard SecTrustCreateWithCertificates(certificate, policy, &trust) == errSecSuccess,
        let trust, SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
        SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess,
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: Double(seconds)) as CFDate)
          == errSecSuccess
      else { return "the certificate cannot be checked" }
      var error: CFError?
      guard !SecTrustEvaluateWithError(trust, &error) else { return nil }
      return error.map { CFErrorCopyDescription($0) as String } ?? "the certificate is not trusted"
    }
  }
#else
  private enum CertificateTrustAdapter {
    static func refusal(
      _ der: [UInt8], _ authorities: [[UInt8]], _ revocations: [[UInt8]], _ seconds: Int64
    ) -> String? {
      defer { ERR_clear_error() }
      guard let certificate = read(der) else { return "the certificate cannot be read" }
      defer { X509_free(certificate) }
      guard let store = X509_STORE_new() else { return "the certificate cannot be checked" }
      defer { X509_STORE_free(store) }
      for authority in authorities {
        guard let trusted = read(authority) else { continue }
        X509_STORE_add_cert(store, trusted)
        X509_free(trusted)
      }
      for revocation in revocations {
        // Whom a list names that cannot be read, nobody knows.
        guard let list = readList(revocation) else { return "a revocation list cannot be read" }
        X509_STORE_add_crl(store, list)
        X509_CRL_free(list)
      }
      guard let context = X509_STORE_CTX_new() else { return "the certificate cannot be checked" }
      defer { X509_STORE_CTX_free(context) }
      guard X509_STORE_CTX_init(context, store, certificate, nil) == 1,
        let parameters = X509_STORE_CTX_get0_param(context)
      else { return "the certificate cannot be checked" }
      X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
      X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
      if !revocations.isEmpty {
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_CRL_CHECK))
      }
      X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT)
      // 112 bits: RSA from 2,048 bits on, and no SHA-1.
      X509_VERIFY_PARAM_set_auth_level(parameters, 2)
      guard X509_verify_cert(context) != 1 else { return nil }
      return String(cString: X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context))))
    }

    private static func readList(_ der: [UInt8]) -> OpaquePointer? {
      der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_X509_CRL(nil, &start, buffer.count)
      }
    }

    private static func read(_ der: [UInt8]) -> OpaquePointer? {
      der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_X509(nil, &start, buffer.count)
      }
    }
  }
#endif
