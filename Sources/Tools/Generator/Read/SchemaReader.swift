import FerrySQLite

/// Reads the schema of a SQLite database and looks at every value once; changes nothing.
package enum SchemaReader {
  /// Opens the file read-only. The cost is one scan of every table.
  package static func read(path: String) throws(GeneratorError) -> DatabaseSchema {
    try TextFile.requireNoFolder(path)
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      return try connection.transaction(.deferred) { () throws(SQLiteError) in try read(connection)
      }
    } catch {
      throw GeneratorError(error, path: path)
    }
  }

  static func read(_ connection: Connection) throws(SQLiteError) -> DatabaseSchema {
    var tables: [DatabaseSchema.Table] = []
    var views: [String] = []
    let list = try connection.rows(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
    for row in list {
      guard let name = row[0].text, !isInternal(name) else { continue }
      switch row[1].text {
      case "view": views.append(name)
      case "table", "virtual":
        tables.append(
          try table(
            name, isVirtual: row[1].text == "virtual", hasRowID: row[2].integer == 0, connection))
      default: break
      }
    }
    return DatabaseSchema(tables: tables, views: views)
  }

  /// Tables of SQLite and of Ferry itself.
  static func isInternal(_ name: String) -> Bool {
    let folded = name.lowercased()
    return folded.hasPrefix("sqlite_") || folded.hasPrefix("ferry_")
  }

  private static func table(
    _ name: String, isVirtual: Bool, hasRowID: Bool, _ connection: Connection
  ) throws(SQLiteError) -> DatabaseSchema.Table {
    let info = try connection.rows(
      "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
      .text(name))
    var columns: [DatabaseSchema.Column] = []
    var key: [(position: Int64, name: String)] = []
    for row in info {
      guard let column = row[0].text, let hidden = row[5].integer, hidden != 1 else { continue }
      columns.append(
        DatabaseSchema.Column(
          name: column, declaredType: row[1].text ?? "", isNotNull: row[2].integer == 1,
          hasDefault: !row[3].isNull, isGenerated: hidden > 1, profile: ColumnProfile()))
      if let position = row[4].integer, position > 0 { key.append((position, column)) }
    }
    let primaryKey = key.sorted { $0.position < $1.position }.map(\.name)
    let indexes = try indexes(of: name, connection)
    let sql = try connection.value(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name))
    let triggers = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? ORDER BY name",
      .text(name))
    let lists = sql?.text.map { CheckLists(ofTable: $0) }
    for index in columns.indices { columns[index].values = lists?[columns[index].name] ?? [] }
    if !isVirtual { try profile(&columns, of: name, connection) }
    return DatabaseSchema.Table(
      name: name, columns: columns, primaryKey: primaryKey,
      rowIDAlias: hasRowID && !indexes.hasKeyIndex && primaryKey.count == 1 ? primaryKey[0] : nil,
      uniqueKeys: indexes.unique, foreignKeys: try foreignKeys(of: name, connection),
      triggers: triggers.compactMap { $0[0].text }, isVirtual: isVirtual,
      hasChecks: sql?.text?.uppercased().contains("CHECK") ?? false)
  }

  /// A primary key with an index of its own is not the row number.
  private static func indexes(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> (unique: [[String]], hasKeyIndex: Bool) {
    var unique: [[String]] = []
    var hasKeyIndex = false
    let list = try connection.rows(
      "SELECT name, origin, partial FROM pragma_index_list(?) WHERE \"unique\" = 1 ORDER BY name",
      .text(table))
    for row in list {
      if row[1].text == "pk" {
        hasKeyIndex = true
        continue
      }
      guard let index = row[0].text, row[2].integer == 0 else { continue }
      let columns = try connection.rows(
        "SELECT name FROM pragma_index_info(?) ORDER BY seqno", .text(index))
      let names = columns.compactMap { $0[0].text }
      if names.count == columns.count, !unique.contains(names) { unique.append(names) }
    }
    return (unique, hasKeyIndex)
  }

  private static func foreignKeys(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> [DatabaseSchema.ForeignKey] {
    let rows = try connection.rows(
      "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq",
      .text(table))
    var order: [Int64] = []
    var targets: [Int64: String] = [:]
    var pairs: [Int64: [(from: String, to: String?)]] = [:]
    for row in rows {
      guard let id = row[0].integer, let target = row[1].text, let from = row[2].text else {
        continue
      }
      if targets.updateValue(target, forKey: id) == nil { order.append(id) }
      pairs[id, default: []].append((from, row[3].text))
    }
    var keys: [DatabaseSchema.ForeignKey] = []
    for id in order {
      guard let target = targets[id], let pairs = pairs[id] else { continue }
      var columns = pairs.compactMap(\.to)
      if columns.isEmpty {
        let key = try connection.rows(
          "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", .text(target))
        columns = key.compactMap { $0[0].text }
      }
      keys.append(
        DatabaseSchema.ForeignKey(
          columns: pairs.map(\.from), target: target, targetColumns: columns))
    }
    return keys.sorted { $0.columns.lexicographicallyPrecedes($1.columns) }
  }

  private static func profile(
    _ columns: inout [DatabaseSchema.Column], of table: String, _ connection: Connection
  ) throws(SQLiteError) {
    guard !columns.isEmpty else { return }
    let list = columns.map { "\(quoted("t")).\(quoted($0.name))" }.joined(separator: ", ")
    let statement = try connection.statement(
      "SELECT \(list) FROM \(quoted(table)) AS \(quoted("t"))")
    defer { statement.reset() }
    var profiles = columns.map(\.profile)
    while try statement.step() {
      for index in profiles.indices { profiles[index].add(statement.glance(at: index)) }
    }
    for index in columns.indices { columns[index].profile = profiles[index] }
  }
}
