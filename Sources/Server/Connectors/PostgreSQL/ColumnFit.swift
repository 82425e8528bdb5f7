import FerryModel
import FerryPostgreSQL

/// Which types of a model a column of PostgreSQL can hold: one rule for the server and `ferry diff`.
package enum ColumnFit {
  /// Lists and complex values are kept in arrays and JSON.
  package static func types(of column: CatalogueColumn) -> Set<AttributeType> {
    Set(AttributeType.allCases.filter { isKept($0, in: column) })
  }

  static func isKept(_ type: AttributeType, in column: CatalogueColumn) -> Bool {
    let kinds: Set<String>
    switch type {
    case .boolean: kinds = ["bool"]
    case .byte, .short, .int, .long: kinds = ["int2", "int4", "int8", "numeric", "oid"]
    case .integer: kinds = ["numeric", "int2", "int4", "int8", "text", "varchar"]
    case .decimal: kinds = ["numeric", "money", "int2", "int4", "int8"]
    case .float, .double: kinds = ["float4", "float8"]
    case .date: kinds = ["date"]
    case .time: kinds = ["time"]
    case .dateTime: kinds = ["timestamp", "timestamptz"]
    case .binary, .bigBinary: kinds = ["bytea"]
    case .bigString: kinds = ["text", "varchar"]
    case .list:
      return column.elementType != nil || ["json", "jsonb", "text"].contains(column.typeName)
    case .complex: kinds = ["json", "jsonb", "text"]
    case .string:
      return !["bytea", "bool"].contains(column.typeName) && column.typeKind != "p"
    }
    return kinds.contains(column.typeName)
  }
}
