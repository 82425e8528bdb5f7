import FerryModel

/// Finds changes of others by comparing all rows with those of the look before.
package struct SetComparison {
  /// Of each entity, by key: what tells two states of a row apart.
  private var known: [String: [ObjectKey: Int]] = [:]
  private var found: [ObjectKey: Int] = [:]
  private var current: String?
  private var hints: [ChangeHint] = []
  /// How long to wait until the next look: much longer than a look takes.
  package private(set) var interval: Duration = shortest

  package init() {}

  package static let shortest: Duration = .seconds(2)
  /// A look takes at most one part of so many of the time.
  package static let share = 20

  package mutating func took(_ time: Duration) { interval = max(Self.shortest, time * Self.share) }

  package mutating func begin(_ entity: Entity) {
    current = entity.name
    found = [:]
  }

  package mutating func see(_ rows: [RowImage]) {
    for row in rows {
      var hasher = Hasher()
      hasher.combine(row.values)
      found[row.key] = hasher.finalize()
    }
  }

  package mutating func end() {
    guard let entity = current else { return }
    if let before = known[entity] {
      let changed = found.filter { before[$0.key] != $0.value }.map(\.key)
      let gone = before.keys.filter { found[$0] == nil }
      let keys = (changed + gone).sorted()
      if !keys.isEmpty { hints.append(.objects(entity: entity, keys: keys)) }
    } else {
      // What was changed before the first look only a load can bring.
      hints.append(.entity(entity))
    }
    known[entity] = found
    current = nil
    found = [:]
  }

  /// The service names the changes of this entity from here on.
  package mutating func forget(_ entity: Entity) {
    known[entity.name] = nil
    hints.removeAll { hint in
      switch hint {
      case .objects(let name, _), .entity(let name): name == entity.name
      case .rows, .anything: false
      }
    }
  }

  /// What was found stays found.
  package mutating func abandon() {
    current = nil
    found = [:]
  }

  package mutating func takeHints() -> [ChangeHint] {
    defer { hints = [] }
    return hints
  }
}
