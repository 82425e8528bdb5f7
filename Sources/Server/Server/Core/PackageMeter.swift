import FerryWorld
import Synchronization

/// What `/metrics` says of one package. Any thread; asks none.
final class PackageMeter: Sendable {
  /// How many exchanges were answered, and how many channels were opened.
  struct Counts {
    var polls: Int64 = 0
    var channelsOpened: Int64 = 0
    var accepted: Int64 = 0
    var unknown: Int64 = 0
    /// Refused operations by reason.
    var refusals: [String: Int64] = [:]
    var storeSeconds = Histogram(bounds: [0.001, 0.005, 0.02, 0.1, 0.5, 2])
    var deliverySeconds = Histogram(bounds: [0.5, 1, 2, 5, 15, 60, 300])

    mutating func begin(isChannel: Bool) {
      if isChannel { channelsOpened += 1 } else { polls += 1 }
    }
  }

  /// What is looked at each second.
  struct Levels {
    var channels: Int = 0
    var waitingOperations: Int = 0
    /// Those of them that wait for a credential of their user.
    var credentialWaits: Int = 0
    /// When the oldest of them came.
    var oldestOperation: Timestamp?
  }

  /// Both, and what became of looks and loads.
  struct State {
    var counts = Counts()
    var levels = Levels()
    /// The cache holds all that was committed in the business system before.
    var capturedUpTo: Timestamp
    var loadedAt: Timestamp
  }

  private let state: Mutex<State>

  /// `now`: a load that ended before the start is not known.
  init(now: Timestamp) { state = Mutex(State(capturedUpTo: now, loadedAt: now)) }

  func count(_ body: (inout Counts) -> Void) { state.withLock { body(&$0.counts) } }
  func note(_ levels: Levels) { state.withLock { $0.levels = levels } }
  func captured(upTo moment: Timestamp) { state.withLock { $0.capturedUpTo = moment } }
  func loaded(at moment: Timestamp) { state.withLock { $0.loadedAt = moment } }

  var reading: State { state.withLock { $0 } }

  /// Why an operation was refused, as `/metrics` names it.
  static func reason(of code: Int) -> String {
    switch code {
    case 403: "rights"
    case 412: "conflict"
    default: "business"
    }
  }
}

/// How often a value was at most each bound.
struct Histogram {
  let bounds: [Double]
  private(set) var counts: [Int64]
  private(set) var sum: Double = 0
  private(set) var count: Int64 = 0

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count)
  }

  mutating func note(_ value: Double) {
    sum += value
    count += 1
    for (place, bound) in bounds.enumerated() where value <= bound { counts[place] += 1 }
  }
}
