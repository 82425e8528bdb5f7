/// Counts what happens again and again, so that it is told twice a minute at most: the first time, and
/// how often it happened more.
///
/// A pure value. At most `limit` keys are told apart in a minute; what else happens is counted
/// together.
package struct MinuteTally<Key: Hashable & Sendable>: Sendable {
  /// What happened in a minute that is over, beside what was told at once.
  package struct Past: Sendable {
    /// In the order in which they first happened.
    package var more: [(key: Key, count: Int)] = []
    /// Of keys for which there was no room.
    package var others = 0
    package var isEmpty: Bool { more.isEmpty && others == 0 }
  }

  private let limit: Int
  private var minute: Int64 = .min
  private var places: [Key: Int] = [:]
  private var counts: [(key: Key, count: Int)] = []
  private var others = 0

  package init(limit: Int = 1_000) { self.limit = limit }

  /// Whether it is the first in its minute, which is told at once. Call `past` before.
  package mutating func note(_ key: Key) -> Bool {
    if let place = places[key] {
      counts[place].count += 1
      return false
    }
    guard counts.count < limit else {
      others += 1
      return false
    }
    places[key] = counts.count
    counts.append((key, 1))
    return true
  }

  /// What is to be told of the last minute, once, when another has begun.
  package mutating func past(minute now: Int64) -> Past {
    guard now != minute else { return Past() }
    minute = now
    defer { (places, counts, others) = ([:], [], 0) }
    return Past(
      more: counts.filter { $0.count > 1 }.map { ($0.key, $0.count - 1) }, others: others)
  }
}
