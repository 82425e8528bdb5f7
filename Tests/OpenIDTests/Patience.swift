import Foundation

/// Ends a wait for what never comes. Only a failure lasts so long, on a machine however slow and busy.
struct Patience {
  static let limit: Duration = .seconds(600)
  private let end: ContinuousClock.Instant = .now + limit

  var hasEnded: Bool { ContinuousClock.now >= end }

  /// False once it has ended; until then a moment passes.
  func lasts() -> Bool {
    usleep(1_000)
    return !hasEnded
  }

  /// The same, without a thread.
  func lasts() async -> Bool {
    try? await Task.sleep(for: .milliseconds(2))
    return !hasEnded
  }

  /// Gives what must not happen a moment to happen. On a slow machine a fault may go unseen; what is
  /// right never fails.
  static func moment() { usleep(10_000) }
}
