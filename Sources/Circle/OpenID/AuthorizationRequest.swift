import FerryCrypto
import FerryHTTP
import FerryModel
import FerryText

/// One login by page: the address to show, and what its answer must have. It touches nothing.
///
/// Authorization code with PKCE (RFC 6749, 7636): the code alone is worth nothing, since only this
/// device knows the verifier.
struct AuthorizationRequest {
  let address: String
  let redirect: String
  let verifier: String
  let nonce: String
  private let state: String
  private let provider: OpenIDProvider

  /// `random` gives that many bytes that nobody can guess.
  init(
    _ provider: OpenIDProvider, _ app: OpenIDApp, redirect: String, random: (Int) -> [UInt8]
  ) {
    self.provider = provider
    self.redirect = redirect
    verifier = Base64.encode(random(32), .url)
    state = Base64.encode(random(16), .url)
    nonce = Base64.encode(random(16), .url)
    let challenge = Base64.encode(SHA256Digest.hash(Array(verifier.utf8)), .url)
    var fields = [
      ("response_type", "code"), ("client_id", app.clientID), ("redirect_uri", redirect),
      ("scope", app.scopes.joined(separator: " ")), ("state", state), ("nonce", nonce),
      ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]
    for (name, value) in app.parameters.sorted(by: { $0.key < $1.key })
    where !fields.contains(where: { $0.0 == name }) { fields.append((name, value)) }
    let page = provider.authorizationAddress
    address = page + (page.contains("?") ? "&" : "?") + FormText.encode(fields)
  }

  /// The code in the address to which the page sent the user.
  ///
  /// Errors: `otherLogin`, `otherIssuer`, `cancelled`, `refused`, `issuerAway`.
  func code(from answer: String) throws(OpenIDError) -> String {
    let other = OpenIDError(
      .otherLogin, "the issuer's answer does not belong to this login", hint: "Log in again.")
    guard answer.utf8.count <= AuthorizationRequest.longestAnswer else { throw other }
    let parts = answer.prefix { $0 != "#" }
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == redirect, let fields = FormText.decode(parts[1]) else {
      throw other
    }
    guard equalInConstantTime(Array((fields["state"] ?? "").utf8), Array(state.utf8)) else {
      throw other
    }
    if let name = fields["iss"] {
      guard OpenIDProvider.isSame(name, provider.issuer) else {
        throw OpenIDError(
          .otherIssuer,
          "the answer to the login came from another issuer, \(OpenIDError.short(name))",
          hint: "Log in again.")
      }
    } else if provider.namesItself {
      throw OpenIDError(
        .otherIssuer, "the answer to the login names no issuer", hint: "Log in again.")
    }
    if let error = fields["error"] {
      throw AuthorizationRequest.failure(error, fields["error_description"])
    }
    guard let code = fields["code"], !code.isEmpty else { throw other }
    return code
  }

  private static let longestAnswer = 16 << 10

  /// An error as RFC 6749 names it.
  static func failure(_ error: String, _ description: String?) -> OpenIDError {
    let words = OpenIDError.short(description.map { "\(error): \($0)" } ?? error)
    switch error {
    case "access_denied":
      return OpenIDError(
        .cancelled, "the user or the issuer did not agree to the login (\(words))",
        hint: "Log in again.")
    case "server_error", "temporarily_unavailable":
      return .away("the issuer cannot answer now (\(words))")
    case "invalid_grant", "login_required", "interaction_required", "consent_required":
      return OpenIDError(
        .needsLogin, "the issuer asks the user to log in (\(words))", hint: "Log in again.")
    case "unauthorized_client", "unsupported_grant_type", "invalid_client":
      return OpenIDError(
        .notOffered, "the issuer does not offer this login to this app (\(words))",
        hint: "Check the app's registration at the issuer.")
    default:
      return OpenIDError(
        .refused, "the issuer refused (\(words))",
        hint: "Check the app's registration at the issuer.")
    }
  }
}

/// Fields as a form sends them, `application/x-www-form-urlencoded`.
enum FormText {
  static func encode(_ fields: [(String, String)]) -> String {
    fields.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }
      .joined(separator: "&")
  }

  /// Nil where a field is there twice or cannot be read.
  static func decode(_ text: Substring) -> [String: String]? {
    var fields: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(sides[0].utf8, plusIsBlank: true),
        let value = sides.count == 1
          ? "" : PercentEncoding.decode(sides[1].utf8, plusIsBlank: true),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return fields
  }
}
