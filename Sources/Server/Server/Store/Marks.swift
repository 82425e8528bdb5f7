import FerryModel

/// The moment before a reader of the business system asked.
package struct Mark: Sendable, Hashable {
  /// The clock.
  package let version: Int64
  /// Counts what happens between two numbers of the clock.
  let moment: Int64

  package init(version: Int64, moment: Int64) {
    self.version = version
    self.moment = moment
  }
}

/// Who asks the business system at present, and what was learned meanwhile.
///
/// A reader may only overwrite what nobody has touched since its mark: neither written (the row's
/// version tells) nor found unchanged by a later reader (kept here while an earlier one is busy).
struct Marks {
  private(set) var moment: Int64 = 0
  private var active: [Mark: Int] = [:]
  private var confirmed: [ObjectName: Int64] = [:]
  /// By entity: the last load that was compared, from its beginning to its end.
  private var verified: [String: (began: Int64, ended: Int64)] = [:]
  /// How many must be confirmed before those that nobody needs are looked for: twice what was left.
  private var nextLook = Marks.firstLook
  private static let firstLook = 1_000

  /// The next moment.
  mutating func tick() -> Int64 {
    moment += 1
    return moment
  }

  mutating func begin(clock: Int64) -> Mark {
    let mark = Mark(version: clock, moment: tick())
    active[mark, default: 0] += 1
    return mark
  }

  mutating func end(_ mark: Mark) {
    if let count = active[mark] { active[mark] = count > 1 ? count - 1 : nil }
    guard let earliest = active.keys.map(\.moment).min() else {
      confirmed = [:]
      verified = [:]
      return
    }
    // Somebody is always busy on a server with work: what all of them came after is no news to any.
    guard confirmed.count >= nextLook else { return }
    confirmed = confirmed.filter { $0.value > earliest }
    verified = verified.filter { $0.value.ended > earliest }
    nextLook = max(Marks.firstLook, confirmed.count * 2)
  }

  /// How much is remembered for readers that are busy.
  var count: Int { confirmed.count + verified.count }

  /// The clock of the earliest reader that is busy; nil when none is.
  var earliestVersion: Int64? { active.keys.map(\.version).min() }

  mutating func confirm(_ name: ObjectName) { confirmed[name] = tick() }
  /// A whole load of the entity was compared that had begun at `mark`.
  mutating func verify(entity: String, since mark: Mark) {
    verified[entity] = (mark.moment, tick())
  }

  /// Since when a load tells something newer.
  enum LoadNews {
    /// It ended after the mark.
    case ended
    /// It began after the mark: an object that it left alone is not newer before.
    case began
  }

  /// Whether a value read after `mark` may be older than what is known; `byLoads` nil: loads tell
  /// nothing newer of the object.
  func isTouched(
    _ name: ObjectName, version: Int64?, since mark: Mark, byLoads: LoadNews? = .ended
  ) -> Bool {
    if let version, version > mark.version { return true }
    if let moment = confirmed[name], moment > mark.moment { return true }
    switch byLoads {
    case .ended: return verified[name.entity].map { $0.ended > mark.moment } ?? false
    case .began: return isBehindLoad(name, mark)
    case nil: return false
    }
  }

  /// Whether a whole load began after `mark` and was compared: all that it read is newer, also that
  /// an object is not there.
  func isBehindLoad(_ name: ObjectName, _ mark: Mark) -> Bool {
    verified[name.entity].map { $0.began > mark.moment } ?? false
  }
}
