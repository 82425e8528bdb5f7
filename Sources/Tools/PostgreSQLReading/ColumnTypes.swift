import FerryGenerator
import FerryModel
import FerryPostgreSQL

/// The attribute type for a column of PostgreSQL.
enum ColumnTypes {
  /// `largestBytes`: of the values looked at; 0 where none is.
  static func known(_ column: CatalogueColumn, isKey: Bool, largestBytes: Int) -> KnownType {
    if isKey, let trouble = troubleOfKey(column) { return trouble }
    switch column.typeName {
    case "bool": return plain(.boolean)
    case "int2", "int4", "int8": return plain(.long)
    case "float4", "float8": return plain(.double)
    case "numeric": return numeric(column)
    case "money": return .type(.decimal, maxLength: nil, precision: 19, scale: 2)
    case "text", "varchar", "bpchar", "name":
      if !isKey, largestBytes > bigBytes, column.typeName != "bpchar" { return plain(.bigString) }
      return .type(.string, maxLength: column.length, precision: nil, scale: nil)
    case "citext", "uuid", "json", "jsonb", "xml", "inet", "cidr", "macaddr", "macaddr8", "bit",
      "varbit", "timetz", "ltree":
      return plain(.string)
    case "date": return plain(.date)
    case "time": return plain(.time)
    case "timestamp", "timestamptz": return plain(.dateTime)
    case "bytea": return plain(largestBytes > bigBytes ? .bigBinary : .binary)
    default: break
    }
    if column.typeKind == "e" { return plain(.string) }
    if column.elementType != nil {
      return .none(
        reason:
          "is an array (\(column.declaredType)), and nothing says whether devices need it as a list",
        cure: cureOfArray(column))
    }
    return .none(
      reason: "is declared \(column.declaredType), for which a model has no type",
      cure:
        "If devices need PostgreSQL's text of it, write \"type\": \"string\" into the model. Else keep it in columns of plain types."
    )
  }

  private static func cureOfArray(_ column: CatalogueColumn) -> String {
    // Of several the widest: short, int, long.
    let preferred: [AttributeType] = [.long, .double]
    let types = elements(of: column)
    let element = preferred.first(where: types.contains) ?? types.first ?? .string
    let of = element == .complex ? "<the name of a complex type>" : element.rawValue
    return "Write \"type\": \"list\" and \"of\": \"\(of)\" into the model, or keep its values as "
      + "rows of a table."
  }

  /// What is longer is kept apart from the row.
  static let bigBytes: Int = 65_536

  private static func plain(_ type: AttributeType) -> KnownType {
    .type(type, maxLength: nil, precision: nil, scale: nil)
  }

  private static func numeric(_ column: CatalogueColumn) -> KnownType {
    guard let digits = column.digits else { return plain(.decimal) }
    guard digits.precision <= 38 else {
      return .none(
        reason: "is declared \(column.declaredType), and a decimal has at most 38 digits",
        cure: "Declare it with fewer digits, or keep it as text.")
    }
    guard (0...digits.precision).contains(digits.scale) else { return plain(.decimal) }
    return .type(.decimal, maxLength: nil, precision: digits.precision, scale: digits.scale)
  }

  private static func troubleOfKey(_ column: CatalogueColumn) -> KnownType? {
    column.troubleAsKey.map {
      .none(
        reason: "is part of a key and is \(column.declaredType), which \($0)",
        cure: "Give the table a key of text, uuid, numbers or dates.")
    }
  }
}
