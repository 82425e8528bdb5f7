import FerryWorld

/// Decides when a business system that could not be reached is tried again: one attempt at a time,
/// each later than the one before, whatever waits for it. Pure.
struct CircuitBreaker {
  private var failures: Int = 0
  private var next: Timestamp?

  static let firstWait: Duration = .milliseconds(500)
  static let longestWait: Duration = .seconds(15)

  /// Whether it could not be reached when it was tried last.
  var isOpen: Bool { next != nil }

  /// Whether an attempt may be made.
  func mayTry(_ now: Timestamp) -> Bool { next.map { $0 <= now } ?? true }

  mutating func note(isReached: Bool, _ now: Timestamp) {
    guard !isReached else {
      (failures, next) = (0, nil)
      return
    }
    let wait = CircuitBreaker.firstWait * (1 << min(failures, 10))
    failures += 1
    next = now.advanced(by: min(wait, CircuitBreaker.longestWait))
  }
}
