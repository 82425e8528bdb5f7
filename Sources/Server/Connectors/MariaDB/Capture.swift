import FerryConnector
import FerryJSON
import FerryMariaDB
import FerryModel

/// What triggers noted of the connection's own transaction, where `ferry prepare` has made them.
///
/// Each transaction has a word of its own in a variable of the session, and its entries have it too.
final class Capture {
  var isPrepared: Bool
  private let instance: UInt64 = .random(in: .min ... .max)
  private var number: UInt64 = 0
  private var lastEntry: Int64 = 0
  /// Of transactions whose entries are no news.
  private var own: Set<String> = []
  /// More than wait to be read; entries of those beyond it are read as news.
  private static let mostOwn: Int = 100_000

  init(_ connection: MariaDBConnection) throws(MariaDBError) {
    isPrepared = try Capture.exists(connection)
  }

  static func exists(_ connection: MariaDBConnection) throws(MariaDBError) -> Bool {
    try connection.value(
      """
      SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()
        AND table_name IN ('ferry_change', 'ferry_mark', 'ferry_database')
      """) == "3"
  }

  private var word: String { "\(String(instance, radix: 16)).\(number)" }

  func begin(_ connection: MariaDBConnection) throws(MariaDBError) {
    guard isPrepared else { return }
    number &+= 1
    try connection.execute("SET @ferry_writer = '\(word)'")
    let last = try connection.value("SELECT MAX(id) FROM ferry_change")
    lastEntry = last.flatMap { Int64($0) } ?? 0
  }

  func committed() {
    guard isPrepared else { return }
    if own.count >= Capture.mostOwn { own = [] }
    own.insert(word)
  }

  func isOwn(_ word: String) -> Bool { own.contains(word) }
  func forget(_ words: Set<String>) { own.subtract(words) }

  /// Notes the rows that the transaction changed since this was last asked.
  func take(
    _ touched: inout SQLTouchedRows<EntityTable>, _ tables: SQLTables<EntityTable, String>,
    _ connection: MariaDBConnection
  ) throws(MariaDBError) {
    guard isPrepared else { return }
    let found = try connection.rows(
      """
      SELECT id, relation, old_key, new_key FROM ferry_change
      WHERE id > \(lastEntry) AND writer = '\(word)' ORDER BY id
      """)
    for row in found.texts {
      lastEntry = row[0].flatMap { Int64($0) } ?? lastEntry
      for table in tables.byName[row[1] ?? ""] ?? [] {
        for text in [row[2], row[3]] {
          guard let key = table.key(ofEntry: Capture.key(text)) else { continue }
          touched.note(table.entity, table, key)
        }
      }
    }
  }

  /// Texts by the names of columns.
  static func key(_ json: String?) -> [String: String] {
    guard let json, let node = try? JSONNode.parse(Array(json.utf8)) else { return [:] }
    var key: [String: String] = [:]
    for member in node.object ?? [] { key[member.key] = member.value.string }
    return key
  }
}
