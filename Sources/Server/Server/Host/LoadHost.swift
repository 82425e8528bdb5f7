import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Loads the business system's rows into the cache, and reads again what was touched meanwhile, on
/// a thread of its own. Of several connections each has its loads, one at a time; what was touched is
/// then read elsewhere (`ReadHost`).
package actor LoadHost {
  let executor: ThreadExecutor
  /// By the number of the connection.
  let connectors: [any Connector]
  let service: ServiceHost
  let package: Package
  let world: World
  /// What a load reads of each connection, one after the other; together every row.
  private let scopes: [[LoadScope]]
  /// Nil where they are read elsewhere.
  private let reads: ReadBacks?
  /// Connections whose loads were asked for by whoever may not wait for the one that is under way.
  private nonisolated let wanted = Mutex<Set<Int>>([])
  /// The same for comparisons in slices.
  nonisolated let wantedComparisons = Mutex<Set<Int>>([])
  /// The one that is under way, and of which connection.
  var comparison: Comparison?
  var compared = 0
  /// What has begun and has not ended well: if the store broke it, it is begun again.
  private var loading: [Int] = []
  var isStopped = false
  /// Of several connections one that is away holds up no other.
  private var breakers: [CircuitBreaker]
  private var loadTroubles: [LastingTrouble]
  var comparisonTrouble = LastingTrouble(
    "rows could not be compared; tried again", over: "rows can be compared again")
  /// A load that takes longer is logged, whether it is the first one or not.
  private static let worthTelling: Duration = .seconds(1)
  /// What the last load that ended well has read: about as many as the next will. By its connection;
  /// under nil that of all.
  var lastRows: [Int?: Int] = [:]
  /// Loads begun, and those who wait for one of each connection that begins after they asked.
  private var begun = 0
  private var waiting: [Waiting] = []

  private struct Waiting {
    let after: Int
    var connections: Set<Int>
    /// Whether one that fails is the end too.
    let isOnce: Bool
    let continuation: CheckedContinuation<String?, Never>
  }
  /// Whether a load that has failed begins again by itself.
  private let repeats: Bool

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// `connectors`: by the number of the connection. `scopes`: what a load reads of the only one; nil:
  /// all its entities.
  package init(
    connectors: sending [any Connector], service: ServiceHost, package: Package, world: World,
    scopes: [LoadScope]? = nil, on thread: ThreadExecutor? = nil, repeats: Bool = true
  ) {
    self.repeats = repeats
    let connections = service.rules.connections
    self.scopes =
      scopes.map { [$0] }
      ?? connections.names.indices.map {
        [LoadScope(entities: connections.entities(service.rules.loadOrder, of: $0))]
      }
    executor = thread ?? ThreadExecutor(name: "ferry-load")
    reads =
      connectors.count == 1 ? ReadBacks(connectors[0], of: nil, service, world, executor) : nil
    breakers = connectors.map { _ in CircuitBreaker() }
    loadTroubles = connectors.indices.map {
      LastingTrouble(
        "the business system could not be loaded; tried again",
        over: "the business system can be loaded again", connections.fields($0))
    }
    self.connectors = connectors
    self.service = service
    self.package = package
    self.world = world
  }

  /// Of the only connection of a package.
  package init(
    connector: sending any Connector, service: ServiceHost, package: Package, world: World,
    scopes: [LoadScope]? = nil, on thread: ThreadExecutor? = nil
  ) {
    self.init(
      connectors: [connector], service: service, package: package, world: world, scopes: scopes,
      on: thread)
  }

  /// Asks for a load; several asked for at one time are one. Waits for nothing.
  package nonisolated func want(_ connection: Int = 0) {
    wanted.withLock { _ = $0.insert(connection) }
    service.callReaders()
  }

  /// Asks for a load of every connection and returns when they have ended well, or the host was stopped.
  package func loadNow() async { _ = await load(Set(connectors.indices), isOnce: false) }

  /// Asks for a load of a connection and returns when it has ended, well or not, or the host was
  /// stopped; gives why it has brought nothing.
  func loadOnce(_ connection: Int) async -> String? { await load([connection], isOnce: true) }

  private func load(_ connections: Set<Int>, isOnce: Bool) async -> String? {
    await withCheckedContinuation { continuation in
      guard !isStopped else { return continuation.resume(returning: nil) }
      waiting.append(
        Waiting(
          after: begun, connections: connections, isOnce: isOnce, continuation: continuation))
      for connection in connections { want(connection) }
    }
  }

  /// Asks for a comparison of all rows in slices, beside which everything goes on. Waits for nothing.
  package nonisolated func wantComparison(_ connection: Int = 0) {
    wantedComparisons.withLock { _ = $0.insert(connection) }
    service.callReaders()
  }

  /// The load of this number has brought these connections.
  private func release(_ number: Int, _ read: [Int]) {
    for place in waiting.indices where waiting[place].after < number {
      waiting[place].connections.subtract(read)
    }
    for waiter in waiting where waiter.connections.isEmpty {
      waiter.continuation.resume(returning: nil)
    }
    waiting.removeAll(where: \.connections.isEmpty)
  }

  /// The load of this number has brought nothing.
  private func fail(_ number: Int, _ read: [Int], _ failure: String) {
    func isOver(_ waiter: Waiting) -> Bool {
      waiter.isOnce && waiter.after < number && !waiter.connections.isDisjoint(with: read)
    }
    for waiter in waiting where isOver(waiter) { waiter.continuation.resume(returning: failure) }
    waiting.removeAll(where: isOver)
  }

  /// The connection that is loaded next.
  private var nextLoad: Int? {
    let now = world.clock.moment
    return wanted.withLock { $0 }.sorted().first { breakers[$0].mayTry(now) }
  }

  package func run() async {
    while !isStopped {
      do throws(ServerError) {
        if reads == nil { await service.seenReading(of: nil) }
        if let next = nextLoad {
          // Devices take what a first load gives for everything that there is.
          var isAll = connectors.count == 1
          if !isAll { isAll = try await !service.isLoaded() }
          try await load(isAll ? nil : next)
        }
        try await loadNextGroup()
        try await reads?.run()
        try await compareNext()
      } catch {
        guard error.code != .replacedPackage else { return }
        world.log.error("the store failed during a load", ("reason", error.description))
        for connection in loading { want(connection) }
        await executor.sleep(for: .seconds(1))
      }
      if nextLoad == nil, !isStopped {
        await service.waitForReading(
          patience: comparison?.patience(at: world.clock.uptime) ?? .seconds(1))
      }
    }
  }

  /// `connection`: nil for all of them.
  private func load(_ connection: Int?) async throws(ServerError) {
    let read = connection.map { [$0] } ?? Array(connectors.indices)
    wanted.withLock { $0.subtract(read) }
    loading = read
    begun += 1
    let number = begun
    if number == 1 { world.log.info("the business system is being loaded") }
    let start = world.clock.uptime
    // It compares everything.
    try await endComparison()
    let ticket = try await service.beginLoad(of: connection, only: ownNames(of: read))
    let report: LoadReport
    let summary: LoadSummary
    do throws(LoadFailure) { (report, summary) = try await self.load(ticket, read) } catch {
      switch error {
      case .store(let failure):
        fail(number, read, failure.description)
        throw failure
      case .connector(let failure, _): fail(number, read, failure.description)
      }
      guard repeats else {
        loading = []
        return
      }
      if connection == nil {
        await executor.sleep(for: .seconds(1))
      } else {
        for away in read { breakers[away].note(isReached: false, world.clock.moment) }
      }
      for connection in read { want(connection) }
      return
    }
    if ticket.isFirst { service.cacheGroups.loadedAll(began: start) }
    loading = []
    tellLoaded(report.rows, summary, connection, in: world.clock.uptime - start)
    lastRows[connection] = report.rows
    service.pulse.tellCompared(
      ComparisonReport(
        rows: report.rows,
        differences: summary.changedRows + summary.deletedRows,
        time: world.clock.uptime - start))
    for connection in read {
      breakers[connection].note(isReached: true, world.clock.moment)
      tell(nil, of: connection)
    }
    release(number, read)
    guard !summary.doubtedPartitions.isEmpty else { return }
    // What is not believed needs a second load that says the same.
    await executor.sleep(for: .seconds(1))
    for connection in read { want(connection) }
  }

  /// One load from its ticket to its end. What the business system says of itself is noted.
  func load(
    _ ticket: LoadTicket, _ connections: [Int], of group: String? = nil
  ) async throws(LoadFailure) -> (LoadReport, LoadSummary) {
    var report = LoadReport(service.pulse, world, since: world.clock.uptime)
    defer { service.pulse.tellLoad(nil) }
    let coverage: LoadCoverage
    do throws(LoadFailure) {
      coverage = try await read(connections, ticket, of: group, &report)
      guard !isSuspended(group) else {
        throw .connector(CacheGroups.wasSuspended, of: connections.first ?? 0)
      }
    } catch {
      await service.abandonLoad(ticket)
      if case .connector(let failure, let away) = error, !isSuspended(group) {
        tell(failure, of: away)
      }
      throw error
    }
    do throws(ServerError) {
      while true {
        if case .done(let summary) = try await service.endLoad(ticket, coverage) {
          return (report, summary)
        }
      }
    } catch { throw .store(error) }
  }

  /// The load of a cache group; gives why it has brought nothing.
  func loadGroup(
    _ name: String, _ entities: [Entity], of connections: [Int]
  ) async throws(ServerError) -> String? {
    begun += 1
    let ticket = try await service.beginLoad(only: entities.map(\.name))
    do throws(LoadFailure) {
      let (_, summary) = try await load(ticket, connections, of: name)
      for connection in connections { tell(nil, of: connection) }
      guard summary.doubtedPartitions.isEmpty else {
        return "far fewer rows than before came; a second load must say the same"
      }
      return nil
    } catch {
      switch error {
      case .store(let failure): throw failure
      case .connector(let failure, _): return failure.description
      }
    }
  }

  /// What the load did not find is read by its key.
  func readAgain() async throws(ServerError) { try await reads?.run() }

  func allScopes(of connection: Int) -> [LoadScope] { scopes[connection] }

  /// The entities that a load of connections reads; nil: all of them.
  private func ownNames(of connections: [Int]) -> [String]? {
    guard !service.cacheGroups.isEmpty else { return nil }
    let entities = connections.flatMap { scopes[$0] }.flatMap(\.entities)
    return service.cacheGroups.followed(entities).map(\.name)
  }

  func isSuspended(_ group: String?) -> Bool {
    group.map { service.cacheGroups.isSuspended($0) } ?? false
  }

  /// Nil for what went well.
  func tell(_ failure: ConnectorError?, of connection: Int) {
    loadTroubles[connection].tell(failure?.description, world.log)
    service.pulse.tellBusiness(failure?.description, of: connection)
  }

  private func tellLoaded(
    _ rows: Int, _ summary: LoadSummary, _ connection: Int?, in time: Duration
  ) {
    let isWorthTelling = lastRows[connection] == nil || time >= LoadHost.worthTelling
    world.log.write(
      isWorthTelling ? .info : .debug, "the business system was loaded",
      [
        ("rows", String(rows)), ("changed", String(summary.changedRows)),
        ("gone", String(summary.deletedRows)),
        ("milliseconds", String(Int64(time / .milliseconds(1)))),
      ] + (connection.map { service.rules.connections.fields($0) } ?? []))
  }

  /// Ends after the load that is under way; whoever waits for one is let go.
  package func stop() {
    isStopped = true
    for waiter in waiting { waiter.continuation.resume(returning: nil) }
    waiting = []
  }
}
