import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What happens to pending changes that a newer model cannot express.
public enum MigrationPolicy: Sendable, Hashable {
  /// The database is not opened, and stays as it is: the error says which changes, and what to do.
  case keepPending
  /// They are thrown away, object by object, and each is written to the log; everything else is
  /// kept. For an app that has asked its user.
  case discardUnmigratable
}

/// Brings a database of an older model to the model that it is opened with, in one transaction.
///
/// Rows stay visible, with or without a network: what the models have in common is kept, and the
/// next download fills in the rest. What is pending stays pending, under its own id.
struct Migration {
  let old: Package
  let new: Package
  let policy: MigrationPolicy
  let connection: Connection

  /// Tables of entities whose shape differs, set aside under other names.
  private var aside: [(entity: Entity, old: Entity)] {
    new.entities.compactMap { entity in
      guard let before = old.entity(named: entity.name), !Migration.isSame(before, entity) else {
        return nil
      }
      return (entity, before)
    }
  }

  private var removed: [Entity] { old.entities.filter { new.entity(named: $0.name) == nil } }

  /// Whether rows of both look alike in the tables and on the wire.
  private static func isSame(_ left: Entity, _ right: Entity) -> Bool {
    left.key == right.key
      && left.attributes.map(\.name) == right.attributes.map(\.name)
      && left.attributes.map(\.type) == right.attributes.map(\.type)
  }

  private var changesShape: Bool {
    !aside.isEmpty || new.entities.contains { old.entity(named: $0.name) == nil }
  }

  /// Inside the transaction of `Schema.prepare`; `makeTables` makes the tables of the new model.
  /// Returns what was thrown away, a line each.
  func run(makeTables: () throws(SQLiteError) -> Void) throws -> [String] {
    let aside = self.aside
    let discarded = try judge()
    for (entity, _) in aside {
      for table in [entity.name, "ferry_original_\(entity.name)"] {
        try dropIndexes(of: table)
        try connection.execute(
          "ALTER TABLE \(quoted(table)) RENAME TO \(quoted("ferry_old_\(table)"))")
      }
    }
    for entity in removed {
      try connection.execute("DROP TABLE \(Schema.table(entity))")
      try connection.execute("DROP TABLE \(Schema.original(entity))")
    }
    try makeTables()
    for (entity, before) in aside {
      try move(entity, before, table: entity.name)
      try move(entity, before, table: "ferry_original_\(entity.name)")
    }
    try rewriteOperations(Dictionary(uniqueKeysWithValues: aside.map { ($0.entity.name, $0.old) }))
    if changesShape { try downloadAfresh() }
    return discarded
  }

  // Pending changes.

  private struct Change {
    let sequence: Int64
    let entity: Entity
    let object: Int64
    let problem: String
  }

  private func judge() throws -> [String] {
    let lost = try unmigratable()
    guard !lost.isEmpty else { return [] }
    let lines = Set(lost.map(\.problem)).sorted().map { problem in
      "\(lost.count { $0.problem == problem }) × \(problem)"
    }
    guard policy == .discardUnmigratable else {
      throw FerryError(
        .incompatibleModel,
        "the model \(new.id) cannot express what is pending under \(old.id): "
          + lines.joined(separator: "; "),
        hint: "Open the database with the model \(old.id) and submit or cancel these changes, or "
          + "open it with `migration: .discardUnmigratable`. Nothing was changed.")
    }
    for object in Set(lost.map { Lost(entity: $0.entity.name, object: $0.object) }) {
      try discard(object)
    }
    return lines
  }

  private struct Lost: Hashable {
    let entity: String
    let object: Int64
  }

  /// The object is again as it was downloaded; one that was never downloaded goes.
  private func discard(_ lost: Lost) throws(SQLiteError) {
    let table = quoted(lost.entity)
    let original = quoted("ferry_original_\(lost.entity)")
    try connection.run(
      "DELETE FROM ferry_operation WHERE entity = ? AND object = ?", .text(lost.entity),
      .integer(lost.object))
    try connection.run("DELETE FROM \(table) WHERE _id = ?", .integer(lost.object))
    let names = try columns(of: "ferry_original_\(lost.entity)").map(quoted).joined(separator: ", ")
    try connection.run(
      "INSERT INTO \(table) (\(names)) SELECT \(names) FROM \(original) WHERE _id = ?",
      .integer(lost.object))
    try connection.run("DELETE FROM \(original) WHERE _id = ?", .integer(lost.object))
  }

  private func unmigratable() throws -> [Change] {
    var found: [Change] = []
    for row in try connection.rows(
      "SELECT sequence, entity, object, changed FROM ferry_operation ORDER BY sequence")
    {
      guard let sequence = row[0].integer, let name = row[1].text, let object = row[2].integer,
        let before = old.entity(named: name), let text = row[3].text
      else { continue }
      let problem = problem(before, try values(text, before))
      if let problem {
        found.append(Change(sequence: sequence, entity: before, object: object, problem: problem))
      }
    }
    return found
  }

  private func problem(_ before: Entity, _ changed: [Int: Value]) -> String? {
    guard let entity = new.entity(named: before.name) else {
      return "\(before.name), which the model no longer has"
    }
    let keys = (before.key.map { before.attributes[$0] }, entity.key.map { entity.attributes[$0] })
    guard keys.0.map(\.name) == keys.1.map(\.name), keys.0.map(\.type) == keys.1.map(\.type) else {
      return "\(before.name), whose key is another one now"
    }
    for (position, value) in changed.sorted(by: { $0.key < $1.key }) {
      let attribute = before.attributes[position]
      guard let place = entity.position(of: attribute.name) else {
        if !value.isNull {
          return "\(before.name).\(attribute.name), which the model no longer has"
        }
        continue
      }
      let type = entity.attributes[place].type
      if type.canonical(value) == nil {
        return "\(before.name).\(attribute.name), \(value.shown) of which is no \(type.rawValue)"
      }
    }
    return nil
  }

