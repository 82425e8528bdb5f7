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

  /// Tried at a challenge before `credentialSource` is asked; nil by default.
  public var credentials: ODataCredentials?
  /// Whether `credentials` are sent with the first request already; off by default, so that they
  /// go nowhere without a question.
  public var presentsCredentialsBeforeChallenge: Bool = false
  /// Who is asked for credentials; with none, which is the default, a 401 comes through.
  public var credentialSource: (any ODataCredentialSource)?
  /// Whether changes carry a token against forged requests (`X-CSRF-Token`); off by default.
  ///
  /// The token is taken from the first GET, or fetched before the first change, and kept in memory.
  public var usesCSRF: Bool = false

  public init() {}
}

/// Sends the requests to one service: headers of the app, language, credentials, redirects, errors.
///
/// Any number of tasks may send at once. A request is sent again only where the service has
/// answered that it did nothing: 401, and 403 for want of a token.
public actor ODataSession {
  private let transport: any Transport
  private let options: ODataSessionOptions
  /// The credentials that each origin took last, and the user that was last asked about.
  private var accepted: [String: ODataCredentials] = [:]
  private var lastUser = ""
  private var token: String?
  private var isFetchingToken = false
  private var tokenWaiters: [CheckedContinuation<Void, Never>] = []

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
    guard options.usesCSRF else { return try await follow(request) }
    guard request.method.isChange else {
      var reading = request
      if token == nil && reading.headers["X-CSRF-Token"] == nil {
        reading.headers["X-CSRF-Token"] = "Fetch"
      }
      let answer = try await follow(reading)
      keepToken(of: answer.0)
      return answer
    }
    var request = request
    if token == nil { try await fetchToken(for: request, inPlaceOf: nil) }
    let used = token
    request.headers["X-CSRF-Token"] = used
    let answer = try await follow(request)
    guard answer.0.status == 403,
      answer.0.headers["X-CSRF-Token"]?.lowercased() == "required"
    else { return answer }
    answer.0.body.cancel()
    try await fetchToken(for: request, inPlaceOf: used)
    request.headers["X-CSRF-Token"] = token
    return try await follow(request)
  }

  /// Sends a request with credentials, and goes on where the answer sends it.
  private func follow(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> (TransportResponse, String) {
    var request = request
    var seen: Set<String> = []
    while true {
      let response = try await sendSignedIn(request)
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

  /// Sends a request, and again with other credentials while the service wants some: at most as
  /// often as `ODataClientLimits.credentialTries` says.
  private func sendSignedIn(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> TransportResponse {
    let origin = ODataURL.origin(request.address) ?? ""
    let isOwn = request.headers["Authorization"] != nil
    var current = accepted[origin]
    if current == nil && options.presentsCredentialsBeforeChallenge {
      current = options.credentials
    }
    var tried = current.map { [$0] } ?? []
    var attempt = 0
    while true {
      var signed = request
      if !isOwn, let current { signed.headers["Authorization"] = current.header }
      let response = try await sendOnce(signed)
      guard response.status == 401, !isOwn else {
        if let current, response.status != 401 { accepted[origin] = current }
        return response
      }
      accepted[origin] = nil
      guard attempt < ODataClientLimits.credentialTries else { return response }
      attempt += 1
      let challenges = HTTPChallenge.parse(response.headers.values("WWW-Authenticate"))
      let next: ODataCredentials?
      if let given = options.credentials, !tried.contains(given),
        challenges.contains(where: { $0.isScheme(given.scheme) })
      {
        next = given
      } else {
        let question = ODataCredentialQuestion(
          origin: origin, realm: challenges.first?.realm ?? "", lastUser: lastUser,
          challenges: challenges, attempt: attempt)
        next = await options.credentialSource?.credentials(for: question)
      }
      guard let next else { return response }
      response.body.cancel()
      lastUser = next.user
      tried.append(next)
      current = next
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

  /// Sends a GET for a token; everybody else who needs one meanwhile waits for this one.
  private func fetchToken(
    for request: ODataRequest, inPlaceOf old: String?
  ) async throws(ODataClientError) {
    while isFetchingToken {
      await withCheckedContinuation { tokenWaiters.append($0) }
    }
    // Somebody has fetched another one meanwhile.
    guard token == old else { return }
    isFetchingToken = true
    defer {
      isFetchingToken = false
      for waiter in tokenWaiters { waiter.resume() }
      tokenWaiters = []
    }
    let path = request.address.prefix { $0 != "?" && $0 != "#" }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? String(path)
    let fetch = ODataRequest(
      folder, headers: ["X-CSRF-Token": "Fetch", "Accept": "*/*"])
    let (response, _) = try await follow(fetch)
    response.body.cancel()
    token = nil
    keepToken(of: response)
  }

  private func keepToken(of response: TransportResponse) {
    guard let value = response.headers["X-CSRF-Token"], value.lowercased() != "required",
      !value.isEmpty
    else { return }
    token = value
  }

  static func name(_ request: ODataRequest) -> String { "\(request.method) \(request.address)" }
}
