import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// The service on a thread of its own, for callers on other threads.
///
/// All waiting is here: exchanges wait for something new, the replay host waits for work.
package actor ServiceHost {
  let executor: ThreadExecutor
  let service: Service
  let world: World
  /// Verified by whoever has a token, without a visit to the service's thread.
  nonisolated let accessTokens: AccessTokens
  /// Who users are now.
  nonisolated let provider: (any AuthenticationProvider)?
  nonisolated let pulse: Pulse
  nonisolated let meter: PackageMeter
  nonisolated let traces = OperationTraces()
  /// Opens what only the operator may see; in the file `operator.key` of the data folder.
  nonisolated let operatorKey: String
  /// Under which the business system knows who performs.
  nonisolated let storeName: String
  nonisolated let leads: Bool
  /// Days after which an inactive device leaves the register.
  nonisolated let inactiveDays: Int64
  nonisolated let rules: PartitionRules
  nonisolated let cacheGroups: CacheGroups
  private nonisolated let pageReaders: PageReaders?
  private var exchanges: [ExchangeID: Exchange] = [:]
  private var waiting: [ExchangeID: Waiting] = [:]
  /// Exchanges that were stirred after they had said that they wait, and before somebody did: on
  /// the way to a continuation others may have their turn.
  private var missed: Set<ExchangeID> = []
  var callerWaits = CallerWaits()
  private var workers: [CheckedContinuation<Void, Never>] = []
  private var readers: [CheckedContinuation<Void, Never>] = []
  /// Calls for work so far, and those that the last look for something to read has seen, by the
  /// connection that is read; nil for whoever reads over all.
  private var workerCalls = 0
  var readerCalls = 0
  var seenReaderCalls: [Int?: Int] = [:]
  /// Whether somebody wakes them after a while: one for all, however often they come.
  private var isWorkersWakePlanned = false
  private var isReadersWakePlanned = false
  private(set) var isStopped = false
  private var lastCompaction: Timestamp

  private struct Waiting {
    let since: Timestamp
    let continuation: CheckedContinuation<Void, Never>
  }

  /// How long a channel is silent at most; proxies close a line that says nothing for a minute.
  static let beatInterval: Duration = .seconds(15)

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// What is made on the host's thread.
  private struct Made {
    let service: Service
    let operatorKey: String
    let isLoaded: Bool
    let readerMaker: StoreReaderMaker

    init(_ service: Service) throws(ServerError) {
      readerMaker = service.store.readerMaker
      self.service = service
      operatorKey = try service.operatorKey()
      isLoaded = try service.isLoaded()
    }
  }

  /// `makeService` is called on the host's thread, which is its own where none is given. `readers`:
  /// who reads for devices that are far behind; nil: the host's thread.
  package init(
    world: World, on thread: ThreadExecutor? = nil, readers: ReaderThreads? = nil,
    makeService: @escaping @Sendable () throws(ServerError) -> sending Service
  ) async throws(ServerError) {
    self.world = world
    lastCompaction = world.clock.moment
    let executor = thread ?? ThreadExecutor(name: "ferry-service")
    self.executor = executor
    let made = try await executor.run { () -> sending Result<Made, ServerError> in
      do throws(ServerError) { return .success(try Made(try makeService())) } catch {
        return .failure(error)
      }
    }.get()
    let service = made.service
    self.service = service
    let pulse = Pulse(
      world: world, connections: service.rules.connections,
      cacheGroups: service.core.cacheGroups)
    self.pulse = pulse
    meter = service.meter
    accessTokens = service.accessTokens
    provider = service.provider
    storeName = service.leadership
    leads = service.leads
    inactiveDays = service.limits.inactiveDays
    rules = service.rules
    cacheGroups = service.core.cacheGroups
    pageReaders = readers.map { PageReaders($0, made.readerMaker) }
    operatorKey = made.operatorKey
    service.listen { [weak self] event in
      switch event {
      case .stirred(let id): self?.assumeIsolated { host in host.stirred(id) }
      case .storeFailed(let error): pulse.tell(error)
      case .changed(_, let answered, _):
        self?.assumeIsolated { host in host.callerWaits.resume(Set(answered.map(\.owner))) }
      case .answeredElsewhere(let owners):
        self?.assumeIsolated { host in host.callerWaits.resume(owners) }
      case .arrived: self?.assumeIsolated { host in host.wakeWorkers() }
      default: break
      }
    }
    service.loadStanding = { pulse.load?.standing }
    service.collectsVisits = true
    if let pageReaders {
      service.onRead = { [weak self] pending in
        pageReaders.read(pending.read) { [weak self] result in self?.finish(pending, result) }
      }
    }
    pulse.beat(isLoaded: made.isLoaded, rejected: made.service.rejectedRows)
    ticking()
  }

  // Exchanges.

  /// The beginning of what answers a request of somebody who was looked at.
  func begin(
    _ request: Result<ExchangeRequest, WireFailure>, by identity: Identity, isChannel: Bool,
    until: Timestamp
  ) throws(ServerError) -> Opening {
    if isChannel, service.channelCount >= service.limits.channels {
      throw ServerError(
        .tooManyChannels, "\(service.limits.channels) channels are open already",
        hint: "The device polls, and tries a channel again later. Raise --connections of ferryd.",
        isTransient: true, retryAfterSeconds: 30)
    }
    meter.count { $0.begin(isChannel: isChannel) }
    let arrived = service.arrivedOperations
    let exchange = service.begin(
      request, identity, isChannel: isChannel,
      until: isChannel ? min(until, identity.expires) : identity.expires)
    if let trouble = exchange.state.trouble { throw trouble }
    if service.arrivedOperations != arrived { wakeWorkers() }
    var bytes: [UInt8] = []
    while bytes.count < ServiceHost.openingBytes, !isStopped {
      switch exchange.next() {
      case .bytes(let more): bytes += more
      case .end: return Opening(bytes: bytes, id: nil)
      case .waiting:
        exchanges[exchange.id] = exchange
        return Opening(bytes: bytes, id: exchange.id)
      }
    }
    exchanges[exchange.id] = exchange
    return Opening(bytes: bytes, id: exchange.id)
  }

  /// An answer that is longer begins to leave before it is whole.
  static let openingBytes: Int = 64 << 10

  /// The next bytes of an exchange; nil at its end. Waits for as long as there is nothing to say,
  /// and then says only that the line is alive.
  package func next(of id: ExchangeID) async -> [UInt8]? {
    while let exchange = exchanges[id], !isStopped {
      missed.remove(id)
      guard service.mayGoOn(exchange) else {
        close(id)
        return nil
      }
      switch exchange.next() {
      case .bytes(let bytes):
        noteDelivery(exchange)
        return bytes
      case .end:
        exchanges[id] = nil
        missed.remove(id)
        return nil
      case .waiting:
        // What is being read has not left yet.
        if exchange.state.reading == nil { exchange.state.newsSince = nil }
        let isStirred = await wait(id)
        guard !Task.isCancelled else {
          close(id)
          return nil
        }
        if !isStirred { return Exchange.beat }
      }
    }
    return nil
  }

  /// False when nothing happened for the time of a beat.
  private func wait(_ id: ExchangeID) async -> Bool {
    let since = world.clock.moment
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[id] = Waiting(since: since, continuation: continuation)
        if missed.remove(id) != nil || Task.isCancelled || isStopped { stirred(id) }
      }
    } onCancel: {
      executor.perform { self.assumeIsolated { host in host.stirred(id) } }
    }
    return since.advanced(by: ServiceHost.beatInterval) > world.clock.moment
  }

  private func stirred(_ id: ExchangeID) {
    if let wait = waiting.removeValue(forKey: id) {
      wait.continuation.resume()
    } else if exchanges[id] != nil {
      missed.insert(id)
    }
  }

  /// The client went away.
  package func close(_ id: ExchangeID) {
    if let exchange = exchanges.removeValue(forKey: id) { service.close(exchange) }
    stirred(id)
    missed.remove(id)
  }

  /// Ends every exchange that is open, as a line does that breaks; devices come again.
  func hangUp() {
    for id in exchanges.keys { close(id) }
  }

  /// Like `close`, from wherever the last one that wanted the exchange has ended.
  nonisolated func letGo(of id: ExchangeID) {
    executor.perform { self.assumeIsolated { host in host.close(id) } }
  }

  // Work for the replay and load hosts.

  /// The next chains of operations to perform, in this order; none when none came for about
  /// `patience`.
  func nextReplays(
    limit: Int, of connection: Int? = nil, patience: Duration
  ) async throws(ServerError) -> [ReplayTask] {
    let calls = workerCalls
    let tasks = try service.nextReplays(limit: limit, of: connection)
    guard tasks.isEmpty, !isStopped else { return tasks }
    await withCheckedContinuation { continuation in
      guard workerCalls == calls else { return continuation.resume() }
      workers.append(continuation)
      guard !isWorkersWakePlanned else { return }
      isWorkersWakePlanned = true
      executor.perform(after: patience) { [weak self] in
        self?.assumeIsolated { host in
          host.isWorkersWakePlanned = false
          host.wakeWorkers()
        }
      }
    }
    return try service.nextReplays(limit: limit, of: connection)
  }

  func report(
    _ reports: [(task: ReplayTask, report: ReplayReport)]
  ) throws(ServerError) -> [ReplayStep] {
    defer { wakeReaders() }
    return try service.report(reports)
  }

  package func isLoaded() throws(ServerError) -> Bool { try service.isLoaded() }

  /// Waits until something may have to be read from the business system, and not at all when that
  /// has come to be since `nextReadBack` was asked.
  func waitForReading(of connection: Int? = nil, patience: Duration) async {
    await withCheckedContinuation { continuation in
      guard readerCalls == seenReaderCalls[connection] ?? 0, !isStopped else {
        return continuation.resume()
      }
      readers.append(continuation)
      guard !isReadersWakePlanned else { return }
      isReadersWakePlanned = true
      executor.perform(after: patience) { [weak self] in
        self?.assumeIsolated { host in
          host.isReadersWakePlanned = false
          host.wakeReaders()
        }
      }
    }
  }

  /// Like `wakeReaders`, for who does not wait.
  nonisolated func callReaders() {
    executor.perform { self.assumeIsolated { host in host.wakeReaders() } }
  }

  func wakeReaders() {
    readerCalls += 1
    let woken = readers
    readers = []
    for continuation in woken { continuation.resume() }
  }

  func wakeWorkers() {
    workerCalls += 1
    let woken = workers
    workers = []
    for continuation in woken { continuation.resume() }
  }

  // Time.

  /// Once a second: silent channels say that they are alive, and once an hour what is old goes.
  private nonisolated func ticking() {
    executor.perform(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      let goesOn = self.assumeIsolated { host in
        host.tick()
        return !host.isStopped
      }
      if goesOn { self.ticking() }
    }
  }

  nonisolated func look() { executor.perform { self.assumeIsolated { host in host.catchUp() } } }

  private func catchUp() {
    if service.catchUpFindsWork() { wakeWorkers() }
    // Another node may have replayed what an answer is held for.
    for id in waiting.keys where !service.leads && exchanges[id]?.isHeld == true { stirred(id) }
  }

  func tick() {
    let now = world.clock.moment
    checkStore()
    service.moveWindows()
    catchUp()
    service.onSecond?()
    service.keepDueVisits()
    service.advanceNotices()
    meter.note(
      PackageMeter.Levels(
        channels: service.channelCount, waitingOperations: service.queue.count,
        credentialWaits: service.operations.credentialWaits(),
        oldestOperation: service.queue.oldest))
    for (id, wait) in waiting {
      let isSilent = wait.since.advanced(by: ServiceHost.beatInterval) <= now
      let isHoldOver = exchanges[id].map { $0.isHoldOver(at: now) }
      let isNoticeDue = exchanges[id]?.isNoticeDue(at: now) == true
      if isSilent || isHoldOver == true || isNoticeDue { stirred(id) }
    }
    guard service.leads, now >= lastCompaction.advanced(by: .seconds(3_600)) else { return }
    lastCompaction = now
    do throws(ServerError) { try service.compact() } catch {
      world.log.error("the store could not be compacted", ("reason", error.description))
    }
  }

  /// A store that failed is asked again until it takes what is written.
  private func checkStore() {
    do throws(ServerError) {
      if pulse.isTroubled {
        try service.probe()
        pulse.tell(nil)
        wakeWorkers()
        wakeReaders()
      }
      pulse.beat(isLoaded: try service.isLoaded(), rejected: service.rejectedRows)
    } catch {
      pulse.beat(isLoaded: nil, rejected: service.rejectedRows)
    }
  }

  /// Nothing is performed any more: another package may take over what is left.
  func ended() { service.endPerforming() }

  /// How long the end of a service waits for what is being read.
  static let readingPatience: Duration = .seconds(5)

  /// Ends all waiting; the store is closed when the last exchange lets go, and the last reader. Returns
  /// when nothing is read any more, or after 5 s.
  package func stop() async {
    isStopped = true
    do throws(ServerError) { try service.keepVisits() } catch {
      world.log.warn("the last visits of devices are not noted", ("reason", error.message))
    }
    service.leaveOthers()
    for id in waiting.keys { stirred(id) }
    callerWaits.resumeAll()
    wakeWorkers()
    wakeReaders()
    guard let pageReaders else { return }
    if await !pageReaders.drain(within: ServiceHost.readingPatience, timer: executor) {
      world.log.warn(
        "the store is still being read for devices after 5 s; the server ends all the same",
        ("store", service.store.name))
    }
  }
}
