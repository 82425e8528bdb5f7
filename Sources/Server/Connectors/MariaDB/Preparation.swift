import FerryConnector
import FerryMariaDB
import FerryModel

/// What Ferry needs in a business database, as statements: its tables, and triggers that note which
/// rows change. The server commits each by itself; one that failed may be run again.
package struct Preparation {
  /// Where the package does not fit the database: a server would not start with both.
  package let mismatches: [String]
  private let triggers: [CaptureTriggers]
  private let grants: [String]

  /// For the tables of the package that are there. `role`: `name@host` of who gets the rights that a
  /// server needs, where that is not who makes the statements. `onlyOperations`: without triggers.
  package init(
    _ package: Package, _ connection: MariaDBConnection, onlyOperations: Bool = false,
    role: String? = nil
  ) throws(MariaDBError) {
    let package = package.served
    let catalogue = try Catalogue(connection)
    var seen: Set<String> = []
    triggers = package.entities.compactMap { entity in
      guard !onlyOperations, !entity.isOperation, let table = catalogue.tables[entity.table],
        table.isTransactional, seen.insert(table.name).inserted
      else { return nil }
      return CaptureTriggers(entity, table, catalogue)
    }
    mismatches = SchemaComparison(catalogue).mismatches(with: package).map(\.description)
    grants = role.map { Preparation.grants(package, $0) } ?? []
  }

  /// A server holds one of these names as long as it is connected.
  private static let names: [String] = (0..<16).map { "ferryd.', DATABASE(), '.\($0)" }

  static func noteServer(_ connection: MariaDBConnection) throws(MariaDBError) {
    for name in names {
      if try connection.value("SELECT GET_LOCK(CONCAT('\(name)'), 0)") == "1" { return }
    }
  }

  /// Whether a server is connected to the database.
  package static func isServed(_ connection: MariaDBConnection) throws(MariaDBError) -> Bool {
    for name in names {
      if try connection.value("SELECT IS_FREE_LOCK(CONCAT('\(name)'))") == "0" { return true }
    }
    return false
  }

  /// Makes what is not there yet; may be run again.
  package var statements: [String] {
    AppliedOperations.create + (triggers.isEmpty ? [] : Preparation.changes)
      + triggers.flatMap { $0.removal + $0.statements } + grants
  }

  /// Takes everything away; the triggers before what they write to.
  package var removal: [String] {
    triggers.flatMap(\.removal)
      + Catalogue.ownTables.map { "DROP TABLE IF EXISTS \($0)" }
  }

  private static let changes: [String] = [
    """
    CREATE TABLE IF NOT EXISTS ferry_change (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, seen BIGINT, writer VARCHAR(40),
      at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, relation VARCHAR(64) NOT NULL,
      old_key TEXT, new_key TEXT, KEY change_seen (seen)) \(AppliedOperations.form)
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry_mark (
      consumer VARCHAR(64) NOT NULL PRIMARY KEY, epoch VARCHAR(64) NOT NULL, number BIGINT NOT NULL,
      at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) \(AppliedOperations.form)
    """,
    // The number of the last reading, and that of the last one whose entries were removed.
    """
    CREATE TABLE IF NOT EXISTS ferry_database (
      one INT NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, clock BIGINT NOT NULL,
      floor BIGINT NOT NULL) \(AppliedOperations.form)
    """,
    "INSERT IGNORE INTO ferry_database VALUES (1, UUID(), 0, 0)",
  ]

  /// What a server may do, and no more. TRIGGER lets it see whether its triggers are there.
  private static func grants(_ package: Package, _ role: String) -> [String] {
    let parts = role.split(separator: "@", maxSplits: 1).map { quotedText(String($0)) }
    let grantee = parts.count == 2 ? "\(parts[0])@\(parts[1])" : "\(quotedText(role))@'%'"
    var rights = SQLRights.byTable(package)
    for name in Catalogue.ownTables {
      rights[name] = ["SELECT", "INSERT", "UPDATE", "DELETE"]
    }
    return rights.sorted { $0.key < $1.key }.map { name, rights in
      "GRANT \((rights.sorted() + ["TRIGGER"]).joined(separator: ", ")) ON \(quotedName(name)) "
        + "TO \(grantee)"
    }
  }
}

