import FerryWorld

/// Decides when a device hears of which synchronization groups, on a channel that brings no rows.
///
/// A device names the groups that it wants to hear of, each with the least time between two notices.
struct NoticeMachine: Equatable {
  /// By group, in seconds; nil: any, at once.
  let wanted: [String: Int64]?
  private var news: Set<String> = []
  private var told: [String: Timestamp] = [:]

  init(wanted: [String: Int64]?) { self.wanted = wanted }

  /// There is something new; nil: perhaps in each.
  mutating func note(_ groups: Set<String>?) {
    guard let wanted else { return }
    news.formUnion((groups ?? Set(wanted.keys)).intersection(wanted.keys))
  }

  /// When the next notice may go; nil: there is nothing to say.
  var due: Timestamp? { news.map(time).min() }

  private func time(_ group: String) -> Timestamp {
    guard let last = told[group], let seconds = wanted?[group] else {
      return Timestamp(milliseconds: .min)
    }
    return last.advanced(by: .seconds(min(max(0, seconds), NoticeMachine.longest)))
  }

  /// A year: what a device says may be any number.
  private static let longest: Int64 = 31_536_000

  /// The groups of which a notice goes now.
  mutating func take(now: Timestamp) -> [String] {
    assert(
      news.isSubset(of: wanted.map { Set($0.keys) } ?? []),
      "a device is told of a group that it did not name")
    let ready = news.filter { time($0) <= now }.sorted()
    news.subtract(ready)
    for group in ready { told[group] = now }
    return ready
  }
}
