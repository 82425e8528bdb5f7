import FerryModel
import FerrySQLite

/// All rows of one place, by key, each in the one form in which equal rows have equal bytes.
typealias KeyedRows = [String: [UInt8]]

/// The rows of the business database, read with plain SQL and not with what the server reads with.
struct BusinessRows {
  let connection: Connection

  /// The rows of an entity, and how many hold a value that the model cannot take.
  func all(_ entity: Entity) throws -> (rows: [String: [Value]], rejected: Int) {
    var rows: [String: [Value]] = [:]
    var rejected = 0
    let columns = entity.attributes.map(BusinessRows.expression).joined(separator: ", ")
    for raw in try connection.rows("SELECT \(columns) FROM \(quoted(entity.table))") {
      guard let values = BusinessRows.canonical(raw, entity.attributes) else {
        rejected += 1
        continue
      }
      rows[entity.key(of: values).text] = values
    }
    return (rows, rejected)
  }

  /// The column, or a time that is kept as seconds in the words of SQLite.
  static func expression(_ attribute: Attribute) -> String {
    let column = quoted(attribute.column)
    guard attribute.stored == .unixSeconds else { return column }
    return switch attribute.type {
    case .date: "date(\(column), 'unixepoch')"
    case .time: "time(\(column), 'unixepoch')"
    default: "datetime(\(column), 'unixepoch')"
    }
  }

  static func canonical(_ raw: [SQLiteValue], _ attributes: [Attribute]) -> [Value]? {
    var values: [Value] = []
    for (attribute, value) in zip(attributes, raw) {
      guard let canonical = attribute.type.canonical(plain(value)) else { return nil }
      if canonical.isNull, !attribute.isNullable { return nil }
      values.append(canonical)
    }
    return values
  }

  private static func plain(_ value: SQLiteValue) -> Value {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
