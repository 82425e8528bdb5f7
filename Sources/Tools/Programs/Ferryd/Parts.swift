import FerryAdmin
import FerryArguments
import FerryHTTP
import FerryNotices
import FerryODataFace
import FerryProxy
import FerryServer
import FerryWorld
import Foundation

/// The parts of a running server; requests that come before it is ready are told so.
actor Parts {
  private let settings: Settings
  private let world: World
  private let doorkeeper: Doorkeeper
  private let audit: AuditLog
  nonisolated let server: ServerHost
  /// What operators on this machine see and decide.
  private let admin: AdminServer
  /// Nil where no package is a service of OData.
  private let face: ODataFace?
  /// Nil where no other service is reached through this server.
  nonisolated let gateway: ServedGateway?
  /// Nil where no application's devices may register.
  nonisolated let door: ApplicationsDoor?
  /// Nil where nobody may send notices.
  private let notices: NoticeDoor?
  /// The same in the reference's form.
  private let notifications: DCNDoor?
  /// When the rows of each package are read.
  nonisolated let policies: PolicyBoard
  private let threads: ServerThreads
  private var deployer: Deployer?
  private var stores: (any PackageStores)?

  init(
    _ settings: Settings, _ world: World, _ users: Users, _ gateway: GatewaySetup?,
    _ lines: ServerLines
  ) throws {
    self.settings = settings
    self.world = world
    policies = PolicyBoard(data: settings.folder)
    threads = ServerThreads(
      processors: ProcessInfo.processInfo.activeProcessorCount, readers: settings.limits.readers)
    doorkeeper = Doorkeeper(
      users.provider, tokens: settings.issuers.providers(world), templates: users.templates,
      roles: users.roles,
      world: world)
    // With the same doorkeeper: wrong passwords count together, wherever they come.
    let logins = BasicLogins(doorkeeper, world: world)
    // The access log of the gateway is opened before a store makes its folder.
    if gateway != nil { try Folder.make(settings.folder) }
    let served = try gateway?.make(logins, tokens: !settings.issuers.isEmpty, world: world)
    self.gateway = served
    audit = AuditLog(path: "\(settings.folder)/audit.jsonl", world: world)
    server = ServerHost(
      doorkeeper: doorkeeper, audit: audit, proxies: settings.proxies, world: world,
      version: ProgramVersion.number)
    admin = ConsoleProgram.local(server, world, lines)
    door = settings.applications.map { [server, audit] file in
      ApplicationsDoor.beside(server, file, served, logins, users.provider, audit, world)
    }
    face = settings.offersOData ? ODataFace(server, proxies: settings.proxies) : nil
    notices = settings.senders.map { [server] in
      NoticeDoor(server, senders: $0, folder: settings.folder, world: world)
    }
    notifications = settings.senders.map { [server] in DCNDoor(server, senders: $0) }
  }

  /// Through the socket of the data folder alone.
  private nonisolated static func isForAdmin(_ request: HTTPRequest) -> Bool {
    request.peerUser != nil && AdminAPI.isMeant(by: request)
  }

  nonisolated func admit(_ request: HTTPRequest) -> HTTPAdmission {
    if Parts.isForAdmin(request) { return admin.admit(request) }
    if let door, door.isMeant(by: request) { return door.admit(request) }
    if let gateway, gateway.gateway.isMeant(by: request) { return gateway.gateway.admit(request) }
    if let face, ODataFace.isMeant(by: request) { return face.admit(request) }
    if let notices, NoticeDoor.isMeant(by: request) { return notices.admit(request) }
    if let notifications, DCNDoor.isMeant(by: request) { return notifications.admit(request) }
    return server.admit(request)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    if Parts.isForAdmin(request) { return await admin.answer(request) }
    if let door, door.isMeant(by: request) { return await door.answer(request) }
    if let gateway, gateway.gateway.isMeant(by: request) {
      return await gateway.gateway.answer(request)
    }
    if let face, ODataFace.isMeant(by: request) { return await face.answer(request) }
    if let notices, NoticeDoor.isMeant(by: request) { return await notices.answer(request) }
    if let notifications, DCNDoor.isMeant(by: request) {
      return await notifications.answer(request)
    }
    return await server.answer(request)
  }

  /// Users of the file have changed.
  nonisolated func recordsChanged() async { await server.recordsChanged() }

  nonisolated func templatesChanged() async { await server.templatesChanged() }

  /// Returns after the time; it takes no thread.
  nonisolated func wait(for duration: Duration) async { await threads.wait(for: duration) }

  func start(on loop: any TaskExecutor) async throws {
    let around = PackageSurroundings(
      settings: settings, doorkeeper: doorkeeper, audit: audit, threads: threads, world: world,
      loop: loop, policies: policies)
    let shared = try settings.store.map { try SharedStores(around, $0) }
    let stores: any PackageStores
    if let shared { stores = shared } else { stores = try await FileStores(around) }
    self.stores = stores
    let deployer = Deployer(settings, stores, server, world)
    self.deployer = deployer
    for model in settings.models { try await deployer.start(model) }
    server.deploy(through: deployer)
    guard let shared else { return }
    let threads = threads
    Task(executorPreference: loop) {
      while await deployer.follow(shared) { await threads.wait(for: .seconds(1)) }
    }
  }

  /// Another node may lead at once, or the folder may be copied: nothing is written after the log
  /// was emptied.
  func stop() async {
    if settings.store != nil { await deployer?.stop() } else { await deployer?.end() }
    do throws(ServerError) { try await stores?.settle() } catch {
      world.log.warn("the write-ahead log stays beside the store", ("reason", error.description))
    }
  }
}
