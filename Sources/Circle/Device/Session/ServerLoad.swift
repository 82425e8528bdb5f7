import FerryWire

/// How much of its business system a server has read, while a device waits for the server's first load.
///
/// It is what the server said at the last request. The device asks again every 5 seconds at most.
public struct ServerLoad: Sendable, Hashable {
  /// From 0 to 1. With 1 the server has read all rows and is about to show them.
  public let fraction: Double
  /// The time until the end at the rate so far; nil as long as the server cannot tell.
  public let remaining: Duration?

  init?(_ standing: LoadStanding?) {
    guard let standing else { return nil }
    fraction = Double(min(1_000, max(0, standing.permille))) / 1_000
    // A longer time is nobody's plan, and a false one must not overflow.
    remaining = standing.remainingSeconds.map { .seconds(min(max(0, $0), ServerLoad.longest)) }
  }

  /// A year, in seconds.
  private static let longest: Int64 = 365 * 86_400
}
