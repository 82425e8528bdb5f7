import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Loads the business system's rows into the cache, and reads again what was touched meanwhile, on
/// a thread of its own.
public actor LoadHost {
  private let executor: ThreadExecutor
  private let connector: any Connector
  private let service: ServiceHost
  private let package: Package
  private let world: World
  /// What a load reads, one after the other; together every row.
  private let scopes: [LoadScope]
  /// Asked for by whoever may not wait for the load that is under way.
  private nonisolated let isWanted = Mutex(false)
  /// The same for a comparison in slices.
  private nonisolated let isComparisonWanted = Mutex(false)
  /// The one that is under way.
  private var comparison: Comparison?
  /// One has begun and has not ended well: if the store broke it, it is begun again.
  private var isLoading = false
  private var isStopped = false
  private var loadTrouble = LastingTrouble(
    "the business system could not be loaded; tried again",
    over: "the business system can be loaded again")
  private var comparisonTrouble = LastingTrouble(
    "rows could not be compared; tried again", over: "rows can be compared again")
  private var readTrouble = LastingTrouble(
    "rows could not be read again; tried again", over: "rows can be read again")
  /// A load that takes longer is logged, whether it is the first one or not.
  private static let worthTelling: Duration = .seconds(1)
  /// What the last load that ended well has read: about as many as the next will.
  private var lastRows: Int?
  /// Loads begun, and those who wait for one that begins after they asked.
  private var begun = 0
  private var waiting: [(after: Int, continuation: CheckedContinuation<Void, Never>)] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  public init(
    connector: sending any Connector, service: ServiceHost, package: Package, world: World,
    scopes: [LoadScope]? = nil, on thread: ThreadExecutor? = nil
  ) {
    self.scopes = scopes ?? [LoadScope(entities: service.rules.loadOrder)]
    executor = thread ?? ThreadExecutor(name: "ferry-load")
    self.connector = connector
    self.service = service
    self.package = package
    self.world = world
  }

  /// Asks for a load; several asked for at one time are one. Waits for nothing.
  public nonisolated func want() {
    isWanted.withLock { $0 = true }
    service.callReaders()
  }

  /// Asks for a load and returns when it has ended well, or the host was stopped.
  public func loadNow() async {
    await withCheckedContinuation { continuation in
      guard !isStopped else { return continuation.resume() }
      waiting.append((after: begun, continuation: continuation))
      want()
    }
  }

  /// Asks for a comparison of all rows in slices, beside which everything goes on. Waits for nothing.
  public nonisolated func wantComparison() {
    isComparisonWanted.withLock { $0 = true }
    service.callReaders()
  }

  private func release(_ number: Int) {
    for waiter in waiting where waiter.after < number { waiter.continuation.resume() }
    waiting.removeAll { $0.after < number }
  }

  public func run() async {
    while !isStopped {
      do throws(ServerError) {
        if isWanted.withLock({ $0 }) { try await load() }
        while let task = try await service.nextReadBack() { try await readBack(task) }
        try await compareNext()
      } catch {
        guard error.code != .replacedPackage else { return }
        world.log.error("the store failed during a load", ("reason", error.description))
        if isLoading { want() }
        await executor.sleep(for: .seconds(1))
      }
      if !isWanted.withLock({ $0 }), !isStopped {
        await service.waitForReading(
          patience: comparison?.patience(at: world.clock.uptime) ?? .seconds(1))
      }
    }
  }

  private func load() async throws(ServerError) {
    isWanted.withLock { $0 = false }
    isLoading = true
    begun += 1
    let number = begun
    if number == 1 { world.log.info("the business system is being loaded") }
    let start = world.clock.uptime
    // It compares everything.
    try await endComparison()
    let ticket = try await service.beginLoad()
    var report = LoadReport(service.pulse, world, since: start)
    defer { service.pulse.tellLoad(nil) }
    let coverage: LoadCoverage
    do throws(LoadFailure) { coverage = try await read(ticket, &report) } catch {
      await service.abandonLoad(ticket)
      switch error {
      case .store(let failure): throw failure
      case .connector(let failure):
        loadTrouble.tell(failure.description, world.log)
        service.pulse.tellBusiness(failure.description)
      }
      await executor.sleep(for: .seconds(1))
      want()
      return
    }
    var summary: LoadSummary?
    while summary == nil {
      if case .done(let ended) = try await service.endLoad(ticket, coverage) { summary = ended }
    }
    isLoading = false
    loadTrouble.tell(nil, world.log)
    tellLoaded(report.rows, summary, in: world.clock.uptime - start)
    lastRows = report.rows
    service.pulse.tellCompared(
      ComparisonReport(
        rows: report.rows,
        differences: (summary?.changedRows ?? 0) + (summary?.deletedRows ?? 0),
        time: world.clock.uptime - start))
    service.pulse.tellBusiness(nil)
    release(number)
    guard let summary, !summary.doubtedPartitions.isEmpty else { return }
    // What is not believed needs a second load that says the same.
    await executor.sleep(for: .seconds(1))
    want()
  }

  private enum LoadFailure: Error {
    case store(ServerError)
    case connector(ConnectorError)
  }

  /// How often a load goes on behind the last page that was kept without another page coming.
  private static let resumptions = 10

  /// Reads every scope to its end. Where the line breaks it goes on behind the last page, if the
  /// connector can.
  private func read(
    _ ticket: LoadTicket, _ report: inout LoadReport
  ) async throws(LoadFailure) -> LoadCoverage {
    var parts: [LoadCoverage.Part] = []
    do throws(ConnectorError) {
      // Counting reads the tables once more.
      report.total = lastRows
      if lastRows == nil { report.total = try connector.rowCount(package.entities) }
    } catch { throw .connector(error) }
    report.add(0)
    for scope in scopes {
      var place: LoadPlace?
      var attempts = 0
      while true {
        let part = readPages(of: scope, from: place, ticket, &report)
        if let failure = part.failure { throw .store(failure) }
        if let end = part.end {
          parts.append(LoadCoverage.Part(scope, end))
          break
        }
        attempts = part.hasPages ? 1 : attempts + 1
        let error = part.error ?? ConnectorError("", hint: "", isTransient: true)
        guard let next = part.next ?? (part.hasPages ? nil : place), error.isTransient,
          attempts <= LoadHost.resumptions, !isStopped
        else { throw .connector(error) }
        world.log.warn(
          "a load was interrupted; it goes on behind the last page", ("reason", error.description))
        place = next
        await executor.sleep(for: .seconds(1))
      }
    }
    let coverage = LoadCoverage(parts)
    // Devices take what a first load gives for everything that there is.
    guard !ticket.isFirst || service.rules.loadOrder.allSatisfy({ coverage.isWhole($0) }) else {
      throw .connector(
        ConnectorError(
          "The load did not give every row", hint: "It is tried again.", isTransient: true))
    }
    return coverage
  }

  /// What one reading came to.
  private struct ReadPages {
    var end: LoadEnd?
    var error: ConnectorError?
    /// The store could not take the rows.
    var failure: ServerError?
    var hasPages = false
    /// Behind the last page; nil where the load cannot go on there.
    var next: LoadPlace?
  }

  private func readPages(
    of scope: LoadScope, from place: LoadPlace?, _ ticket: LoadTicket, _ report: inout LoadReport
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
      result.end = try connector.load(
        scope, from: place,
        each: { page throws(ConnectorError) in
          try keeping { () throws(ServerError) in try feed.add(page.entity, page.rows) }
          report.add(page.rows.count)
          result.hasPages = true
          result.next = page.next
        }, rejected: { row in service.stage(ticket, rejected: row) })
    } catch { result.error = error }
    // What was read is kept, however the reading ended.
    guard result.failure == nil else { return result }
    do throws(ServerError) { try feed.finish() } catch { result.failure = error }
    return result
  }

  private func tellLoaded(_ rows: Int, _ summary: LoadSummary?, in time: Duration) {
    let isWorthTelling = lastRows == nil || time >= LoadHost.worthTelling
    world.log.write(
      isWorthTelling ? .info : .debug, "the business system was loaded",
      [
        ("rows", String(rows)), ("changed", String(summary?.changedRows ?? 0)),
        ("gone", String(summary?.deletedRows ?? 0)),
        ("milliseconds", String(Int64(time / .milliseconds(1)))),
      ])
  }

  /// The next slice of the comparison, where it is time for one.
  private func compareNext() async throws(ServerError) {
    if isComparisonWanted.withLock({ wanted in
      defer { wanted = false }
      return wanted
    }), comparison == nil, try await service.beginComparison() {
      comparison = Comparison(service.rules.loadOrder, since: world.clock.uptime)
      world.log.info("all rows are compared with the business system, slice by slice")
    }
    guard var comparison, comparison.isDue(at: world.clock.uptime) else { return }
    guard let question = comparison.question else { return try await finish(comparison) }
    let start = world.clock.uptime
    let slice: EntitySlice?
    do throws(ConnectorError) {
      slice = try connector.slice(
        of: question.entity, after: question.place, count: question.count)
    } catch {
      comparisonTrouble.tell(error.description, world.log)
      service.pulse.tellBusiness(error.description)
      comparison.pause(until: world.clock.uptime + .seconds(1))
      self.comparison = comparison
      return
    }
    comparisonTrouble.tell(nil, world.log)
    guard let slice, let batch = service.batch(question.entity, slice.rows) else {
      world.log.info("the business system gives no slices: all its rows are loaded instead")
      try await endComparison()
      return want()
    }
    let found = try await service.compare(batch)
    guard let found else {
      world.log.warn("more rows differ than are read one by one: all of them are loaded")
      try await endComparison()
      return want()
    }
    comparison.took(slice, differences: found, from: start, to: world.clock.uptime)
    self.comparison = comparison
    service.pulse.tellComparison(comparison.report)
  }

  private func finish(_ comparison: Comparison) async throws(ServerError) {
    let start = world.clock.uptime
    guard let missing = try await service.finishComparison() else {
      world.log.warn("more rows are missing than are read one by one: all of them are loaded")
      try await endComparison()
      return want()
    }
    var report = comparison.report
    report.differences += missing
    report.time += world.clock.uptime - start
    try await endComparison()
    service.pulse.tellCompared(report)
    world.log.write(.info, "all rows were compared with the business system", report.fields)
  }

  private func endComparison() async throws(ServerError) {
    guard comparison != nil else { return }
    comparison = nil
    service.pulse.tellComparison(nil)
    await service.endComparison()
  }

  private func readBack(_ task: ReadBackTask) async throws(ServerError) {
    let rows: [RowImage]
    do throws(ConnectorError) { rows = try connector.read(task.entity, keys: task.keys) } catch {
      await service.abandon(task)
      readTrouble.tell(error.description, world.log)
      await executor.sleep(for: .seconds(1))
      return
    }
    readTrouble.tell(nil, world.log)
    try await service.finish(task, rows)
  }

  /// Ends after the load that is under way; whoever waits for one is let go.
  public func stop() {
    isStopped = true
    release(.max)
  }
}
