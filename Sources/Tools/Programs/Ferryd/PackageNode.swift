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
  /// Which package is served, from which store.
  struct Settings: Sendable {
    let address: PostgreSQLAddress
    let package: Package
    let cacheGroups: CacheGroups
    /// What messages call this node.
    let name: String
  }

  private let settings: Settings
  private let around: PackageSurroundings
  private let folder: Folder
  private let publish: @Sendable (PackageHost?) -> Void
  private let connector: @Sendable (String?) -> sending any Connector
  private let state = Mutex(State())
  private let keeper: LeaseKeeper

  private struct State {
    var host: PackageHost?
    var isStopped = false
  }

  /// Starts to follow, or to lead where nobody does. `publish` gets who answers devices; nil while a
  /// host takes the place of another.
  ///
  /// Errors: what the store and `Service` throw at the start; later ones are logged and tried again.
  static func start(
    _ settings: Settings, _ around: PackageSurroundings, _ folder: Folder,
    publish: @escaping @Sendable (PackageHost?) -> Void,
    connector: @escaping @Sendable (String?) -> sending any Connector
  ) async throws(ServerError) -> PackageNode {
    let node = PackageNode(settings, around, folder, publish, connector)
    let term = try node.keeper.take()
    do throws(ServerError) {
      let host = try await node.host(term)
      node.state.withLock { $0.host = host }
      publish(host)
    } catch {
      node.keeper.stop()
      throw error
    }
    node.listen()
    node.keeper.run { term in
      Task(executorPreference: around.loop) { await node.change(to: term) }
    }
    return node
  }

  private init(
    _ settings: Settings, _ around: PackageSurroundings, _ folder: Folder,
    _ publish: @escaping @Sendable (PackageHost?) -> Void,
    _ connector: @escaping @Sendable (String?) -> sending any Connector
  ) {
    self.settings = settings
    self.around = around
    self.folder = folder
    self.publish = publish
    self.connector = connector
    keeper = LeaseKeeper(settings, around.world)
  }

  private var world: World { around.world }
  private var host: PackageHost? { state.withLock { $0.host } }

  private func host(_ term: Term?) async throws(ServerError) -> PackageHost {
    let (settings, world, folder) = (settings, world, folder)
    return try await PackageHost.start(
      settings.package, audit: around.audit, doorkeeper: around.doorkeeper, world: world,
      limits: around.settings.limits, proxies: around.settings.proxies,
      cacheGroups: settings.cacheGroups, on: around.loop,
      threads: around.threads,
      store: { package throws(ServerError) in
        try PostgreSQLStore(
          settings.address, package: package, world: world, lease: term, folder: folder)
      }, connectors: connector)
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
      if !state.isStopped { publish(nil) }
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
          publish(new)
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
    await close()?.stop()
    keeper.stop()
  }

  func end() async {
    await close()?.end()
    keeper.stop()
  }

  /// From now on no host takes the place of this one.
  private func close() -> PackageHost? {
    state.withLock { state in
      state.isStopped = true
      return state.host
    }
  }
}

extension PackageNode: RunningPackage {}

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
      world.log.debug("the lease cannot be read", ("reason", "\(error)"))
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
