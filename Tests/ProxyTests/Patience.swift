import Foundation

/// Ends a wait for what never comes. Only a failure lasts so long, on a machine however slow and busy.
struct Patience {
  static let limit: Duration = .seconds(600)
  private let end: ContinuousClock.Instant = .now + limit

  /// False once it has ended; until then a moment passes.
  func lasts() -> Bool {
    usleep(1_000)
    return ContinuousClock.now < end
  }
}
