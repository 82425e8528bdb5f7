import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryWorld

/// How a session sends its requests.
public struct ODataSessionOptions: Sendable {
  /// Other origins (`https://host:443`) that `headers`, `credentials` and the token of `usesCSRF` may
  /// go to, beside that of the first request of the session; none by default.
  public var origins: Set<String> = []
  /// Added to each request that does not set them itself.
  public var headers: HTTPHeaders = [:]
  /// The language of texts, as `de` or `pt-BR`: sent as `Accept-Language` and `sap-language`.
  /// That of the system by default; nil sends neither.
  public var language: String? = SystemLanguage.preferred
  /// Whether answers may come packed with gzip; on by default.
  public var acceptsCompressed: Bool = true
  /// For requests that name none of their own.
  public var deadlines: TransportDeadlines = TransportDeadlines()
  /// Asked before each request, in place of `language` and `deadlines`; nil by default.
  ///
  /// So they can change while the session is in use. It must answer at once.
  public var currentDefaults: (@Sendable () -> ODataRequestDefaults)?

  /// Tried at a challenge before `credentialStore` and `credentialSource`; nil by default.
  public var credentials: ODataCredentials?
  /// Whether `credentials` are sent with the first request already; off by default, so that they
  /// go nowhere without a question.
  public var presentsCredentialsBeforeChallenge: Bool = false
  /// Who is asked for credentials; with none, which is the default, a 401 comes through.
  public var credentialSource: (any ODataCredentialSource)?
  /// Where credentials are kept between starts of the app; nowhere by default.
  public var credentialStore: (any ODataCredentialStore)?
  /// Tried when a proxy asks; nil by default.
  public var proxyCredentials: ODataCredentials?
  /// Whether cookies are taken and sent; on by default. They live as long as the session.
  public var usesCookies: Bool = true
  /// Whether changes carry a token against forged requests (`X-CSRF-Token`); off by default.
  ///
  /// The token is taken from the first GET, or fetched before the first change, and kept in memory.
  public var usesCSRF: Bool = false

  /// The channel of requests that name none; HTTP by default.
  public var channel: ODataChannel = .http
  /// What carries requests of `ODataChannel.messaging`; nil by default.
  public var messaging: (any MessagingChannel)?

  /// Keeps answers to GET; none by default.
  public var cache: ODataDownloadCache?
  /// How requests use the cache that name no policy.
  public var cachePolicy: ODataCachePolicy = .askServerIfModified

  /// What each member names as its default.
  public init() {}
}

/// What a request has where neither it nor the session's options say otherwise.
public struct ODataRequestDefaults: Sendable {
  /// Added where neither the request nor the session sets a header of that name.
  public var headers: HTTPHeaders = [:]
  /// As `ODataSessionOptions.language`.
  public var language: String? = SystemLanguage.preferred
  /// As `ODataSessionOptions.deadlines`.
  public var deadlines: TransportDeadlines = TransportDeadlines()
  /// The port of `https` addresses that name none; 443 unless set otherwise.
  public var httpsPort: Int = 443

  /// What each member names as its default.
  public init() {}
}

