import FerryModel
import FerrySQLite

extension AttributeValue {
  package var stored: SQLiteValue {
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

extension AttributeValue {
  /// A column in the form in which its type is stored; nil for another form.
  init?(_ column: ColumnView, as type: AttributeType) {
    switch (column, type) {
    case (.null, _): self = .null
    case (.integer(let number), .boolean): self = .boolean(number != 0)
    case (.integer(let number), .byte), (.integer(let number), .short),
      (.integer(let number), .int), (.integer(let number), .long):
      self = .integer(number)
    case (.real(let number), .float), (.real(let number), .double): self = .double(number)
    case (.blob(let bytes), .binary): self = .bytes(Array(bytes))
    case (.text(let bytes), .string), (.text(let bytes), .decimal), (.text(let bytes), .date),
      (.text(let bytes), .time), (.text(let bytes), .dateTime), (.text(let bytes), .integer),
      (.text(let bytes), .list), (.text(let bytes), .complex),
      (.text(let bytes), .bigString), (.text(let bytes), .bigBinary):
      self = .text(String(decoding: bytes, as: UTF8.self))
    default: return nil
    }
  }
}

extension StoredRow {
  /// A column of an entity's table; what another program wrote in another form stays in it.
  func value(at index: Int, as type: AttributeType) -> AttributeValue {
    withColumn(at: index) { column in
      if let value = AttributeValue(column, as: type) { return value }
      return switch column {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .double(number)
      case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
      case .blob(let bytes): .bytes(Array(bytes))
      }
    }
  }
}

extension Statement {
  /// Binds values from the parameter `first` on.
  func bind(_ values: some Sequence<AttributeValue>, from first: Int = 0) throws(SQLiteError) {
    var index = first
    for value in values {
      try bind(value: value, at: index)
      index += 1
    }
  }

  func bind(value: AttributeValue, at index: Int) throws(SQLiteError) {
    switch value {
    case .integer(let number): try bind(number, at: index)
    case .double(let number): try bind(number, at: index)
    default: try bind(value.stored, at: index)
    }
  }

  /// A column of an entity's table, which only ever holds canonical values of its type.
  func stored(at index: Int, as type: AttributeType) -> AttributeValue {
    AttributeValue(column(at: index), as: type) ?? converted(at: index, as: type)
  }

  /// What another program wrote in another form, as SQLite converts it.
  private func converted(at index: Int, as type: AttributeType) -> AttributeValue {
    switch type {
    case .boolean: .boolean(integer(at: index) != 0)
    case .byte, .short, .int, .long: .integer(integer(at: index))
    case .float, .double: .double(double(at: index))
    case .binary: .bytes(bytes(at: index))
    case .integer, .decimal, .string, .date, .time, .dateTime, .list, .complex, .bigString,
      .bigBinary:
      .text(text(at: index))
    }
  }
}