/// The triggers of one table. Each changed row makes an entry with the model's key before and after.
struct CaptureTriggers: Sendable {
  let table: CatalogueTable
  private let key: [ColumnForm]
  /// Tables of which rows change unseen, for triggers do not fire for what a foreign key does: where a
  /// row of this one is deleted, and where its key is changed.
  private let deleted: [String]
  private let renamed: [(columns: [String], table: String)]

  init(_ entity: Entity, _ table: CatalogueTable, _ catalogue: Catalogue) {
    self.table = table
    key = entity.key.compactMap { position in
      let attribute = entity.attributes[position]
      return table.column(named: attribute.column).map {
        ColumnForm(attribute: attribute, column: $0)
      }
    }
    var reached: [String] = []
    var waiting = [table]
    while let parent = waiting.popLast() {
      for foreign in parent.incoming where !["RESTRICT", "NO ACTION"].contains(foreign.deleteRule) {
        guard !reached.contains(foreign.child) else { continue }
        reached.append(foreign.child)
        if let child = catalogue.tables[foreign.child] { waiting.append(child) }
      }
    }
    deleted = reached.sorted()
    renamed = table.incoming.map { ($0.parentColumns, $0.child) }
  }

  private static let events: [(word: String, event: String)] = [
    ("i", "INSERT"), ("u", "UPDATE"), ("d", "DELETE"),
  ]

  /// A name has at most 64 characters.
  private func name(_ word: String) -> String {
    let whole = "ferry_\(word)_\(table.name)"
    guard whole.unicodeScalars.count > 64 else { return quotedName(whole) }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in table.name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return quotedName("ferry_\(word)_\(String(hash, radix: 16))")
  }

  var removal: [String] {
    CaptureTriggers.events.map { "DROP TRIGGER IF EXISTS \(name($0.word))" }
  }

  /// Where somebody dropped the table of entries the customer's own writes go on.
  var statements: [String] {
    CaptureTriggers.events.map { word, event in
      let old = event == "INSERT" ? "NULL" : values("OLD")
      let new = event == "DELETE" ? "NULL" : values("NEW")
      var body = [entry(quotedText(table.name), old, new)]
      if event == "DELETE" { body += deleted.map { entry(quotedText($0), "NULL", "NULL") } }
      if event == "UPDATE" {
        body += renamed.map { columns, child in
          let differs = columns.map {
            "NOT (CAST(OLD.\(quotedName($0)) AS BINARY) <=> CAST(NEW.\(quotedName($0)) AS BINARY))"
          }
          return "IF \(differs.joined(separator: " OR ")) THEN "
            + "\(entry(quotedText(child), "NULL", "NULL")); END IF"
        }
      }
      return """
        CREATE TRIGGER \(name(word)) AFTER \(event) ON \(quotedName(table.name)) FOR EACH ROW BEGIN
          DECLARE CONTINUE HANDLER FOR 1146, 1054 BEGIN END;
          \(body.joined(separator: ";\n  "));
        END
        """
    }
  }

  private func entry(_ relation: String, _ old: String, _ new: String) -> String {
    "INSERT INTO ferry_change (writer, relation, old_key, new_key) "
      + "VALUES (@ferry_writer, \(relation), \(old), \(new))"
  }

  /// The key as texts that `ColumnForm` reads, by the names of its columns.
  private func values(_ row: String) -> String {
    let parts = key.map { form in
      let text = form.selected("\(row).\(quotedName(form.column.name))")
      return "\(quotedText(form.column.name)), CONVERT(CAST(\(text) AS CHAR) USING utf8mb4)"
    }
    return "JSON_OBJECT(\(parts.joined(separator: ", ")))"
  }
}
