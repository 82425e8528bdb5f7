import FerryConnector
import FerryHTTP
import FerryModel
import FerryWorld

/// A package that is served: its service, its replay and its loads, each on a thread of its own, or
/// on those of a server with several packages.
package struct PackageHost: Sendable {
  /// Of this package alone.
  let router: Router
  let served: ServedPackage
  private let service: ServiceHost
  /// One for each connection.
  private let hosts: [ConnectionHosts]
  private let load: LoadHost
  /// Those that replay, load and look; none on a node that follows.
  private let work: [Task<Void, Never>]

  /// Opens the store, begins to replay what waits, and loads the business system.
  ///
  /// `store` is called on the service's own thread, `connector` for each who has one of its own: who
  /// replays, who loads, who reads big values, and who asks for changes where that takes long; of
  /// several connections for each of them, by its name in the model (nil: the default one). The
  /// tasks that drive them run on `loop` where one is given. `proxies`: addresses of proxies whose
  /// `X-Forwarded-For` is believed. `cacheGroups`: when what is read. `threads`: those of a server with
  /// several packages. `readsWhenAsked`: the business system is read by `refresh()` alone, not even at
  /// the start; its connector must look apart. Errors: what `Service` and the store throw.
  package static func start(
    _ package: Package, audit: AuditLog, doorkeeper: Doorkeeper, world: World,
    limits: ServiceLimits = .standard, proxies: Set<String> = [],
    cacheGroups: CacheGroups = CacheGroups(),
    on loop: (any TaskExecutor)? = nil, threads: ServerThreads? = nil,
    readsWhenAsked: Bool = false,
    store: @escaping @Sendable (Package) throws(ServerError) -> any Store,
    connectors: (_ connection: String?) -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    let readers =
      threads == nil ? ReaderThreads.make(limits.readers ?? 2) : threads?.readers
    let service = try await ServiceHost(world: world, on: threads?.service, readers: readers) {
      () throws(ServerError) in
      let service = try Service(
        package: package, world: world, limits: limits,
        users: threads?.users.value ?? SharedUsers(), cacheGroups: cacheGroups, store: store)
      service.provider = doorkeeper.roles.mapping(
        ProviderChain(doorkeeper.provider, [service.tokenUsers]), for: package.name)
      service.templates = doorkeeper.templates
      _ = try service.operatorKey()
      service.onSecond = { audit.tellStrangers() }
      for name in service.madeKeys { audit.note(.keyMade, reason: name) }
      service.listen { event in
        switch event {
        case .sessionEnded(let user, let device, let reason):
          audit.note(
            ["evicted", "inactive"].contains(reason) ? .deviceRemoved : .sessionEnded, user: user,
            device: device,
            reason: reason)
        case .tokenRepeated(let user, let device):
          audit.note(.tokenRepeated, user: user, device: device)
        case .operationRefused(let owner, let operation, let reason):
          audit.note(
            .operationRefused, user: owner.user.text, device: owner.device.text,
            reason: "\(operation.kind.rawValue) \(operation.entity.name): \(reason)")
        case .correctionEnded(let correction):
          let became = correction.became.map { " as \($0)" } ?? ""
          let detail = correction.detail.isEmpty ? "" : ": \(correction.detail)"
          audit.note(
            .correctionEnded, by: correction.madeBy, user: correction.owner.user.text,
            device: correction.owner.device.text, operation: correction.operation.text,
            reason: "\(correction.verb.rawValue) \(correction.state.rawValue)\(became)\(detail)")
        default: break
        }
      }
      return service
    }
    let turn = threads?.next()
    let names = service.rules.connections.names
    let hosts = names.enumerated().map { number, name in
      ConnectionHosts(
        number, of: names.count, service, world, on: turn?.replay, connector: { connectors(name) })
    }
    let load = LoadHost(
      connectors: PackageHost.made(names, connectors), service: service, package: package,
      world: world, on: turn?.load, repeats: !readsWhenAsked)
    let contents = ContentHost(
      connectors: PackageHost.made(names, connectors), service: service, world: world,
      on: threads?.contents)
    service.connectCacheGroups()
    // On a node that follows the leader does that.
    var work: [Task<Void, Never>] = []
    if service.leads {
      work = [Task(executorPreference: loop) { await load.run() }]
      work += hosts.flatMap { $0.run(load, looks: !readsWhenAsked, on: loop) }
    }
    let served = ServedPackage(package, service, contents, load: { load.want() })
    return PackageHost(
      router: Router(
        [served], doorkeeper: doorkeeper, audit: audit,
        proxies: proxies, turns: ExchangeTurns(), meter: ServerMeter(world), world: world),
      served: served, service: service, hosts: hosts, load: load, work: work)
  }

  /// The same with one connector for all connections.
  package static func start(
    _ package: Package, audit: AuditLog, doorkeeper: Doorkeeper, world: World,
    limits: ServiceLimits = .standard, proxies: Set<String> = [],
    on loop: (any TaskExecutor)? = nil, threads: ServerThreads? = nil,
    store: @escaping @Sendable (Package) throws(ServerError) -> any Store,
    connector: () -> sending any Connector
  ) async throws(ServerError) -> PackageHost {
    try await start(
      package, audit: audit, doorkeeper: doorkeeper, world: world, limits: limits,
      proxies: proxies, on: loop, threads: threads, store: store, connectors: { _ in connector() })
  }

  private static func made(
    _ names: [String?], _ connectors: (String?) -> sending any Connector
  ) -> sending [any Connector] {
    var made: [any Connector] = []
    for name in names { made.append(connectors(name)) }
    return made
  }

  /// Judges a request by its head, before its body is read; any thread, and at once.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    router.admit(request).counted(for: router.caller(of: request))
  }

  /// Answers a device, in memory or behind a socket.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse { await router.answer(request) }

  /// Looks at users again whose records may have changed: their lines end, or show the rights of now.
  package func recordsChanged() async { await service.recordsChanged() }

  /// The connection templates have changed: devices hear of newer settings.
  package func templatesChanged() async { await service.templatesChanged() }

  /// Returns after the time; it takes no thread. For what looks at something now and then.
  package func wait(for duration: Duration) async { await service.wait(for: duration) }

  /// Reads the business system anew and returns when that is done; without being asked it is read
  /// when it tells of changes.
  package func reload() async { await load.loadNow() }

  /// Asks the business system what has changed and reads it. Returns when everything that was committed
  /// there before the call is in the cache, the task is cancelled, or the host was stopped. Gives why it could not be asked or
  /// read; nothing is tried again then. For who serves with `readsWhenAsked`.
  package func refresh() async throws(ServerError) -> String? {
    let needed = await service.looksNeeded
    let isLoaded = try await service.isLoaded()
    for (number, host) in hosts.enumerated() {
      let look = await host.look()
      if let failure = look.failure { return failure }
      guard look.needsLoad || !isLoaded, !Task.isCancelled else { continue }
      if let failure = await load.loadOnce(number) { return failure }
    }
    await waitUntilCurrent(needed)
    return nil
  }

  /// Returns when everything that was committed in the business system before the call is in the
  /// cache, by the looks that the host makes by itself; for tests.
  package func becomeCurrent() async { await waitUntilCurrent(service.looksNeeded) }

  private func waitUntilCurrent(_ needed: NeededLooks) async {
    while !Task.isCancelled, await !service.isStopped, await !service.isCurrent(needed) {
      await service.wait(for: PackageHost.refreshStep)
    }
  }

  /// How often a refresh looks whether the last rows were read.
  private static let refreshStep: Duration = .milliseconds(20)

  /// Whether the business system was ever read to its end: before that devices get nothing.
  package func isLoaded() async throws(ServerError) -> Bool { try await service.isLoaded() }

  /// Asks for a comparison of all rows in slices and returns at once; without being asked there is one
  /// each night where changes of others are noted.
  package func compare() { for connection in hosts.indices { load.wantComparison(connection) } }

  /// Does at once what is done each second: the clock may have gone far ahead.
  package func timeHasPassed() async { await service.tick() }

  /// How many operations were taken in and have no answer yet; for tests.
  package func waitingOperations() async -> Int { (try? await service.waitingOperations()) ?? 0 }

  /// Looks at once at what other nodes have done; without being asked it does so each second.
  package func look() { service.look() }

  /// Ends every open line at once; devices come again.
  package func hangUp() async { await service.hangUp() }

  /// Ends in good order: what is in work is finished, and whoever waits is let go.
  package func stop() async {
    for host in hosts { await host.stop() }
    await load.stop()
    await service.stop()
    router.audit.tellStrangers(isEnd: true)
  }

  /// As `stop`, and returns when nothing more is performed or loaded: another host may serve the
  /// package. A load that is under way is given up.
  package func end() async {
    await service.stop()
    await stop()
    for task in work { await task.value }
    await service.ended()
  }
}
