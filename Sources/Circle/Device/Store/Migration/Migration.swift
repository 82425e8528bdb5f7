import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What `open` does with pending changes that a newer model cannot express, and with client-only
/// values for which it has no attribute.
public enum MigrationPolicy: Sendable, Hashable {
  /// The database is not opened and not changed; the error names them and says what to do.
  case keepPending
  /// They are discarded, object by object, and each is written to the log; everything else is kept.
  /// Use it after the app has asked its user.
  ///
  /// A discarded new object takes with it the pending changes of its parts and of objects that
  /// refer to its temporary key. Changes that would be replayed as one with a discarded change are
  /// submitted without it. If some of them were already sent, the database is not opened.
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
  /// Names of entities whose tables are made anew for Ferry's own sake; their rows stay as they are.
  var remade: Set<String> = []
  /// Whether the models differ at all. What is pending is judged by a new model only.
  var isNewModel = true

  /// The states of operations that edits merge into.
  static let open: Set<String> = ["waiting", "replayFailed"]

  /// Tables of entities whose shape differs, set aside under other names.
  private var aside: [(entity: Entity, old: Entity)] {
    new.entities.compactMap { entity in
      guard let before = old.entity(named: entity.name),
        remade.contains(entity.name) || !Migration.isSame(before, entity)
      else { return nil }
      return (entity, before)
    }
  }

  /// Entities whose rows have another shape, by name, as they were.
  private var changed: [String: Entity] {
    let changed = aside.filter { !Migration.isSame($0.old, $0.entity) }
    return Dictionary(uniqueKeysWithValues: changed.map { ($0.entity.name, $0.old) })
  }

  private var removed: [Entity] { old.entities.filter { new.entity(named: $0.name) == nil } }

  /// Whether rows of both look alike in the tables and on the wire.
  private static func isSame(_ left: Entity, _ right: Entity) -> Bool {
    left.key == right.key
      && left.attributes.map(\.name) == right.attributes.map(\.name)
      && left.attributes.map(\.type) == right.attributes.map(\.type)
  }

  private var changesShape: Bool {
    !changed.isEmpty || new.entities.contains { old.entity(named: $0.name) == nil }
  }

  /// Inside the transaction of `Schema.prepare`; `makeTables` makes the tables of the new model.
  /// Returns what was thrown away, a line each.
  func run(makeTables: () throws(SQLiteError) -> Void) throws -> [String] {
    let aside = self.aside
    // A file of an older Ferry may have none.
    try connection.execute(KeptValues.statement)
    let discarded = isNewModel ? try judge() : []
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
    let changed = self.changed
    try rewriteOperations(changed)
    try MigrationDefaults(old: old, new: new, connection: connection).giveToCreates()
    try rewriteKept(changed)
    if changesShape { try downloadAfresh() }
    // Also where no table changes: who has the file open with the older model looks at that again.
    try connection.execute("CREATE TABLE ferry_migrated (x); DROP TABLE ferry_migrated")
    return discarded
  }

  // Pending changes.

  func values(_ text: String, _ entity: Entity) throws -> [Int: AttributeValue] {
    try Array(text.utf8).withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return try scanner.values(of: entity)
    }
  }

  /// The values under the positions of the new entity; what it has no attribute for falls away.
  private func translated(
    _ values: [Int: AttributeValue], _ before: Entity, _ entity: Entity
  ) -> [Int: AttributeValue] {
    var made: [Int: AttributeValue] = [:]
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

  /// What is kept of objects that are away, for when they come again.
  private func rewriteKept(_ changed: [String: Entity]) throws {
    for row in try connection.rows("SELECT entity, key, content FROM ferry_kept") {
      guard let name = row[0].text, let before = changed[name], let entity = new.entity(named: name)
      else { continue }
      var writer = JSONWriter()
      writer.values(
        translated(try values(row[2].text ?? "{}", before), before, entity), of: entity)
      try connection.run(
        "UPDATE ferry_kept SET content = ? WHERE entity = ? AND key = ?", .text(writer.text),
        row[0],
        row[1])
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

  func columns(of table: String) throws(SQLiteError) -> [String] {
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
      let names = shared.map(quoted)
      let filled = entity.attributes.filter {
        before.position(of: $0.name) == nil && $0.requiredDefault != nil
      }
      try connection.run(
        """
        INSERT INTO \(quoted(table)) (\((names + filled.map { quoted($0.name) }).joined(separator: ", ")))
        SELECT \((names + filled.map { _ in "?" }).joined(separator: ", ")) FROM \(quoted(aside))
        """, filled.compactMap { $0.requiredDefault?.stored })
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

  /// A value that its new type cannot hold is null, or the model's default where it may not be,
  /// until it is downloaded again.
  private func convert(
    _ attribute: Attribute, table: String, aside: String
  ) throws(SQLiteError) {
    let column = quoted(attribute.name)
    for row in try connection.rows("SELECT _id, \(column) FROM \(quoted(aside))") {
      let value =
        Migration.value(row[1], as: attribute.type) ?? attribute.requiredDefault ?? .null
      try connection.run(
        "UPDATE \(quoted(table)) SET \(column) = ? WHERE _id = ?", value.stored, row[0])
    }
  }

  /// What a column holds as a value of a type; nil where the type cannot hold it.
  static func value(_ column: SQLiteValue, as type: AttributeType) -> AttributeValue? {
    switch column {
    case .null: .null
    case .integer(let number): type.canonical(.integer(number))
    case .real(let number): type.canonical(.double(number))
    case .text(let text): type.canonical(.text(text))
    case .blob(let bytes): type.canonical(.bytes(bytes))
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
