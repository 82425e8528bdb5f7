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
  private let audit: AuditLog
  private let server: ServerHost
  private let threads = ServerThreads(processors: ProcessInfo.processInfo.activeProcessorCount)
  /// Of several servers on one store.
  private let node = Mutex<PackageNode?>(nil)

  init(_ settings: Settings, _ world: World, _ users: Users) {
    self.settings = settings
    self.world = world
    doorkeeper = Doorkeeper(
      users.provider, tokens: settings.issuers.providers(world), templates: users.templates,
      world: world)
    audit = AuditLog(path: "\(settings.folder)/audit.jsonl", world: world)
    server = ServerHost(
      doorkeeper: doorkeeper, audit: audit, proxies: settings.proxies, world: world)
  }

  private static let notReady = HTTPResponse(status: 503, headers: ["Retry-After": "1"])

  nonisolated func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard let node = node.withLock({ $0 }) else { return server.admit(request) }
    return node.host?.admit(request) ?? .refuse(Parts.notReady)
  }

  nonisolated func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let node = node.withLock({ $0 }) else { return await server.answer(request) }
    guard let host = node.host else { return Parts.notReady }
    return await host.answer(request)
  }

  /// Users of the file have changed.
  nonisolated func recordsChanged() async {
    await server.recordsChanged()
    await node.withLock { $0 }?.host?.recordsChanged()
  }

  nonisolated func templatesChanged() async {
    await server.templatesChanged()
    await node.withLock { $0 }?.host?.templatesChanged()
  }

  /// Returns after the time; it takes no thread.
  nonisolated func wait(for duration: Duration) async { await threads.wait(for: duration) }

  func start(on loop: any TaskExecutor) async throws {
    guard settings.store == nil else { return try await startNode(on: loop) }
    let store = try await SQLiteServer(
      folder: settings.folder, audit: audit, threads: threads, world: world)
    let deployer = Deployer(settings, store, server, doorkeeper, world, on: loop)
    for model in settings.models { try await deployer.start(model) }
    server.deploy(through: deployer)
  }

  private func startNode(on loop: any TaskExecutor) async throws {
    guard let store = settings.store, let model = settings.models.first else { return }
    let remembersOperations = settings.remembersOperations
    let started = try await PackageNode.start(
      PackageNode.Settings(
        address: store, package: model.package, folder: settings.folder, limits: settings.limits,
        proxies: settings.proxies, name: "\(ProcessInfo.processInfo.hostName) \(getpid())"),
      doorkeeper: doorkeeper, world: world, on: loop
    ) { model.connector(remembersOperations: remembersOperations) }
    node.withLock { $0 = started }
  }

  /// Another node may lead at once.
  func stop() async { await node.withLock { $0 }?.stop() }
}
