import FerryHTTP
public import FerryHTTPClient
import FerryJSON

/// The addresses of a company's issuer, as it publishes them (OpenID Connect Discovery 1.0).
public struct OpenIDProvider: Sendable, Equatable {
  /// The name that the issuer writes into its tokens.
  public let issuer: String
  /// The page that users log in on.
  public let authorizationAddress: String
  public let tokenAddress: String
  /// The address for codes of devices without a browser; nil if there is none.
  public let deviceAddress: String?
  /// Whether the answer to a login must name the issuer (RFC 9207).
  let namesItself: Bool

  /// Reads the addresses from the issuer. Errors: `insecure`, `issuerAway`, `badDocument`,
  /// `otherIssuer`, `notOffered`.
  public static func discover(
    _ issuer: String, over transport: any Transport
  ) async throws(OpenIDError) -> OpenIDProvider {
    try checkTLS(issuer)
    var base = issuer
    while base.hasSuffix("/") { base.removeLast() }
    let address = base + "/.well-known/openid-configuration"
    var request = TransportRequest(url: address, deadlines: OpenIDProvider.patience)
    request.headers["Accept"] = "application/json"
    let (status, bytes) = try await OpenIDProvider.send(request, transport)
    guard status == 200 else { throw OpenIDError.away("\(address) answered \(status)") }
    return try OpenIDProvider(document: bytes, of: issuer)
  }

  /// Reads the document that an issuer publishes. Errors: as `discover`.
  public init(document: [UInt8], of issuer: String) throws(OpenIDError) {
    guard let root = try? JSONNode.parse(document, nodeLimit: 10_000),
      let name = root["issuer"]?.string
    else { throw OpenIDError.badDocument("\(issuer) publishes no OpenID configuration") }
    guard OpenIDProvider.isSame(name, issuer) else {
      throw OpenIDError(
        .otherIssuer,
        "the OpenID configuration of \(issuer) names the issuer \(OpenIDError.short(name))",
        hint: name.contains("{tenantid}")
          ? "Write the address with the id of your company's own tenant."
          : "Use the address that the configuration names.")
    }
    func address(_ field: String) throws(OpenIDError) -> String? {
      guard let text = root[field]?.string else { return nil }
      try OpenIDProvider.checkTLS(text)
      return text
    }
    guard let authorization = try address("authorization_endpoint"),
      let token = try address("token_endpoint")
    else { throw OpenIDError.badDocument("\(issuer) names no address for logins and tokens") }
    // Who lists no methods may have them all the same, as Entra ID does.
    if let methods = root["code_challenge_methods_supported"]?.array,
      !methods.contains(where: { $0.string == "S256" })
    {
      throw OpenIDError(
        .notOffered, "\(issuer) does not offer PKCE with S256 for logins of apps",
        hint: "Switch PKCE with S256 on at the issuer.")
    }
    self.issuer = name
    authorizationAddress = authorization
    tokenAddress = token
    deviceAddress = try address("device_authorization_endpoint")
    namesItself = root["authorization_response_iss_parameter_supported"]?.boolean == true
  }

  /// A slash at the end makes no other issuer; everything else counts.
  static func isSame(_ left: String, _ right: String) -> Bool {
    func cut(_ text: String) -> [UInt8] {
      Array(text.hasSuffix("/") ? text.dropLast().utf8 : text[...].utf8)
    }
    return cut(left) == cut(right)
  }

  private static func checkTLS(_ address: String) throws(OpenIDError) {
    guard HTTPAddress(address)?.isSecure == true else {
      throw OpenIDError(
        .insecure, "the address \(OpenIDError.short(address)) does not begin with https://",
        hint: "Write https://…")
    }
  }

  static let patience = TransportDeadlines(
    connect: .seconds(10), total: .seconds(30), idle: .seconds(30))

  /// Documents of Entra ID have 2 KB, tokens with many groups 30 KB.
  static let mostBytes = 256 << 10

  static func send(
    _ request: TransportRequest, _ transport: any Transport
  ) async throws(OpenIDError) -> (Int, [UInt8]) {
    do throws(TransportError) {
      let response = try await transport.send(request)
      return (response.status, try await response.body.collect(limitBytes: mostBytes))
    } catch {
      if error.code == .tooLarge {
        throw OpenIDError.badDocument("\(request.url) answers more than \(mostBytes) bytes")
      }
      throw OpenIDError.away("\(request.url): \(error.message)")
    }
  }
}
