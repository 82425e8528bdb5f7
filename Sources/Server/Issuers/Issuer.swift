import FerryHTTPClient
import FerryJSON
import FerryModel
import FerryServer
import FerryWorld

/// A company's own login: whose tokens let users in, and what they give them.
///
/// It is a value; any thread.
package struct Issuer: TokenProvider {
  /// As the issuer writes it into its tokens.
  package let name: String
  package let mapping: Mapping
  private let audiences: [String]
  private let keys: IssuerKeys

  /// By how much the issuer's clock may differ from this server's.
  static let skew: Duration = .seconds(60)

  /// `audiences`: which programs a token may be for; one of them must be this server.
  package init(
    name: String, audiences: [String], mapping: Mapping, transport: any Transport, world: World
  ) {
    self.init(
      name: name, audiences: audiences, mapping: mapping, world: world,
      fetch: Issuer.fetch(over: transport))
  }

  init(
    name: String, audiences: [String], mapping: Mapping, world: World,
    fetch: @escaping IssuerKeys.Fetch
  ) {
    self.name = name
    self.audiences = audiences
    self.mapping = mapping
    keys = IssuerKeys(issuer: name, world: world, fetch: fetch)
  }

  package func login(token text: String, now: Timestamp) async throws(ServerError) -> TokenLogin? {
    do throws(IssuerError) {
      let token = try SignedToken(text)
      guard isIssuer(of: token) else { return nil }
      return try await judge(token, now: now).login
    } catch {
      throw ServerError(
        error.isTransient ? .issuerAway : .refusedToken, error.message, hint: error.hint,
        isTransient: error.isTransient, retryAfterSeconds: error.isTransient ? 5 : nil)
    }
  }

  /// What a token gives and how that comes; the signature is verified last.
  package struct Judgement: Sendable {
    package let login: TokenLogin
    package let outcome: Mapping.Outcome
  }

  /// Errors: every code of `IssuerError`.
  package func judge(_ text: String, now: Timestamp) async throws(IssuerError) -> Judgement {
    try await judge(try SignedToken(text), now: now)
  }

  func isIssuer(of token: SignedToken) -> Bool {
    token.payload["iss"]?.string?.hasBytes(of: name) ?? false
  }

  private func judge(_ token: SignedToken, now: Timestamp) async throws(IssuerError) -> Judgement {
    let payload = token.payload
    guard isIssuer(of: token) else {
      throw IssuerError(
        .otherIssuer,
        "the token was issued by \(SignedToken.short(payload["iss"]?.string ?? "")), not by "
          + name, hint: "Log in with \(name).")
    }
    let key = try await keys.key(token.keyID)
    guard token.isSigned(by: key) else {
      throw IssuerError(
        .signature, "the signature of the token is wrong", hint: "Get a new token.")
    }
    try checkAudience(payload)
    let issued = try Issuer.checkTimes(payload, now: now)
    if let tenant = mapping.tenant, payload["tid"]?.string?.hasBytes(of: tenant) != true {
      throw IssuerError(
        .otherTenant, "the token belongs to another tenant than the one in the mapping",
        hint: "Log in with an account of this company.")
    }
    guard let identity = payload[mapping.identity]?.string, !identity.isEmpty,
      identity.utf8.count <= Issuer.longestIdentity
    else {
      throw IssuerError(
        .noIdentity, "the token has no claim \(mapping.identity)",
        hint: "Let the issuer add this claim, or set another \"identity\" in the mapping.")
    }
    let outcome = try mapping.apply(to: payload)
    guard mapping.rules.isEmpty || outcome.fits.contains(true) else {
      throw IssuerError(
        .nothingMapped, "no rule of the mapping fits the token, so its user has no rights here",
        hint: "`ferry login --try` explains each rule. Add the user to a group, or add a rule.")
    }
    let user = UserRecord(
      name: TokenLogin.user(issuer: name, identity: identity), roles: outcome.roles,
      claims: outcome.claims, packages: outcome.packages)
    return Judgement(login: TokenLogin(record: user, issued: issued), outcome: outcome)
  }

  private static let longestIdentity = 255

  private func checkAudience(_ payload: JSONNode) throws(IssuerError) {
    let named = Mapping.texts(payload["aud"])
    guard named.contains(where: { name in audiences.contains { $0.hasBytes(of: name) } }) else {
      let text = named.map(SignedToken.short).prefix(4).joined(separator: ", ")
      throw IssuerError(
        .otherAudience, "the token's audience is \(text.isEmpty ? "empty" : text)",
        hint: "Ask the issuer for a token for \(audiences.joined(separator: " or ")).")
    }
  }

  /// When it was given.
  private static func checkTimes(
    _ payload: JSONNode, now: Timestamp
  ) throws(IssuerError) -> Timestamp {
    guard let end = time(payload["exp"]) else {
      throw IssuerError(
        .expired, "the token has no expiry time",
        hint: "Let the issuer write \"exp\" into its tokens.")
    }
    guard now < end.advanced(by: skew) else {
      let seconds = (now.milliseconds - end.milliseconds) / 1_000
      throw IssuerError(
        .expired, "the token expired \(span(seconds)) ago",
        hint: "Get a new token. If it is new, compare the clocks of issuer and server.")
    }
    let begin = [payload["nbf"], payload["iat"]].compactMap { time($0) }.max()
    if let begin, begin > now.advanced(by: skew) {
      let seconds = (begin.milliseconds - now.milliseconds) / 1_000
      throw IssuerError(
        .notYetValid, "the token is not valid yet, but in \(span(seconds))",
        hint: "Compare the clocks of issuer and server.")
    }
    return min(time(payload["iat"]) ?? begin ?? now, now)
  }

  private static func span(_ seconds: Int64) -> String {
    seconds < 120
      ? "\(seconds) s"
      : seconds < 7_200
        ? "\(seconds / 60) min"
        : seconds < 172_800 ? "\(seconds / 3_600) h" : "\(seconds / 86_400) days"
  }

  /// Seconds since 1970, perhaps with a fraction.
  private static func time(_ node: JSONNode?) -> Timestamp? {
    guard let node, case .number(let text) = node.content, let seconds = Double(text),
      (-1e14...1e14).contains(seconds)
    else { return nil }
    return Int64(exactly: (seconds * 1_000).rounded(.towardZero)).map {
      Timestamp(milliseconds: $0)
    }
  }
}
