import FerryModel
import FerrySQLite

/// The change log of the device: which visible objects were changed, until the app deletes what it
/// has read. Triggers of the schema keep it while it is on, in the transaction of the change.
///
/// One row for each object: what became of it last.
struct ChangeLogTable {
  let model: Package

  static let statement = """
    CREATE TABLE IF NOT EXISTS ferry_change_log (
      number INTEGER PRIMARY KEY AUTOINCREMENT, entity TEXT NOT NULL, object INTEGER NOT NULL,
      operation TEXT NOT NULL, root_entity TEXT NOT NULL, root_object INTEGER,
      UNIQUE (entity, object))
    """

  func enable(_ connection: Connection) throws(SQLiteError) {
    for entity in model.entities {
      for trigger in triggers(entity) { try connection.execute(trigger) }
    }
  }

  static func isEnabled(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'ferry\\_log\\_%' ESCAPE '\\'"
    ) != nil
  }

  static func disable(_ connection: Connection) throws(SQLiteError) {
    let names = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'ferry\\_log\\_%' ESCAPE '\\'"
    )
    for name in names.compactMap({ $0[0].text }) {
      try connection.execute("DROP TRIGGER \(quoted(name))")
    }
  }

  /// Triggers of an older Ferry wrote `INSERT OR REPLACE`, which a statement with a conflict clause of
  /// its own turns into what that clause says: what it put in was then not noted again.
  func renew(_ connection: Connection) throws(SQLiteError) {
    let older = try connection.value(
      """
      SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'ferry\\_log\\_%' ESCAPE '\\'
      AND sql LIKE '%INSERT OR REPLACE%'
      """)
    guard older != nil else { return }
    try ChangeLogTable.disable(connection)
    try enable(connection)
  }

  private func triggers(_ entity: Entity) -> [String] {
    [("INSERT", "new", "U"), ("UPDATE", "new", "U"), ("DELETE", "old", "D")].map {
      event, row, operation in
      let name = quoted("ferry_log_\(entity.name)_\(event.lowercased())")
      return """
        CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON \(Schema.table(entity))
        BEGIN \(entries(entity, row, operation)) END
        """
    }
  }

  /// Of the row, and of the owner of the graph that it belongs to.
  private func entries(_ entity: Entity, _ row: String, _ operation: String) -> String {
    let (root, object) = root(of: entity, "\(row)._id", row)
    let own = entry(entity.name, "\(row)._id", operation, root.name, object)
    guard root != entity else { return own }
    return own + " " + entry(root.name, object, "U", root.name, object)
  }

  private func entry(
    _ entity: String, _ object: String, _ operation: String, _ root: String, _ rootObject: String
  ) -> String {
    // No conflict clause: that of the statement which fires the trigger would take its place.
    """
    DELETE FROM ferry_change_log WHERE entity = '\(entity)' AND object = \(object);
    INSERT INTO ferry_change_log (entity, object, operation, root_entity, root_object)
    SELECT '\(entity)', o, '\(operation)', '\(root)', \(rootObject) FROM (SELECT \(object) AS o)
    WHERE o IS NOT NULL;
    """
  }

  /// The entity at the top of the composite graph, and SQL for the object there.
  private func root(of entity: Entity, _ object: String, _ row: String) -> (Entity, String) {
    var (top, source) = (entity, row)
    var tables: [String] = []
    var ties: [String] = []
    while let owner = top.owner, let target = model.entity(named: owner.target), target != top,
      tables.count < 8
    {
      let alias = "o\(tables.count)"
      tables.append("\(Schema.table(target)) AS \(alias)")
      ties += zip(owner.attributes, owner.targetAttributes).map {
        "\(alias).\(quoted($1)) = \(source).\(quoted($0))"
      }
      (top, source) = (target, alias)
    }
    guard !tables.isEmpty else { return (entity, object) }
    let from = tables.joined(separator: ", ")
    return (top, "(SELECT \(source)._id FROM \(from) WHERE \(ties.joined(separator: " AND ")))")
  }
}

extension Store {
  package func deleteChangeLogs(
    of entity: String?, through number: Int64
  ) throws(FerryError) {
    try write { connection throws(SQLiteError) in
      try connection.run(
        "DELETE FROM ferry_change_log WHERE number <= ?1 AND (?2 IS NULL OR entity = ?2)",
        .integer(number), .optional(entity))
    }
  }
}
