import Foundation

/// Ends a wait for what never comes. Only a failure lasts so long, on a machine however slow and busy.
struct Patience {
  static let limit: Duration = .seconds(600)
  private let end: ContinuousClock.Instant = .now + limit

  /// False once it has ended; until then a moment passes. InnoDB shows an old state to who asks for it
  /// more often than every 100 ms.
  func lasts() -> Bool {
    usleep(150_000)
    return ContinuousClock.now < end
  }
}
