import Foundation

/// Ends a wait for what never comes. Only a failure lasts so long, on a machine however slow and busy.
package struct Patience {
  package static let limit: Duration = .seconds(600)
  private let start: ContinuousClock.Instant = .now

  package init() {}

  /// What a test may expect to be long, never to be short.
  package var passed: Duration { start.duration(to: .now) }
  package var hasEnded: Bool { passed >= Patience.limit }

  /// False once it has ended; until then a moment passes.
  package func lasts() -> Bool {
    usleep(1_000)
    return !hasEnded
  }

  /// The same, without a thread.
  package func lasts() async -> Bool {
    try? await Task.sleep(for: .milliseconds(2))
    return !hasEnded
  }

  /// Gives what must not happen a moment to happen. On a slow machine a fault may go unseen; what is
  /// right never fails.
  package static func moment() { usleep(10_000) }

  /// By how much this grows in a second. A busy machine makes it smaller.
  package static func growth(of count: () -> Int) -> Double {
    let (begin, before) = (ContinuousClock.now, count())
    while begin.duration(to: .now) < .seconds(2) { moment() }
    return Double(count() - before) / (begin.duration(to: .now) / .seconds(1))
  }

  /// The value once it has not changed for so long. On a slow machine that may be too early.
  package static func rest(_ time: Duration = .milliseconds(500), of value: () -> Int) async -> Int
  {
    let patience = Patience()
    var (last, since) = (value(), ContinuousClock.now)
    while since.duration(to: .now) < time, await patience.lasts() {
      let now = value()
      if now != last { (last, since) = (now, .now) }
    }
    return last
  }
}
