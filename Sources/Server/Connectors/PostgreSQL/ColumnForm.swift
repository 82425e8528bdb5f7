import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryText

/// How one attribute's values stand in its column.
struct ColumnForm: Sendable {
  let attribute: Attribute
  let column: CatalogueColumn

  /// What a row is asked for: always a text that `value` reads.
  func selected(from row: String) -> String {
    let name = "\(row).\(quotedName(column.name))"
    switch attribute.type {
    case .bigString: return reference("pg_catalog.convert_to(\(name), 'UTF8')", of: name)
    case .bigBinary: return reference(name, of: name)
    case .list where column.elementType != nil: return "pg_catalog.array_to_json(\(name))"
    default: return text(of: name)
    }
  }

  /// Size and digest, made where the value is: it does not travel.
  private func reference(_ bytes: String, of name: String) -> String {
    "CASE WHEN \(name) IS NULL THEN NULL ELSE pg_catalog.octet_length(\(bytes)) || ':' || "
      + "pg_catalog.encode(pg_catalog.sha256(\(bytes)), 'hex') END"
  }

  private func text(of name: String) -> String {
    switch column.typeName {
    case "timestamptz": "(\(name) AT TIME ZONE 'UTC')"
    // Without the blanks that only fill.
    case "bpchar": "\(name)::pg_catalog.text"
    case "money": "\(name)::pg_catalog.numeric"
    default: name
    }
  }

  /// What stands for parameter `number` in a statement that writes the column.
  func mark(_ number: Int) -> String {
    let mark = "$\(number)"
    if attribute.type == .list, let element = column.elementType, element != "json" {
      return "(CASE WHEN \(mark)::pg_catalog.text IS NULL THEN NULL ELSE ARRAY(SELECT e.value "
        + "FROM pg_catalog.jsonb_array_elements_text(\(mark)::pg_catalog.text::pg_catalog.jsonb) "
        + "WITH ORDINALITY AS e (value, place) ORDER BY e.place) END)::\(column.castName)"
    }
    switch column.typeName {
    case "timestamptz": return "(\(mark)::pg_catalog.timestamp AT TIME ZONE 'UTC')"
    case "money": return "\(mark)::pg_catalog.numeric::pg_catalog.money"
    default: return "\(mark)::\(column.castName)"
    }
  }

  /// The condition by which a row is found that has parameter `number` here. A value that the type
  /// cannot have finds none, and is no error.
  func condition(_ number: Int, row: String) -> String {
    let name = "\(row).\(quotedName(column.name))"
    switch column.typeName {
    case "int2", "int4", "int8": return "\(name) = $\(number)::pg_catalog.int8"
    case "numeric": return "\(name) = $\(number)::pg_catalog.numeric"
    case "text", "varchar", "bpchar", "date", "timestamp", "timestamptz", "uuid", "bytea", "bool":
      return "\(name) = \(mark(number))"
    default: return "\(text(of: name))::pg_catalog.text = $\(number)::pg_catalog.text"
    }
  }

  /// The canonical value of what `selected` gave; nil when it does not fit the attribute's type.
  func value(_ text: String?) -> AttributeValue? {
    guard let text else { return .null }
    let type = attribute.type
    switch type {
    case .boolean:
      switch text {
      case "t": return .boolean(true)
      case "f": return .boolean(false)
      default: return Int64(text).flatMap { type.canonical(.integer($0)) }
      }
    case .byte, .short, .int, .long:
      return Int64(text).flatMap { type.canonical(.integer($0)) }
    case .float, .double: return Double(text).map(AttributeValue.double)
    case .binary: return ColumnForm.bytes(text).map(AttributeValue.bytes)
    default: return type.canonical(.text(text))
    }
  }

  /// The parameter that writes the value; nil when the column would give back another one.
  func parameter(_ value: AttributeValue) -> PostgreSQLValue? {
    guard attribute.type.canonical(value) == value, fits(value) else { return nil }
    switch value {
    case .null: return .null
    case .boolean(let flag):
      return .text(column.typeName == "bool" ? (flag ? "t" : "f") : (flag ? "1" : "0"))
    case .integer(let number): return .text(String(number))
    case .double(let number):
      if number.isNaN { return .text("NaN") }
      return .text(
        number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : number.description)
    case .bytes(let bytes): return .bytes(bytes)
    // A text ends for libpq where a zero byte stands, and PostgreSQL keeps none.
    case .text(let text): return text.utf8.contains(0) ? nil : .text(text)
    }
  }

  /// Whether the column keeps the value as it is. PostgreSQL itself rounds and cuts in silence.
  private func fits(_ value: AttributeValue) -> Bool {
    switch (column.typeName, value) {
    case ("numeric", .text(let text)):
      guard let scale = column.digits?.scale else { return true }
      return Attribute.digitsBehind(text) <= max(0, scale)
    case ("money", .text(let text)): return Attribute.digitsBehind(text) <= 2
    case ("float4", .double(let number)):
      return !number.isFinite || Double(Float(number).description) == number
    case ("time", .text(let text)), ("timestamp", .text(let text)),
      ("timestamptz", .text(let text)):
      return Attribute.digitsBehind(text) <= column.secondDigits
    case ("varchar", .text(let text)):
      return column.length.map { text.unicodeScalars.count <= $0 } ?? true
    // Blanks at the end are not kept.
    case ("bpchar", .text(let text)):
      return text.utf8.last != 0x20 && column.length.map { text.unicodeScalars.count <= $0 } ?? true
    case ("uuid", .text(let text)): return ColumnForm.isUUID(text)
    default: return true
    }
  }

  /// 36 characters in small letters, as PostgreSQL writes it.
  private static func isUUID(_ text: String) -> Bool {
    let utf8 = Array(text.utf8)
    guard utf8.count == 36 else { return false }
    return utf8.indices.allSatisfy { index in
      [8, 13, 18, 23].contains(index)
        ? utf8[index] == 0x2D
        : (48...57).contains(utf8[index]) || (97...102).contains(utf8[index])
    }
  }

  /// The bytes of `\x0123`.
  static func bytes(_ text: String) -> [UInt8]? {
    text.hasPrefix("\\x") ? Hexadecimal.decode(text.dropFirst(2)) : nil
  }

  /// Whether the column can hold values of the attribute's type.
  var isKept: Bool {
    attribute.stored != .unixSeconds && ColumnFit.isKept(attribute.type, in: column)
  }
}

extension Attribute {
  /// Digits behind the point of a decimal, or of the seconds of a time.
  fileprivate static func digitsBehind(_ text: String) -> Int {
    text.utf8.lastIndex(of: 0x2E).map { text.utf8[$0...].count - 1 } ?? 0
  }
}
