import FerryJSON
import FerryModel
import FerryOData

/// Values of the model as those of OData, and back, with nothing lost.
///
/// A date with a time has no zone in the model. OData has none without one, so it is written as UTC and
/// read as the clock of UTC.
enum FaceValues {
  static func type(_ attribute: Attribute, in package: Package) -> EdmTypeReference {
    switch attribute.type {
    case .list: EdmTypeReference(element(attribute.element ?? "", in: package), isCollection: true)
    case .complex: EdmTypeReference("\(package.name).\(attribute.element ?? "")")
    default: EdmTypeReference(primitive(attribute.type).rawValue)
    }
  }

  private static func element(_ name: String, in package: Package) -> String {
    if let type = AttributeType(rawValue: name) { return primitive(type).rawValue }
    return "\(package.name).\(name)"
  }

  static func primitive(_ type: AttributeType) -> EdmPrimitive {
    switch type {
    case .boolean: .boolean
    case .byte: .sbyte
    case .short: .int16
    case .int: .int32
    case .long: .int64
    case .integer, .decimal: .decimal
    // A number that was written as a Double must be found again as it is.
    case .float, .double: .double
    case .string: .string
    case .date: .date
    case .time: .timeOfDay
    case .dateTime: .dateTimeOffset
    case .binary: .binary
    case .list, .complex, .bigString, .bigBinary: .string
    }
  }

  /// Nil for a value that is none of its type, which no row has.
  static func edm(
    _ value: AttributeValue, _ attribute: Attribute, in package: Package
  ) -> EdmValue? {
    switch (value, attribute.type) {
    case (.null, _): return .null
    case (.text(let text), .list), (.text(let text), .complex):
      guard let node = try? JSONNode.parse(Array(text.utf8)) else { return nil }
      return edm(node, attribute, in: package)
    default: return plain(value, attribute.type)
    }
  }

  private static func plain(_ value: AttributeValue, _ type: AttributeType) -> EdmValue? {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number):
      switch type {
      case .byte: return Int8(exactly: number).map { .sbyte($0) }
      case .short: return Int16(exactly: number).map { .int16($0) }
      case .int: return Int32(exactly: number).map { .int32($0) }
      default: return .int64(number)
      }
    case .double(let number): return .double(number)
    case .bytes(let bytes): return .binary(bytes)
    case .text(let text):
      return EdmValue(text: type == .dateTime ? text + "Z" : text, type: primitive(type))
    }
  }

  private static func edm(
    _ node: JSONNode, _ attribute: Attribute, in package: Package
  ) -> EdmValue? {
    switch attribute.type {
    case .list:
      guard let nodes = node.array else { return nil }
      let part = part(of: attribute)
      var values: [EdmValue] = []
      for node in nodes {
        guard let value = edm(node, part, in: package) else { return nil }
        values.append(value)
      }
      return .collection(values)
    case .complex:
      guard let name = attribute.element, node.object != nil,
        let type = package.complexTypes.first(where: { $0.name == name })
      else { return nil }
      var properties: [ODataProperty] = []
      for part in type.attributes where !part.type.isBig {
        let value = node[part.name].flatMap { edm($0, part, in: package) } ?? .null
        properties.append(ODataProperty(part.name, value, type: self.type(part, in: package)))
      }
      return .complex(EdmComplex(type: "\(package.name).\(name)", ODataProperties(properties)))
    default:
      switch node.content {
      case .null: return .null
      case .boolean(let flag): return .boolean(flag)
      case .number(let text), .string(let text):
        return EdmValue(
          text: attribute.type == .dateTime ? text + "Z" : text, type: primitive(attribute.type))
      case .array, .object: return nil
      }
    }
  }

  /// An element of a list, as an attribute of its own.
  private static func part(of attribute: Attribute) -> Attribute {
    let element = attribute.element ?? ""
    let type = AttributeType(rawValue: element)
    return Attribute(
      name: attribute.name, column: "", type: type ?? .complex, isNullable: true,
      element: type == nil ? element : nil)
  }

  /// The canonical value; nil for one that the attribute cannot have.
  static func model(
    _ value: EdmValue, _ attribute: Attribute, in package: Package
  ) -> AttributeValue? {
    switch attribute.type {
    case .list, .complex:
      guard !value.isNull else { return .null }
      var writer = JSONWriter()
      guard write(value, attribute, in: package, to: &writer) else { return nil }
      return attribute.type.canonical(.text(writer.text))
    default: return plain(value, attribute.type)
    }
  }

  private static func plain(_ value: EdmValue, _ type: AttributeType) -> AttributeValue? {
    let given: AttributeValue
    switch value {
    case .null: return .null
    case .boolean(let flag): given = .boolean(flag)
    case .byte, .sbyte, .int16, .int32, .int64: given = value.integer.map { .integer($0) } ?? .null
    case .single(let number): given = .double(Double(number))
    case .double(let number): given = .double(number)
    case .decimal(let number): given = .text(number.text)
    case .binary(let bytes): given = .bytes(bytes)
    case .dateTimeOffset(let moment): given = .text(utc(moment))
    case .string, .date, .timeOfDay: given = .text(value.text)
    default: return nil
    }
    return type.canonical(given)
  }

  /// The clock of UTC, without a zone.
  private static func utc(_ moment: EdmDateTimeOffset) -> String {
    let seconds = moment.secondsSince1970
    let (day, rest) = (
      seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400,
      ((seconds % 86_400) + 86_400) % 86_400
    )
    guard let date = EdmDate(daysSince1970: day),
      let time = EdmTimeOfDay(
        hour: UInt8(rest / 3_600), minute: UInt8(rest / 60 % 60), second: UInt8(rest % 60),
        picoseconds: moment.local.time.picoseconds)
    else { return "" }
    return EdmValue.dateTime(EdmDateTime(date, time)).text
  }

  private static func write(
    _ value: EdmValue, _ attribute: Attribute, in package: Package, to writer: inout JSONWriter
  ) -> Bool {
    switch (attribute.type, value) {
    case (_, .null): writer.null()
    case (.list, .collection(let values)):
      let part = part(of: attribute)
      writer.beginArray()
      for value in values {
        guard write(value, part, in: package, to: &writer) else { return false }
      }
      writer.endArray()
    case (.complex, .complex(let complex)):
      guard let type = package.complexTypes.first(where: { $0.name == attribute.element }) else {
        return false
      }
      let known = Set(type.attributes.map(\.name))
      guard complex.properties.allSatisfy({ known.contains($0.name) }) else { return false }
      writer.beginObject()
      for part in type.attributes {
        guard let value = complex[part.name] else { continue }
        writer.key(part.name)
        guard write(value, part, in: package, to: &writer) else { return false }
      }
      writer.endObject()
    case (.list, _), (.complex, _): return false
    default:
      guard let plain = plain(value, attribute.type) else { return false }
      writer.value(plain)
    }
    return true
  }
}
