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
          "is an array (\(column.declaredType)), whose elements have no type of their own here",
        cure:
          "Write it into the model as a list with its \"element\", or keep its values as rows of a table."
      )
    }
    return .none(
      reason: "is declared \(column.declaredType), which no attribute can hold",
      cure:
        "Keep it as text or jsonb, or in columns of plain types; the rest of the table is served.")
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

  /// Keys are compared byte for byte on devices: what the database takes for equal must be equal
  /// there.
  private static func troubleOfKey(_ column: CatalogueColumn) -> KnownType? {
    let why: String?
    switch column.typeName {
    case "citext": why = "takes letters of either case for the same"
    case "bpchar": why = "takes blanks at the end for none"
    case "float4", "float8": why = "is a binary fraction"
    case "numeric" where column.digits?.scale != 0: why = "writes one number in several ways"
    case "json", "jsonb", "xml", "bytea", "money", "timetz": why = "has no one form for a value"
    default:
      why = column.isDeterministic ? nil : "has a collation that takes different texts for the same"
    }
    return why.map {
      .none(
        reason: "is part of a key and is \(column.declaredType), which \($0)",
        cure: "Give the table a key of text, uuid, numbers or dates.")
    }
  }
}
