import FerryHTTP
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// The parts of a running server; requests that come before it is ready are told so.
actor Parts {
  private let settings: Settings
  private let world: World
  private let doorkeeper: Doorkeeper
  private let parts = Mutex(Served())

  /// The host of the one server of its store, or the node of several.
  private struct Served {
    var host: PackageHost?
    var node: PackageNode?
  }

  private nonisolated var host: PackageHost? {
    let served = parts.withLock { $0 }
    return served.host ?? served.node?.host
  }

  init(_ settings: Settings, _ world: World, _ users: Users) {
    self.settings = settings
    self.world = world
    doorkeeper = Doorkeeper(
      users.provider, tokens: settings.issuers.providers(world), world: world)
  }

  private static let notReady = HTTPResponse(status: 503, headers: ["Retry-After": "1"])

  nonisolated func admit(_ request: HTTPRequest) -> HTTPAdmission {
    host?.admit(request) ?? .refuse(Parts.notReady)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let host else { return Parts.notReady }
    return await host.answer(request)
  }

  /// Users of the file have changed.
  nonisolated func recordsChanged() async {
    await host?.recordsChanged()
  }

  /// Returns after the time, without a thread of its own once the server has started.
  nonisolated func wait(for duration: Duration) async throws {
    guard let host else { return try await Task.sleep(for: duration) }
    await host.wait(for: duration)
  }

  func start(on loop: any TaskExecutor) async throws {
    let settings = self.settings
    if let store = settings.store {
      let node = try await PackageNode.start(
        PackageNode.Settings(
          address: store, package: settings.package, folder: settings.folder,
          limits: settings.limits, proxies: settings.proxies,
          name: "\(ProcessInfo.processInfo.hostName) \(getpid())"), doorkeeper: doorkeeper,
        world: world, on: loop
      ) {
        settings.database.connector(
          for: settings.package, remembersOperations: settings.remembersOperations)
      }
      parts.withLock { $0.node = node }
      return
    }
    let started = try await PackageHost.start(
      settings.package, folder: settings.folder, doorkeeper: doorkeeper, world: world,
      limits: settings.limits, proxies: settings.proxies, on: loop
    ) {
      settings.database.connector(
        for: settings.package, remembersOperations: settings.remembersOperations)
    }
    parts.withLock { $0.host = started }
  }

  /// Another node may lead at once.
  func stop() async { await parts.withLock { $0.node }?.stop() }
}
