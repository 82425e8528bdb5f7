import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryWorld
import Synchronization

/// One door to the company's services: it knows who comes before it takes a byte of a body, and leads
/// to the services of its file and nowhere else.
package final class Gateway: Sendable {
  /// Asks who somebody is; may take as long as a password takes.
  package typealias Login = @Sendable (GatewayAttempt) async -> GatewayLogin

  private let services: Mutex<[String: Service]>
  /// The first file: what of another one differs needs a restart, but for the services.
  private let file: GatewayFile
  private let transport: @Sendable (BackEnd) -> any Transport
  let isSecure: Bool
  let cookies: CookieBinding
  private let login: Login
  private let proxies: TrustedProxies
  private let certificates: GatewayCertificates?
  let world: World
  let log: AccessLog?

  /// A back end, and what its links become.
  struct Service: Sendable {
    let backEnd: BackEnd
    let transport: any Transport
    /// From the service's address to the door; nil where none is rewritten.
    let links: LinkAddress?
    /// From the door to the service's address.
    let doorLinks: LinkAddress?
    let turns: ServiceTurns
    let breaker = ServiceBreaker()

    /// What a path at the door becomes at the service.
    var paths: (door: String, service: String) {
      let path = HTTPAddress(backEnd.address)?.path ?? "/"
      return (links?.paths.other ?? "/\(backEnd.name)", String(path.dropLast()))
    }
  }

  /// `transport`: how a service is reached; by libcurl unless set otherwise. `certificates`: nil where
  /// nobody looks at the certificates of callers.
  package init(
    _ file: GatewayFile, world: World, log: AccessLog?, proxies: TrustedProxies = TrustedProxies(),
    certificates: GatewayCertificates? = nil,
    transport: @escaping @Sendable (BackEnd) -> any Transport = { $0.makeTransport() },
    login: @escaping Login
  ) {
    let door = file.door
    self.file = file
    self.transport = transport
    isSecure = door?.lowercased().hasPrefix("https:") ?? false
    self.login = login
    self.proxies = proxies
    self.certificates = certificates
    self.world = world
    self.log = log
    let path = door.flatMap { HTTPAddress($0)?.path } ?? "/"
    cookies = CookieBinding(
      key: world.chance.bytes(32), path: path.hasSuffix("/") ? path : path + "/")
    services = Mutex(Gateway.services(file, before: [:], transport))
  }

  var door: String? { file.door }

  /// From now on the services are those of this file. Requests under way go on, and a service that is
  /// the same keeps its connections. Any thread. Throws where something else than services differs.
  package func change(to other: GatewayFile) throws(GatewayError) {
    guard other.door == file.door, other.proxyField == file.proxyField,
      other.clientCertificates == file.clientCertificates
    else {
      throw GatewayError(
        "door, proxyField or clientCertificates of the gateway file have changed",
        hint: "Start the gateway again.")
    }
    let before = services.withLock { $0 }
    let after = Gateway.services(other, before: before, transport)
    services.withLock { $0 = after }
  }

  /// Whether a request is for a service of the file.
  package func isMeant(by request: HTTPRequest) -> Bool {
    let name = String(request.path.dropFirst().prefix { $0 != "/" })
    return services.withLock { $0[name] != nil }
  }

  private static func services(
    _ file: GatewayFile, before: [String: Service], _ transport: (BackEnd) -> any Transport
  ) -> [String: Service] {
    var services: [String: Service] = [:]
    for backEnd in file.services {
      if let same = before[backEnd.name], same.backEnd == backEnd {
        services[backEnd.name] = same
        continue
      }
      let seen = file.door.map { "\($0.hasSuffix("/") ? $0 : $0 + "/")\(backEnd.name)/" }
      let rewritten = backEnd.rewritesLinks ? seen : nil
      services[backEnd.name] = Service(
        backEnd: backEnd, transport: transport(backEnd),
        links: rewritten.flatMap { LinkAddress(of: backEnd.address, becomes: $0) },
        doorLinks: rewritten.flatMap { LinkAddress(of: $0, becomes: backEnd.address) },
        turns: ServiceTurns(perCaller: backEnd.limits.connectionsPerCaller))
    }
    return services
  }

  /// Judges a request by its head; any thread, and at once.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    let id = CallIdentity(request.headers, world.chance)
    do throws(Refusal) {
      let (service, target, _) = try find(request)
      let caller = CallerIdentity(request, proxies, certificates)
      try checkCertificate(of: caller)
      if service.backEnd.needsLogin(target), caller.proof == nil { throw .unknownCaller }
      return .stream(bodyBytes: service.backEnd.limits.uploadBytes)
    } catch {
      return .refuse(refuse(error, request, id, entry(request, id)))
    }
  }

  /// Passes a request on that was admitted, and gives back what the service says.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let id = CallIdentity(request.headers, world.chance)
    var entry = entry(request, id)
    do throws(Refusal) {
      let (service, target, url) = try find(request)
      entry.service = service.backEnd.name
      let caller = CallerIdentity(request, proxies, certificates)
      let user =
        service.backEnd.needsLogin(target)
        ? try await user(caller, request.headers, at: service.backEnd) : nil
      entry.user = user?.name
      try checkNamedAddress(request, service.backEnd)
      let call = Call(
        request: request, service: service, url: url, user: user, way: caller.way, id: id)
      guard let turn = service.turns.take(user.map { "user \($0.name)" } ?? caller.address) else {
        throw .share
      }
      return try await forward(call, turn, &entry)
    } catch {
      return refuse(error, request, id, entry)
    }
  }

  // Who, and where to.

  private func find(
    _ request: HTTPRequest
  ) throws(Refusal)
    -> (Service, ForwardedTarget, url: String)
  {
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
    guard let service = services.withLock({ $0[target.name] }) else { throw .unknownService }
    guard let url = service.backEnd.url(of: target) else { throw .closedPath }
    return (service, target, url)
  }

  /// Only for callers who are known: the answer tells whether an address was guessed right.
  private func checkNamedAddress(_ request: HTTPRequest, _ backEnd: BackEnd) throws(Refusal) {
    guard let named = request.headers["X-SUP-BACKEND-URL"] else { return }
    guard named == backEnd.address.dropLast() || named == backEnd.address else {
      throw .otherAddress
    }
  }

  /// Before a byte of the body, and whoever the caller is.
  private func checkCertificate(of caller: CallerIdentity) throws(Refusal) {
    guard let certificates, certificates.areRequired(from: caller.address) else { return }
    guard let certificate = caller.certificate, certificates.judge(certificate) == nil else {
      throw .certificate
    }
  }

  private func user(
    _ caller: CallerIdentity, _ headers: HTTPHeaders, at backEnd: BackEnd
  ) async throws(Refusal) -> GatewayUser {
    guard let proof = caller.proof else { throw .unknownCaller }
    let attempt = GatewayAttempt(
      proof: proof, headers: headers, service: backEnd.name, address: caller.address)
    switch await login(attempt) {
    case .refused: throw .unknownCaller
    case .later(let seconds): throw .later(seconds)
    case .away(let seconds): throw .nobodyToAsk(seconds)
    case .user(let user):
      if let roles = backEnd.roles, roles.isDisjoint(with: user.roles) { throw .forbidden }
      return user
    }
  }

  // Refusals.

  private func entry(_ request: HTTPRequest, _ id: CallIdentity) -> AccessLog.Entry {
    AccessLog.Entry(
      id: id.correlation, peer: proxies.client(of: request),
      method: String(request.method.rawValue.prefix(32)),
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
