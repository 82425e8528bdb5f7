import FerryGenerator
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector

extension ColumnTypes {
  /// Which other types an author may choose for a column.
  static func kept(by column: CatalogueColumn) -> KeptTypes {
    let all = ColumnFit.types(of: column)
    let wholly = all.intersection(whole(of: column))
    return KeptTypes(
      wholly: wholly, partly: all.subtracting(wholly), elements: elements(of: column))
  }

  /// Types that have every value of the column.
  private static func whole(of column: CatalogueColumn) -> Set<AttributeType> {
    switch column.typeName {
    case "bool": [.boolean]
    case "int2": [.short, .int, .long, .integer, .decimal]
    case "int4": [.int, .long, .integer, .decimal]
    case "int8": [.long, .integer, .decimal]
    case "numeric", "money": [.decimal]
    case "float4": [.float, .double]
    case "float8": [.double]
    case "date": [.date]
    case "time": [.time]
    case "timestamp", "timestamptz": [.dateTime]
    case "bytea": [.binary, .bigBinary]
    case "text", "varchar": [.string, .bigString]
    // What is in them is the author's to say.
    case "json", "jsonb": [.string, .list, .complex]
    default: column.elementType == nil ? [.string] : [.list]
    }
  }

  /// What a list may be of, where the column is an array; the elements of most types are texts.
  static func elements(of column: CatalogueColumn) -> Set<AttributeType> {
    switch column.elementType {
    case nil: []
    case "bool": [.boolean]
    case "int2": [.short, .int, .long]
    case "int4": [.int, .long]
    case "int8": [.long]
    case "numeric": [.decimal]
    case "float4", "float8": [.double, .float]
    case "date": [.date]
    case "time": [.time]
    case "timestamp": [.dateTime]
    case "json", "jsonb": [.complex]
    default: [.string]
    }
  }

  static func remark(on column: CatalogueColumn) -> DatabaseSchema.Remark? {
    guard column.typeName == "timestamptz" else { return nil }
    return DatabaseSchema.Remark(
      "is a time stamp with a time zone",
      cure: "Devices have it in UTC without a zone: convert it where you show it.")
  }
}
