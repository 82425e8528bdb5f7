import FerryModel
import FerrySQLite
import Synchronization

/// One row that a transaction changed: nil before it was there, nil when it is gone.
package struct RowChange: Sendable, Equatable {
  package let object: Int64
  package let before: [AttributeValue]?
  package var after: [AttributeValue]?
}

/// The visible rows that a transaction changed, for those who watch.
package struct RowChanges: Sendable, Equatable {
  package enum Extent: Sendable, Equatable {
    case rows([RowChange])
    /// More than are told one by one, or nobody looked from the beginning.
    case all
  }

  /// By the entity's name; only entities that somebody watches.
  package var entities: [String: Extent] = [:]

  /// Each object once, as it was before the first and after the last change of it. One that was
  /// inserted and deleted again is left out.
  func folded() -> RowChanges {
    var folded = RowChanges()
    for (name, extent) in entities {
      guard case .rows(let rows) = extent else {
        folded.entities[name] = .all
        continue
      }
      var places: [Int64: Int] = [:]
      var once: [RowChange] = []
      for row in rows {
        if let place = places[row.object] {
          once[place].after = row.after
        } else {
          places[row.object] = once.count
          once.append(row)
        }
      }
      once.removeAll { $0.before == nil && $0.after == nil }
      if !once.isEmpty { folded.entities[name] = .rows(once) }
    }
    return folded
  }
}

