/// Who a server is over TLS: its certificate, the ones between it and its authority, and the key.
public struct TLSIdentity: Sendable, CustomStringConvertible {
  let certificates: String
  let key: String

  /// Both as PEM; the certificate of the server comes first.
  public init(certificates: String, key: String) {
    self.certificates = certificates
    self.key = key
  }

  /// Does not name the key.
  public var description: String { "TLSIdentity(\(certificates.utf8.count) bytes of certificates)" }
}
