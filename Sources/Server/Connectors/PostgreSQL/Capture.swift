import FerryConnector
import FerryModel
import FerryPostgreSQL
import Synchronization

/// What triggers noted of a transaction that is open, where `ferry prepare` has made them.
final class Capture {
  var isPrepared: Bool
  /// The transaction that is open, as the entries name it; nil where nothing is noted.
  private var transaction: String?
  private var lastEntry: String = "0"
  private let own: OwnTransactions
  /// Those that were committed since `beginRun`.
  private(set) var run: [String] = []

  init(
    _ connection: PostgreSQLConnection, _ own: OwnTransactions
  ) throws(PostgreSQLError) {
    self.own = own
    isPrepared =
      try connection.value("SELECT pg_catalog.to_regclass('ferry.change') IS NOT NULL") == "t"
  }

  func begin(_ transaction: String?) {
    self.transaction = transaction
    lastEntry = "0"
  }

  func beginRun() { run = [] }

  func committed() {
    guard let transaction else { return }
    own.insert(transaction)
    run.append(transaction)
  }

  func isOwn(_ transaction: String) -> Bool { own.contains(transaction) }

  func keep(notSeenBy snapshot: String) { own.keep(notSeenBy: snapshot) }

  /// Asks which rows the transaction changed since this was last asked; nil where nobody notes that.
  var request: PostgreSQLConnection.Request? {
    guard let transaction else { return nil }
    return PostgreSQLConnection.Request(
      """
      SELECT id, relation, pg_catalog.array_to_json(old_key), pg_catalog.array_to_json(new_key)
      FROM ferry.change WHERE xid = $1::pg_catalog.xid8 AND id > $2::pg_catalog.int8 ORDER BY id
      """, [.text(transaction), .text(lastEntry)])
  }

  /// What `request` was answered.
  func take(
    _ entries: PostgreSQLRows, _ touched: inout SQLTouchedRows<EntityTable>, _ tables: EntityTables
  ) {
    for row in 0..<entries.count {
      lastEntry = entries.text(row, 0) ?? lastEntry
      for table in tables.byOID[entries.text(row, 1) ?? ""] ?? [] {
        for place in [2, 3] {
          guard let text = entries.text(row, place), let key = table.key(ofEntry: text) else {
            continue
          }
          touched.note(table.entity, table, key)
        }
      }
    }
  }
}

/// Transactions of this server whose entries are no news, on whichever connection they were.
final class OwnTransactions: Sendable {
  private let all = Mutex<Set<String>>([])

  func insert(_ transaction: String) { all.withLock { _ = $0.insert(transaction) } }
  func remove(_ transactions: [String]) { all.withLock { $0.subtract(transactions) } }
  func contains(_ transaction: String) -> Bool { all.withLock { $0.contains(transaction) } }
  var count: Int { all.withLock { $0.count } }

  /// Others may keep a transaction open for hours: what ended since it began is forgotten all the same.
  func keep(notSeenBy snapshot: String) {
    let next = EntryCursor.limits(snapshot).next
    let open = EntryCursor.open(in: snapshot)
    all.withLock { all in
      all = all.filter { UInt64($0) ?? 0 >= next || open.contains($0) }
    }
  }
}

extension EntityTable {
  /// The key that an entry names; nil where the table's key is not the model's.
  func key(ofEntry json: String) -> ObjectKey? {
    let columns = schema.primaryKey
    guard Set(columns) == Set(entity.key.map { self.columns[$0].column.name }),
      let texts = try? RowCoder.decode(
        Array(json.utf8), types: columns.map { _ in AttributeType.string })
    else { return nil }
    var byColumn: [String: String] = [:]
    for (column, text) in zip(columns, texts) {
      if case .text(let text) = text { byColumn[column] = text }
    }
    return key(of: entity.key.map { byColumn[self.columns[$0].column.name] })
  }
}
