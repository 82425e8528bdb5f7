import FerryHTTP
import FerryServer
import FerryWorld

/// The parts of a running server; requests that come before it is ready are told so.
actor Parts {
  private let settings: Settings
  private let world: World
  private let doorkeeper: Doorkeeper
  private var host: PackageHost?

  init(_ settings: Settings, _ world: World, _ users: UserFile) {
    self.settings = settings
    self.world = world
    doorkeeper = Doorkeeper(users)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let host = await host else {
      return HTTPResponse(status: 503, headers: ["Retry-After": "1"])
    }
    return await host.answer(request)
  }

  func start(on loop: any TaskExecutor) async throws {
    let settings = self.settings
    host = try await PackageHost.start(
      settings.package, folder: settings.folder, doorkeeper: doorkeeper, world: world,
      limits: settings.limits, on: loop
    ) {
      settings.database.connector(
        for: settings.package, remembersOperations: settings.remembersOperations)
    }
  }
}
