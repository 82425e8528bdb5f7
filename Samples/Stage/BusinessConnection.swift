import FerryModel
import FerryPostgreSQL
import FerrySQLite

/// All rows of one place, by key, each in the one form in which equal rows have equal bytes.
typealias KeyedRows = [String: [UInt8]]

/// The business database, read and changed with plain SQL and not with what the server uses.
///
/// Names of tables and columns in statements are in double quotes, which both databases understand.
package struct BusinessConnection {
  private enum Source {
    case sqlite(Connection)
    case postgreSQL(PostgreSQLLine)
  }

  private let source: Source

  package init(connection: Connection) { source = .sqlite(connection) }

  init(postgreSQL line: PostgreSQLLine) { source = .postgreSQL(line) }

  package func execute(_ sql: String) throws {
    switch source {
    case .sqlite(let connection): try connection.execute(sql)
    case .postgreSQL(let line): try line.open().execute(sql)
    }
  }

  /// Each value as its text; nil where it is null.
  package func texts(_ sql: String) throws -> [[String?]] {
    switch source {
    case .sqlite(let connection):
      try connection.rows(sql).map { $0.map { $0.text ?? $0.integer.map(String.init) } }
    case .postgreSQL(let line): try line.rows(sql).all
    }
  }

  /// Whole numbers, such as keys.
  package func integers(_ sql: String) throws -> [[Int64]] {
    try texts(sql).map { row in row.compactMap { $0.flatMap { Int64($0) } } }
  }

  /// What is wrong with the file; nil where nothing is, and for a server, which looks after itself.
  package func damage() throws -> String? {
    guard case .sqlite(let connection) = source else { return nil }
    let word = try connection.value("PRAGMA quick_check")?.text
    return word == "ok" ? nil : word ?? "no answer"
  }

  /// Rows of the attributes' values; nil where one does not fit the model.
  private func rows(_ entity: Entity) throws -> [[AttributeValue]?] {
    switch source {
    case .sqlite(let connection):
      let columns = entity.attributes.map(BusinessConnection.expression).joined(separator: ", ")
      return try connection.rows("SELECT \(columns) FROM \(quoted(entity.table))")
        .map { BusinessConnection.canonical($0, entity.attributes) }
    case .postgreSQL(let line):
      let columns = entity.attributes.map { quoted($0.column) }.joined(separator: ", ")
      let table = entity.table.split(separator: ".").map { quoted(String($0)) }
      return try line.rows("SELECT \(columns) FROM \(table.joined(separator: "."))").all
        .map { BusinessConnection.canonical($0, entity.attributes) }
    }
  }

  /// The rows of an entity, and how many hold a value that the model cannot take.
  func all(_ entity: Entity) throws -> (rows: [String: [AttributeValue]], rejected: Int) {
    var rows: [String: [AttributeValue]] = [:]
    var rejected = 0
    for values in try self.rows(entity) {
      guard let values else {
        rejected += 1
        continue
      }
      rows[entity.key(of: values).text] = values
    }
    return (rows, rejected)
  }

  /// The column, or a time that is kept as seconds in the words of SQLite.
  package static func expression(_ attribute: Attribute) -> String {
    let column = quoted(attribute.column)
    guard attribute.stored == .unixSeconds else { return column }
    return switch attribute.type {
    case .date: "date(\(column), 'unixepoch')"
    case .time: "time(\(column), 'unixepoch')"
    default: "datetime(\(column), 'unixepoch')"
    }
  }

  package static func canonical(
    _ raw: [SQLiteValue], _ attributes: [Attribute]
  ) -> [AttributeValue]? {
    canonical(raw.map(plain), attributes)
  }

  /// PostgreSQL gives every value as a text.
  private static func canonical(_ texts: [String?], _ attributes: [Attribute]) -> [AttributeValue]?
  {
    let plain = zip(attributes, texts).map { attribute, text -> AttributeValue in
      guard let text else { return .null }
      switch attribute.type {
      case .boolean: return .boolean(text == "t")
      case .byte, .short, .int, .long: return Int64(text).map(AttributeValue.integer) ?? .text(text)
      case .float, .double: return Double(text).map(AttributeValue.double) ?? .text(text)
      default: return .text(text)
      }
    }
    return canonical(plain, attributes)
  }

  private static func canonical(
    _ raw: [AttributeValue], _ attributes: [Attribute]
  ) -> [AttributeValue]? {
    var values: [AttributeValue] = []
    for (attribute, value) in zip(attributes, raw) {
      guard let canonical = attribute.type.canonical(value) else { return nil }
      if canonical.isNull, !attribute.isNullable { return nil }
      values.append(canonical)
    }
    return values
  }

  private static func plain(_ value: SQLiteValue) -> AttributeValue {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}

extension PostgreSQLRows {
  /// All rows, each as its texts.
  var all: [[String?]] { (0..<count).map(row) }
}
