import FerrySQLite
import FerryServer

/// A store in a folder that is read to move it to a store of another kind; it stays as it is.
///
/// While the value exists no server can start on the folder.
package final class MovingStore {
  package let facts: StoreFacts
  /// The names of the packages.
  package let packages: [String]
  private let folder: Folder
  private let file: String
  private let connection: Connection

  /// Errors: `badRequest` where there is no store or one of an older version, `folderInUse` while a
  /// server runs, `newerStore`, and what the disk answers.
  package init(folder path: String) throws(ServerError) {
    let file = "\(path)/\(StoreCopy.fileName)"
    self.file = file
    guard Folder.isFile(file) else {
      throw ServerError(
        .badRequest, "there is no store in the folder \(path)",
        hint: "Name the data folder of a server (--data).")
    }
    let folder = try Folder(path)
    self.folder = folder
    let copy = try StoreCopy(file, isThorough: false)
    guard copy.version == Schema.version else {
      throw ServerError(
        .badRequest,
        "the store \(file) has version \(copy.version), and this program moves version "
          + "\(Schema.version)", hint: "Start ferryd of this version on it once, and stop it.")
    }
    packages = copy.packages.map(\.name)
    (connection, facts) = try MovingStore.guarded(file) {
      let connection = try Connection(path: file, mode: .readOnly)
      // One state for all that is read.
      try connection.execute("BEGIN")
      return (connection, try MovingStore.facts(connection, folder))
    }
  }

  private static func guarded<Value>(
    _ file: String, _ body: () throws -> Value
  ) throws(ServerError) -> Value {
    do { return try body() } catch let error as ServerError { throw error } catch let error
      as SQLiteError
    {
      throw ServerError(StoreError(error), store: file)
    } catch {
      throw ServerError(.store, "\(error)", hint: "Nothing was moved.")
    }
  }

  private static func facts(_ connection: Connection, _ folder: Folder) throws -> StoreFacts {
    guard let row = try connection.row("SELECT id, last_day, days FROM server"),
      let server = row[0].text, let lastDay = row[1].integer, let days = row[2].integer
    else { throw StoreError.damaged("the store has no server id") }
    let eras = try connection.rows("SELECT id FROM era").compactMap { $0[0].text }
    var numbers: [String: Int64] = [:]
    for (table, column) in [
      ("package", "id"), ("era", "number"), ("entity", "id"), ("row", "id"), ("partition", "id"),
      ("operation", "sequence"), ("report", "number"), ("content", "id"),
      ("payload", "number"),
    ] {
      let last = try connection.value(
        """
        SELECT max(coalesce((SELECT max(\(column)) FROM \(table)), 0),
          coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))
        """, .text(table))?.integer
      numbers[table] = last ?? 0
    }
    return StoreFacts(
      server: server, lastDay: lastDay, days: days, eras: Set(eras), lastNumbers: numbers,
      secrets: try secrets(folder))
  }

  private static func secrets(_ folder: Folder) throws(ServerError) -> [String: [UInt8]] {
    var secrets: [String: [UInt8]] = [:]
    for name in ["token.key", "refresh.key", "operator.key"] {
      var (next, count) = (name, 1)
      while let bytes = try folder.knownSecret(next) {
        secrets[next] = bytes
        count += 1
        next = "\(name).\(count)"
      }
    }
    return secrets
  }

  /// What the folder says of a move; nil where its store has not left it.
  package var mark: MoveMark? { MoveMark(in: folder.path) }

  /// From now on no server starts on the folder, until the move is undone.
  package func keep(_ mark: MoveMark) throws(ServerError) { try mark.keep(in: folder) }

  /// The folder's store is the server's again.
  package func removeMark() throws(ServerError) { try MoveMark.remove(from: folder) }

  /// How many rows it has of a table.
  package func count(_ table: StoreTable) throws(ServerError) -> Int64 {
    try MovingStore.guarded(file) {
      try connection.value("SELECT count(*) FROM (\(source(table)))")?.integer ?? 0
    }
  }

  private static let batchRows = 2_000
  private static let batchBytes = 4 << 20

  /// Gives all rows of a table in batches, column by column.
  package func read(
    _ table: StoreTable, _ body: (_ columns: [StoredColumn], _ count: Int) throws -> Void
  ) throws(ServerError) {
    try MovingStore.guarded(file) {
      let statement = try connection.statement(source(table))
      defer { statement.reset() }
      var rows: [[SQLiteValue]] = []
      var bytes = 0
      func give() throws {
        guard !rows.isEmpty else { return }
        try body(MovingStore.columns(table, rows), rows.count)
        rows.removeAll(keepingCapacity: true)
        bytes = 0
      }
      while try statement.step() {
        let row = statement.row
        for value in row { bytes += value.blob?.count ?? value.text?.utf8.count ?? 8 }
        rows.append(row)
        if rows.count == MovingStore.batchRows || bytes > MovingStore.batchBytes { try give() }
      }
      try give()
    }
  }

  private func source(_ table: StoreTable) -> String {
    // The clock is a column of the package here.
    guard table.name != "number" else {
      return "SELECT id, version FROM package WHERE version > 0"
    }
    let columns = table.columns.map { quoted($0.name) }.joined(separator: ", ")
    return "SELECT \(columns) FROM \(quoted(table.name))"
  }

  private static func columns(_ table: StoreTable, _ rows: [[SQLiteValue]]) -> [StoredColumn] {
    table.columns.enumerated().map { place, column in
      switch column.kind {
      case .integer, .flag: .integers(rows.map { $0[place].integer })
      case .text: .texts(rows.map { $0[place].text })
      case .body: .bodies(rows.map { $0[place].blob ?? [] })
      case .bytes: .bytes(rows.map { $0[place].blob })
      }
    }
  }
}
