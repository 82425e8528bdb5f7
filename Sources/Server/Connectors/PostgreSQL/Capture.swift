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

extension SQLTouchedRows<EntityTable> {
  /// The rows as they are now, to be read before the commit; those that triggers have noted too. Where a
  /// policy would hide some of them it fails: they would look deleted.
  mutating func images(
    _ capture: Capture, _ tables: EntityTables, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [RowImage] {
    var images: [RowImage] = []
    var question = capture.request
    // Mostly nothing was noted but the group's own rows: they are read in the same trip.
    while question != nil || images.count < rows.count {
      let part = rows.dropFirst(images.count).prefix(RowReading.rowsInPipeline)
      let asked = question.map { [$0] } ?? []
      var answers = try connection.pipeline(
        asked + [PostgreSQLConnection.Request("SET LOCAL row_security = off")]
          + RowReading.requests(part)
          + [PostgreSQLConnection.Request("SET LOCAL row_security = on")])[...]
      if question != nil, let entries = answers.popFirst() { capture.take(entries, &self, tables) }
      question = nil
      images += RowReading.images(part, answers.dropFirst().dropLast())
    }
    return images
  }
}

/// Reads rows by their keys, many in one round trip.
enum RowReading {
  static let rowsInPipeline: Int = 100

  static func images(
    _ rows: [(table: EntityTable, key: ObjectKey)], _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [RowImage] {
    var images: [RowImage] = []
    images.reserveCapacity(rows.count)
    var rest = rows[...]
    while !rest.isEmpty {
      let part = rest.prefix(rowsInPipeline)
      rest = rest.dropFirst(part.count)
      images += RowReading.images(part, try connection.pipeline(requests(part))[...])
    }
    return images
  }

  typealias Rows = ArraySlice<(table: EntityTable, key: ObjectKey)>

  static func requests(_ rows: Rows) -> [PostgreSQLConnection.Request] {
    rows.compactMap { row in
      row.table.parameters(of: row.key).map {
        PostgreSQLConnection.Request(row.table.select + row.table.whereKey, $0)
      }
    }
  }

  /// `answers`: what the requests of these rows were answered.
  static func images(_ rows: Rows, _ answers: ArraySlice<PostgreSQLRows>) -> [RowImage] {
    var answers = answers
    return rows.map { row in
      let isAsked = row.table.parameters(of: row.key) != nil
      return row.table.image(row.key, isAsked ? answers.popFirst() : nil)
    }
  }
}
