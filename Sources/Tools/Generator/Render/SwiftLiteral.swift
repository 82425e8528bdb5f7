import FerryModel

/// Texts and lists as Swift source.
enum SwiftLiteral {
  static func text(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.properties.isDefaultIgnorableCodePoint:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  static func value(_ value: AttributeValue) -> String {
    switch value {
    case .null: ".null"
    case .boolean(let flag): ".boolean(\(flag))"
    case .integer(let number): ".integer(\(number))"
    case .double(let number): ".double(\(number))"
    case .text(let text): ".text(\(self.text(text)))"
    case .bytes(let bytes): ".bytes(\(numbers(bytes.map(Int.init))))"
    }
  }

  /// For a comment, on one line whatever the text holds.
  static func comment(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  static func texts(_ texts: [String]) -> String {
    "[\(texts.map(text).joined(separator: ", "))]"
  }

  static func numbers(_ numbers: [Int]) -> String {
    "[\(numbers.map(String.init).joined(separator: ", "))]"
  }

  /// As the initializer of a package has it, a line with its comma.
  static func attribute(_ attribute: Attribute, indent: String = "    ") -> String {
    var fields = [
      "name: \(text(attribute.name))",
      "column: \(text(attribute.column))",
      "type: .\(attribute.type.rawValue)", "isNullable: \(attribute.isNullable)",
    ]
    if let length = attribute.maxLength { fields.append("maxLength: \(length)") }
    if let stored = attribute.stored { fields.append("stored: .\(stored.rawValue)") }
    if attribute.fullText { fields.append("fullText: true") }
    if let element = attribute.element { fields.append("element: \(text(element))") }
    if let value = attribute.defaultValue {
      fields.append("defaultValue: \(SwiftLiteral.value(value))")
    }
    if attribute.isClientOnly { fields.append("isClientOnly: true") }
    if let precision = attribute.precision { fields.append("precision: \(precision)") }
    if let scale = attribute.scale { fields.append("scale: \(scale)") }
    if !attribute.values.isEmpty {
      fields.append("values: [\(attribute.values.map(value).joined(separator: ", "))]")
    }
    return "\(indent)FerryModel.Attribute(\(fields.joined(separator: ", "))),"
  }

  /// The Swift type of an attribute.
  static func type(of attribute: Attribute) -> String {
    type(attribute.type, of: attribute.element) + (attribute.isNullable ? "?" : "")
  }

  /// The Swift type of a parameter, which has no elements.
  static func type(of parameter: ObjectQuery.Parameter) -> String {
    type(parameter.type, of: nil) + (parameter.isNullable ? "?" : "")
  }

  static func type(_ type: AttributeType, of element: String? = nil) -> String {
    switch type {
    case .complex: element ?? "String"
    case .list:
      "[\(element.map { name in AttributeType(rawValue: name).map { self.type($0, of: nil) } ?? name } ?? "String")]"
    case .boolean: "Bool"
    case .byte: "Int8"
    case .short: "Int16"
    case .int: "Int32"
    case .long: "Int64"
    case .decimal: "Decimal"
    case .float: "Float"
    case .double: "Double"
    case .string: "String"
    case .integer: "Ferry.BigInteger"
    case .date: "Ferry.LocalDate"
    case .time: "Ferry.LocalTime"
    case .dateTime: "Ferry.LocalDateTime"
    case .binary: "[UInt8]"
    case .bigString: "Ferry.BigString"
    case .bigBinary: "Ferry.BigBinary"
    }
  }
}
