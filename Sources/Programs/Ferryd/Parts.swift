import FerryHTTP
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Synchronization

/// The parts of a running server; requests that come before it is ready are told so.
actor Parts {
  private let settings: Settings
  private let world: World
  private let doorkeeper: Doorkeeper
  private let host = Mutex<PackageHost?>(nil)

  init(_ settings: Settings, _ world: World, _ users: UserFile) {
    self.settings = settings
    self.world = world
    doorkeeper = Doorkeeper(users, world: world)
  }

  private static let notReady = HTTPResponse(status: 503, headers: ["Retry-After": "1"])

  nonisolated func admit(_ request: HTTPRequest) -> HTTPAdmission {
    host.withLock { $0 }?.admit(request) ?? .refuse(Parts.notReady)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let host = host.withLock({ $0 }) else { return Parts.notReady }
    return await host.answer(request)
  }

  func start(on loop: any TaskExecutor) async throws {
    let settings = self.settings
    let started = try await PackageHost.start(
      settings.package, folder: settings.folder, doorkeeper: doorkeeper, world: world,
      limits: settings.limits, proxies: settings.proxies, on: loop
    ) {
      settings.database.connector(
        for: settings.package, remembersOperations: settings.remembersOperations)
    }
    host.withLock { $0 = started }
  }
}
