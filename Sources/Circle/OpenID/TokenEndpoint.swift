import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryText
import FerryWorld

/// What the issuer gives for a code or a refresh token.
struct TokenAnswer: Sendable, Equatable {
  let accessToken: String
  let refreshToken: String?
  let identityToken: String?
  let validSeconds: Int64

  /// Errors: `badDocument`.
  init(_ bytes: [UInt8], from address: String) throws(OpenIDError) {
    guard let root = try? JSONNode.parse(bytes, nodeLimit: 1_000),
      let access = root["access_token"]?.string, !access.isEmpty
    else { throw OpenIDError.badDocument("\(address) gave no token") }
    if let kind = root["token_type"]?.string, kind.lowercased() != "bearer" {
      throw OpenIDError.badDocument(
        "\(address) gave a token of the kind \(OpenIDError.short(kind))")
    }
    accessToken = access
    refreshToken = root["refresh_token"]?.string
    identityToken = root["id_token"]?.string
    // Some issuers write it as text.
    let seconds = root["expires_in"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
    validSeconds = max(0, min(seconds ?? TokenAnswer.assumedSeconds, TokenAnswer.mostSeconds))
  }

  /// Where the issuer does not say how long a token lives.
  static let assumedSeconds: Int64 = 300
  static let mostSeconds: Int64 = 86_400
}

/// Sends forms to an issuer and reads its answers.
struct TokenEndpoint: Sendable {
  let transport: any Transport

  /// Errors: those of RFC 6749 as `AuthorizationRequest.failure` has them; `issuerAway`,
  /// `badDocument`. `refusal` sees the issuer's own word first.
  func post(
    _ fields: [(String, String)], to address: String,
    refusal: (String) -> OpenIDError? = { _ in nil }
  ) async throws(OpenIDError) -> [UInt8] {
    let request = TransportRequest(
      url: address, method: .post,
      headers: [
        "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
      ], body: Array(FormText.encode(fields).utf8), deadlines: OpenIDProvider.patience)
    let (status, bytes) = try await OpenIDProvider.send(request, transport)
    if status == 200 { return bytes }
    guard (400..<500).contains(status), status != 408, status != 429,
      let root = try? JSONNode.parse(bytes, nodeLimit: 1_000), let error = root["error"]?.string
    else { throw OpenIDError.away("\(address) answered \(status)") }
    throw refusal(error)
      ?? AuthorizationRequest.failure(error, root["error_description"]?.string)
  }
}

/// What an identity token says. It came straight from the issuer over TLS, so its signature is not
/// looked at (OpenID Connect Core 1.0, 3.1.3.7); whose it is and for whom is.
enum IdentityToken {
  /// Returns when it ends. Errors: `badDocument`, `otherIssuer`, `otherLogin`.
  static func check(
    _ text: String, _ provider: OpenIDProvider, _ app: OpenIDApp, nonce: String?, now: Timestamp
  ) throws(OpenIDError) -> Timestamp {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64.decode(parts[1], .url),
      let claims = try? JSONNode.parse(bytes, nodeLimit: 10_000)
    else { throw OpenIDError.badDocument("the issuer gave an identity token that cannot be read") }
    guard let issuer = claims["iss"]?.string, OpenIDProvider.isSame(issuer, provider.issuer) else {
      throw OpenIDError(
        .otherIssuer, "the identity token is of another issuer", hint: "Log in again.")
    }
    let audience = claims["aud"]
    let names = audience?.array?.compactMap(\.string) ?? audience?.string.map { [$0] } ?? []
    guard names.contains(app.clientID), nonce == nil || claims["nonce"]?.string == nonce else {
      throw OpenIDError(
        .otherLogin, "the identity token does not belong to this login", hint: "Log in again.")
    }
    // Five minutes for the clocks of issuer and device.
    guard let end = claims["exp"]?.integer, end < 1 << 40,
      now.milliseconds / 1_000 < end + 300
    else {
      throw OpenIDError(
        .badDocument, "the identity token has expired",
        hint: "Compare the clocks of the issuer and of this device.")
    }
    return Timestamp(milliseconds: end * 1_000)
  }
}
