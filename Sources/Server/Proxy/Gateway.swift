import FerryCrypto
public import FerryHTTP
public import FerryHTTPClient
public import FerryWorld

/// One door to the company's services: it knows who comes before it takes a byte of a body, and leads
/// to the services of its file and nowhere else.
public final class Gateway: Sendable {
  /// Asks who somebody is; may take as long as a password takes.
  public typealias Login =
    @Sendable (
      _ user: String, _ password: String, _ address: String
    ) async -> GatewayLogin

  private let services: [String: Service]
  private let door: String?
  private let isSecure: Bool
  private let cookies: CookieBinding
  private let login: Login
  private let world: World
  private let log: AccessLog?

  /// A back end, and what its links become.
  struct Service {
    let backEnd: BackEnd
    let transport: any Transport
    /// From the service's address to the door; nil where none is rewritten.
    let links: LinkAddress?
    /// From the door to the service's address.
    let doorLinks: LinkAddress?

    /// What a path at the door becomes at the service.
    var paths: (door: String, service: String) {
      let path = HTTPAddress(backEnd.address)?.path ?? "/"
      return ("/\(backEnd.name)", String(path.dropLast()))
    }
  }

  /// `transport`: how a service is reached; by libcurl unless set otherwise.
  public init(
    _ file: GatewayFile, world: World, log: AccessLog?,
    transport: (BackEnd) -> any Transport = { $0.makeTransport() }, login: @escaping Login
  ) {
    let door = file.door
    self.door = door
    isSecure = door?.lowercased().hasPrefix("https:") ?? false
    self.login = login
    self.world = world
    self.log = log
    cookies = CookieBinding(key: world.chance.bytes(32))
    services = Dictionary(
      uniqueKeysWithValues: file.services.map { backEnd in
        let seen = door.map { "\($0.hasSuffix("/") ? $0 : $0 + "/")\(backEnd.name)/" }
        let rewritten = backEnd.rewritesLinks ? seen : nil
        let service = Service(
          backEnd: backEnd, transport: transport(backEnd),
          links: rewritten.flatMap { LinkAddress(of: backEnd.address, becomes: $0) },
          doorLinks: rewritten.flatMap { LinkAddress(of: $0, becomes: backEnd.address) })
        return (backEnd.name, service)
      })
  }

  /// Judges a request by its head; any thread, and at once.
  public func admit(_ request: HTTPRequest) -> HTTPAdmission {
    let id = CallIdentity(request.headers, world.chance)
    do throws(Refusal) {
      let (service, _) = try find(request)
      if !service.backEnd.isOpenToAll, BasicCredentials(request.headers) == nil {
        throw .unknownCaller
      }
      return .stream(bodyBytes: service.backEnd.limits.uploadBytes)
    } catch {
      return .refuse(refuse(error, request, id, entry(request, id)))
    }
  }

