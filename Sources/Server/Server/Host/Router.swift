import FerryHTTP
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld
import Synchronization

/// Answers the requests of devices: login, renewal, exchanges, channels, and the question whether
/// all is well. `Documentation/Wire.md` tells what each takes and gives.
///
/// Who makes a request is decided by its head, before a byte of its body is kept (sync/M12).
package struct Router: Sendable {
  /// At least one. Of the first are sessions and devices, which are the same for all.
  let packages: [ServedPackage]
  /// Those that are served again in a moment.
  let absent: Set<String>
  let service: ServiceHost
  let doorkeeper: Doorkeeper
  private let claims: ClaimCheck
  let audit: AuditLog
  let uploads: DeviceUploads
  /// Changes the packages where an operator asks for it; nil: nobody does.
  let desk: PackageDesk?
  let proxies: Set<String>
  private let turns: ExchangeTurns
  private let meter: ServerMeter
  let world: World

  init(
    _ packages: [ServedPackage], absent: Set<String> = [], doorkeeper: Doorkeeper,
    audit: AuditLog, proxies: Set<String>, turns: ExchangeTurns, meter: ServerMeter,
    world: World, desk: PackageDesk? = nil
  ) {
    self.packages = packages
    self.absent = absent
    service = packages[0].service
    self.doorkeeper = doorkeeper
    claims = ClaimCheck(packages.map(\.package))
    self.audit = audit
    self.desk = desk
    uploads = DeviceUploads(folder: audit.folder, world: world)
    self.proxies = proxies
    self.turns = turns
    self.meter = meter
    self.world = world
  }

  /// A name, a password of at most 1 KB and a device's id, or tokens. Those of issuers are long.
  static let loginBytes: Int = 32 << 10
  static let passwordBytes: Int = 4 << 10

  func nothing(at request: HTTPRequest) -> HTTPResponse {
    refusal(
      404, "notFound", "there is nothing at \(request.method.rawValue) \(request.path)",
      hint: "Devices use /ferry/1/…; people may use GET /health.")
  }

  /// Asks no other thread: it is answered also while the store is busy, or its disk stands still.
  func health(_ request: HTTPRequest) -> HTTPResponse {
    let report = HealthReport(
      packages.map { ($0.package.id, $0.service.pulse) },
      of: isOperator(request) ? meter : nil)
    return json(report.status, report.json)
  }

  /// Asks no other thread either.
  func metrics() -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": MetricsText.contentType],
      body: .bytes(Array(MetricsText(metricFamilies).text.utf8)))
  }

  /// From memory alone, on any thread.
  var metricFamilies: [MetricFamily] {
    let entries = packages.map { served in
      MetricFamilies.Entry(
        package: served.package.id, state: served.service.meter.reading,
        isLoaded: served.service.pulse.isLoaded, isTroubled: !served.service.pulse.report.isWell,
        rejectedRows: served.service.pulse.rejectedRows)
    }
    return MetricFamilies(entries, refusals: meter.refusals, now: world.clock.moment).all
  }

  // Sessions.

  func login(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.body.count <= Router.loginBytes, let login = LoginRequest(request.body),
      login.token != nil || request.body.count <= Router.passwordBytes
    else {
      return unreadable(
        "login takes user, password and device, user, code and device, or token and device")
    }
    let address = address(of: request)
    let device = AuditLog.short(login.device)
    var user = AuditLog.short(login.user)
    do throws(ServerError) {
      let record: UserRecord
      let pair: TokenPair
      if let token = login.token {
        let known = try await doorkeeper.login(token: token)
        record = known.record
        user = record.name
        pair = try await service.login(
          known, device: login.device, package: login.package, key: login.key)
      } else if let code = login.code {
        (record, pair) = try await activate(login, code, from: address)
      } else {
        record = try await doorkeeper.authenticate(login, from: address)
        user = AuditLog.short(record.name)
        pair = try await session(of: record, login)
      }
      doorkeeper.renewals.succeeded(login.device, from: address)
      audit.note(.login, user: user, device: device, address: address)
      if pair.isNewDevice {
        audit.note(.deviceAdded, user: user, device: device, address: address)
      }
      world.log.info(
        "a user logged in", ("user", user), ("device", device), ("address", address))
      for fault in claims.faults(of: record) {
        world.log.warn(
          "the claims of a user do not match the model", ("user", user), ("fault", fault))
      }
      return tokens(pair)
    } catch {
      audit.noteStranger(
        .loginRefused, user: user, device: device, address: address, what: "a login was refused",
        reason: error)
      return refusal(Router.status(ofLogin: error.code), error)
    }
  }

  /// A user whom the provider cannot look up later, as one of a directory, has the rights that this
  /// login found, like a user of an issuer.
  private func session(
    of record: UserRecord, _ login: LoginRequest
  ) async throws(ServerError) -> TokenPair {
    guard doorkeeper.provider.isKnownByLoginOnly(record) else {
      return try await service.login(
        record, device: login.device, package: login.package, key: login.key)
    }
    return try await service.login(
      TokenLogin(record: record, issued: world.clock.now), device: login.device,
      package: login.package, key: login.key)
  }

  /// Of what a request is refused with once its token was good.
  static func status(of code: ServerError.Code) -> Int {
    switch code {
    case .revokedToken, .staleRights, .refusedToken, .expiredToken, .deviceWiped: 401
    case .deviceLocked: 403
    case .tooManyGuesses: 429
    default: 503
    }
  }

  private static func status(ofLogin code: ServerError.Code) -> Int {
    switch code {
    case .wrongLogin, .refusedToken, .deviceWiped: 401
    case .deviceLocked, .ambiguousTemplate: 403
    case .tooManyGuesses: 429
    default: 503
    }
  }

  /// The client's address: the peer's, or what a proxy of ours says.
  func address(of request: HTTPRequest) -> String { TrustedProxies(proxies).client(of: request) }

  func renew(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.body.count <= Router.loginBytes, let renewal = RenewalRequest(request.body) else {
      return unreadable("token takes refreshToken and device")
    }
    let address = address(of: request)
    var refused: ServerError?
    do throws(ServerError) {
      try doorkeeper.renewals.mayTry(renewal.device, from: address)
      var login: TokenLogin?
      if let token = renewal.token {
        do throws(ServerError) { login = try await doorkeeper.login(token: token) } catch {
          // The session may go on without it: an issuer that is away logs nobody out.
          audit.noteStranger(
            nil, device: renewal.device, address: address,
            what: "a token of an issuer was not taken", reason: error)
          if !error.isTransient { refused = error }
        }
      }
      let pair = try await service.renew(
        renewal.refreshToken, device: renewal.device, proof: renewal.proof, login: login)
      doorkeeper.renewals.succeeded(renewal.device, from: address)
      return tokens(pair)
    } catch {
      doorkeeper.renewals.failed(renewal.device, from: address, error.code)
      // Why no newer token was taken says more than that one is missing.
      let error = error.code == .staleRights ? refused ?? error : error
      audit.noteStranger(
        .sessionRefused, device: renewal.device, address: address,
        what: "a session was not renewed", reason: error)
      return refusal(Router.status(of: error.code), error)
    }
  }

  private func tokens(_ pair: TokenPair) -> HTTPResponse {
    json(200, pair.answer(now: world.clock.now).encoded())
  }

  // Exchanges.

  /// Who makes the request, or what to answer instead.
  func identity(of request: HTTPRequest) -> Result<TokenIdentity, Unknown> {
    guard let token = request.bearerToken else {
      return .failure(
        Unknown(
          answer: refusal(
            401, "noToken", "the request carries no token",
            hint: "Send Authorization: Bearer with the access token of a login.")))
    }
    do throws(ServerError) {
      return .success(
        try TokenIdentity(
          token: token, service.accessTokens, service.provider, now: world.clock.now))
    } catch {
      return .failure(Unknown(answer: refusal(401, error)))
    }
  }

  struct Unknown: Error {
    let answer: HTTPResponse
  }

  func exchange(
    _ request: HTTPRequest, of identity: TokenIdentity, isChannel: Bool
  ) async -> HTTPResponse {
    await turns.enter(identity.user)
    let opened = await open(
      request.body, identity, isChannel: isChannel,
      trace: TraceLog(world: world).begun(RequestTrace(request.headers)))
    await turns.leave()
    let opening: ServiceHost.Opening
    let service: ServiceHost
    switch opened {
    case .success(let open): (opening, service) = open
    case .failure(let error): return refusal(Router.status(of: error.code), error)
    }
    let body = opening.id.map { id in
      HTTPBody.stream(ExchangeBody(service: service, id: id, first: opening.bytes))
    }
    return HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": "application/x-ferry", "Cache-Control": "no-store",
        // Without this nginx keeps a channel's bytes back.
        "X-Accel-Buffering": "no",
      ], body: body ?? .bytes(opening.bytes))
  }

  private func open(
    _ body: [UInt8], _ identity: TokenIdentity, isChannel: Bool, trace: RequestTrace?
  ) async -> Result<(ServiceHost.Opening, ServiceHost), ServerError> {
    // What is long is read where neither the network nor the service waits for it.
    let read =
      body.count <= Router.shortBytes
      ? ExchangeRequest.read(body)
      : await Task.detached { ExchangeRequest.read(body) }.value
    let start = world.clock.uptime
    var operations: [OperationID] = []
    // That of a package that is not served says so itself.
    var service = self.service
    if case .success(let exchange) = read, let named = package(exchange.hello.package) {
      service = named.service
    } else if case .success(let exchange) = read, absent.contains(exchange.hello.package),
      identity.mayUse(exchange.hello.package)
    {
      return .failure(ServiceHost.stopped)
    }
    if let trace, case .success(let exchange) = read {
      operations = exchange.replays.flatMap(\.operations).compactMap {
        try? Operation.identity(of: $0)
      }
      if trace.level >= .medium { service.traces.note(operations, trace) }
    }
    let opened: Result<ServiceHost.Opening, ServerError>
    do throws(ServerError) {
      opened = .success(
        try await service.open(read, by: identity, isChannel: isChannel))
    } catch { opened = .failure(error) }
    if let trace {
      TraceLog(world: world).opened(
        trace, user: identity.user, operations: operations.count,
        bytes: (body.count, (try? opened.get())?.bytes.count ?? 0), since: start, opened)
    }
    return opened.map { ($0, service) }
  }

  func package(_ id: String) -> ServedPackage? {
    packages.first { $0.package.id.hasBytes(of: id) }
  }

  /// A request without changes, or with a few.
  private static let shortBytes: Int = 4 << 10

  // Answers.

  func unreadable(_ what: String) -> HTTPResponse {
    refusal(400, "badRequest", what, hint: "Send a JSON object, nested at most 64 levels deep.")
  }

  func refusal(_ status: Int, _ error: ServerError) -> HTTPResponse {
    meter.refuse(error.code.rawValue)
    var response = json(status, error.body)
    if let seconds = error.retryAfterSeconds { response.headers["Retry-After"] = String(seconds) }
    return response
  }

  func refusal(
    _ status: Int, _ code: String, _ message: String, hint: String
  ) -> HTTPResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("code", code)
    writer.field("message", message)
    writer.field("hint", hint)
    writer.endObject()
    meter.refuse(code)
    return json(status, writer.bytes)
  }

  func json(_ status: Int, _ bytes: [UInt8]) -> HTTPResponse {
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if status == 503 { headers["Retry-After"] = Router.retryAfterSeconds }
    return HTTPResponse(status: status, headers: headers, body: .bytes(bytes))
  }

  /// A store in trouble is asked every second whether it is over.
  private static let retryAfterSeconds: String = "2"
}

/// The bytes of an exchange as the server's loop pulls them; the exchange ends with its reader.
private final class ExchangeBody: HTTPBodySource {
  private let service: ServiceHost
  private let id: ExchangeID
  private let first: Mutex<[UInt8]>

  init(service: ServiceHost, id: ExchangeID, first: [UInt8]) {
    self.service = service
    self.id = id
    self.first = Mutex(first)
  }

  deinit { service.letGo(of: id) }

  func next() async -> HTTPBodyPiece {
    let begun = first.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    if !begun.isEmpty { return .bytes(begun) }
    return await service.next(of: id).map { .bytes($0) } ?? .end
  }
}
