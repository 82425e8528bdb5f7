import FerryHTTP
import FerryHTTPClient
import FerryOData

/// How a session sends its requests.
public struct ODataSessionOptions: Sendable {
  /// Added to each request that does not set them itself.
  public var headers: HTTPHeaders = [:]
  /// The language of texts, as `de` or `pt-BR`: sent as `Accept-Language` and `sap-language`.
  /// Nil sends neither; the default is nil.
  public var language: String?
  /// Whether answers may come packed with gzip; on by default.
  public var acceptsCompressed: Bool = true
  public var deadlines: TransportDeadlines = TransportDeadlines()

  public init() {}
}

/// Sends the requests to one service: headers of the app, language, redirects, errors.
///
/// Any number of tasks may send at once. Nothing is sent twice.
public actor ODataSession {
  private let transport: any Transport
  private let options: ODataSessionOptions

  public init(
    _ transport: any Transport = SystemTransport.make(),
    options: ODataSessionOptions = ODataSessionOptions()
  ) {
    self.transport = transport
    self.options = options
  }

  /// Sends a request to an absolute address and reads the whole answer, whatever its status.
  ///
  /// Throws `transport`, and `redirect` for one that is not followed.
  public func send(_ request: ODataRequest) async throws(ODataClientError) -> ODataResponse {
    let (response, address) = try await begin(request)
    return try await whole(response, address, Self.name(request))
  }

  /// As `send`, but throws `http` for what is no success.
  public func sendChecked(_ request: ODataRequest) async throws(ODataClientError) -> ODataResponse {
    let response = try await send(request)
    guard response.isSuccess else {
      throw ODataClientError(ODataHTTPError(response), Self.name(request))
    }
    return response
  }

  /// Sends a request and returns when the head of a success is there; the body may still come.
  ///
  /// Throws `transport`, `redirect`, and `http` for a status that is no success.
  public func open(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> (response: TransportResponse, address: String) {
    let (response, address) = try await begin(request)
    guard !(200..<300).contains(response.status) else { return (response, address) }
    let whole = try await whole(response, address, Self.name(request))
    throw ODataClientError(ODataHTTPError(whole), Self.name(request))
  }

  private func whole(
    _ response: TransportResponse, _ address: String, _ name: String
  ) async throws(ODataClientError) -> ODataResponse {
    let isSuccess = (200..<300).contains(response.status)
    let limit = isSuccess ? ODataClientLimits.responseBytes : ODataClientLimits.errorBytes
    do throws(TransportError) {
      let body = try await response.body.collect(limitBytes: limit)
      return ODataResponse(
        status: response.status, headers: response.headers, body: body, address: address,
        isCompressed: response.isCompressed)
    } catch {
      throw ODataClientError(error, name)
    }
  }

  private func begin(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> (TransportResponse, String) {
    var request = request
    var seen: Set<String> = []
    while true {
      let response = try await sendOnce(request)
      guard let location = Self.redirect(response) else { return (response, request.address) }
      let target = ODataURL.resolved(location, base: request.address)
      let name = Self.name(request)
      let isSame = ODataURL.origin(target) == ODataURL.origin(request.address)
      guard !request.method.isChange, isSame else {
        throw ODataClientError(
          .redirect(location: target), name,
          request.method.isChange
            ? "send the change to that address, if you trust it"
            : "open the service there, if you trust it", wasSent: true)
      }
      guard seen.insert(target).inserted, seen.count <= ODataClientLimits.redirects else {
        throw ODataClientError(
          .redirect(location: target), name, "look at the service: it sends in a circle",
          wasSent: true)
      }
      request.address = target
    }
  }

  private func sendOnce(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> TransportResponse {
    var outgoing = TransportRequest(
      url: request.address, method: request.method, headers: headers(of: request),
      body: request.body, deadlines: options.deadlines)
    outgoing.acceptsCompressed = options.acceptsCompressed && request.headers["Range"] == nil
    do throws(TransportError) {
      return try await transport.send(outgoing)
    } catch {
      throw ODataClientError(error, Self.name(request))
    }
  }

  private func headers(of request: ODataRequest) -> HTTPHeaders {
    var headers = request.headers
    for field in options.headers.fields where request.headers[field.name] == nil {
      headers.add(field.name, field.value)
    }
    if let language = options.language {
      for name in ["Accept-Language", "sap-language"] where headers[name] == nil {
        headers[name] = language
      }
    }
    return headers
  }

  private static func redirect(_ response: TransportResponse) -> String? {
    guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
    return response.headers["Location"]
  }

  static func name(_ request: ODataRequest) -> String { "\(request.method) \(request.address)" }
}
