#if canImport(Security)
  import Foundation
  import Security
#else
  import COpenSSL
#endif

/// A certificate with its private key, and those that it is signed by, out of a file of PKCS#12.
public struct PKCS12: Sendable, Equatable {
  /// A private key of a kind that is known here.
  public enum Key: Sendable, Equatable {
    case rsa(RSAKey)
    case p256(P256Key)
  }

  /// A larger file is refused, in bytes.
  public static let limitBytes = 1 << 20
  /// A file that asks for more rounds than this to try one password is refused.
  public static let limitRounds = 10_000_000

  /// The certificate that belongs to the key, else the first one, as DER.
  public let certificate: [UInt8]
  /// nil where the file has none, or one of another kind.
  public let key: Key?
  /// Other certificates of the file, as DER.
  public let chain: [[UInt8]]

  init(certificate: [UInt8], key: Key?, chain: [[UInt8]]) {
    self.certificate = certificate
    self.key = key
    self.chain = chain
  }

  /// Opens a file with its password; nil when that is wrong. Blocks its thread for as many rounds as
  /// the file asks for.
  public static func open(_ bytes: [UInt8], password: String) throws(CryptoError) -> PKCS12? {
    guard bytes.count <= limitBytes else {
      throw CryptoError(
        "the PKCS#12 file has \(bytes.count) bytes", hint: "Give a file of at most 1 MB.")
    }
    guard PKCS12Rounds.most(in: bytes[...]) <= limitRounds else {
      throw CryptoError(
        "the PKCS#12 file asks for more than \(limitRounds) rounds",
        hint: "Export it again with fewer rounds.")
    }
    switch PKCS12Adapter.open(bytes, password) {
    case .opened(let file): return file
    case .wrongPassword: return nil
    case .damaged:
      throw CryptoError(
        "the bytes are not a complete PKCS#12 file with a certificate",
        hint: "Export the certificate again.")
    }
  }
}

/// How many rounds of a derivation a file asks for before a password is judged.
enum PKCS12Rounds {
  /// The largest whole number that stands right behind a salt, wherever it stands.
  static func most(in bytes: ArraySlice<UInt8>, depth: Int = 0) -> Int {
    guard depth < 24 else { return 0 }
    var most = 0
    var rest = bytes
    var wasSalt = false
    while let (tag, content, next) = value(rest) {
      if tag == 0x02 && wasSalt { most = max(most, number(content)) }
      wasSalt = tag == 0x04
      if tag & 0x20 != 0 || tag == 0x04 {
        most = max(most, self.most(in: content, depth: depth + 1))
      }
      rest = next
    }
    return most
  }

  /// The first value, and what is behind it. A length without an end takes all there is.
  private static func value(
    _ bytes: ArraySlice<UInt8>
  ) -> (UInt8, ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    guard bytes.count >= 2, let tag = bytes.first else { return nil }
    let first = bytes[bytes.startIndex + 1]
    var start = bytes.startIndex + 2
    var length = Int(first)
    if first == 0x80 { return (tag, bytes[start...], bytes[bytes.endIndex...]) }
    if first > 0x80 {
      let count = Int(first & 0x7F)
      guard count <= 4, bytes.endIndex - start >= count else { return nil }
      length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
      start += count
    }
    guard bytes.endIndex - start >= length else { return nil }
    return (tag, bytes[start..<start + length], bytes[(start + length)...])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    let digits = bytes.drop { $0 == 0 }
    return digits.count > 6 ? .max : digits.reduce(0) { $0 << 8 | Int($1) }
  }
}

private enum PKCS12Opening {
  case opened(PKCS12)
  case wrongPassword
  case damaged
}

#if canImport(Security)
  private enum PKCS12Adapter {
    static func open(_ bytes: [UInt8], _ password: String) -> PKCS12Opening {
      var items: CFArray?
      let options = [kSecImportExportPassphrase: password] as CFDictionary
      let status = SecPKCS12Import(Data(bytes) as CFData, options, &items)
      guard status != errSecAuthFailed else { return .wrongPassword }
      guard status == errSecSuccess, let found = items as? [[String: Any]] else { return .damaged }
      let all = found.flatMap { item in
        ((item[kSecImportItemCertChain as String] as? [SecCertificate]) ?? [])
          .map { [UInt8](SecCertificateCopyData($0) as Data) }
      }
      guard let first = all.first else { return .damaged }
      var key: SecKey?
      if let identity = found.first?[kSecImportItemIdentity as String],
        CFGetTypeID(identity as CFTypeRef) == SecIdentityGetTypeID()
      {
        // Judged by the line before; Swift cannot ask for types of Core Foundation.
        SecIdentityCopyPrivateKey(unsafeDowncast(identity as AnyObject, to: SecIdentity.self), &key)
      }
      let external = key.flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? }
      return .opened(
        PKCS12(
          certificate: first, key: external.flatMap { known([UInt8]($0)) },
          chain: Array(all.dropFirst())))
    }

    private static func known(_ bytes: [UInt8]) -> PKCS12.Key? {
      if let key = try? RSAKey(der: bytes) { return .rsa(key) }
      return (try? P256Key(x963: bytes)).map { .p256($0) }
    }
  }
#else
  private enum PKCS12Adapter {
    static func open(_ bytes: [UInt8], _ password: String) -> PKCS12Opening {
      defer { ERR_clear_error() }
      let file = bytes.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_PKCS12(nil, &start, buffer.count)
      }
      guard let file else { return .damaged }
      defer { PKCS12_free(file) }
      guard PKCS12_mac_present(file) == 0 || PKCS12_verify_mac(file, password, -1) == 1 else {
        return .wrongPassword
      }
      var key: OpaquePointer?
      var certificate: OpaquePointer?
      var others: OpaquePointer?
      guard PKCS12_parse(file, password, &key, &certificate, &others) == 1 else { return .damaged }
      defer {
        EVP_PKEY_free(key)
        X509_free(certificate)
        for place in 0..<max(0, OPENSSL_sk_num(others)) {
          X509_free(OpaquePointer(OPENSSL_sk_value(others, place)))
        }
        OPENSSL_sk_free(others)
      }
      var all: [[UInt8]] = []
      if let certificate, let der = encoded({ i2d_X509(certificate, $0) }) { all.append(der) }
      for place in 0..<max(0, OPENSSL_sk_num(others)) {
        let other = OpaquePointer(OPENSSL_sk_value(others, place))
        if let der = encoded({ i2d_X509(other, $0) }) { all.append(der) }
      }
      guard let first = all.first else { return .damaged }
      return .opened(
        PKCS12(certificate: first, key: key.flatMap(known), chain: Array(all.dropFirst())))
    }

    private static func known(_ key: OpaquePointer) -> PKCS12.Key? {
      guard let der = encoded({ i2d_PrivateKey(key, $0) }) else { return nil }
      if let key = try? RSAKey(der: der) { return .rsa(key) }
      return (try? P256Key(der: der)).map { .p256($0) }
    }
  }
#endif
