import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// Of which days devices have rows, and when that changes. Pure, but for `kept`.
package struct PartitionWindows: Sendable {
  /// By the positions of entities.
  package typealias Borders = [Int: ClosedRange<Int64>]

  struct Window: Sendable {
    let attribute: String
    let position: Int
    let type: AttributeType
    let from: Int64
    let to: Int64
    let schedule: Schedule

    /// The days of the window at a moment.
    func days(at now: Timestamp) -> ClosedRange<Int64> {
      let day = schedule.lastDay(at: now)
      return day + from...day + to
    }

    /// The day of a row; nil where it has none.
    func day(of values: [AttributeValue]) -> Int64? {
      guard values.indices.contains(position), let value = type.canonical(values[position]) else {
        return nil
      }
      return PartitionWindow.day(of: value)
    }
  }

  /// What the store has, for whoever places a row on whichever thread.
  final class Kept: Sendable {
    private struct State {
      var borders: Borders = [:]
      var areKnown = false
    }

    private let state = Mutex(State())

    subscript(entity: Int) -> ClosedRange<Int64>? { state.withLock { $0.borders[entity] } }
    var all: Borders { state.withLock { $0.borders } }
    var areKnown: Bool { state.withLock { $0.areKnown } }
    func set(_ new: Borders) { state.withLock { $0 = State(borders: new, areKnown: true) } }
    /// They are read again before anything is placed: what was sent may be in the store all the same.
    func doubt() { state.withLock { $0.areKnown = false } }
  }

  /// The name under which the store finds rows by their day, beside the names that children use.
  static let index: String = "day"

  /// By the positions of entities.
  let windows: [Int: Window]
  let kept: Kept = Kept()
  /// Borders that are not in the store yet.
  private var next: Borders?

  /// `zone`: the time zone of a name; nil where there is none.
  init(_ package: Package, zone: (String) -> ZoneClock?) throws(ServerError) {
    var windows: [Int: Window] = [:]
    for (place, entity) in package.entities.enumerated() {
      guard let window = entity.window else { continue }
      guard let position = entity.position(of: window.attribute),
        [.date, .dateTime].contains(entity.attributes[position].type), window.from <= window.to,
        (0..<1_440).contains(window.minute),
        [window.from, window.to].allSatisfy({ $0.magnitude <= PartitionWindow.longest })
      else {
        throw ServerError(
          .badModel, "the window of \(entity.name) cannot be used",
          hint: "Correct the model; `ferry check` shows the place.")
      }
      guard let zone = zone(window.zone) else {
        throw ServerError(
          .badModel,
          "the window of \(entity.name) names \"\(window.zone)\", which is no time zone of this "
            + "machine", hint: "Write a name such as Europe/Zurich, or install the time zones.")
      }
      windows[place] = Window(
        attribute: window.attribute, position: position, type: entity.attributes[position].type,
        from: Int64(window.from), to: Int64(window.to),
        schedule: Schedule(times: [Int64(window.minute) * 60], zone: zone))
    }
    self.windows = windows
  }

  var isEmpty: Bool { windows.isEmpty }

  /// The same with other borders, for one transaction that moves them.
  func moved(to borders: Borders) -> PartitionWindows {
    var moved = self
    moved.next = borders
    return moved
  }

  var borders: Borders { next ?? kept.all }

  /// Whether rows of this day are given to anybody. A row without a day is nobody's, and so is every
  /// row whose window has no borders yet.
  func include(_ entity: Int, _ values: [AttributeValue]) -> Bool {
    guard !windows.isEmpty, let window = windows[entity] else { return true }
    let days = next.map { $0[entity] } ?? kept[entity]
    guard let days, let day = window.day(of: values) else { return false }
    return days.contains(day)
  }

  /// How many days a window may be ahead of the clock.
  static let patience: Int64 = 7

  /// The borders that the clock asks for. A clock that is set back by a few days moves no window: what
  /// devices were given because of a day does not depend on it. A window that is further ahead was
  /// moved by a clock that was wrong, and moves back.
  func due(at now: Timestamp, after known: Borders) -> Borders {
    var due: Borders = [:]
    for (entity, window) in windows {
      let days = window.days(at: now)
      let expected = days.lowerBound...days.lowerBound + PartitionWindows.patience
      if let old = known[entity], expected.contains(old.lowerBound) { continue }
      due[entity] = days
    }
    return due
  }

  /// The days whose rows are placed otherwise, in order.
  static func changed(
    from old: ClosedRange<Int64>?, to new: ClosedRange<Int64>?
  ) -> [Int64] {
    let before = old.map { old in old.filter { !(new?.contains($0) ?? false) } } ?? []
    let after = new.map { new in new.filter { !(old?.contains($0) ?? false) } } ?? []
    return (before + after).sorted()
  }

  /// How the store finds the rows of a day.
  static func name(_ entity: Int, _ day: Int64) -> ParentName {
    ParentName(entity, attributes: index, ObjectKey([.integer(day)]))
  }

  /// The name of a row's day; nil where it has none, or its entity has no window.
  func dayKey(of entity: Int, _ values: [AttributeValue]?) -> ObjectKey? {
    guard !windows.isEmpty, let day = values.flatMap({ windows[entity]?.day(of: $0) }) else {
      return nil
    }
    return ObjectKey([.integer(day)])
  }

  // As the store has them.

  /// Reads the borders where they are not known: they hold before anything is placed.
  func know(_ store: any Store, _ rules: PartitionRules) throws(StoreError) {
    guard !windows.isEmpty, !kept.areKnown else { return }
    kept.set(borders(of: try store.borders(), in: rules))
  }

  func borders(of stored: [WindowBorder], in rules: PartitionRules) -> Borders {
    var borders: Borders = [:]
    for border in stored {
      guard let entity = rules.position(of: border.entity), windows[entity] != nil else { continue }
      borders[entity] = border.days
    }
    return borders
  }

  func stored(_ borders: Borders, of package: Package) -> [WindowBorder] {
    borders.sorted { $0.key < $1.key }.compactMap { entity, days in
      windows[entity].map { window in
        WindowBorder(
          entity: package.entities[entity].name, attribute: window.attribute,
          position: Int64(window.position), days: days)
      }
    }
  }
}
