import FerryHTTP
import FerryModel
import FerryOData
import FerryODataService
import FerryServer
import FerryWorld
import Synchronization

/// Every package of a server as a service of OData: `/odata/<package>/v4`, and `v2` for older clients.
///
/// Who asks logs in with each request by name and password, as in the user file. Rows are those of the
/// user's partitions; a change goes the way of a device's.
package final class ODataFace: Sendable {
  /// Where all services are.
  package static let path: String = "/odata/"
  static let challenge = "Basic realm=\"ferry\", charset=\"UTF-8\""

  private struct Made: Sendable {
    let package: Package
    let model: FaceModel
    let service: ODataService
  }

  private struct Name: Hashable {
    let package: String
    let version: ODataVersion
  }

  private let door: @Sendable () -> CallerDoor?
  private let workers: FaceWorkers
  private let shares: FaceShares
  private let limits: ODataServiceLimits
  private let proxies: Set<String>
  /// By the name of the package, as long as it is the same.
  private let made = Mutex<[Name: Made]>([:])

  /// `proxies`: addresses of those whose `X-Forwarded-Proto` is believed.
  package init(_ server: ServerHost, proxies: Set<String> = []) {
    door = { server.callerDoor }
    self.proxies = proxies
    limits = ODataServiceLimits()
    workers = FaceWorkers(count: FaceWorkers.usual)
    shares = FaceShares()
  }

  /// With a single package, for tests.
  package init(
    _ desk: CallerDesk, limits: ODataServiceLimits = ODataServiceLimits(),
    shares: FaceShares = FaceShares()
  ) {
    door = { desk.door }
    proxies = []
    self.limits = limits
    workers = FaceWorkers(count: 1)
    self.shares = shares
  }

  /// The metadata of the service that a package is, as XML of V4 or V2.
  package static func metadata(
    of package: Package, _ version: ODataVersion = .v4
  ) throws(ODataError) -> [UInt8] {
    try FaceModel(package.served, version).metadata.xml()
  }

  /// Whether a request is for this.
  package static func isMeant(by request: HTTPRequest) -> Bool { request.path.hasPrefix(path) }

  /// Judges a request by its head: who sends no password sends no body.
  ///
  /// Any thread, and at once.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard BasicLogin(request) != nil else { return .refuse(ODataFace.noLogin) }
    return .take(bodyBytes: limits.bodyBytes)
  }

  /// Never throws: what goes wrong is an answer. What is computed for it is computed on threads of
  /// its own, so that no other request of the server waits for it.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let credentials = BasicLogin(request) else { return ODataFace.noLogin }
    return await withTaskExecutorPreference(workers) {
      var response = await answer(request, credentials)
      if case .stream(let source) = response.body {
        response.body = .stream(FaceStream(source: source, workers: workers))
      }
      return response
    }
  }

  private func answer(_ request: HTTPRequest, _ credentials: BasicLogin) async -> HTTPResponse {
    do throws(ODataRefusal) {
      guard let door = door() else { throw ODataFace.notReady }
      let caller: Caller
      // First of all: a stranger does not learn which packages there are.
      do throws(ServerError) {
        caller = try await door.login(
          user: credentials.user, password: credentials.password, request)
      } catch { throw FaceSource.refusal(error) }
      try shares.begin(caller.name)
      defer { shares.end(caller.name) }
      return try await answer(request, caller, door)
    } catch {
      return ODataService.response(error)
    }
  }

  private func answer(
    _ request: HTTPRequest, _ caller: Caller, _ door: CallerDoor
  ) async throws(ODataRefusal) -> HTTPResponse {
    let parts = request.path.dropFirst(ODataFace.path.count)
      .split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard let name = parts.first.flatMap({ PercentEncoding.decode($0.utf8) }), parts.count > 1,
      let desk = door.desk(of: name)
    else { throw ODataFace.nothing }
    guard let version = ["v4": ODataVersion.v4, "v2": .v2][parts[1]] else {
      throw ODataRefusal(
        404, "notOffered",
        "There is no \(parts[1]) of this service. Use /odata/\(parts[0])/v4/ or /v2/.")
    }
    let made = try made(desk, version)
    let source = FaceSource(model: made.model, desk: desk, caller: caller)
    // Also for the metadata: who may not use a package does not learn that it is there.
    try await source.mayUse()
    return await made.service.answer(
      request, rest: parts.count > 2 ? parts[2] : "",
      root: root(request) + "\(ODataFace.path)\(parts[0])/\(parts[1])/", source: source)
  }

  private func made(_ desk: CallerDesk, _ version: ODataVersion) throws(ODataRefusal) -> Made {
    let name = Name(package: desk.package.name, version: version)
    if let known = made.withLock({ $0[name] }), known.package == desk.package {
      return known
    }
    let model = FaceModel(desk.package, version)
    let world = desk.world
    do throws(ODataError) {
      let service = try ODataService(
        model.metadata, limits: limits, now: { ODataFace.now(world) },
        uptime: { world.clock.uptime })
      let new = Made(package: desk.package, model: model, service: service)
      made.withLock { $0[name] = new }
      return new
    } catch {
      throw ODataRefusal(500, error.code.rawValue, "\(error.message). \(error.hint)")
    }
  }

  private static func now(_ world: World) -> EdmDateTimeOffset? {
    EdmDateTime(milliseconds: world.clock.now.milliseconds).flatMap { EdmDateTimeOffset($0) }
  }

  /// Scheme and host, as the client called them.
  private func root(_ request: HTTPRequest) -> String {
    let isSecure =
      proxies.contains(request.peer ?? "")
      && request.headers["X-Forwarded-Proto"]?.lowercased() == "https"
    let host = request.headers["Host"] ?? ""
    let isHost =
      !host.isEmpty
      && host.utf8.allSatisfy { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._:[]".utf8.contains(byte)
      }
    return (isSecure ? "https://" : "http://") + (isHost ? host : "localhost")
  }

  private static let notReady: ODataRefusal = {
    var refusal = ODataRefusal(503, "notReady", "The server has just started. Try again.")
    refusal.headers["Retry-After"] = "1"
    return refusal
  }()

  static let nothing = ODataRefusal(
    404, "notFound", "There is no such service. The address is /odata/<package>/v4/.")

  private static let noLogin: HTTPResponse = {
    var refusal = ODataRefusal(
      401, "noLogin",
      "The request carries no login. Send Authorization: Basic with name and password.")
    refusal.headers["WWW-Authenticate"] = challenge
    return ODataService.response(refusal)
  }()
}
