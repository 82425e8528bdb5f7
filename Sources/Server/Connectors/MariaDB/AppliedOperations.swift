import FerryConnector
import FerryMariaDB
import FerryModel

/// The table in the business database that remembers which operations were performed, and the one that
/// says who performs: Documentation/Decisions/0005-ferry-applied.md.
enum AppliedOperations {
  static let create: [String] = [
    """
    CREATE TABLE IF NOT EXISTS ferry_applied (
      operation CHAR(32) NOT NULL PRIMARY KEY, hash VARCHAR(16) NOT NULL, result TEXT NOT NULL)
      \(form)
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry_leader (
      store VARCHAR(255) NOT NULL PRIMARY KEY, term BIGINT NOT NULL) \(form)
    """,
  ]

  /// Of all tables of Ferry.
  static let form: String =
    "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

  /// Waits for a transaction that has claimed the same operation and has not ended.
  private static func insert(_ id: OperationID, _ hash: String) -> String {
    """
    INSERT IGNORE INTO ferry_applied (operation, hash, result)
    VALUES (\(quotedText(id.text)), \(quotedText(hash)), '')
    """
  }

  private static func known(_ id: OperationID) -> String {
    "SELECT hash, result FROM ferry_applied WHERE operation = \(quotedText(id.text)) "
      + "LOCK IN SHARE MODE"
  }

  static func claim(
    _ operation: ConnectorOperation, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> OperationClaim {
    let hash = operation.contentHash
    guard try connection.rows(insert(operation.id, hash)).affected == 0 else { return .new }
    let found = try connection.rows(known(operation.id)).texts
    guard let row = found.first, row[0] == hash else { return .otherContent }
    return .performed(ObjectKey(text: row[1] ?? ""))
  }

  static func finish(
    _ operation: ConnectorOperation, key: ObjectKey, _ connection: MariaDBConnection
  ) throws(MariaDBError) {
    try connection.execute(
      """
      UPDATE ferry_applied SET result = \(quotedText(key.text))
      WHERE operation = \(quotedText(operation.id.text))
      """)
  }

  /// To be called in a transaction that is rolled back. It claims what nobody has claimed, and so
  /// waits for a transaction that may still commit; it throws where that takes too long.
  static func recall(
    _ ids: [OperationID], _ connection: MariaDBConnection
  ) throws(MariaDBError) -> [OperationOutcome?] {
    var outcomes: [OperationOutcome?] = []
    for id in ids {
      guard try connection.rows(insert(id, "")).affected == 0 else {
        outcomes.append(nil)
        continue
      }
      let found = try connection.rows(known(id)).texts.first?[1]
      outcomes.append(found.map { .accepted(key: ObjectKey(text: $0)) })
    }
    return outcomes
  }
}

/// Which server performs for a store: an earlier one that wakes up late must do nothing more.
///
/// Each transaction reads the term and locks its row for others that would raise it; whoever takes over
/// raises it, and so waits for the transactions that are under way.
struct Leadership {
  let store: String
  let term: String

  /// Whether nobody has led for the store in this database before.
  var isFirst: Bool { term == "1" }

  /// Takes over. Throws where an earlier server's transaction does not end in time.
  init(taking store: String, _ connection: MariaDBConnection) throws(MariaDBError) {
    let name = quotedText(store)
    try connection.execute("START TRANSACTION")
    try connection.execute(
      "INSERT INTO ferry_leader (store, term) VALUES (\(name), 1) "
        + "ON DUPLICATE KEY UPDATE term = term + 1")
    term = try connection.value("SELECT term FROM ferry_leader WHERE store = \(name)") ?? ""
    self.store = store
    try connection.execute("COMMIT")
  }

  /// In a transaction: whether this is still the one that performs, until the transaction ends.
  func isCurrent(_ connection: MariaDBConnection) throws(MariaDBError) -> Bool {
    try connection.value(
      "SELECT term FROM ferry_leader WHERE store = \(quotedText(store)) LOCK IN SHARE MODE") == term
  }

  static let lost: String =
    "Another server performs for this store now. Stop this one, or start it again to take over."
}
