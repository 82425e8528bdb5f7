import Synchronization

/// What one answer may still use up. Shared by its parts, which run one after the other.
final class ODataBudget: Sendable {
  private let limits: ODataServiceLimits
  private let uptime: @Sendable () -> Duration
  private let patience: Duration
  private let end: Duration
  private let expanded = Mutex<Int>(0)
  private let turnEnd: Mutex<Duration>

  init(
    _ limits: ODataServiceLimits, _ uptime: @escaping @Sendable () -> Duration,
    _ patience: Duration
  ) {
    self.limits = limits
    self.uptime = uptime
    self.patience = patience
    let now = uptime()
    end = now + patience
    turnEnd = Mutex(now + limits.turn)
  }

  var isOver: Bool { uptime() >= end }

  /// Whether so many more entities may come inside of others.
  func take(_ count: Int) -> Bool {
    expanded.withLock { expanded in
      expanded += count
      return expanded <= limits.expandedRows
    }
  }

  /// Throws where the time is over.
  func check(_ what: String) throws(ODataRefusal) {
    if isOver { throw tooLong(what) }
  }

  func tooLong(_ what: String) -> ODataRefusal {
    ODataRefusal(
      501, "tooMuch",
      "\(what) took longer than \(patience) here. Ask for less: with a key, a narrower "
        + "$filter, or without $orderby.")
  }

  /// Lets others have their turn where this one has lasted long enough.
  func shareThread() async {
    let now = uptime()
    guard turnEnd.withLock({ $0 }) <= now else { return }
    await Task.yield()
    let next = uptime() + limits.turn
    turnEnd.withLock { $0 = next }
  }
}
