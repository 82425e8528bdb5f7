import FerryModel
import FerrySQLite

/// The statements over an entity's two tables, each prepared once by every connection that uses it.
struct RowTexts {
  let visibleByObject: String
  let visibleByKey: String
  let insertVisible: String
  let updateVisible: String
  let updateLoose: String
  let deleteVisible: String
  let originalByObject: String
  let originalByKey: String
  let updateOriginal: String
  let putOriginal: String
  let deleteOriginal: String
  let keepOriginal: String
  let keepClientOnly: String
  let insertDownloaded: String
  let insertNew: String
  let insertNewBatch: String
  let updateDownloaded: String
  let downloaded: String
  let updateClientOnly: String
  let insertClientOnly: String

  init(
    _ entity: Entity, _ names: [String], visible: String, keyTest: String, loose: [Int],
    servedCount: Int
  ) {
    let columns = names.joined(separator: ", ")
    let table = Schema.table(entity)
    let image = Schema.original(entity)
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let all = RowTexts.assignments(names)
    let pending =
      "UPDATE \(table) SET _pending = ?, _failed = ?, _replay = ?, _partition = NULL, "
      + "_hash = NULL, "
    let original = "SELECT _id, _partition, _hash, \(columns) FROM \(image) WHERE"
    visibleByObject = "\(visible) WHERE _id = ?"
    visibleByKey = "\(visible) WHERE \(keyTest)"
    insertVisible = """
      INSERT OR IGNORE INTO \(table) (_id, _pending, _replay, \(columns))
      VALUES (?, ?, ?, \(marks))
      """
    updateVisible = "\(pending)\(all) WHERE _id = ?"
    updateLoose = "\(pending)\(RowTexts.assignments(loose.map { names[$0] })) WHERE _id = ?"
    deleteVisible = "DELETE FROM \(table) WHERE _id = ?"
    originalByObject = "\(original) _id = ?"
    originalByKey = "\(original) \(keyTest)"
    updateOriginal =
      "UPDATE OR REPLACE \(image) SET _partition = ?, _hash = ?, \(all) WHERE _id = ?"
    putOriginal = """
      INSERT OR REPLACE INTO \(image) (_id, _partition, _hash, \(columns))
      VALUES (?, ?, ?, \(marks))
      """
    deleteOriginal = "DELETE FROM \(image) WHERE _id = ?"
    keepOriginal = """
      INSERT OR IGNORE INTO \(image) (_id, _partition, _hash, \(columns))
      SELECT _id, _partition, _hash, \(columns) FROM \(table)
      WHERE _id = ? AND _hash IS NOT NULL
      """
    insertDownloaded = """
      INSERT OR IGNORE INTO \(table) (_id, _partition, _hash, \(columns))
      VALUES (?, ?, ?, \(marks))
      """
    insertNew = """
      INSERT OR IGNORE INTO \(table) (_partition, _hash, \(columns)) VALUES (?, ?, \(marks))
      """
    let batch = [String](repeating: "(?, ?, \(marks))", count: RowTexts.batchRows(names.count))
    insertNewBatch = """
      INSERT INTO \(table) (_partition, _hash, \(columns))
      VALUES \(batch.joined(separator: ", "))
      """
    updateDownloaded = """
      UPDATE \(table) SET _pending = 'N', _failed = 0, _replay = NULL,
      _partition = ?, _hash = ?, \(RowTexts.assignments(names.prefix(servedCount)))
      WHERE _id = ?
      """
    downloaded = "SELECT _id, _partition, _hash FROM \(table) WHERE \(keyTest)"
    let ownNames = names.dropFirst(servedCount)
    let own = RowTexts.assignments(ownNames)
    let ownColumns = ownNames.joined(separator: ", ")
    keepClientOnly = """
      UPDATE \(image) SET (\(ownColumns)) = (SELECT \(ownColumns) FROM \(table) WHERE _id = ?1)
      WHERE _id = ?1 AND EXISTS (SELECT 1 FROM \(table) WHERE _id = ?1)
      """
    updateClientOnly = "UPDATE \(table) SET \(own) WHERE _id = ?"
    insertClientOnly = "INSERT INTO \(table) (\(columns)) VALUES (\(marks))"
  }

  /// How many rows of this many attributes one statement inserts: what SQLite does once for each
  /// statement, above all the count of AUTOINCREMENT, is half of the work of inserting a row.
  static func batchRows(_ attributeCount: Int) -> Int {
    max(1, min(64, 1_000 / (attributeCount + 2)))
  }

  private static func assignments(_ names: some Sequence<String>) -> String {
    names.map { "\($0) = ?" }.joined(separator: ", ")
  }
}
