import FerryJSON
import FerryModel
import FerrySQLite

/// What a relationship led to when a record was read.
package struct Prefetched: Sendable {
  /// The record's own values that refer to them: with others it leads elsewhere.
  let key: [AttributeValue]
  let records: [ObjectRecord]
}

extension ObjectRecord {
  /// What was read together with this record, where it still leads there.
  func prefetched(on way: Way, _ own: [AttributeValue]) -> [ObjectRecord]? {
    prefetched[way.name].flatMap { $0.key == own ? $0.records : nil }
  }
}

/// Paths that begin with the same steps, taken together: each step is one statement.
struct PrefetchTree {
  private var branches: [(step: RelationshipStep, rest: PrefetchTree)] = []

  init<Object: BusinessObject>(_ paths: [any RelationshipPath<Object>]) {
    for path in paths { add(path.steps[...]) }
  }

  private init() {}

  private mutating func add(_ steps: ArraySlice<RelationshipStep>) {
    guard let step = steps.first else { return }
    let index = branches.firstIndex { $0.step == step } ?? branches.endIndex
    if index == branches.endIndex { branches.append((step, PrefetchTree())) }
    branches[index].rest.add(steps.dropFirst())
  }

  var isEmpty: Bool { branches.isEmpty }

  func forEach(
    _ body: (RelationshipStep, PrefetchTree) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    for branch in branches { try body(branch.step, branch.rest) }
  }
}

extension Records {
  /// The objects that `rest` leaves of an entity, with what `paths` lead to.
  package func objects<Object: BusinessObject>(
    _ rest: String, _ parameters: [AttributeValue],
    prefetching paths: [any RelationshipPath<Object>]
  ) throws(FerryError) -> [Object] {
    guard !paths.isEmpty else {
      return try read { connection throws(SQLiteError) in
        try objects(Object.entity, rest, parameters, connection, Object.init(record:))
      }
    }
    return try objects(prefetching: paths) { connection throws(SQLiteError) in
      try objects(Object.entity, rest, parameters, connection) { $0 }
    }
  }

  /// The objects that `body` gives and what `paths` lead to from them, of one snapshot.
  func objects<Object: BusinessObject>(
    prefetching paths: [any RelationshipPath<Object>],
    _ body: (Connection) throws(SQLiteError) -> [ObjectRecord]
  ) throws(FerryError) -> [Object] {
    try read { connection throws(SQLiteError) in
      var records = try body(connection)
      try prefetch(PrefetchTree(paths), of: &records, connection)
      return records.map(Object.init(record:))
    }
  }

  /// Reads what these records lead to, for each step all of them with one statement, so that going
  /// there reads nothing more. What else is asked of a record is still read when it is asked.
  private func prefetch(
    _ tree: PrefetchTree, of records: inout [ObjectRecord], _ connection: Connection
  ) throws(SQLiteError) {
    guard !records.isEmpty else { return }
    try tree.forEach { step, rest throws(SQLiteError) in
      try prefetch(step, rest, of: &records, connection)
    }
  }

  private func prefetch(
    _ step: RelationshipStep, _ rest: PrefetchTree, of records: inout [ObjectRecord],
    _ connection: Connection
  ) throws(SQLiteError) {
    guard let entity = records.first?.entity, let target = store.model.entity(named: step.target)
    else {
      return
    }
    let way =
      step.inverse.map { Way(back: $0, from: target, to: entity) }
      ?? Way(to: step.name, from: entity)
    // JSON has no form for bytes and keys that are; those are read one by one.
    guard !way.types.contains(.binary) else { return }
    let keys = records.map { way.key(of: $0) }
    var found = try objects(
      target, "WHERE \(Records.isWanted(way.columns))\(target.orderByKey)",
      [.text(Records.list(keys))],
      connection
    ) { $0 }
    try prefetch(rest, of: &found, connection)
    let there = way.columns.compactMap(target.position(of:))
    var groups: [[AttributeValue]: [ObjectRecord]] = [:]
    for record in found { groups[there.map { record.value(at: $0) }, default: []].append(record) }
    for (index, key) in keys.enumerated() {
      records[index].prefetched[way.name] = Prefetched(key: key, records: groups[key] ?? [])
    }
  }

  private static func isWanted(_ columns: [String]) -> String {
    let values = columns.indices.map { "json_extract(value, '$[\($0)]')" }
    let names = columns.map(quoted).joined(separator: ", ")
    return "\(columns.count == 1 ? names : "(\(names))") IN "
      + "(SELECT \(values.joined(separator: ", ")) FROM json_each(?1))"
  }

  /// Each key once; one with a null leads nowhere.
  private static func list(_ keys: [[AttributeValue]]) -> String {
    var writer = JSONWriter()
    var seen: Set<[AttributeValue]> = []
    writer.beginArray()
    for key in keys where !key.contains(.null) && seen.insert(key).inserted { writer.row(key) }
    writer.endArray()
    return writer.text
  }
}
