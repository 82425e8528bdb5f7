import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Loads the business system's rows into the cache, and reads again what was touched meanwhile, on
/// a thread of its own. Of several connections each has its loads, one at a time; what was touched is
/// then read elsewhere (`ReadHost`).
public actor LoadHost {
  private let executor: ThreadExecutor
  /// By the number of the connection.
  let connectors: [any Connector]
  let service: ServiceHost
  private let package: Package
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
  private var isStopped = false
  /// Of several connections one that is away holds up no other.
  private var breakers: [CircuitBreaker]
  private var loadTroubles: [LastingTrouble]
  var comparisonTrouble = LastingTrouble(
    "rows could not be compared; tried again", over: "rows can be compared again")
  /// A load that takes longer is logged, whether it is the first one or not.
  private static let worthTelling: Duration = .seconds(1)
  /// What the last load that ended well has read: about as many as the next will. By its connection;
  /// under nil that of all.
  private var lastRows: [Int?: Int] = [:]
  /// Loads begun, and those who wait for one of each connection that begins after they asked.
  private var begun = 0
  private var waiting: [Waiting] = []

  private struct Waiting {
    let after: Int
    var connections: Set<Int>
    let continuation: CheckedContinuation<Void, Never>
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// `connectors`: by the number of the connection. `scopes`: what a load reads of the only one; nil:
  /// all its entities.
  public init(
    connectors: sending [any Connector], service: ServiceHost, package: Package, world: World,
    scopes: [LoadScope]? = nil, on thread: ThreadExecutor? = nil
  ) {
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
  public init(
    connector: sending any Connector, service: ServiceHost, package: Package, world: World,
    scopes: [LoadScope]? = nil, on thread: ThreadExecutor? = nil
  ) {
    self.init(
      connectors: [connector], service: service, package: package, world: world, scopes: scopes,
      on: thread)
  }

  /// Asks for a load; several asked for at one time are one. Waits for nothing.
  public nonisolated func want(_ connection: Int = 0) {
    wanted.withLock { _ = $0.insert(connection) }
    service.callReaders()
  }

  /// Asks for a load of every connection and returns when they have ended well, or the host was stopped.
  public func loadNow() async {
    await withCheckedContinuation { continuation in
      guard !isStopped else { return continuation.resume() }
      waiting.append(
        Waiting(after: begun, connections: Set(connectors.indices), continuation: continuation))
      for connection in connectors.indices { want(connection) }
    }
  }

  /// Asks for a comparison of all rows in slices, beside which everything goes on. Waits for nothing.
  public nonisolated func wantComparison(_ connection: Int = 0) {
    wantedComparisons.withLock { _ = $0.insert(connection) }
    service.callReaders()
  }

  /// The load of this number has brought these connections.
  private func release(_ number: Int, _ read: [Int]) {
    for place in waiting.indices where waiting[place].after < number {
      waiting[place].connections.subtract(read)
    }
    for waiter in waiting where waiter.connections.isEmpty { waiter.continuation.resume() }
    waiting.removeAll(where: \.connections.isEmpty)
  }

  /// The connection that is loaded next.
  private var nextLoad: Int? {
    let now = world.clock.moment
    return wanted.withLock { $0 }.sorted().first { breakers[$0].mayTry(now) }
  }

  public func run() async {
    while !isStopped {
      do throws(ServerError) {
        if reads == nil { await service.seenReading(of: nil) }
        if let next = nextLoad {
          // Devices take what a first load gives for everything that there is.
          var isAll = connectors.count == 1
          if !isAll { isAll = try await !service.isLoaded() }
          try await load(isAll ? nil : next)
        }
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
    let ticket = try await service.beginLoad(of: connection)
    var report = LoadReport(service.pulse, world, since: start)
    defer { service.pulse.tellLoad(nil) }
    let coverage: LoadCoverage
    do throws(LoadFailure) { coverage = try await self.read(read, ticket, &report) } catch {
      await service.abandonLoad(ticket)
      switch error {
      case .store(let failure): throw failure
      case .connector(let failure, let away): tell(failure, of: away)
      }
      if connection == nil {
        await executor.sleep(for: .seconds(1))
      } else {
        for away in read { breakers[away].note(isReached: false, world.clock.moment) }
      }
      for connection in read { want(connection) }
      return
    }
    var summary: LoadSummary?
    while summary == nil {
      if case .done(let ended) = try await service.endLoad(ticket, coverage) { summary = ended }
    }
    loading = []
    tellLoaded(report.rows, summary, connection, in: world.clock.uptime - start)
    lastRows[connection] = report.rows
    service.pulse.tellCompared(
      ComparisonReport(
        rows: report.rows,
        differences: (summary?.changedRows ?? 0) + (summary?.deletedRows ?? 0),
        time: world.clock.uptime - start))
    for connection in read {
      breakers[connection].note(isReached: true, world.clock.moment)
      tell(nil, of: connection)
    }
    release(number, read)
    guard let summary, !summary.doubtedPartitions.isEmpty else { return }
    // What is not believed needs a second load that says the same.
    await executor.sleep(for: .seconds(1))
    for connection in read { want(connection) }
  }

  /// Nil for what went well.
  private func tell(_ failure: ConnectorError?, of connection: Int) {
    loadTroubles[connection].tell(failure?.description, world.log)
    service.pulse.tellBusiness(failure?.description, of: connection)
  }

  private enum LoadFailure: Error {
    case store(ServerError)
    case connector(ConnectorError, of: Int)
  }

  /// How often a load goes on behind the last page that was kept without another page coming.
  private static let resumptions = 10

  /// Reads every scope to its end. Where the line breaks it goes on behind the last page, if the
  /// connector can.
  private func read(
    _ connections: [Int], _ ticket: LoadTicket, _ report: inout LoadReport
  ) async throws(LoadFailure) -> LoadCoverage {
    var parts: [LoadCoverage.Part] = []
    try count(connections, ticket, &report)
    for connection in connections {
      for scope in scopes[connection] {
        parts.append(try await read(scope, of: connection, ticket, &report))
      }
    }
    let coverage = LoadCoverage(parts)
    // Devices take what a first load gives for everything that there is.
    guard !ticket.isFirst || service.rules.loadOrder.allSatisfy({ coverage.isWhole($0) }) else {
      throw .connector(
        ConnectorError(
          "The load did not give every row", hint: "It is tried again.", isTransient: true),
        of: connections[0])
    }
    return coverage
  }

  /// How many rows there will be. Counting reads the tables once more: only where nobody knows.
  private func count(
    _ connections: [Int], _ ticket: LoadTicket, _ report: inout LoadReport
  ) throws(LoadFailure) {
    report.total = lastRows[ticket.connection]
    if report.total == nil {
      var total: Int? = 0
      for connection in connections {
        let entities = service.rules.connections.entities(package.entities, of: connection)
        do throws(ConnectorError) {
          let count = try connectors[connection].rowCount(entities)
          total = count.flatMap { count in total.map { $0 + count } }
        } catch {
          // Of several connections one may be away: its rows are waited for when it is its turn.
          guard connections.count > 1 else { throw .connector(error, of: connection) }
          total = nil
        }
      }
      report.total = total
    }
    report.add(0)
  }

  private func read(
    _ scope: LoadScope, of connection: Int, _ ticket: LoadTicket, _ report: inout LoadReport
  ) async throws(LoadFailure) -> LoadCoverage.Part {
    var place: LoadPlace?
    var attempts = 0
    while true {
      let part = readPages(of: scope, connection, from: place, ticket, &report)
      if let failure = part.failure { throw .store(failure) }
      if let end = part.end {
        if ticket.connection == nil { tell(nil, of: connection) }
        return LoadCoverage.Part(scope, end)
      }
      let error = part.error ?? ConnectorError("", hint: "", isTransient: true)
      // What a first load has of other connections is not read once more for one that is away.
      if ticket.isFirst, connectors.count > 1, !part.hasRows, place == nil, error.isTransient,
        !isStopped
      {
        tell(error, of: connection)
        await executor.sleep(for: .seconds(1))
        continue
      }
      attempts = part.hasPages ? 1 : attempts + 1
      guard let next = part.next ?? (part.hasPages ? nil : place), error.isTransient,
        attempts <= LoadHost.resumptions, !isStopped
      else { throw .connector(error, of: connection) }
      world.log.warn(
        "a load was interrupted; it goes on behind the last page", ("reason", error.description))
      place = next
      await executor.sleep(for: .seconds(1))
    }
  }

  /// What one reading came to.
  private struct ReadPages {
    var end: LoadEnd?
    var error: ConnectorError?
    /// The store could not take the rows.
    var failure: ServerError?
    var hasPages = false
    /// Or rows that do not fit.
    var hasRows = false
    /// Behind the last page; nil where the load cannot go on there.
    var next: LoadPlace?
  }

  private func readPages(
    of scope: LoadScope, _ connection: Int, from place: LoadPlace?, _ ticket: LoadTicket,
    _ report: inout LoadReport
  ) -> ReadPages {
    let service = self.service
    var result = ReadPages()
    var feed = LoadFeed(service, ticket)
    func keeping(_ body: () throws(ServerError) -> Void) throws(ConnectorError) {
      do throws(ServerError) { try body() } catch {
        result.failure = error
        throw ConnectorError(error.message, hint: error.hint, isTransient: error.isTransient)
      }
    }
    do throws(ConnectorError) {
      result.end = try connectors[connection].load(
        scope, from: place,
        each: { page throws(ConnectorError) in
          try keeping { () throws(ServerError) in try feed.add(page.entity, page.rows) }
          report.add(page.rows.count)
          result.hasPages = true
          result.hasRows = true
          result.next = page.next
        },
        rejected: { row in
          result.hasRows = true
          service.stage(ticket, rejected: row)
        })
    } catch { result.error = error }
    // What was read is kept, however the reading ended.
    guard result.failure == nil else { return result }
    do throws(ServerError) { try feed.finish() } catch { result.failure = error }
    return result
  }

  private func tellLoaded(
    _ rows: Int, _ summary: LoadSummary?, _ connection: Int?, in time: Duration
  ) {
    let isWorthTelling = lastRows[connection] == nil || time >= LoadHost.worthTelling
    world.log.write(
      isWorthTelling ? .info : .debug, "the business system was loaded",
      [
        ("rows", String(rows)), ("changed", String(summary?.changedRows ?? 0)),
        ("gone", String(summary?.deletedRows ?? 0)),
        ("milliseconds", String(Int64(time / .milliseconds(1)))),
      ] + (connection.map { service.rules.connections.fields($0) } ?? []))
  }

  /// Ends after the load that is under way; whoever waits for one is let go.
  public func stop() {
    isStopped = true
    for waiter in waiting { waiter.continuation.resume() }
    waiting = []
  }
}
