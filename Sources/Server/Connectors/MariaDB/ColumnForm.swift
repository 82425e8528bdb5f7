import FerryConnector
import FerryMariaDB
import FerryModel

/// Which types of a model a column of MariaDB can hold: one rule for the server and `ferry diff`.
package enum ColumnFit {
  /// Lists and complex values are kept in texts.
  package static func types(of column: CatalogueColumn) -> Set<AttributeType> {
    switch column.typeName {
    case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
      [.boolean, .byte, .short, .int, .long, .integer, .decimal, .string]
    case "bit": column.precision == 1 ? [.boolean] : [.long]
    case "decimal": [.decimal, .integer, .byte, .short, .int, .long, .string]
    case "float", "double": [.float, .double]
    case "date": [.date, .string]
    case "time": [.time, .string]
    case "datetime", "timestamp": [.dateTime, .string]
    case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob": [.binary, .bigBinary]
    case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json":
      [.string, .bigString, .list, .complex, .integer]
    case "enum", "set", "uuid", "inet4", "inet6": [.string]
    default: []
    }
  }
}

/// How one attribute's values are in its column.
struct ColumnForm: Sendable {
  let attribute: Attribute
  let column: CatalogueColumn

  /// What a row is asked for: always a text that `value` reads.
  func selected(_ name: String) -> String {
    switch (attribute.type, column.typeName) {
    // Size and digest, made where the value is: it does not travel.
    case (.bigString, _), (.bigBinary, _):
      "CONCAT(OCTET_LENGTH(\(bytes(name))), ':', SHA2(\(bytes(name)), 256))"
    case (.binary, _): "HEX(\(name))"
    case (_, "float"): "CAST(\(name) AS DOUBLE)"
    case (_, "bit"): "(\(name) + 0)"
    default: name
    }
  }

  /// Of a text its UTF-8, whatever the column's own characters are.
  func bytes(_ name: String) -> String {
    attribute.type == .bigBinary
      ? name : "CAST(CONVERT(\(name) USING utf8mb4) AS BINARY)"
  }

  /// The canonical value of what `selected` gave; nil when it does not fit the attribute's type.
  func value(_ text: String?) -> AttributeValue? {
    guard let text else { return .null }
    let type = attribute.type
    switch type {
    case .boolean, .byte, .short, .int, .long:
      return Int64(text).flatMap { type.canonical(.integer($0)) }
    case .float, .double:
      guard let number = Double(text) else { return nil }
      // The shortest digits of a float, and not those of the double that is nearest to it.
      return .double(column.typeName == "float" ? ColumnForm.shortest(number) : number)
    case .binary: return ColumnForm.bytes(ofDigits: text).map(AttributeValue.bytes)
    default: return type.canonical(.text(text))
    }
  }

  private static func shortest(_ number: Double) -> Double {
    Double(Float(number).description) ?? number
  }

  /// The value as SQL takes it; nil when the column would give back another one.
  func literal(_ value: AttributeValue) -> String? {
    guard attribute.type.canonical(value) == value, fits(value) else { return nil }
    // Digits without quotes are compared as decimals, and with them as doubles.
    if case .text(let digits) = value, [.decimal, .integer].contains(attribute.type),
      column.collation == nil
    {
      return digits
    }
    return ColumnForm.literal(value)
  }

  static func literal(_ value: AttributeValue) -> String {
    switch value {
    case .null: "NULL"
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .double(let number) where !number.isFinite: "NULL"
    // With an exponent it is a double, and not a decimal.
    case .double(let number):
      number.description.contains("e") ? number.description : "\(number.description)e0"
    case .text(let text): quotedText(text)
    case .bytes(let bytes): quotedBytes(bytes)
    }
  }

  /// Whether the column keeps the value as it is. A strict server refuses much, and rounds other values.
  private func fits(_ value: AttributeValue) -> Bool {
    switch (column.typeName, value) {
    case ("decimal", .text(let text)): ColumnForm.digitsBehind(text) <= column.scale ?? 0
    case ("float", .double(let number)): ColumnForm.shortest(number) == number
    case (_, .double(let number)): number.isFinite
    case ("time", .text(let text)), ("datetime", .text(let text)), ("timestamp", .text(let text)):
      ColumnForm.digitsBehind(text) <= column.secondDigits
    case ("varchar", .text(let text)): column.length.map { text.unicodeScalars.count <= $0 } ?? true
    // Blanks at the end are not kept.
    case ("char", .text(let text)):
      text.utf8.last != 0x20 && column.length.map { text.unicodeScalars.count <= $0 } ?? true
    case ("enum", .text(let text)): column.labels.contains(text)
    // Shorter ones are filled up.
    case ("binary", .bytes(let bytes)): column.length == bytes.count
    default: true
    }
  }

  /// Digits behind the point of a decimal, or of the seconds of a time.
  private static func digitsBehind(_ text: String) -> Int {
    text.utf8.lastIndex(of: 0x2E).map { text.utf8[$0...].count - 1 } ?? 0
  }

  /// The bytes of `0123AB`.
  static func bytes(ofDigits text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
    }
  }

  /// Whether the column can hold values of the attribute's type.
  var isKept: Bool {
    attribute.stored != .unixSeconds && ColumnFit.types(of: column).contains(attribute.type)
  }
}
