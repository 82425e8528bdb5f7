import FerryModel
import FerrySQLite
import FerryStage

/// Tries changes on the copy before anyone serves it, and takes each of them back.
struct Trial {
  let connection: Connection

  init(_ database: String) throws {
    connection = try Connection(path: database, mode: .readWrite, busyTimeoutMilliseconds: 300_000)
    try connection.execute("PRAGMA foreign_keys = ON")
  }

  /// Some rows of the entity that the model can take.
  func rows(_ entity: Entity, limit: Int = 20) throws -> [[AttributeValue]] {
    let columns = entity.attributes.map(BusinessConnection.expression).joined(separator: ", ")
    let raw = try connection.rows(
      "SELECT \(columns) FROM \(quoted(entity.table)) LIMIT \(limit)")
    return raw.compactMap { BusinessConnection.canonical($0, entity.attributes) }
  }

  /// Whether the table in which the server remembers what it did is someone else's.
  func hasForeignTableOfOperations() throws -> Bool {
    let columns = try connection.rows("SELECT name FROM pragma_table_info('ferry_applied')")
    return !columns.isEmpty && !columns.contains { $0[0].text == "hash" }
  }

  enum Outcome {
    case accepted
    /// It was done, but the row is not what was asked for.
    case otherwise
    case refused(SQLiteError)

    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var error: SQLiteError? { if case .refused(let error) = self { error } else { nil } }
  }

  /// What the database says to one other value in this row.
  func update(
    _ entity: Entity, _ row: [AttributeValue], _ position: Int, _ value: AttributeValue
  ) -> Outcome {
    let keys = entity.key.map { "\(quoted(entity.attributes[$0].column)) = ?" }
    let filter = keys.joined(separator: " AND ")
    let key = entity.key.map { row[$0].raw }
    let attribute = entity.attributes[position]
    return takenBack {
      try connection.run(
        "UPDATE \(quoted(entity.table)) SET \(quoted(attribute.column)) = ? WHERE \(filter)",
        [value.raw] + key)
      let found = try connection.rows(
        "SELECT \(BusinessConnection.expression(attribute)) FROM \(quoted(entity.table)) WHERE \(filter)",
        key)
      return found.count == 1 && BusinessConnection.canonical(found[0], [attribute]) == [value]
    }
  }

  /// What the database says to a new row with these values.
  func create(_ entity: Entity, _ values: [(String, AttributeValue)]) -> Outcome {
    let columns = values.compactMap { name, _ in
      entity.position(of: name).map { quoted(entity.attributes[$0].column) }
    }
    let marks = values.map { _ in "?" }.joined(separator: ", ")
    let what =
      values.isEmpty ? "DEFAULT VALUES" : "(\(columns.joined(separator: ", "))) VALUES (\(marks))"
    return takenBack {
      try connection.run("INSERT INTO \(quoted(entity.table)) \(what)", values.map(\.1.raw))
      return true
    }
  }

  private func takenBack(_ body: () throws -> Bool) -> Outcome {
    do {
      try connection.execute("BEGIN IMMEDIATE")
      // A rule may have rolled back already; then there is nothing to take back.
      defer { try? connection.execute("ROLLBACK") }
      return try body() ? .accepted : .otherwise
    } catch let error as SQLiteError {
      return .refused(error)
    } catch {
      return .otherwise
    }
  }
}

extension AttributeValue {
  /// As SQLite takes it.
  fileprivate var raw: SQLiteValue {
    switch self {
    case .null: .null
    case .boolean(let flag): .flag(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .real(number)
    case .text(let text): .text(text)
    case .bytes(let bytes): .blob(bytes)
    }
  }
}