/// Sees which visible rows each transaction changes, of the entities that somebody watches.
///
/// A watched table has temporary triggers on the writing connection, which tell a function of this
/// process the values before and after. Nobody else sees them, and what is not watched costs
/// nothing.
package final class RowWatch: Sendable {
  /// Rows of one entity in one transaction that are told one by one; an import of many is told as
  /// a whole, and costs no memory.
  static let rowLimit = 1_000
  /// What SQLite passes to a function, less the three that say which row it is.
  static let attributeLimit = 120

  private struct State {
    /// How many watch each entity.
    var watchers: [String: Int] = [:]
    /// Entities whose triggers are there.
    var installed: Set<String> = []
    /// Entities whose triggers this transaction has dropped; undone, it has them again.
    var dropped: Set<String> = []
    var changes = RowChanges()
    /// SQLite's count when the transaction began.
    var changesBefore = 0
    var listener: (@Sendable (RowChanges) -> Void)?
  }

  private let model: Package
  private let state = Mutex(State())

  init(_ model: Package) { self.model = model }

  /// Called after each commit that changed something of what is watched, by the thread that wrote.
  package func onChange(_ listener: (@Sendable (RowChanges) -> Void)?) {
    state.withLock { $0.listener = listener }
  }

  package func watch(_ entities: some Sequence<String>) {
    state.withLock { state in for name in entities { state.watchers[name, default: 0] += 1 } }
  }

  package func unwatch(_ entities: some Sequence<String>) {
    state.withLock { state in
      for name in entities {
        let count = (state.watchers[name] ?? 0) - 1
        state.watchers[name] = count > 0 ? count : nil
      }
    }
  }

  // What the writing connection tells.

  func connect(_ connection: Connection) throws(SQLiteError) {
    try connection.addFunction("ferry_row", isPure: false) { [weak self] arguments in
      self?.take(arguments)
      return .null
    }
  }

  /// Before a transaction begins: its triggers as they are wanted now.
  func begin(_ connection: Connection) throws(SQLiteError) {
    let (wanted, installed, dropped) = state.withLock { state in
      state.changes = RowChanges()
      state.changesBefore = connection.totalChanges
      return (Set(state.watchers.keys), state.installed, state.dropped)
    }
    guard wanted != installed || !dropped.isEmpty else { return }
    for name in installed.subtracting(wanted).union(dropped) { try drop(name, connection) }
    for name in wanted.subtracting(installed.subtracting(dropped)) {
      guard let entity = model.entity(named: name) else { continue }
      for trigger in triggers(entity) { try connection.execute(trigger.text) }
    }
    state.withLock { state in
      state.installed = wanted
      state.dropped = []
    }
  }

  /// Inside a transaction that changes many rows: those of which more changed than are told one by
  /// one are told as a whole, and nothing is seen of them any more. No statement may be running.
  func letGoOfMany(_ connection: Connection) throws(SQLiteError) {
    let many = state.withLock { state in
      state.installed.subtracting(state.dropped).filter { state.changes.entities[$0] == .all }
    }
    guard !many.isEmpty else { return }
    for name in many.sorted() { try drop(name, connection) }
    state.withLock { $0.dropped.formUnion(many) }
  }

  private func drop(_ name: String, _ connection: Connection) throws(SQLiteError) {
    guard let entity = model.entity(named: name) else { return }
    for trigger in triggers(entity) {
      try connection.execute("DROP TRIGGER IF EXISTS temp.\(trigger.name)")
    }
  }

  /// After the commit; returns what is to be told.
  func end(_ connection: Connection) -> RowChanges {
    let changes = seen(by: connection)
    state.withLock { $0.changes = RowChanges() }
    return changes
  }

  /// What the transaction has changed so far.
  func seen(by connection: Connection) -> RowChanges {
    state.withLock { state in
      guard connection.totalChanges != state.changesBefore else { return RowChanges() }
      // Who began to watch in the middle, or cannot be told by triggers, reads everything again.
      for name in state.watchers.keys
      where !state.installed.contains(name) || model.entity(named: name).map(isTooWide) ?? true {
        state.changes.entities[name] = .all
      }
      return state.changes.folded()
    }
  }

  /// How many changes of each entity were seen so far, for `undo`.
  func counts() -> [String: Int] {
    state.withLock { state in
      state.changes.entities.compactMapValues {
        if case .rows(let rows) = $0 { rows.count } else { nil }
      }
    }
  }

  /// A savepoint is undone: what it changed behind these counts was not changed.
  func undo(to counts: [String: Int]) {
    state.withLock { state in
      for (name, extent) in state.changes.entities {
        guard case .rows(let rows) = extent else { continue }
        let count = counts[name] ?? 0
        state.changes.entities[name] = count > 0 ? .rows(Array(rows.prefix(count))) : nil
      }
    }
  }

  func tell(_ changes: RowChanges) {
    guard !changes.entities.isEmpty else { return }
    state.withLock { $0.listener }?(changes)
  }

  private func take(_ arguments: [SQLiteValue]) {
    guard arguments.count > 2, let place = arguments[0].integer, let kind = arguments[1].text,
      let object = arguments[2].integer, model.entities.indices.contains(Int(place))
    else { return }
    let entity = model.entities[Int(place)]
    state.withLock { state in
      guard case .rows(var rows) = state.changes.entities[entity.name] ?? .rows([]) else { return }
      // Taken out, so that adding to it copies nothing.
      state.changes.entities[entity.name] = nil
      let values = zip(arguments.dropFirst(3), entity.attributes).map { $0.value(as: $1.type) }
      switch kind {
      case "new": rows.append(RowChange(object: object, before: nil, after: values))
      case "after" where !rows.isEmpty: rows[rows.count - 1].after = values
      default: rows.append(RowChange(object: object, before: values, after: nil))
      }
      state.changes.entities[entity.name] = rows.count > RowWatch.rowLimit ? .all : .rows(rows)
    }
  }

  private func isTooWide(_ entity: Entity) -> Bool {
    entity.attributes.count > RowWatch.attributeLimit
  }

  private func triggers(_ entity: Entity) -> [(name: String, text: String)] {
    guard !isTooWide(entity), let place = model.entities.firstIndex(of: entity) else { return [] }
    let call = { (row: String, kind: String) in
      let values = entity.attributes.map { ", \(row).\(quoted($0.name))" }.joined()
      return "ferry_row(\(place), '\(kind)', \(row)._id\(values))"
    }
    let table = "main.\(Schema.table(entity))"
    let same = "\(call("ferry_part", "before")), \(call("ferry_part", "after"))"
    let bodies = [
      ("insert", "INSERT ON \(table) BEGIN SELECT \(call("new", "new"))"),
      ("delete", "DELETE ON \(table) BEGIN SELECT \(call("old", "before"))"),
      (
        "update",
        "UPDATE ON \(table) BEGIN SELECT \(call("old", "before")), \(call("new", "after"))"
      ),
    ]
    return (bodies + partEvents(entity, "SELECT \(same) FROM \(table) AS ferry_part")).map {
      event, body in
      let name = quoted("ferry_watch_\(entity.name)_\(event)")
      return (name, "CREATE TEMP TRIGGER \(name) AFTER \(body); END")
    }
  }

  /// An owner shows whether something below it is pending (`Rows.pendingLetter`), so operations of
  /// its parts that come and go are changes of it, in which no attribute has another value.
  private func partEvents(_ entity: Entity, _ select: String) -> [(String, String)] {
    guard entity.ownsChildren else { return [] }
    let name = quotedText(entity.name)
    let isOfPart = { (row: String) in
      "\(row).root_entity = \(name) AND \(row).state <> 'withdrawn'"
        + " AND NOT (\(row).entity = \(name) AND \(row).object = \(row).root_object)"
    }
    let isMoved = """
      (old.state = 'withdrawn') <> (new.state = 'withdrawn')
      OR old.root_entity <> new.root_entity OR old.root_object <> new.root_object
      """
    let roots = ["old", "new"].map { "SELECT \($0).root_object WHERE \($0).root_entity = \(name)" }
    let owners = "SELECT object FROM ferry_owner WHERE sequence = new.sequence AND entity = \(name)"
    var events = ["INSERT": "new", "DELETE": "old"].sorted { $0.key < $1.key }.map { event, row in
      (
        "part_\(event.lowercased())",
        "\(event) ON main.ferry_operation WHEN \(isOfPart(row)) BEGIN \(select) "
          + "WHERE _id = \(row).root_object"
      )
    }
    events.append(
      (
        "part_update",
        "UPDATE ON main.ferry_operation WHEN \(isMoved) BEGIN \(select) "
          + "WHERE _id IN (\((roots + [owners]).joined(separator: " UNION ")))"
      ))
    guard entity.owner != nil else { return events }
    return events
      + ["INSERT": "new", "DELETE": "old"].sorted { $0.key < $1.key }.map { event, row in
        (
          "owner_\(event.lowercased())",
          "\(event) ON main.ferry_owner WHEN \(row).entity = \(name) BEGIN \(select) "
            + "WHERE _id = \(row).object"
        )
      }
  }
}

extension SQLiteValue {
  /// A value of an entity's table as its attribute's type.
  func value(as type: AttributeType) -> AttributeValue {
    switch self {
    case .null: .null
    case .integer(let number) where type == .boolean: .boolean(number != 0)
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
