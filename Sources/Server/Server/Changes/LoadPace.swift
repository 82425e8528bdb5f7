/// How many rows of a load the service's thread takes at one time: devices wait for no longer.
struct LoadPace {
  private(set) var rows: Int = 1_000
  /// Two pieces wait at most, so that a device is held up for 20 ms.
  static let piece: Duration = .milliseconds(8)
  static let least: Int = 250
  static let most: Int = 4_000

  /// Some rows took so long.
  mutating func note(_ count: Int, _ time: Duration) {
    guard count > 0 else { return }
    if time > LoadPace.piece {
      rows = max(LoadPace.least, min(rows, count) / 2)
    } else if count >= rows, time * 2 < LoadPace.piece {
      rows = min(LoadPace.most, rows * 2)
    }
  }
}
