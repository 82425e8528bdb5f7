import FerryWorld

/// What could not be done with a certificate or a seed file, and what to do about it.
public struct CertificateError: NumberedError, Sendable {
  public static let domain = "FerryCertificates"

  /// Every way in which a call can fail.
  public enum Code: Int, NumberedCode {
    case damaged = 1
    case unsupported = 2
    case tooLarge = 3

    public var cause: String {
      switch self {
      case .damaged: "The bytes are no certificate, or not all of it."
      case .unsupported: "The certificate has a form that is not read here."
      case .tooLarge: "The bytes are above the limit."
      }
    }

    public var cure: String {
      switch self {
      case .damaged: "Give the whole certificate as DER, or as Base64 of it."
      case .unsupported: "Ask for an X.509 certificate of version 1 to 3."
      case .tooLarge: "Give one certificate of at most 1 MB."
      }
    }
  }

  public let code: Code
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
