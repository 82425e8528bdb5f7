import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld

/// The tables of a device's database.
///
/// Each entity's table holds exactly what is visible, so plain SQL is right. The last downloaded
/// image of an object stands in `ferry_original_…` only while the object is pending.
package struct Schema {
  /// Raised when a table changes its shape, with a step in `SchemaSteps`.
  package static let version: Int64 = 5
  let model: Package

  package static func table(_ entity: Entity) -> String { quoted(entity.name) }
  package static func original(_ entity: Entity) -> String {
    quoted("ferry_original_\(entity.name)")
  }

  /// Makes what is missing. A database of an older model is brought to this one, or refused and
  /// left as it is. One transaction: another process may be opening the same file.
  func prepare(
    _ connection: Connection, world: World, migration: MigrationPolicy = .keepPending
  ) throws {
    let discarded = try connection.transaction(wrap: { $0 as any Error }) { () throws in
      try prepare(connection, world, migration)
    }
    for line in discarded {
      world.log.warn("what a new model has no place for was discarded", ("what", line))
    }
  }

  private func prepare(
    _ connection: Connection, _ world: World, _ migration: MigrationPolicy
  ) throws -> [String] {
    let known = try Schema.requireKnown(connection)
    if known > 0 { try SchemaSteps(connection: connection).run(from: known) }
    let makeTables = { () throws(SQLiteError) in
      for statement in self.statements { try connection.execute(statement) }
    }
    let text = ModelWriter.text(of: model, schema: nil, documented: false)
    var discarded: [String] = []
    let old = known > 0 ? try knownModel(connection, unless: text) : nil
    let remade = SchemaSteps.remade(model, from: known)
    if old != nil || !remade.isEmpty {
      try TextIndex.removeAll(connection)
      let isLogged = try ChangeLogTable.isEnabled(connection)
      try ChangeLogTable.disable(connection)
      let migration = Migration(
        old: old ?? model, new: model, policy: migration, connection: connection, remade: remade,
        isNewModel: old != nil)
      discarded = try migration.run(makeTables: makeTables)
      if isLogged { try ChangeLogTable(model: model).enable(connection) }
    } else {
      try makeTables()
      try ChangeLogTable(model: model).renew(connection)
    }
    if old != nil || known > 0 && known < 5 { try WaitTriggers.forgetReferences(connection) }
    for entity in model.entities { try TextIndex(entity: entity).prepare(connection) }
    try connection.execute(
      "PRAGMA user_version = \(Schema.version); PRAGMA application_id = \(FileOwner.application)")
    for (name, value) in identity(world) {
      try connection.run(
        "INSERT OR IGNORE INTO ferry_setting (name, value) VALUES (?, ?)", .text(name), .text(value)
      )
    }
    try Settings.set(.package, model.id, connection)
    try Settings.set(.model, text, connection)
    return discarded
  }

  /// The version of the tables; throws where a newer Ferry made them. Asked before anything is set,
  /// and again in the transaction.
  @discardableResult
  static func requireKnown(_ connection: Connection) throws -> Int64 {
    let known = try connection.value("PRAGMA user_version")?.integer ?? 0
    guard known <= Schema.version else {
      throw FerryError(
        .incompatibleModel,
        "the database \(connection.path) was written by a newer version of Ferry: its tables are "
          + "of version \(known), and this app supports up to \(Schema.version)",
        hint: "Update the app; the database was not changed.")
    }
    return known
  }

  /// The model that the database was last opened with, where it differs from `current`; refuses one
  /// that is not of this package, or is newer.
  private func knownModel(_ connection: Connection, unless current: String) throws -> Package? {
    let id = try Settings.get(.package, connection) ?? ""
    let text = try Settings.get(.model, connection) ?? ""
    guard id.split(separator: ":").first.map(String.init) == model.name else {
      throw FerryError(
        .otherOwner, "the database \(connection.path) holds \(id), not \(model.id)",
        hint: "Open it with its own package, or give this package a file of its own.")
    }
    // A file of the first version that never told its model was of exactly this one.
    if text == current || text.isEmpty && id == model.id { return nil }
    guard let old = ModelReader.written(text) else {
      throw FerryError(
        .damaged, "the model in the database \(connection.path) cannot be read",
        hint: "Keep the file, restore a copy or subscribe afresh; nothing was written to it.")
    }
    guard !Schema.isNewer(old.version, than: model.version) else {
      throw FerryError(
        .incompatibleModel,
        "the database \(connection.path) is of \(old.id), which is newer than \(model.id)",
        hint: "Update the app.")
    }
    return old
  }

  private static func isNewer(_ left: String, than right: String) -> Bool {
    let numbers = { (text: String) in text.split(separator: ".").map { Int($0) ?? 0 } }
    return numbers(right).lexicographicallyPrecedes(numbers(left))
  }

  private func identity(_ world: World) -> [(String, String)] {
    [
      ("device", hexadecimal(world.chance.bytes(16))),
      ("incarnation", hexadecimal(world.chance.bytes(16))),
    ]
  }

  /// Everything but the entities' tables and the settings.
  static let workTables: [String] = [
    "ferry_operation", "ferry_page", "ferry_partition", "ferry_checkpoint", "ferry_alias",
    "ferry_log_record", "ferry_report", "ferry_notice", "ferry_notice_heard", "ferry_reference",
    "ferry_batch", "ferry_batch_member", "ferry_outcome",
  ]

  private var statements: [String] {
    model.entities.flatMap(entityStatements) + [
      """
      CREATE TABLE IF NOT EXISTS ferry_operation (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, entity TEXT NOT NULL,
        object INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, temporary INTEGER NOT NULL,
        changed TEXT NOT NULL, base TEXT NOT NULL, chain TEXT NOT NULL, state TEXT NOT NULL,
        wanted INTEGER NOT NULL DEFAULT 0, payload BLOB, sent INTEGER NOT NULL DEFAULT 0,
        acknowledged INTEGER NOT NULL DEFAULT 0,
        may_have_run INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL,
        counter INTEGER NOT NULL, failure INTEGER NOT NULL, root_entity TEXT NOT NULL,
        root_object INTEGER NOT NULL)
      """,
      "CREATE INDEX IF NOT EXISTS ferry_operation_object ON ferry_operation (entity, object, sequence)",
      "CREATE INDEX IF NOT EXISTS ferry_operation_key ON ferry_operation (entity, key)",
      "CREATE INDEX IF NOT EXISTS ferry_operation_chain ON ferry_operation (chain)",
      "CREATE INDEX IF NOT EXISTS ferry_operation_root ON ferry_operation (root_entity, root_object)",
      """
      CREATE TABLE IF NOT EXISTS ferry_owner (
        sequence INTEGER NOT NULL, entity TEXT NOT NULL, object INTEGER NOT NULL,
        PRIMARY KEY (entity, object, sequence)) WITHOUT ROWID
      """,
      "CREATE INDEX IF NOT EXISTS ferry_owner_sequence ON ferry_owner (sequence)",
      """
      CREATE TRIGGER IF NOT EXISTS ferry_owner_end AFTER DELETE ON ferry_operation
      BEGIN DELETE FROM ferry_owner WHERE sequence = old.sequence; END
      """,
      """
      CREATE INDEX IF NOT EXISTS ferry_operation_unanswered ON ferry_operation (sequence)
      WHERE sent = 1 AND state IN ('submitted', 'withdrawn', 'unknown')
      """,
      // What is to be sent, and what is sent and not answered, are found without the rest.
      """
      CREATE INDEX IF NOT EXISTS ferry_operation_outgoing ON ferry_operation (sequence)
      WHERE acknowledged = 0 AND state IN ('submitted', 'withdrawn')
      """,
      """
      CREATE INDEX IF NOT EXISTS ferry_operation_wanted ON ferry_operation (sequence)
      WHERE wanted > 0
      """,
      """
      CREATE INDEX IF NOT EXISTS ferry_operation_again ON ferry_operation (sequence)
      WHERE wanted = 2
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_page (
        number INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, bytes BLOB NOT NULL)
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_partition (
        number INTEGER PRIMARY KEY, grp TEXT NOT NULL, state TEXT NOT NULL,
        version INTEGER NOT NULL, row INTEGER NOT NULL,
        staged_version INTEGER NOT NULL, staged_row INTEGER NOT NULL,
        sum INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
        repaired_day INTEGER NOT NULL DEFAULT -1)
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_checkpoint (
        grp TEXT PRIMARY KEY, era TEXT, version INTEGER NOT NULL DEFAULT 0, staged_era TEXT,
        staged_at INTEGER NOT NULL DEFAULT 0, imported INTEGER)
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_alias (
        entity TEXT NOT NULL, old_key TEXT NOT NULL, object INTEGER NOT NULL,
        PRIMARY KEY (entity, old_key))
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_log_record (
        number INTEGER PRIMARY KEY AUTOINCREMENT, entity TEXT NOT NULL, object INTEGER NOT NULL,
        record TEXT NOT NULL)
      """,
      "CREATE INDEX IF NOT EXISTS ferry_log_record_object ON ferry_log_record (entity, object)",
      """
      CREATE TABLE IF NOT EXISTS ferry_report (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL,
        submitted INTEGER NOT NULL DEFAULT 0)
      """,
      """
      CREATE TABLE IF NOT EXISTS ferry_notice (
        number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, entity TEXT, object INTEGER,
        key TEXT, content TEXT)
      """,
      "CREATE TABLE IF NOT EXISTS ferry_notice_heard (number INTEGER PRIMARY KEY)",
      "CREATE INDEX IF NOT EXISTS ferry_notice_object ON ferry_notice (entity, object)",
      ChangeLogTable.statement, KeptValues.statement, SharedChanges.statement,
    ] + OutcomeTable.statements + BigValueTables.statements + BatchTable.statements
      + WaitTriggers.statements + [
        """
        CREATE TABLE IF NOT EXISTS ferry_parameter_set (
          number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE)
        """,
        """
        CREATE TABLE IF NOT EXISTS ferry_personalization (
          name TEXT PRIMARY KEY, value TEXT, changed INTEGER NOT NULL DEFAULT 0)
        """,
        "CREATE TABLE IF NOT EXISTS ferry_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
      ]
  }

  /// AUTOINCREMENT: the number of an object that is hidden (its delete is pending) or gone (an alias
  /// still knows it) is never given to another.
  private func entityStatements(_ entity: Entity) -> [String] {
    let columns = entity.attributes.map { attribute in
      // A downloaded row brings no value for what stays on the device.
      let initial = attribute.isClientOnly ? attribute.defaultValue.map(Schema.literal) : nil
      return "\(quoted(attribute.name)) \(Schema.affinity(attribute.type))"
        + (initial.map { " DEFAULT \($0)" } ?? "")
    }
    let key = entity.key.map { quoted(entity.attributes[$0].name) }.joined(separator: ", ")
    let all = columns.joined(separator: ", ")
    let bigIndexes = BigValueTables.indexes(of: entity)
    let indexes = entity.relationships.compactMap { relationship -> String? in
      // A relationship that begins like the key is found by the key's own index.
      let names = relationship.attributes
      if names == entity.key.prefix(names.count).map({ entity.attributes[$0].name }) { return nil }
      let list = names.map(quoted).joined(separator: ", ")
      // With a point, which no entity and no table of Ferry's own has: nothing else is called so.
      return "CREATE INDEX IF NOT EXISTS \(quoted("ferry_\(entity.name).\(relationship.name)"))"
        + " ON \(Schema.table(entity)) (\(list))"
    }
    return [
      """
      CREATE TABLE IF NOT EXISTS \(Schema.table(entity)) (
        _id INTEGER PRIMARY KEY AUTOINCREMENT, \(all), _partition INTEGER, _hash INTEGER,
        _pending TEXT NOT NULL DEFAULT 'N', _failed INTEGER NOT NULL DEFAULT 0, _replay TEXT,
        UNIQUE (\(key)))
      """,
      """
      CREATE TABLE IF NOT EXISTS \(Schema.original(entity)) (
        _id INTEGER PRIMARY KEY, \(all), _partition INTEGER, _hash INTEGER, UNIQUE (\(key)))
      """,
    ] + indexes + bigIndexes
  }

  private static func literal(_ value: AttributeValue) -> String {
    switch value {
    case .null: "NULL"
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .double(let number): number.description
    case .text(let text): quotedText(text)
    case .bytes(let bytes): "x'\(hexadecimal(bytes))'"
    }
  }

  private static func affinity(_ type: AttributeType) -> String {
    switch type {
    case .boolean, .byte, .short, .int, .long: "INTEGER"
    case .float, .double: "REAL"
    case .binary: "BLOB"
    // Their texts are not in the order of the numbers; those of dates and times are.
    case .integer, .decimal: "TEXT COLLATE ferry_decimal"
    case .string, .date, .time, .dateTime, .list, .complex, .bigString, .bigBinary: "TEXT"
    }
  }
}
