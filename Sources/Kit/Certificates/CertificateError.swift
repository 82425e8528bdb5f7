import FerryWorld

/// What could not be done with a certificate or a seed file, and what to do about it.
public struct CertificateError: NumberedError, Sendable {
  public static let domain = "FerryCertificates"

  /// Every way in which a call can fail.
  public enum Code: Int, NumberedCode {
    case damaged = 1
    case unsupported = 2
    case tooLarge = 3
    case password = 4
    case noFile = 5
    case invalidRequest = 6
    case refused = 7
    case noAnswer = 8
    case foreign = 9

    public var cause: String {
      switch self {
      case .damaged: "The bytes are not a complete certificate."
      case .unsupported: "This version cannot read the form of the certificate."
      case .tooLarge: "The bytes are above the limit."
      case .password: "The password does not open the file of PKCS#12."
      case .noFile: "The file does not exist or cannot be read."
      case .invalidRequest: "The name or the challenge of the request is not valid."
      case .refused: "The authority refused the challenge or the name."
      case .noAnswer: "The authority could not be reached."
      case .foreign: "The certificate is not the one that was requested."
      }
    }

    public var cure: String {
      switch self {
      case .damaged: "Give the whole certificate as DER, or as Base64 of it."
      case .unsupported: "Ask for an X.509 certificate of version 1 to 3."
      case .tooLarge: "Give one certificate of at most 1 MB."
      case .password: "Give the password with which the file was exported."
      case .noFile: "Give the path of a file that this app may read."
      case .invalidRequest: "Give a name of 1 to 64 letters and a challenge of 1 to 255 bytes."
      case .refused: "Ask for another challenge: most work once and only for some minutes."
      case .noAnswer: "Try again when there is a network; the same key can be used."
      case .foreign: "Do not use the certificate; ask the administrator of the authority."
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
