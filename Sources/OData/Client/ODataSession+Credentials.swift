import FerryHTTP
import FerryHTTPClient
import FerryOData

extension ODataSession {
  /// Sends a request, and again with other credentials while the service or a proxy wants some: at
  /// most as often as `ODataClientLimits.credentialTries` says for each of both.
  func sendSignedIn(
    _ request: ODataRequest
  ) async throws(ODataClientError) -> TransportResponse {
    guard let address = HTTPAddress(request.address) else {
      throw ODataClientError(
        call: "\(request.address) is not an address", Self.name(request),
        hint: "give an address such as https://host/service/Items")
    }
    forgetSecrets(leavingTLS: address)
    let isOwn = request.headers["Authorization"] != nil
    var current = accepted[address.origin]
    if current == nil && options.presentsCredentialsBeforeChallenge {
      current = (request.ownCredentials ?? credentials(for: address)).map {
        Accepted(credentials: $0, space: nil)
      }
    }
    var proxyCurrent = acceptedByProxy
    var service = Tries(current?.credentials)
    var proxy = Tries(proxyCurrent?.credentials)
    while true {
      var signed = request
      if !isOwn, let current { sign(&signed, current.credentials) }
      let response = try await sendOnce(signed, address, proxyCurrent?.credentials.header)
      switch response.status {
      case 407:
        acceptedByProxy = nil
        let next = await next(response, of: proxyCurrent, address, nil, isProxy: true, &proxy)
        guard let next else { return response }
        proxyCurrent = next
      case 401 where !isOwn:
        accepted[address.origin] = nil
        let next = await next(
          response, of: current, address, request.ownCredentials, isProxy: false, &service)
        guard let next else {
          if let proxyCurrent { await keep(proxyCurrent, isProxy: true, address) }
          return response
        }
        current = next
      default:
        if let proxyCurrent { await keep(proxyCurrent, isProxy: true, address) }
        if !isOwn, let current { await keep(current, isProxy: false, address) }
        return response
      }
      response.body.cancel()
      // What was sent of the body does not count.
      request.progress?(TransportProgress())
    }
  }

  /// How often and with what one request was tried.
  private struct Tries {
    var tried: [ODataCredentials]
    var count = 0

    init(_ first: ODataCredentials?) { tried = first.map { [$0] } ?? [] }
  }

  /// What to try next; nil where the answer comes through.
  private func next(
    _ response: TransportResponse, of refused: Accepted?, _ address: HTTPAddress,
    _ own: ODataCredentials?, isProxy: Bool, _ tries: inout Tries
  ) async -> Accepted? {
    let challenges = HTTPChallenge.parse(
      response.headers.values(isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"))
    let realm = challenges.first { !$0.realm.isEmpty }?.realm ?? ""
    let space =
      isProxy
      ? ODataProtectionSpace(
        host: proxy.host, port: proxy.port, scheme: "http", realm: realm, isProxy: true)
      : ODataProtectionSpace(
        host: address.host, port: address.port, scheme: address.scheme, realm: realm)
    if let old = refused?.space { await options.credentialStore?.remove(old) }
    guard tries.count < ODataClientLimits.credentialTries else { return nil }
    tries.count += 1
    let given = isProxy ? options.proxyCredentials : own ?? credentials(for: address)
    if let given, !tries.tried.contains(given), given.fits(challenges), given.isSendable {
      tries.tried.append(given)
      return Accepted(credentials: given, space: nil)
    }
    if let kept = await options.credentialStore?.credentials(for: space),
      !tries.tried.contains(kept), kept.isSendable
    {
      tries.tried.append(kept)
      return Accepted(credentials: kept, space: space)
    }
    let question = ODataCredentialQuestion(
      space: space, lastUser: lastUser, challenges: challenges, attempt: tries.count)
    guard let next = await options.credentialSource?.credentials(for: question), next.isSendable
    else { return nil }
    lastUser = next.user
    tries.tried.append(next)
    return Accepted(credentials: next, space: space)
  }

  private func keep(_ used: Accepted, isProxy: Bool, _ address: HTTPAddress) async {
    let old = isProxy ? acceptedByProxy : accepted[address.origin]
    if isProxy { acceptedByProxy = used } else { accepted[address.origin] = used }
    guard let space = used.space, old?.credentials != used.credentials else { return }
    await options.credentialStore?.keep(used.credentials, for: space)
  }

  /// Who changes from https to http with a host shows its credentials there no more.
  private func forgetSecrets(leavingTLS address: HTTPAddress) {
    guard !address.isSecure else { return }
    let prefix = "https://\(address.host):"
    for origin in accepted.keys where origin.hasPrefix(prefix) { accepted[origin] = nil }
  }

  /// What the app gave for its service, where the request goes there.
  private func credentials(for address: HTTPAddress) -> ODataCredentials? {
    isHome(address) ? options.credentials : nil
  }

  private func sign(_ request: inout ODataRequest, _ credentials: ODataCredentials) {
    if let header = credentials.header {
      request.headers["Authorization"] = header
    } else if case .cookie(let name, let value) = credentials {
      request.headers["Cookie"] = [request.headers["Cookie"], "\(name)=\(value)"].compactMap(\.self)
        .joined(separator: "; ")
    }
  }

  private func sendOnce(
    _ request: ODataRequest, _ address: HTTPAddress, _ proxyAuthorization: String?
  ) async throws(ODataClientError) -> TransportResponse {
    var headers = headers(of: request)
    let seconds = { Int(self.world.clock.now.milliseconds / 1000) }
    if options.usesCookies, let cookies = jar.header(for: address, now: seconds()) {
      headers["Cookie"] = [headers["Cookie"], cookies].compactMap(\.self).joined(separator: "; ")
    }
    var outgoing = TransportRequest(
      url: request.address, method: request.method, headers: headers, body: request.body,
      deadlines: request.deadlines ?? options.currentDefaults?().deadlines ?? options.deadlines)
    outgoing.upload = request.upload
    outgoing.progress = request.progress
    outgoing.proxyAuthorization = proxyAuthorization
    // Offsets are those of the packed bytes.
    let isPart = request.headers["Range"] != nil
    outgoing.acceptsCompressed = !isPart && (request.acceptsCompressed ?? options.acceptsCompressed)
    do throws(TransportError) {
      let response = try await channel(of: request).send(outgoing)
      if options.usesCookies { jar.take(response.headers, from: address, now: seconds()) }
      return response
    } catch {
      throw ODataClientError(error, Self.name(request))
    }
  }

  private func channel(of request: ODataRequest) throws(TransportError) -> any Transport {
    guard (request.channel ?? options.channel) == .messaging else { return transport }
    guard let messaging = options.messaging else {
      throw TransportError(
        code: .cannotConnect, message: "the session has no messaging channel",
        hint: "set ODataSessionOptions.messaging, or send over ODataChannel.http",
        isTransient: false, requestWasSent: false)
    }
    return messaging
  }

  func headers(of request: ODataRequest) -> HTTPHeaders {
    let current = options.currentDefaults?()
    var headers = request.headers
    let own = isHome(request.address) ? options.headers.fields : []
    for field in own where request.headers[field.name] == nil {
      headers.add(field.name, field.value)
    }
    for field in current?.headers.fields ?? [] where headers[field.name] == nil {
      headers.add(field.name, field.value)
    }
    if let language = current.map(\.language) ?? options.language {
      for name in ["Accept-Language", "sap-language"] where headers[name] == nil {
        headers[name] = language
      }
    }
    return headers
  }
}
