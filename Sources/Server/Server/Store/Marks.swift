import FerryModel

/// The moment before a reader of the business system asked.
public struct Mark: Sendable, Hashable {
  /// The clock.
  public let version: Int64
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
  private var verified: [String: Int64] = [:]
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
    verified = verified.filter { $0.value > earliest }
    nextLook = max(Marks.firstLook, confirmed.count * 2)
  }

  /// How much is remembered for readers that are busy.
  var count: Int { confirmed.count + verified.count }

  /// The clock of the earliest reader that is busy; nil when none is.
  var earliestVersion: Int64? { active.keys.map(\.version).min() }

  mutating func confirm(_ name: ObjectName) { confirmed[name] = tick() }
  /// A whole load of the entity was compared.
  mutating func verify(entity: String) { verified[entity] = tick() }

  /// Whether a value read after `mark` may be older than what is known.
  func isTouched(
    _ name: ObjectName, version: Int64?, since mark: Mark, byLoads: Bool = true
  ) -> Bool {
    if let version, version > mark.version { return true }
    if let moment = confirmed[name], moment > mark.moment { return true }
    return byLoads && verified[name.entity].map { $0 > mark.moment } ?? false
  }
}
