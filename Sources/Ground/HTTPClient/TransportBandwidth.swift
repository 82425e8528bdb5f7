import Synchronization

/// Bounds the bytes of all bodies per second, up and down together, of the transports that share
/// it. Heads are not counted.
public final class TransportBandwidth: Sendable {
  private struct State {
    var limit: Int?
    var isOnCellular = false
    /// The bytes of the last seconds, the newest last.
    var seconds: [(second: Int64, bytes: Int)] = []
  }

  private let state = Mutex(State())
  private let seconds: @Sendable () -> Int64
  /// Whether the limit holds on a mobile network only.
  public let isForCellularOnly: Bool

  /// Seconds over which the mean is taken.
  public static let meanSeconds = 5

  /// `limitBytesPerSecond` is nil where nothing is bounded and bytes are only counted.
  public convenience init(limitBytesPerSecond: Int? = nil, isForCellularOnly: Bool = false) {
    let start = ContinuousClock.now
    self.init(limitBytesPerSecond, isForCellularOnly) {
      start.duration(to: .now).components.seconds
    }
  }

  init(
    _ limitBytesPerSecond: Int?, _ isForCellularOnly: Bool,
    _ seconds: @escaping @Sendable () -> Int64
  ) {
    self.isForCellularOnly = isForCellularOnly
    self.seconds = seconds
    state.withLock { $0.limit = limitBytesPerSecond }
  }

  /// The bound, which may be changed at any time; nil for none.
  public var limitBytesPerSecond: Int? {
    get { state.withLock { $0.limit } }
    set { state.withLock { $0.limit = newValue } }
  }

  /// Whether the way leads over a mobile network, as the app knows from the system.
  public var isOnCellular: Bool {
    get { state.withLock { $0.isOnCellular } }
    set { state.withLock { $0.isOnCellular = newValue } }
  }

  /// The mean of the last five seconds.
  public var averageBytesPerSecond: Int {
    let now = second
    return state.withLock { state in
      let recent = state.seconds.filter { $0.second > now - Int64(Self.meanSeconds) }
      return recent.reduce(0) { $0 + $1.bytes } / Self.meanSeconds
    }
  }

  /// Whether the limit of this second is used up.
  public var isThrottled: Bool { allowance(1) == 0 }

  /// How many of this many bytes may go now; 0 until the next second.
  func allowance(_ count: Int) -> Int {
    let now = second
    return state.withLock { state in
      guard let limit = state.limit, state.isOnCellular || !isForCellularOnly else { return count }
      let used = state.seconds.last { $0.second == now }?.bytes ?? 0
      return max(0, min(count, limit - used))
    }
  }

  /// So many bytes went.
  func use(_ count: Int) {
    let now = second
    state.withLock { state in
      if let last = state.seconds.last, last.second == now {
        state.seconds[state.seconds.count - 1].bytes += count
      } else {
        state.seconds.append((now, count))
        state.seconds.removeAll { $0.second <= now - Int64(Self.meanSeconds) }
      }
    }
  }

  private var second: Int64 { seconds() }
}
