/// Why the company's issuer did not give a token.
public struct OpenIDError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Closed today; more may come.
  public enum Code: String, Sendable, CaseIterable {
    /// The issuer does not answer, or answers that it is not available now. The same may succeed
    /// later.
    case issuerAway
    /// An address of the issuer has no TLS.
    case insecure
    /// The issuer's answer cannot be used.
    case badDocument
    /// Another issuer answered or gave the token.
    case otherIssuer
    /// The issuer does not offer this way of login to this app.
    case notOffered
    /// The answer does not belong to this login: somebody else may have sent it.
    case otherLogin
    /// The issuer refused: `message` has its reason.
    case refused
    /// The user closed the page, or did not agree.
    case cancelled
    /// The user did not log in before the code expired.
    case expired
    /// The user must log in on a page of the issuer to get a token.
    case needsLogin
    /// The secrets cannot be read or written now, for example because the vault is locked.
    case secrets
  }

  public let code: Code
  public let message: String
  /// What the user or the developer can do.
  public let hint: String

  public init(_ code: Code, _ message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// Whether the same may succeed later without anyone doing anything.
  public var isTransient: Bool { code == .issuerAway || code == .secrets }

  public var description: String { "\(message). \(hint)" }

  static func away(_ message: String) -> OpenIDError {
    OpenIDError(
      .issuerAway, message,
      hint: "Try again later. The data on the device can be used meanwhile.")
  }

  static func badDocument(_ message: String) -> OpenIDError {
    OpenIDError(.badDocument, message, hint: "Check the address of the issuer.")
  }

  /// Words of the issuer, short enough to be shown, and without what a terminal would obey.
  static func short(_ text: String) -> String {
    let scalars = text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
    let cut = String(String.UnicodeScalarView(scalars.prefix(300)))
    return scalars.count > 300 ? cut + "…" : cut
  }
}
