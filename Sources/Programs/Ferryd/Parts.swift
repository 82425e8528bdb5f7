import FerryConnector
import FerryHTTP
import FerrySQLConnector
import FerryServer
import FerryWorld

/// The parts of a running server; requests that come before it is ready are told so.
actor Parts {
  private let settings: Settings
  private let world: World
  private let doorkeeper: Doorkeeper
  private var router: Router?

  init(_ settings: Settings, _ world: World, _ users: UserFile) {
    self.settings = settings
    self.world = world
    doorkeeper = Doorkeeper(users)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let router = await router else {
      return HTTPResponse(status: 503, headers: ["Retry-After": "1"])
    }
    return await router.answer(request)
  }

  func start(on loop: any TaskExecutor) async throws {
    let (package, folder, world) = (settings.package, settings.folder, self.world)
    let service = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: package, folder: folder, world: world)
    }
    let replay = ReplayHost(connector: connector(), service: service, world: world)
    let load = LoadHost(
      connector: connector(), service: service, package: package, world: world)
    router = Router(service: service, doorkeeper: doorkeeper, world: world)
    Task(executorPreference: loop) { await load.run() }
    Task(executorPreference: loop) { await replay.run { await load.want() } }
    await load.want()
  }

  private func connector() -> sending SQLiteConnector {
    SQLiteConnector(
      path: settings.database, package: settings.package,
      remembersOperations: settings.remembersOperations)
  }
}
