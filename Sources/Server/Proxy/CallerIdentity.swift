import FerryHTTP
import FoundationEssentials

/// Who sends a request, as far as its head and its connection say.
struct CallerIdentity {
  /// Where the caller is, as far as trusted proxies say.
  let address: String
  let certificate: [UInt8]?
  let proof: GatewayProof?
  /// `X-Forwarded-For` for the service.
  let way: String?

  init(_ request: HTTPRequest, _ proxies: TrustedProxies, _ certificates: GatewayCertificates?) {
    address = proxies.client(of: request)
    certificate = CallerIdentity.certificate(request, proxies, certificates)
    if let password = BasicCredentials(request.headers) {
      proof = .password(user: password.user, password: password.password)
    } else if let token = request.bearerToken {
      proof = .token(token)
    } else if request.headers["Authorization"] == nil, let certificate {
      proof = .certificate(certificate)
    } else {
      proof = nil
    }
    guard let peer = request.peer else {
      way = nil
      return
    }
    // The client's own words would be believed by a service that believes the door.
    way = address == peer ? peer : "\(address), \(peer)"
  }

  private static func certificate(
    _ request: HTTPRequest, _ proxies: TrustedProxies, _ certificates: GatewayCertificates?
  ) -> [UInt8]? {
    guard let certificates else { return nil }
    guard certificates.comeThroughProxies, proxies.include(request) else {
      return request.clientCertificate
    }
    // The connection is the proxy's: a certificate on it is the proxy's own.
    let values = request.headers.values("SSL_CLIENT_CERT")
    return values.count == 1 ? der(values[0]) : nil
  }

  /// PEM, also with `%0A` or blanks in place of its line breaks, or Base64 alone.
  private static func der(_ text: String) -> [UInt8]? {
    var text = text.contains("%") ? PercentEncoding.decode(text.utf8) ?? "" : text
    if let begin = text.firstRange(of: "-----BEGIN CERTIFICATE-----"),
      let end = text.firstRange(of: "-----END CERTIFICATE-----"), begin.upperBound <= end.lowerBound
    {
      text = String(text[begin.upperBound..<end.lowerBound])
    }
    let digits = text.filter { !$0.isWhitespace }
    return Data(base64Encoded: digits).flatMap { $0.isEmpty ? nil : [UInt8]($0) }
  }
}