/// Sends the requests to one service: headers of the app, language, credentials, cookies, redirects,
/// errors.
///
/// Any number of tasks may send at once. A request is sent again only where the service has
/// answered that it did nothing: 401, a proxy's 407, and 403 for want of a token.
public actor ODataSession {
  let transport: any Transport
  let options: ODataSessionOptions
  let proxy: (host: String, port: Int)
  let world: World
  /// The credentials that each origin took last, and the user that was last asked about.
  var accepted: [String: Accepted] = [:]
  var acceptedByProxy: Accepted?
  var lastUser = ""
  var jar = HTTPCookieJar()
  /// That of the first request: what belongs to the service goes nowhere else.
  private var home: String?
  private var tokens: [String: String] = [:]
  private var isFetchingToken = false
  private var tokenWaiters: [CheckedContinuation<Void, Never>] = []

  struct Accepted {
    let credentials: ODataCredentials
    /// Known where they answered a challenge.
    let space: ODataProtectionSpace?
  }

  /// Over a given transport; the session does not know a proxy's name then.
  public init(
    _ transport: any Transport = SystemTransport.make(),
    options: ODataSessionOptions = ODataSessionOptions()
  ) {
    self.transport = transport
    self.options = options
    proxy = ("", 0)
    world = .system()
  }

  /// Over a transport of its own; so the session knows the name of the proxy.
  public init(
    transport: TransportOptions, options: ODataSessionOptions = ODataSessionOptions()
  ) {
    self.init(SystemTransport.make(transport), options, transport.proxy, .system())
  }

  init(
    _ transport: any Transport, _ options: ODataSessionOptions, _ proxy: TransportOptions.Proxy,
    _ world: World
  ) {
    self.transport = transport
    self.options = options
    self.world = world
    if case .server(let host, let port) = proxy {
      self.proxy = (host.lowercased(), port)
    } else {
      self.proxy = ("", 0)
    }
  }

  /// Sends a request to an absolute address and reads the whole answer, whatever its status.
  ///
  /// A GET may be answered by the cache, as its policy says. Throws `transport`, `redirect` for one
  /// that is not followed, and `notCached`.
  public func send(_ request: ODataRequest) async throws(ODataClientError) -> ODataResponse {
    let request = prepared(request)
    if let cache = request.cache ?? options.cache, request.method == .get,
      request.headers["Range"] == nil
    {
      return try await send(request, cache)
    }
    let (response, address) = try await begin(request)
    if let cache = request.cache ?? options.cache, request.method.isChange {
      await forget(request, cache)
    }
    return try await whole(response, address, Self.name(request))
  }

  /// As `send`, but throws `http` for what is no success.
  public func sendChecked(_ request: ODataRequest) async throws(ODataClientError) -> ODataResponse {
    let response = try await send(request)
    guard response.isSuccess else {
      throw ODataClientError(ODataHTTPError(response), Self.name(prepared(request)))
    }
    return response
  }

  /// Sends a request and returns when the head of a success is there; the body may still come.
  ///
  /// Throws `transport`, `redirect`, and `http` for a status that is no success.
  public func open(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> (response: TransportResponse, address: String) {
    let request = prepared(request)
    let (response, address) = try await begin(request)
    guard !(200..<300).contains(response.status) else { return (response, address) }
    let whole = try await whole(response, address, Self.name(request))
    throw ODataClientError(ODataHTTPError(whole), Self.name(request))
  }

  /// Forgets credentials, cookies and the token, as at the end of a user's work. What a
  /// `credentialStore` keeps stays there.
  public func clear() {
    accepted = [:]
    acceptedByProxy = nil
    lastUser = ""
    jar.clear()
    tokens = [:]
  }

  /// Whether what the app gave for its service may go with a request to this address.
  func isHome(_ address: String) -> Bool {
    HTTPAddress(address).map { isHome($0) } ?? false
  }

  func isHome(_ address: HTTPAddress) -> Bool {
    if home == nil { home = address.origin }
    return address.origin == home || options.origins.contains(address.origin)
  }

  func whole(
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

  func begin(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> (TransportResponse, String) {
    let isHome = isHome(request.address)
    guard options.usesCSRF, isHome, let origin = HTTPAddress(request.address)?.origin else {
      return try await follow(request)
    }
    guard request.method.isChange else {
      var reading = request
      if tokens[origin] == nil && reading.headers["X-CSRF-Token"] == nil {
        reading.headers["X-CSRF-Token"] = "Fetch"
      }
      let answer = try await follow(reading)
      keepToken(of: answer.0, origin)
      return answer
    }
    var request = request
    if tokens[origin] == nil { try await fetchToken(for: request, origin, inPlaceOf: nil) }
    let used = tokens[origin]
    request.headers["X-CSRF-Token"] = used
    let answer = try await follow(request)
    guard answer.0.status == 403,
      answer.0.headers["X-CSRF-Token"]?.lowercased() == "required"
    else { return answer }
    answer.0.body.cancel()
    try await fetchToken(for: request, origin, inPlaceOf: used)
    request.headers["X-CSRF-Token"] = tokens[origin]
    request.progress?(TransportProgress())
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
        response.body.cancel()
        throw ODataClientError(
          .redirect(location: target), name,
          request.method.isChange
            ? "send the change to that address, if you trust it"
            : "open the service there, if you trust it", wasSent: true)
      }
      response.body.cancel()
      guard seen.insert(target).inserted, seen.count <= ODataClientLimits.redirects else {
        throw ODataClientError(
          .redirect(location: target), name, "check the service: its redirects lead in a circle",
          wasSent: true)
      }
      request.address = target
    }
  }

  private static func redirect(_ response: TransportResponse) -> String? {
    guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
    return response.headers["Location"]
  }

  /// Sends a GET for a token; everybody else who needs one meanwhile waits for this one.
  private func fetchToken(
    for request: ODataRequest, _ origin: String, inPlaceOf old: String?
  ) async throws(ODataClientError) {
    while isFetchingToken {
      await withCheckedContinuation { continuation in
        // A task that prefers an executor may have left the actor since it looked.
        if isFetchingToken { tokenWaiters.append(continuation) } else { continuation.resume() }
      }
    }
    // Somebody has fetched another one meanwhile.
    guard tokens[origin] == old else { return }
    isFetchingToken = true
    defer {
      isFetchingToken = false
      for waiter in tokenWaiters { waiter.resume() }
      tokenWaiters = []
    }
    let path = request.address.prefix { $0 != "?" && $0 != "#" }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? String(path)
    var fetch = ODataRequest(
      folder, headers: ["X-CSRF-Token": "Fetch", "Accept": "*/*"])
    fetch.channel = request.channel
    fetch.ownCredentials = request.ownCredentials
    let (response, _) = try await follow(fetch)
    response.body.cancel()
    tokens[origin] = nil
    keepToken(of: response, origin)
  }

  private func keepToken(of response: TransportResponse, _ origin: String) {
    guard let value = response.headers["X-CSRF-Token"], value.lowercased() != "required",
      !value.isEmpty
    else { return }
    tokens[origin] = value
  }

  static func name(_ request: ODataRequest) -> String { "\(request.method) \(request.address)" }
}
