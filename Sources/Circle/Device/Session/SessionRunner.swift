import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryWorld
import Synchronization

/// Performs what the session asks for: the requests, one task each, and the waiting.
///
/// An actor on a thread of its own, since the session's database work blocks.
actor SessionRunner {
  private let executor: ThreadExecutor
  let session: Session
  /// How the session stands, for who asks from any thread.
  nonisolated let states: StateBoard
  let transport: any Transport
  let profile: ConnectionProfile
  let world: World
  private var tasks: [SessionMachine.Lane: Task<Void, Never>] = [:]
  private var timer: (time: Duration, task: Task<Void, Never>)?
  var waiters: [Waiter] = []
  var waitersSoFar = 0
  private(set) var isStopped = false
  /// The app is told that synchronizations have ended; nothing new begins meanwhile.
  var isTellingPlans = false
  /// Who waits until nothing is under way; see `rest`.
  var resting: [Int: Resting] = [:]
  var restingSoFar: Int = 0
  /// Contents that are being downloaded, and those who wait for the same.
  var fetching: Set<BigReference> = []
  var fetchWaiters: [BigReference: [CheckedContinuation<Void, Never>]] = [:]
  /// Where the server is by now.
  var addresses: ServerAddresses
  /// What the app asked for, in its order.
  private nonisolated let wishes = Mutex<[Wish]>([])
  private typealias Wish = @Sendable (Session) throws(FerryError) -> Void
  let lease: ProcessLease  // one process at a time synchronizes
  /// Whether somebody is on the way to look at what was committed.
  private nonisolated let isRung = Atomic(false)
  /// Until when rings wait, since there was nothing to do and nothing was under way.
  private var quietUntil: Duration?
  private var leaseWanted: Duration?

  /// How long commits are looked at together where nothing can be done for them: an app that saves
  /// one object after the other without a network pays for one look, and not for each.
  private static let quietInterval: Duration = .milliseconds(50)
  /// How soon to ask again for the lease while somebody waits here, and how soon to look for what
  /// other processes changed.
  private static let leaseInterval: Duration = .milliseconds(250)
  private static let watchInterval: Duration = .seconds(1)
  /// How long whoever waits here waits for the lease.
  private static let leasePatience: Duration = .seconds(5)

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(
    session: sending Session, transport: any Transport, profile: ConnectionProfile, world: World
  ) {
    states = session.states
    self.session = session
    self.transport = transport
    self.profile = profile
    addresses = ServerAddresses(profile)
    self.world = world
    lease = ProcessLease(database: session.store.path, for: .session)
    executor = ThreadExecutor(name: "ferry-session")
  }

  /// Something was committed. Rings that come close together are one.
  nonisolated func ring() {
    guard !isRung.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task { await self.lookAtCommits() }
  }

  private func lookAtCommits() {
    isRung.store(false, ordering: .sequentiallyConsistent)
    guard let quietUntil, !isStopped else { return run() }
    let now = world.clock.uptime
    if now < quietUntil { wake(after: quietUntil - now) } else { run() }
  }

  /// Does all that can be done now. Called whenever something happened.
  func run() {
    guard !isStopped else { return }
    timer?.task.cancel()
    timer = nil
    quietUntil = nil
    endLateWaiters()
    endRefusedLogins()
    defer {
      wakeForWaiters()
      settleResting()
    }
    while true {
      tellEndedPlans()
      guard !isTellingPlans else { return }
      do throws(FerryError) {
        guard try lease.take() else {
          try session.postState()
          waitForLease()
          return
        }
        leaseWanted = nil
        session.awaitsAnswers(
          session.store.answers.waiting > 0 || waiters.contains(where: \.awaitsAnswers))
        switch try session.next() {
        case .send(let request): begin(request)
        case .cancel(let lane): tasks.removeValue(forKey: lane)?.cancel()
        case .wait where session.hasEndedPlans: continue
        case .wait(let until):
          settleWaiters()
          if tasks.isEmpty {
            lease.release()
            quietUntil = world.clock.uptime + SessionRunner.quietInterval
          }
          if let until { wake(at: until) }
          if profile.session.isDatabaseShared {
            // Notices of a process that has ended, or that had no handler.
            try session.tellOwed()
            wake(after: SessionRunner.watchInterval)
          }
          return
        }
      } catch {
        world.log.error("the session cannot go on", ("reason", error.description))
        finishWaiters(.failure(error))
        if error.code == .incompatibleModel {
          // Another process has the file with a newer model, and synchronizes from here on.
          endTasks()
        } else {
          wake(after: .seconds(5))
        }
        // What cannot go on keeps nobody else from it.
        if tasks.isEmpty { lease.release() }
        return
      }
    }
  }

  /// Whether somebody waits for an exchange and for an answer.
  var isWaitedFor: Bool { !waiters.isEmpty && session.store.answers.waiting > 0 }

  /// Nothing is under way, and no lock is held for it.
  var isAtRest: Bool { tasks.isEmpty && !lease.isHeld }

  /// Another process synchronizes. What was submitted goes out by it; whoever waits here for more
  /// waits a moment only, since an open channel may last for hours.
  private func waitForLease() {
    let now = world.clock.uptime
    let since = leaseWanted ?? now
    leaseWanted = since
    if !waiters.isEmpty, now >= since + SessionRunner.leasePatience {
      leaseWanted = nil
      finishWaiters(
        .failure(
          FerryError(
            .inUse, "another process synchronizes the database \(session.store.path)",
            hint: "It also sends changes that are submitted here; try again when it has ended.",
            isTransient: true)))
    }
    wake(after: waiters.isEmpty ? SessionRunner.watchInterval : SessionRunner.leaseInterval)
  }

  /// To be done by `drain`, behind everything that was asked for before.
  nonisolated func enqueue(_ wish: @escaping @Sendable (Session) throws(FerryError) -> Void) {
    wishes.withLock { $0.append(wish) }
  }

  /// Does what was asked for. Tasks that call this may come in any order; the wishes do not.
  func drain() {
    guard !isStopped else { return }
    while let wish = wishes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      do throws(FerryError) { try wish(session) } catch {
        world.log.error("a request to the session failed", ("reason", error.description))
      }
    }
    run()
  }

  func act(_ body: @Sendable (Session) throws(FerryError) -> Void) throws(FerryError) {
    drain()
    try body(session)
    run()
  }

  var isBackground: Bool {
    drain()
    return session.machine.isBackground
  }

  /// Makes the callbacks that wait for an actor of the app's.
  func deliver() async {
    do throws(FerryError) { try await session.observers.deliver(of: session.store) } catch {
      world.log.error("callbacks cannot be made", ("reason", error.description))
    }
  }

  func stop() {
    isStopped = true
    timer?.task.cancel()
    endTasks()
    lease.release()
    let closed = Store.closed(session.store.path)
    finishWaiters(.failure(closed))
    session.endAllPlans(closed)
    for number in resting.keys.sorted() { endRest(number, .failure(closed)) }
  }

  /// What comes of a request that is ended here is not looked at.
  func endTasks() {
    for task in tasks.values { task.cancel() }
    tasks = [:]
  }

  private func begin(_ request: SessionRequest) {
    var headers: HTTPHeaders = ["Content-Type": "application/x-ferry"]
    if let token = request.token { headers["Authorization"] = "Bearer \(token)" }
    for (name, value) in request.headers { headers[name] = value }
    let call = TransportRequest(
      url: address(of: request.path), method: request.method, headers: headers,
      body: request.body,
      deadlines: TransportDeadlines(
        connect: profile.connectTimeout, total: nil,
        idle: profile.session.silence + SessionSettings.uploadTime(request.body.count)))
    tasks[request.lane]?.cancel()
    tasks[request.lane] = Task { await self.perform(call, for: request) }
  }

  func perform(
    _ call: TransportRequest, of request: SessionRequest, on lane: SessionMachine.Lane
  ) async {
    let isSynchronization =
      lane == .exchange && request.path == "exchange" && !request.isOfPlan && !request.isQuiet
    if request.isOfPlan {
      // The session has ended it where the app said so.
      guard await answerQuestions() else { return finished(lane) }
      session.leave()
    } else if isSynchronization, await ask(.starting) == .cancel {
      let error = FerryError(
        .cancelled, "the app cancelled the synchronization", hint: "Synchronize again later.")
      await end(lane, error, isSynchronization: true)
      return
    }
    guard !Task.isCancelled else { return }
    var failure: FerryError?
    do throws(TransportError) {
      let response = try await transport.send(call)
      defer { response.body.cancel() }
      guard !Task.isCancelled else { return }
      session.received(status: response.status, on: lane)
      if isSynchronization { _ = await ask(.downloading) }
      while let bytes = try await response.body.next() {
        guard !Task.isCancelled else { return }
        do throws(FerryError) {
          try session.received(bytes, on: lane)
          while request.isOfPlan, !session.questions.isEmpty {
            guard await answerQuestions() else { return finished(lane) }
            guard !Task.isCancelled else { return }
            try session.goOn(lane)
          }
        } catch {
          // The session has ended the lane and knows why.
          if isSynchronization { await tellEnd(error) }
          if !isStopped, !Task.isCancelled { finished(lane) }
          return
        }
        settleWaiters()
        // What came may have made something else possible, while this lane goes on.
        run()
      }
    } catch {
      guard !Task.isCancelled else { return }
      addresses.failed()
      failure = FerryError.offline(error)
    }
    await end(lane, failure, isSynchronization: isSynchronization)
  }

  private func end(
    _ lane: SessionMachine.Lane, _ failure: FerryError?, isSynchronization: Bool
  ) async {
    guard !Task.isCancelled, !isStopped else { return }
    do throws(FerryError) { try session.ended(lane, failure) } catch {
      world.log.error("the session cannot go on", ("reason", error.description))
    }
    // In a task of its own: to obey ends the one of this request.
    if let order = session.wipe { await Task { await self.obey(order) }.value }
    if isSynchronization { await tellEnd(session.lastFailure) }
    // Meanwhile another request may have taken the lane over.
    guard !isStopped, !Task.isCancelled else { return }
    finished(lane)
  }

  var groups: [String] { session.store.model.groups.map(\.name) }

  private func ask(_ status: SynchronizationContext.Status) async -> SynchronizationAction {
    let groups = groups
    let context = SynchronizationContext(status: status, error: nil)
    return await session.observers.ask(otherwise: .proceed) {
      $0.answer(to: context, of: groups)
    }
  }

  private func tellEnd(_ error: FerryError?) async {
    let groups = groups
    let context = SynchronizationContext(
      status: error == nil ? .finishing : .error, error: error)
    _ = await session.observers.ask(otherwise: .proceed) {
      $0.answer(to: context, of: groups)
    }
    let step: DatabaseStep =
      if let error {
        .synchronizeFailed(groups: groups, error)
      } else {
        .synchronized(groups: groups)
      }
    session.observers.tell(step)
  }

  func finished(_ lane: SessionMachine.Lane) {
    tasks[lane] = nil
    run()
  }

  private func wake(at time: Timestamp) {
    wake(after: .milliseconds(max(0, time.milliseconds - world.clock.now.milliseconds)))
  }

  /// The sooner of this and what was asked for before.
  func wake(after wait: Duration) {
    let time = world.clock.uptime + wait
    if let timer, timer.time <= time { return }
    timer?.task.cancel()
    let task = Task {
      do { try await Task.sleep(for: wait) } catch { return }
      self.run()
    }
    timer = (time, task)
  }
}