  private func values(_ text: String, _ entity: Entity) throws -> [Int: Value] {
    try Array(text.utf8).withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return try scanner.values(of: entity)
    }
  }

  /// The values under the positions of the new entity; what it has no attribute for falls away.
  private func translated(
    _ values: [Int: Value], _ before: Entity, _ entity: Entity
  ) -> [Int: Value] {
    var made: [Int: Value] = [:]
    for (position, value) in values {
      guard let place = entity.position(of: before.attributes[position].name) else { continue }
      made[place] = entity.attributes[place].type.canonical(value)
    }
    return made
  }

  private func rewriteOperations(_ changed: [String: Entity]) throws {
    for row in try connection.rows(
      "SELECT sequence, entity, changed, base, payload FROM ferry_operation ORDER BY sequence")
    {
      guard let sequence = row[0].integer, let name = row[1].text, let before = changed[name],
        let entity = new.entity(named: name)
      else { continue }
      let texts = try [row[2].text ?? "{}", row[3].text ?? "{}"].map { text in
        var writer = JSONWriter()
        writer.values(translated(try values(text, before), before, entity), of: entity)
        return writer.text
      }
      try connection.run(
        "UPDATE ferry_operation SET changed = ?, base = ?, payload = ? WHERE sequence = ?",
        .text(texts[0]), .text(texts[1]), try payload(row[4].blob, before, entity),
        .integer(sequence))
    }
  }

  /// Bytes that were fixed already say the same in the words of the new model.
  private func payload(_ bytes: [UInt8]?, _ before: Entity, _ entity: Entity) throws -> SQLiteValue
  {
    guard let bytes else { return .null }
    // The server may have them: what can be read by both stays byte for byte.
    if (try? Operation(bytes, in: new)) != nil { return .blob(bytes) }
    let known = try Operation(bytes, in: old)
    let operation = Operation(
      id: known.id, chain: known.chain, position: known.position, count: known.count,
      entity: known.entity, kind: known.kind, key: known.key,
      changed: translated(known.changed, before, entity),
      base: translated(known.base, before, entity))
    return .blob(operation.encoded(for: entity))
  }

  // Tables.

  private func dropIndexes(of table: String) throws(SQLiteError) {
    let names = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
      .text(table))
    for name in names.compactMap({ $0[0].text }) {
      try connection.execute("DROP INDEX \(quoted(name))")
    }
  }

  private func columns(of table: String) throws(SQLiteError) -> [String] {
    try connection.rows("SELECT name FROM pragma_table_info(?)", .text(table)).compactMap {
      $0[0].text
    }
  }

  /// Rows keep their numbers, and no number is given a second time.
  private func move(_ entity: Entity, _ before: Entity, table: String) throws(SQLiteError) {
    let aside = "ferry_old_\(table)"
    let keepsKey =
      entity.key.map { entity.attributes[$0].name }
      == before.key.map { before.attributes[$0].name }
    if keepsKey {
      let known = Set(try columns(of: aside))
      let shared = try columns(of: table).filter(known.contains)
      let names = shared.map(quoted).joined(separator: ", ")
      try connection.execute(
        "INSERT INTO \(quoted(table)) (\(names)) SELECT \(names) FROM \(quoted(aside))")
      for attribute in entity.attributes {
        guard let position = before.position(of: attribute.name),
          before.attributes[position].type != attribute.type
        else { continue }
        try convert(attribute, table: table, aside: aside)
      }
    }
    try connection.run(
      """
      INSERT INTO sqlite_sequence (name, seq) SELECT ?1, seq FROM sqlite_sequence WHERE name = ?2
      AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
      """, .text(table), .text(aside))
    try connection.run(
      """
      UPDATE sqlite_sequence SET seq = max(seq, coalesce(
        (SELECT seq FROM sqlite_sequence WHERE name = ?2), 0)) WHERE name = ?1
      """, .text(table), .text(aside))
    try connection.execute("DROP TABLE \(quoted(aside))")
  }

  /// A value that its new type cannot hold is null until it is downloaded again.
  private func convert(
    _ attribute: Attribute, table: String, aside: String
  ) throws(SQLiteError) {
    let column = quoted(attribute.name)
    for row in try connection.rows("SELECT _id, \(column) FROM \(quoted(aside))") {
      let value: Value? =
        switch row[1] {
        case .null: .null
        case .integer(let number): attribute.type.canonical(.integer(number))
        case .real(let number): attribute.type.canonical(.double(number))
        case .text(let text): attribute.type.canonical(.text(text))
        case .blob(let bytes): attribute.type.canonical(.bytes(bytes))
        }
      try connection.run(
        "UPDATE \(quoted(table)) SET \(column) = ? WHERE _id = ?", (value ?? .null).stored, row[0])
    }
  }

  /// Every partition comes again from its start; what is shown stays until the import.
  private func downloadAfresh() throws(SQLiteError) {
    try connection.execute(
      """
      UPDATE ferry_partition SET staged_version = 0, staged_row = 0,
        state = CASE state WHEN 'live' THEN 'reset' ELSE state END
      """)
    try connection.execute("DELETE FROM ferry_page")
  }
}
