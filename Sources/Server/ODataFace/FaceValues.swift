import FerryJSON
import FerryModel
import FerryOData

/// Values of the model as those of OData, and back, with nothing lost.
///
/// A date with a time has no zone in the model, as in V2. V4 has none without one, so there it is
/// written as UTC and read as the clock of UTC.
struct FaceValues: Sendable {
  let package: Package
  let version: ODataVersion

  func type(_ attribute: Attribute) -> EdmTypeReference {
    switch attribute.type {
    case .list: EdmTypeReference(element(attribute.element ?? ""), isCollection: true)
    case .complex: EdmTypeReference("\(package.name).\(attribute.element ?? "")")
    default: EdmTypeReference(primitive(attribute.type).rawValue)
    }
  }

  private func element(_ name: String) -> String {
    if let type = AttributeType(rawValue: name) { return primitive(type).rawValue }
    return "\(package.name).\(name)"
  }

  func primitive(_ type: AttributeType) -> EdmPrimitive {
    switch type {
    case .boolean: .boolean
    case .byte: .sbyte
    case .short: .int16
    case .int: .int32
    case .long: .int64
    case .integer, .decimal: .decimal
    case .date where version < .v4, .dateTime where version < .v4: .dateTime
    case .time where version < .v4: .time
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

  /// Whether there is a way to say a value of the attribute: V2 has no lists.
  func isShown(_ attribute: Attribute) -> Bool {
    guard !attribute.type.isBig else { return false }
    guard version < .v4 else { return true }
    switch attribute.type {
    case .list: return false
    case .complex:
      let type = package.complexTypes.first { $0.name == attribute.element }
      // A part that is not shown would be lost by a change of the whole.
      return type?.attributes.allSatisfy { $0.type.isBig || isShown($0) } ?? false
    default: return true
    }
  }

  /// Nil for a value that is none of its type, which no row has.
  func edm(
    _ value: AttributeValue, _ attribute: Attribute
  ) -> EdmValue? {
    switch (value, attribute.type) {
    case (.null, _): return .null
    case (.text(let text), .list), (.text(let text), .complex):
      guard let node = try? JSONNode.parse(Array(text.utf8)) else { return nil }
      return edm(node, attribute)
    default: return plain(value, attribute.type)
    }
  }

  private func plain(_ value: AttributeValue, _ type: AttributeType) -> EdmValue? {
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
      return edm(text, type)
    }
  }

  private func edm(_ text: String, _ type: AttributeType) -> EdmValue? {
    let primitive = primitive(type)
    switch (type, primitive) {
    case (.dateTime, .dateTimeOffset): return EdmValue(text: text + "Z", type: primitive)
    case (.date, .dateTime): return EdmValue(text: text + "T00:00:00", type: primitive)
    case (.time, .time):
      guard case .timeOfDay(let time)? = EdmValue(text: text, type: .timeOfDay) else { return nil }
      return .time(
        EdmDuration(
          seconds: UInt64(time.secondsSinceMidnight), picoseconds: time.picoseconds))
    default: return EdmValue(text: text, type: primitive)
    }
  }

  private func edm(
    _ node: JSONNode, _ attribute: Attribute
  ) -> EdmValue? {
    switch attribute.type {
    case .list:
      guard let nodes = node.array else { return nil }
      let part = part(of: attribute)
      var values: [EdmValue] = []
      for node in nodes {
        guard let value = edm(node, part) else { return nil }
        values.append(value)
      }
      return .collection(values)
    case .complex:
      guard let name = attribute.element, node.object != nil,
        let type = package.complexTypes.first(where: { $0.name == name })
      else { return nil }
      var properties: [ODataProperty] = []
      for part in type.attributes where !part.type.isBig {
        let value = node[part.name].flatMap { edm($0, part) } ?? .null
        properties.append(ODataProperty(part.name, value, type: self.type(part)))
      }
      return .complex(EdmComplex(type: "\(package.name).\(name)", ODataProperties(properties)))
    default:
      switch node.content {
      case .null: return .null
      case .boolean(let flag): return .boolean(flag)
      case .number(let text), .string(let text): return edm(text, attribute.type)
      case .array, .object: return nil
      }
    }
  }

  /// An element of a list, as an attribute of its own.
  private func part(of attribute: Attribute) -> Attribute {
    let element = attribute.element ?? ""
    let type = AttributeType(rawValue: element)
    return Attribute(
      name: attribute.name, column: "", type: type ?? .complex, isNullable: true,
      element: type == nil ? element : nil)
  }

  /// The canonical value; nil for one that the attribute cannot have.
  func model(
    _ value: EdmValue, _ attribute: Attribute
  ) -> AttributeValue? {
    switch attribute.type {
    case .list, .complex:
      guard !value.isNull else { return .null }
      var writer = JSONWriter()
      guard write(value, attribute, to: &writer) else { return nil }
      return attribute.type.canonical(.text(writer.text))
    default: return plain(value, attribute.type)
    }
  }

  private func plain(_ value: EdmValue, _ type: AttributeType) -> AttributeValue? {
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
    case .dateTime(let moment):
      guard type != .date else {
        // A day has no time of its own; what has one is no day.
        guard moment.time.secondsSinceMidnight == 0, moment.time.picoseconds == 0 else {
          return nil
        }
        return type.canonical(.text(EdmValue.date(moment.date).text))
      }
      given = .text(value.text)
    case .time(let time):
      guard type == .time, let text = clock(time) else { return nil }
      given = .text(text)
    case .string, .date, .timeOfDay: given = .text(value.text)
    default: return nil
    }
    return type.canonical(given)
  }

  /// V2 writes a time of day as the span since midnight.
  private func clock(_ time: EdmDuration) -> String? {
    guard !time.isNegative, time.seconds < 86_400 else { return nil }
    return EdmTimeOfDay(
      hour: UInt8(time.seconds / 3_600), minute: UInt8(time.seconds / 60 % 60),
      second: UInt8(time.seconds % 60), picoseconds: time.picoseconds
    ).map { EdmValue.timeOfDay($0).text }
  }

  /// The clock of UTC, without a zone.
  private func utc(_ moment: EdmDateTimeOffset) -> String {
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

  private func write(
    _ value: EdmValue, _ attribute: Attribute, to writer: inout JSONWriter
  ) -> Bool {
    switch (attribute.type, value) {
    case (_, .null): writer.null()
    case (.list, .collection(let values)):
      let part = part(of: attribute)
      writer.beginArray()
      for value in values {
        guard write(value, part, to: &writer) else { return false }
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
        guard write(value, part, to: &writer) else { return false }
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
