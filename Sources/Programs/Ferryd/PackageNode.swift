import FerryConnector
import FerryHTTP
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// One of several servers of a package on one store: it follows, and leads while it has the lease.
///
/// Each change is a new `PackageHost`: nothing that a node has in memory outlives its term. Devices
/// whose exchange ends with a host come again.
final class PackageNode: Sendable {
  /// What every host of the node is made with.
  struct Settings: Sendable {
    let address: PostgreSQLAddress
    let package: Package
    /// Of this node alone: its audit log, and the key of its operator.
    let folder: String
    let limits: ServiceLimits
    let proxies: Set<String>
    /// What messages call this node.
    let name: String
  }

  private let settings: Settings
  private let world: World
  private let folder: Folder
  private let audit: AuditLog
  private let doorkeeper: Doorkeeper
  private let loop: (any TaskExecutor)?
  private let connector: @Sendable () -> sending any Connector
  private let state = Mutex(State())
  private let keeper: LeaseKeeper

  private struct State {
    var host: PackageHost?
    var isStopped = false
  }

  /// Holds the folder and starts to follow, or to lead where nobody does.
  ///
  /// Errors: what the store and `Service` throw at the start; later ones are logged and tried again.
  static func start(
    _ settings: Settings, doorkeeper: Doorkeeper, world: World, on loop: (any TaskExecutor)?,
    connector: @escaping @Sendable () -> sending any Connector
  ) async throws(ServerError) -> PackageNode {
    let node = try PackageNode(settings, doorkeeper, world, loop, connector)
    let term = try node.keeper.take()
    let host = try await node.host(term)
    node.state.withLock { $0.host = host }
    node.listen()
    node.keeper.run { term in
      Task(executorPreference: loop) { await node.change(to: term) }
    }
    return node
  }

  private init(
    _ settings: Settings, _ doorkeeper: Doorkeeper, _ world: World, _ loop: (any TaskExecutor)?,
    _ connector: @escaping @Sendable () -> sending any Connector
  ) throws(ServerError) {
    self.settings = settings
    self.world = world
    self.doorkeeper = doorkeeper
    self.loop = loop
    self.connector = connector
    folder = try Folder(settings.folder)
    audit = AuditLog(path: "\(settings.folder)/audit.jsonl", world: world)
    keeper = LeaseKeeper(settings, world)
  }

  /// nil while a host takes the place of another.
  var host: PackageHost? { state.withLock { $0.host } }

  private func host(_ term: Term?) async throws(ServerError) -> PackageHost {
    let (settings, world, folder) = (settings, world, folder)
    return try await PackageHost.start(
      settings.package, audit: audit, doorkeeper: doorkeeper, world: world,
      limits: settings.limits, proxies: settings.proxies, on: loop,
      store: { package throws(ServerError) in
        try PostgreSQLStore(
          settings.address, package: package, world: world, lease: term, folder: folder)
      }, connector: connector)
  }

  /// Looks at once where another node has done something.
  private func listen() {
    let thread = Thread { [weak self] in
      guard let package = self?.keeper.package, let address = self?.settings.address else { return }
      let hints = StoreHint(address, package: package)
      while let node = self, !node.state.withLock({ $0.isStopped }) {
        do throws(PostgreSQLError) {
          let isNews = try hints.wait(
            leads: { node.keeper.leads }, patience: .seconds(1))
          if isNews { node.host?.look() }
        } catch {
          Thread.sleep(forTimeInterval: 1)
        }
        // What comes together is looked at together.
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    thread.name = "ferry-hints"
    thread.start()
  }

  /// A term has begun, or ended: what was served by the host of before is served by another one.
  private func change(to term: Term?) async {
    let old = state.withLock { state in
      defer { state.host = nil }
      return state.host
    }
    await old?.stop()
    world.log.info(
      term == nil ? "this node follows" : "this node leads", ("package", settings.package.id),
      ("node", settings.name), ("term", term.map { String($0.number) } ?? "-"))
    while !state.withLock({ $0.isStopped }), keeper.term == term {
      do throws(ServerError) {
        let new = try await host(term)
        let isWanted = state.withLock { state in
          guard !state.isStopped, keeper.term == term else { return false }
          state.host = new
          return true
        }
        if !isWanted { await new.stop() }
        return
      } catch {
        world.log.error("the store cannot be opened", ("reason", error.description))
      }
      try? await Task.sleep(for: .seconds(1))
    }
  }

  /// Ends in good order; another node may lead at once.
  func stop() async {
    let host = state.withLock { state in
      state.isStopped = true
      return state.host
    }
    await host?.stop()
    keeper.stop()
  }
}

/// Takes and renews the lease, on a thread and a connection of its own: what the service's thread
/// does, however long, keeps it from nothing.
private final class LeaseKeeper: Sendable {
  private let settings: PackageNode.Settings
  private let world: World
  private let state = Mutex(State())

  private struct State {
    var lease: Lease?
    var package: Int64?
    var isStopped = false
    var onChange: (@Sendable (Term?) -> Void)?
  }

  init(_ settings: PackageNode.Settings, _ world: World) {
    self.settings = settings
    self.world = world
  }

  var term: Term? { state.withLock { $0.lease?.term } }
  /// As `term`, without waiting for a look at the lease.
  var leads: Bool { isLeading.load(ordering: .relaxed) }
  private let isLeading = Atomic<Bool>(false)
  /// The package's number in the store.
  var package: Int64? { state.withLock { $0.package } }

  /// The first time, before the thread runs.
  func take() throws(ServerError) -> Term? {
    let (settings, world) = (settings, world)
    let result = state.withLock { state -> Result<Term?, ServerError> in
      do throws(ServerError) {
        state.package = try Lease.number(of: settings.package, settings.address, world)
        state.lease = try Lease.take(
          settings.address, settings.package, holder: settings.name, world)
        isLeading.store(state.lease != nil, ordering: .relaxed)
        return .success(state.lease?.term)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  func run(_ onChange: @escaping @Sendable (Term?) -> Void) {
    state.withLock { $0.onChange = onChange }
    let thread = Thread { self.work() }
    thread.name = "ferry-lease"
    thread.start()
  }

  private func work() {
    while true {
      Thread.sleep(forTimeInterval: 0.5)
      let goesOn = state.withLock { state in
        guard !state.isStopped else { return false }
        look(&state)
        return true
      }
      guard goesOn else { return }
    }
  }

  private func look(_ state: inout State) {
    do {
      if let lease = state.lease {
        try lease.renew()
      } else if let taken = try Lease.take(
        settings.address, settings.package, holder: settings.name, world)
      {
        state.lease = taken
        isLeading.store(true, ordering: .relaxed)
        state.onChange?(taken.term)
      }
    } catch let error as StoreError where error.code == .superseded {
      world.log.warn("another node leads now", ("reason", error.message))
      state.lease = nil
      isLeading.store(false, ordering: .relaxed)
      state.onChange?(nil)
    } catch {
      // A lease that cannot be renewed ends by the clock of the database; the fence decides.
      world.log.debug("the lease cannot be looked at", ("reason", "\(error)"))
    }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.lease?.release()
      state.lease = nil
    }
  }
}