  /// Passes a request on that was admitted, and gives back what the service says.
  public func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let id = CallIdentity(request.headers, world.chance)
    var entry = entry(request, id)
    do throws(Refusal) {
      let (service, url) = try find(request)
      entry.service = service.backEnd.name
      let user = try await user(of: request, at: service.backEnd)
      entry.user = user?.name
      try checkNamedAddress(request, service.backEnd)
      return try await forward(request, to: service, url, for: user, id, &entry)
    } catch {
      return refuse(error, request, id, entry)
    }
  }

  // Who, and where to.

  private func find(_ request: HTTPRequest) throws(Refusal) -> (Service, url: String) {
    guard request.headers["Upgrade"] == nil,
      !ForwardedFields.namedByConnection(request.headers).contains("upgrade")
    else { throw .upgrade }
    guard
      ![HTTPMethod(rawValue: "CONNECT"), HTTPMethod(rawValue: "TRACE")].contains(request.method)
    else { throw .method }
    guard request.headers.values("Host").count <= 1,
      ForwardedFields.hops(request.headers) < ForwardedFields.mostHops
    else { throw .badRequest }
    guard let target = ForwardedTarget(path: request.path, query: request.query) else {
      throw .badTarget
    }
    guard let service = services[target.name] else { throw .unknownService }
    guard let url = service.backEnd.url(of: target) else { throw .closedPath }
    return (service, url)
  }

  /// Only for callers who are known: the answer tells whether an address was guessed right.
  private func checkNamedAddress(_ request: HTTPRequest, _ backEnd: BackEnd) throws(Refusal) {
    guard let named = request.headers["X-SUP-BACKEND-URL"] else { return }
    guard named == backEnd.address.dropLast() || named == backEnd.address else {
      throw .otherAddress
    }
  }

  private func user(
    of request: HTTPRequest, at backEnd: BackEnd
  ) async throws(Refusal) -> GatewayUser? {
    guard !backEnd.isOpenToAll else { return nil }
    guard let known = BasicCredentials(request.headers) else { throw .unknownCaller }
    switch await login(known.user, known.password, request.peer ?? "") {
    case .refused: throw .unknownCaller
    case .later(let seconds): throw .later(seconds)
    case .user(let user):
      if let roles = backEnd.roles, roles.isDisjoint(with: user.roles) { throw .forbidden }
      return user
    }
  }

  // There and back.

  private func forward(
    _ request: HTTPRequest, to service: Service, _ url: String, for user: GatewayUser?,
    _ id: CallIdentity, _ entry: inout AccessLog.Entry
  ) async throws(Refusal) -> HTTPResponse {
    let rewritesLinks = request.headers["X-SUP-BACKEND-URL"] == nil
    var sent = TransportRequest(url: url, method: request.method)
    sent.headers = fields(of: request, for: user, at: service, rewritesLinks, id)
    sent.deadlines = TransportDeadlines(
      connect: service.backEnd.limits.connect, idle: service.backEnd.limits.idle)
    sent.isForwarded = true
    var upload: ForwardedBody?
    if let stream = request.bodyStream {
      switch await SmallUpload.read(request, stream, rewritesLinks ? service : nil) {
      case .whole(let bytes, let count):
        sent.body = bytes
        entry.receivedBytes = count
      case .stream(let body): upload = body
      case .cut: throw .failed(SmallUpload.cut, hasAborted: true)
      }
    }
    if let upload {
      let length = request.headers["Content-Length"].flatMap { Int($0) }
      let once = Once(upload)
      sent.upload = .source(lengthBytes: length) { once.take() }
    }
    let begun = world.clock.uptime
    let answer: TransportResponse
    do throws(TransportError) {
      answer = try await service.transport.send(sent)
    } catch {
      if let upload { entry.receivedBytes = upload.bytes }
      entry.fault = error.message
      throw .failed(error, hasAborted: error.code == .unreadableBody)
    }
    entry.head = world.clock.uptime - begun
    // Somebody has to see to the file; the caller can do nothing about it.
    if case .technical = service.backEnd.credentials, [401, 407].contains(answer.status) {
      throw .refusedByService
    }
    guard (200...599).contains(answer.status), answer.status != 407,
      answer.headers.values("Content-Length").count <= 1
    else { throw .strangeAnswer }
    entry.status = answer.status
    return response(
      answer, to: request, from: service, for: user, rewritesLinks, id, entry, upload)
  }

  private func fields(
    of request: HTTPRequest, for user: GatewayUser?, at service: Service, _ rewritesLinks: Bool,
    _ id: CallIdentity
  ) -> HTTPHeaders {
    let backEnd = service.backEnd
    var fields = ForwardedFields.request(request.headers, without: backEnd.userHeader)
    if rewritesLinks, service.links != nil { fields["Accept-Encoding"] = nil }
    switch backEnd.credentials {
    case .none: break
    case .technical(let authorization): fields.add("Authorization", authorization)
    case .own:
      if let value = request.headers["Authorization"], Gateway.isOfRequest(value) {
        fields.add("Authorization", value)
      }
    }
    if let cookie = cookies.own(request.headers, of: user?.name ?? "", for: backEnd.name) {
      fields.add("Cookie", cookie)
    }
    if let header = backEnd.userHeader, let user, HTTPFieldText.isPlain(user.name) {
      fields.add(header, user.name)
    }
    fields.add("Via", ForwardedFields.via(request.headers))
    if let peer = request.peer { fields.add("X-Forwarded-For", peer) }
    if let door { fields.add("X-Forwarded-Proto", door.hasPrefix("https") ? "https" : "http") }
    fields.add("X-CorrelationID", id.correlation)
    fields.add("traceparent", id.parent)
    fields.add("SAP-PASSPORT", id.passport)
    return fields
  }

  /// A login by NTLM or Negotiate is one of the connection, which other callers share.
  private static func isOfRequest(_ authorization: String) -> Bool {
    let scheme = authorization.prefix { $0 != " " }.lowercased()
    return scheme == "basic" || scheme == "bearer"
  }

  private func response(
    _ answer: TransportResponse, to request: HTTPRequest, from service: Service,
    for user: GatewayUser?, _ rewritesLinks: Bool, _ id: CallIdentity, _ entry: AccessLog.Entry,
    _ upload: ForwardedBody?
  ) -> HTTPResponse {
    var fields = ForwardedFields.answer(answer.headers)
    for line in answer.headers.values("Set-Cookie") {
      let bound = cookies.given(
        line, to: user?.name ?? "", by: service.backEnd.name, isSecure: isSecure)
      if let bound { fields.add("Set-Cookie", bound) }
    }
    let links = rewritesLinks ? service.links : nil
    if let links { fields = Gateway.rewrite(fields, links) }
    fields.add("Via", ForwardedFields.via(answer.headers))
    fields.add("X-CorrelationID", id.correlation)
    var rewriter: (any TextRewriter)?
    if let links, request.method != .head { rewriter = Gateway.rewriter(of: answer, links) }
    if rewriter == nil, let length = answer.headers["Content-Length"] {
      fields["Content-Length"] = length
    } else if rewriter != nil {
      // Sums of the bytes before.
      for name in ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"] { fields[name] = nil }
    }
    return HTTPResponse(
      status: answer.status, headers: fields,
      body: .stream(
        AnswerBody(answer.body, rewriter: rewriter, entry: entry, upload: upload, log: log)))
  }

  /// Fields whose value is a link.
  private static let linkFields = ["Location", "Content-Location", "OData-EntityId", "Link"]

  private static func rewrite(_ fields: HTTPHeaders, _ links: LinkAddress) -> HTTPHeaders {
    HTTPHeaders(
      fields.fields.map { field in
        guard linkFields.contains(where: { $0.lowercased() == field.name.lowercased() }) else {
          return field
        }
        // `Link: <http://…>; rel=…`
        let isBracketed = field.value.hasPrefix("<")
        let link = isBracketed ? String(field.value.dropFirst()) : field.value
        return HTTPHeaders.Field(
          name: field.name, value: (isBracketed ? "<" : "") + links.rewrite(link))
      })
  }

  /// Nil for what has no links that we know, for packed bytes, and for a part of a whole, whose place
  /// is counted in the bytes before.
  private static func rewriter(
    of answer: TransportResponse, _ links: LinkAddress
  ) -> (any TextRewriter)? {
    guard answer.status != 206, answer.status != 204, answer.status != 304, !answer.isCompressed
    else { return nil }
    let type = answer.headers["Content-Type"] ?? ""
    return LinkText.rewriter(of: type, links)
  }

  // Refusals.

  private func entry(_ request: HTTPRequest, _ id: CallIdentity) -> AccessLog.Entry {
    AccessLog.Entry(
      id: id.correlation, peer: request.peer, method: String(request.method.rawValue.prefix(32)),
      path: String(request.path.prefix(1_024)), begun: world.clock.uptime)
  }

  private func refuse(
    _ refusal: Refusal, _ request: HTTPRequest, _ id: CallIdentity, _ entry: AccessLog.Entry
  ) -> HTTPResponse {
    var entry = entry
    entry.status = refusal.status
    if entry.fault == nil { entry.fault = refusal.text }
    log?.write(entry)
    var response = HTTPResponse.text(
      refusal.status, "\(refusal.text) (request \(id.correlation))\n")
    response.headers["X-CorrelationID"] = id.correlation
    response.headers["Cache-Control"] = "no-store"
    if case .unknownCaller = refusal {
      response.headers["WWW-Authenticate"] = "Basic realm=\"Ferry\", charset=\"UTF-8\""
    }
    if let seconds = refusal.retryAfterSeconds {
      response.headers["Retry-After"] = String(seconds)
    }
    return response
  }
}

/// Gives an upload to the transport once: a body that has begun to leave is not sent again.
private final class Once: Sendable {
  private let upload: ForwardedBody
  private let isTaken = Flag()

  init(_ upload: ForwardedBody) { self.upload = upload }

  func take() -> ForwardedBody? { isTaken.set() ? upload : nil }
}
