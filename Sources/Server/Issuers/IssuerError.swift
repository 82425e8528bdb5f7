/// Why a token of an issuer does not let its user in, or what is wrong with an issuer.
package struct IssuerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Closed today; more may come.
  package enum Code: String, Sendable, CaseIterable {
    /// The text is no signed token, or is longer than a token may be.
    case notAToken
    /// The token is signed in a way that is not taken, or not at all. RS256 and ES256 are taken.
    case algorithm
    /// The token is of another kind, such as a logout token.
    case type
    /// The issuer does not list the key that the token names.
    case unknownKey
    /// The signature is not that of the key.
    case signature
    /// Another issuer gave the token.
    case otherIssuer
    /// The token is for another program.
    case otherAudience
    /// The token is of another tenant than the mapping names.
    case otherTenant
    /// The token is not valid yet.
    case notYetValid
    /// The token's time is over.
    case expired
    /// The token does not say whose it is.
    case noIdentity
    /// No rule of the mapping fits the token: its user would see nothing.
    case nothingMapped
    /// The token names more groups than it can carry, so it names none.
    case tooManyGroups
    /// The issuer does not answer. It is tried again.
    case away
    /// The issuer's documents cannot be used.
    case badDocument
    /// The file of a mapping cannot be read.
    case badMapping
  }

  package let code: Code
  package let message: String
  /// What the reader can do.
  package let hint: String

  package init(_ code: Code, _ message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// Whether the same token may be taken later.
  package var isTransient: Bool { code == .away || code == .badDocument }

  package var description: String { "\(message). \(hint)" }
}
