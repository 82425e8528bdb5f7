import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Performs operations against the business system, one chain after the other, on a thread of its
/// own; asks now and then whether others have changed it.
public actor ReplayHost {
  private let executor: ThreadExecutor
  private let connector: any Connector
  private let service: ServiceHost
  private let world: World
  private var isStopped = false
  private var lastLook: Timestamp?
  /// How far the changes of others were followed; nil where the business system has no cursors.
  private var cursor: String?
  private var nextQuietCursor: Timestamp?
  private var breaker = CircuitBreaker()
  private var nextComparison: Timestamp?
  private var trouble = LastingTrouble(
    "the business system cannot be asked for changes",
    over: "the business system can be asked for changes again")
  private var shortfall = LastingTrouble(
    "changes of others arrive later than they could", over: "changes of others arrive in time")

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  public init(
    connector: sending any Connector, service: ServiceHost, world: World,
    on thread: ThreadExecutor? = nil
  ) {
    executor = thread ?? ThreadExecutor(name: "ferry-replay")
    self.connector = connector
    self.service = service
    self.world = world
  }

  /// Works until stopped. `load` is called at the start, and when others have changed the business
  /// system; it must not wait for a load, or nothing would be replayed meanwhile.
  public func run(load: @Sendable () -> Void) async {
    // Changes count from here on: what came before them the first load brings, or the cursor that
    // the store has kept.
    connector.lead(service.storeName)
    warnOfJudgement()
    do throws(ServerError) { cursor = try await service.sourceCursor() } catch {
      world.log.error("the store failed at the start", ("reason", error.description))
    }
    let isKnown = cursor != nil
    if await look() || !isKnown { load() }
    nextComparison = world.clock.moment.advanced(by: ReplayHost.comparisonInterval)
    while !isStopped {
      // Nothing is handed out for what cannot be reached: looking is the attempt.
      if breaker.isOpen {
        await executor.sleep(for: ReplayHost.groupWait)
        if breaker.mayTry(world.clock.moment), await look() { load() }
        continue
      }
      do throws(ServerError) {
        try await perform(
          try await service.nextReplays(
            limit: ReplayHost.groupChains, patience: connector.lookInterval))
      } catch {
        world.log.error("the store failed during a replay", ("reason", error.description))
        await executor.sleep(for: .seconds(1))
      }
      if await look() { load() }
      if let due = nextComparison, cursor != nil, due <= world.clock.moment {
        world.log.info("all rows are compared, as each day")
        nextComparison = world.clock.moment.advanced(by: ReplayHost.comparisonInterval)
        load()
      }
    }
  }

  private func warnOfJudgement() {
    guard !connector.holdsJudgedRows else { return }
    let rules = service.rules
    let judged = rules.package.entities.filter { rules.isJudged($0) }.map(\.name)
    guard !judged.isEmpty else { return }
    world.log.warn(
      "the business system cannot hold a row between the check of rights and the write. If a row "
        + "of \(judged.joined(separator: ", ")) moves to another user in between, the change of the "
        + "earlier user is written")
  }

  /// Where changes of others are noted, what nobody could note is found after this time.
  static let comparisonInterval: Duration = .seconds(86_400)

  /// Chains whose answers are committed together, and how long the first of them may wait for the
  /// others; as long the business system may be kept from others, where it commits them together.
  static let groupChains: Int = 64
  static let groupWait: Duration = .milliseconds(20)

  /// One after the other; what they came to is told in groups, since each commit of the store
  /// waits for the disk.
  private func perform(_ tasks: [ReplayTask]) async throws(ServerError) {
    var rest = tasks[...]
    var failure: ServerError?
    while !rest.isEmpty {
      let end = world.clock.uptime + ReplayHost.groupWait
      var reports: [(task: ReplayTask, report: ReplayReport)] = []
      repeat {
        let found =
          connector.isUnreachable
          ? rest.map { unreached($0.step) } : performNext(rest) { world.clock.uptime < end }
        for (task, report) in zip(rest, found) {
          if let report { reports.append((task, report)) }
        }
        rest = rest.dropFirst(found.count)
      } while !rest.isEmpty && world.clock.uptime < end
      // All of them are claimed: what the store cannot take is owed, and the rest goes on.
      do throws(ServerError) { try await tell(reports) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Of the first task, and of those behind it that the business system took with it.
  private func performNext(
    _ tasks: ArraySlice<ReplayTask>, while goesOn: () -> Bool
  ) -> [ReplayReport?] {
    var groups: [[ConnectorOperation]] = []
    for task in tasks {
      guard case .perform(let operations) = task.step else { break }
      groups.append(operations)
    }
    guard groups.count > 1 else { return tasks.prefix(1).map { perform($0.step) } }
    groups = groups.map { service.traces.traced($0) }
    let start = world.clock.uptime
    let results = connector.perform(groups, while: goesOn)
    TraceLog(world: world).performed(groups, results, service.traces, since: start)
    return results.map { performed($0) }
  }

  /// What was claimed already when it was found to be away. What may have run before stays so.
  private func unreached(_ step: ReplayStep) -> ReplayReport? {
    let reason = "the business system cannot be reached"
    switch step {
    case .perform: return .performed(.notDone(reason: reason))
    case .recall, .read:
      return .failed(ConnectorError(reason, hint: "It is tried again.", isTransient: true))
    case .done, .retry: return nil
    }
  }

  private func tell(
    _ reports: [(task: ReplayTask, report: ReplayReport)]
  ) async throws(ServerError) {
    let steps = try await service.report(reports)
    var failure: ServerError?
    for (told, next) in zip(reports, steps) {
      var step = next
      do throws(ServerError) {
        while let report = perform(step) {
          step = try await service.report([(told.task, report)])[0]
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Nil when there is nothing more to do.
  private func perform(_ step: ReplayStep) -> ReplayReport? {
    switch step {
    case .done, .retry: return nil
    case .perform(let given):
      let operations = service.traces.traced(given)
      let start = world.clock.uptime
      let result = connector.perform(operations)
      TraceLog(world: world).performed([operations], [result], service.traces, since: start)
      return performed(result)
    case .recall(let ids):
      do throws(ConnectorError) { return .recalled(try connector.recall(ids)) } catch {
        return .failed(error)
      }
    case .read(let entity, let keys):
      do throws(ConnectorError) { return .read(try connector.read(entity, keys: keys)) } catch {
        return .failed(error)
      }
    }
  }

  private func performed(_ result: PerformResult) -> ReplayReport {
    if case .notDone(let reason) = result {
      service.pulse.tellBusiness(reason)
    } else {
      service.pulse.tellBusiness(nil)
    }
    return .performed(result)
  }

  /// Asks what others have changed; gives whether a load must begin.
  private func look() async -> Bool {
    let now = world.clock.moment
    if let lastLook, now < lastLook.advanced(by: connector.lookInterval) { return false }
    lastLook = now
    let number = await service.beginLook()
    let changes: BusinessChanges
    do throws(ConnectorError) { changes = try connector.changes(since: cursor) } catch {
      breaker.note(isReached: !connector.isUnreachable, now)
      trouble.tell(error.description, world.log)
      service.pulse.tellBusiness(error.description)
      await service.failLook(number)
      return false
    }
    if breaker.isOpen { service.pulse.tellBusiness(nil) }
    breaker.note(isReached: true, now)
    trouble.tell(nil, world.log)
    shortfall.tell(changes.shortfall, world.log)
    // What others did not change needs no commit of the store each time.
    let isQuiet = changes.hints.isEmpty
    if isQuiet, changes.cursor == cursor || now < (nextQuietCursor ?? now) {
      cursor = changes.cursor ?? cursor
      await service.endLook(number, needsLoad: false)
      return false
    }
    nextQuietCursor = now.advanced(by: .seconds(1))
    do throws(ServerError) {
      let needsLoad = try await service.take(changes)
      // Only what the service has taken is behind us.
      cursor = isQuiet ? changes.cursor ?? cursor : changes.cursor
      await service.endLook(number, needsLoad: needsLoad)
      return needsLoad
    } catch {
      world.log.error("reported changes could not be stored", ("reason", error.description))
      return false
    }
  }

  public func stop() { isStopped = true }
}

/// Loads the business system's rows into the cache, and reads again what was touched meanwhile, on
/// a thread of its own.
public actor LoadHost {
  private let executor: ThreadExecutor
  private let connector: any Connector
  private let service: ServiceHost
  private let package: Package
  private let world: World
  /// Asked for by whoever may not wait for the load that is under way.
  private nonisolated let isWanted = Mutex(false)
  /// One has begun and has not ended well: if the store broke it, it is begun again.
  private var isLoading = false
  private var isStopped = false
  private var loadTrouble = LastingTrouble(
    "the business system could not be loaded; tried again",
    over: "the business system can be loaded again")
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
    on thread: ThreadExecutor? = nil
  ) {
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

  private func release(_ number: Int) {
    for waiter in waiting where waiter.after < number { waiter.continuation.resume() }
    waiting.removeAll { $0.after < number }
  }

  public func run() async {
    while !isStopped {
      do throws(ServerError) {
        if isWanted.withLock({ $0 }) { try await load() }
        while let task = try await service.nextReadBack() { try await readBack(task) }
      } catch {
        guard error.code != .replacedPackage else { return }
        world.log.error("the store failed during a load", ("reason", error.description))
        if isLoading { want() }
        await executor.sleep(for: .seconds(1))
      }
      if !isWanted.withLock({ $0 }), !isStopped {
        await service.waitForReading(patience: .seconds(1))
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
    let ticket = try await service.beginLoad()
    let service = self.service
    var failure: ServerError?
    var report = LoadReport(service.pulse, world, since: start)
    defer { service.pulse.tellLoad(nil) }
    do throws(ConnectorError) {
      // Counting reads the tables once more.
      report.total = lastRows
      if lastRows == nil { report.total = try connector.rowCount(package.entities) }
      var feed = LoadFeed(service, ticket)
      func keeping(_ body: () throws(ServerError) -> Void) throws(ConnectorError) {
        do throws(ServerError) { try body() } catch {
          failure = error
          throw ConnectorError(error.message, hint: error.hint, isTransient: error.isTransient)
        }
      }
      try connector.load(
        service.rules.loadOrder,
        each: { entity, rows throws(ConnectorError) in
          try keeping { () throws(ServerError) in try feed.add(entity, rows) }
          report.add(rows.count)
        }, rejected: { row in service.stage(ticket, rejected: row) })
      try keeping { () throws(ServerError) in try feed.finish() }
    } catch {
      await service.abandonLoad(ticket)
      if let failure { throw failure }
      loadTrouble.tell(error.description, world.log)
      service.pulse.tellBusiness(error.description)
      await executor.sleep(for: .seconds(1))
      want()
      return
    }
    var summary: LoadSummary?
    while summary == nil {
      if case .done(let ended) = try await service.endLoad(ticket) { summary = ended }
    }
    isLoading = false
    loadTrouble.tell(nil, world.log)
    tellLoaded(report.rows, summary, in: world.clock.uptime - start)
    lastRows = report.rows
    service.pulse.tellBusiness(nil)
    release(number)
    guard let summary, !summary.doubtedPartitions.isEmpty else { return }
    // What is not believed needs a second load that says the same.
    await executor.sleep(for: .seconds(1))
    want()
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
