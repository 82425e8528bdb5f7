import FerryWorld

/// A message on its way to a device.
package struct PushJob: Sendable {
  let sender: any PushSender
  let token: String
  let message: PushMessage
  let ended: @Sendable (String) async -> Void
  var attempts: Int = 0

  /// `ended` is called with the reason once the push service says that the token is none any more.
  package init(
    _ message: PushMessage, to token: String, by sender: any PushSender,
    ended: @escaping @Sendable (_ reason: String) async -> Void
  ) {
    self.message = message
    self.token = token
    self.sender = sender
    self.ended = ended
  }
}

/// Hands messages to the push services, many at a time, and again where a service is busy.
///
/// A message only wakes an app: its payload is in the register's queue. So the desk keeps what it has
/// in memory, and drops the oldest where it has too many.
package actor PushDesk {
  /// What the desk has done since the start.
  package struct Counts: Sendable, Equatable {
    package var sent: Int = 0
    package var endedTokens: Int = 0
    package var refused: Int = 0
    package var dropped: Int = 0
    package var repeated: Int = 0
  }

  /// Requests under way; one connection of HTTP/2 takes as many.
  package static let inFlight: Int = 100
  static let most: Int = 10_000
  static let attempts: Int = 6
  /// How long a sender whose key is wrong sends nothing; then one message tries again.
  static let stopped: Duration = .seconds(600)

  private let world: World
  private let sleep: @Sendable (Duration) async -> Void
  private var waiting: [PushJob] = []
  private var first = 0
  private var underWay = 0
  /// By the sender's name: why it is stopped, and until when.
  private var stops: [String: (reason: String, end: Timestamp)] = [:]
  private var idle: [CheckedContinuation<Void, Never>] = []
  package private(set) var counts = Counts()

  /// `sleep`: how the desk waits before it tries again.
  package init(
    _ world: World,
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  ) {
    self.world = world
    self.sleep = sleep
  }

  /// Why senders send nothing, by name.
  package var troubles: [String: String] {
    let now = world.clock.moment
    return stops.filter { now < $0.value.end }.mapValues(\.reason)
  }

  package func add(_ job: PushJob) {
    if waiting.count - first >= PushDesk.most {
      first += 1
      counts.dropped += 1
    }
    waiting.append(job)
    if first > PushDesk.most {
      waiting.removeFirst(first)
      first = 0
    }
    work()
  }

  /// Returns when nothing waits and nothing is under way.
  package func finish() async {
    guard underWay > 0 || first < waiting.count else { return }
    await withCheckedContinuation { idle.append($0) }
  }

  private func work() {
    while underWay < PushDesk.inFlight, first < waiting.count {
      let job = waiting[first]
      first += 1
      if first == waiting.count {
        waiting = []
        first = 0
      }
      underWay += 1
      Task { await perform(job) }
    }
    guard underWay == 0, first == waiting.count else { return }
    let woken = idle
    idle = []
    for continuation in woken { continuation.resume() }
  }

  private func perform(_ job: PushJob) async {
    await send(job)
    underWay -= 1
    work()
  }

  private func send(_ job: PushJob) async {
    if let stop = stops[job.sender.name], world.clock.moment < stop.end {
      counts.dropped += 1
      return
    }
    switch await job.sender.send(job.message, to: job.token) {
    case .sent:
      stops[job.sender.name] = nil
      counts.sent += 1
    case .tokenEnded(let reason):
      counts.endedTokens += 1
      await job.ended(reason)
    case .refused(let reason):
      counts.refused += 1
      world.log.warn(
        "a push was refused", ("sender", job.sender.name), ("reason", reason))
    case .wrongKey(let reason):
      counts.dropped += 1
      stops[job.sender.name] = (reason, world.clock.moment.advanced(by: PushDesk.stopped))
      world.log.error(
        "a push service does not accept our key; nothing is sent for 10 minutes",
        ("sender", job.sender.name), ("reason", reason),
        ("cure", "Check key, account and clock in the file of applications."))
    case .later(let seconds, let reason):
      var next = job
      next.attempts += 1
      guard next.attempts < PushDesk.attempts else {
        counts.dropped += 1
        world.log.warn(
          "a push was given up after \(PushDesk.attempts) attempts", ("sender", job.sender.name),
          ("reason", reason))
        return
      }
      counts.repeated += 1
      await sleep(.seconds(min(seconds ?? Int64(1 << next.attempts), 300)))
      await send(next)
    }
  }
}
