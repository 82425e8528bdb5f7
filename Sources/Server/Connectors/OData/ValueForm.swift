import FerryModel
import FerryOData

/// How a service has the values of one attribute.
struct ValueForm: Sendable {
  /// The property; of a part of a complex value the names on the way.
  let path: [String]
  let primitive: EdmPrimitive
  /// The qualified name of an enumeration.
  let enumeration: String?
  let type: AttributeType

  /// In the canonical form of the attribute; nil where it has none.
  func attribute(_ value: EdmValue) -> AttributeValue? {
    let raw: AttributeValue
    switch value {
    case .null: return .null
    case .boolean(let value): raw = .boolean(value)
    case .byte, .sbyte, .int16, .int32, .int64: raw = value.integer.map { .integer($0) } ?? .null
    case .single(let value): raw = .double(Double(value))
    case .double(let value): raw = .double(value)
    case .binary(let bytes): raw = .bytes(bytes)
    case .dateTime(let value):
      raw = .text(type == .date ? value.date.description : value.description)
      if type == .date, value.time.secondsSinceMidnight != 0 { return nil }
    case .dateTimeOffset(let value):
      guard let utc = ValueForm.utc(value) else { return nil }
      raw = .text(utc.description)
    case .time(let value):
      guard !value.isNegative, value.seconds < 86_400,
        let time = EdmTimeOfDay(
          hour: UInt8(value.seconds / 3_600), minute: UInt8(value.seconds / 60 % 60),
          second: UInt8(value.seconds % 60), picoseconds: value.picoseconds)
      else { return nil }
      raw = .text(time.description)
    case .guid, .date, .timeOfDay, .duration, .string, .decimal, .enumeration:
      raw = .text(value.text)
    case .spatial, .complex, .collection, .invalid: return nil
    }
    return type.canonical(raw)
  }

  /// As it is written; nil where the service has no such value.
  func edm(_ value: AttributeValue) -> EdmValue? {
    switch (primitive, value) {
    case (_, .null): return .null
    case (.boolean, .boolean(let value)): return .boolean(value)
    case (.byte, .integer(let number)): return UInt8(exactly: number).map { .byte($0) }
    case (.sbyte, .integer(let number)): return Int8(exactly: number).map { .sbyte($0) }
    case (.int16, .integer(let number)): return Int16(exactly: number).map { .int16($0) }
    case (.int32, .integer(let number)): return Int32(exactly: number).map { .int32($0) }
    case (.int64, .integer(let number)): return .int64(number)
    case (.single, .double(let number)): return .single(Float(number))
    case (.double, .double(let number)): return .double(number)
    case (.decimal, .text(let text)): return EdmDecimal(text).map { .decimal($0) }
    case (.string, .text(let text)):
      return enumeration.map { .enumeration(text, type: $0) } ?? .string(text)
    case (.binary, .bytes(let bytes)): return .binary(bytes)
    case (.guid, .text(let text)): return EdmGuid(text).map { .guid($0) }
    case (_, .text(let text)): return moment(text)
    default: return nil
    }
  }

  private func moment(_ text: String) -> EdmValue? {
    func value(_ text: String, _ primitive: EdmPrimitive) -> EdmValue? {
      EdmValue(text: text, type: primitive)
    }
    switch primitive {
    case .dateTime: return value(type == .date ? text + "T00:00:00" : text, .dateTime)
    case .dateTimeOffset: return value(text + "Z", .dateTimeOffset)
    case .time: return value(text, .time)
    case .date, .timeOfDay, .duration: return value(text, primitive)
    default: return nil
    }
  }

  /// The same moment without its distance from UTC.
  private static func utc(_ value: EdmDateTimeOffset) -> EdmDateTime? {
    guard value.offsetMinutes != 0 else { return value.local }
    let seconds = value.secondsSince1970
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = seconds - day * 86_400
    guard let date = EdmDate(daysSince1970: day),
      let time = EdmTimeOfDay(
        hour: UInt8(rest / 3_600), minute: UInt8(rest / 60 % 60), second: UInt8(rest % 60),
        picoseconds: value.local.time.picoseconds)
    else { return nil }
    return EdmDateTime(date, time)
  }
}

/// Which attribute a property of a service can be.
public enum ODataPropertyType: Sendable, Equatable {
  /// `values`: the members of an enumeration.
  case attribute(
    AttributeType, maxLength: Int?, precision: Int?, scale: Int?, values: [AttributeValue])
  /// None: a clause, and a sentence with the cure.
  case none(reason: String, cure: String)

  public init(_ property: EdmProperty, in metadata: EdmMetadata) {
    func no(_ reason: String, _ cure: String) -> ODataPropertyType {
      .none(reason: reason, cure: cure)
    }
    func plain(_ type: AttributeType) -> ODataPropertyType {
      .attribute(type, maxLength: nil, precision: nil, scale: nil, values: [])
    }
    guard !property.type.isCollection else {
      self = no("is a collection", "Read it by an entity set of its own.")
      return
    }
    if let listed = metadata.enumType(property.type.name) {
      self =
        listed.isFlags
        ? plain(.string)
        : .attribute(
          .string, maxLength: nil, precision: nil, scale: nil,
          values: listed.members.map { .text($0.name) })
      return
    }
    let definition = metadata.typeDefinition(property.type.name)
    guard let primitive = metadata.primitive(property.type.name) else {
      self = no(
        "is a \(property.type.name)", "Use its parts, where the service has them elsewhere.")
      return
    }
    let facets = property.facets
    let maxLength = facets.maxLength ?? definition?.facets.maxLength
    switch primitive {
    case .boolean: self = plain(.boolean)
    case .sbyte: self = plain(.byte)
    case .byte, .int16: self = plain(.short)
    case .int32: self = plain(.int)
    case .int64: self = plain(.long)
    case .single: self = plain(.float)
    case .double: self = plain(.double)
    case .decimal: self = .decimal(facets, definition?.facets)
    case .string:
      self = .attribute(
        .string, maxLength: maxLength.flatMap { $0 > 0 ? $0 : nil }, precision: nil, scale: nil,
        values: [])
    case .binary: self = plain(.binary)
    case .guid, .duration: self = plain(.string)
    case .dateTime: self = plain(property.sap.displayFormat == "Date" ? .date : .dateTime)
    case .dateTimeOffset: self = plain(.dateTime)
    case .time, .timeOfDay: self = plain(.time)
    case .date: self = plain(.date)
    case .stream:
      self = no("is a stream", "Streams are not synchronized yet; read them from the service.")
    default: self = no("is a shape", "Use its coordinates, where the service has them as numbers.")
    }
  }

  private static func decimal(_ facets: EdmFacets, _ base: EdmFacets?) -> ODataPropertyType {
    let precision = facets.precision ?? base?.precision
    var scale: Int?
    if case .fixed(let digits)? = facets.scale ?? base?.scale { scale = digits }
    guard let precision, (1...38).contains(precision), let scale, (0...precision).contains(scale)
    else { return .attribute(.decimal, maxLength: nil, precision: nil, scale: nil, values: []) }
    return .attribute(.decimal, maxLength: nil, precision: precision, scale: scale, values: [])
  }
}
