/// A value of the Entity Data Model, with nothing lost: digits of decimals, fractions of seconds,
/// offsets, 64-bit integers and infinities stay as the service wrote them.
public enum EdmValue: Sendable, Hashable {
  /// An explicit null; an absent property has no `EdmValue` at all.
  case null
  /// `Edm.Boolean`, written `true` or `false`.
  case boolean(Bool)
  /// `Edm.Byte`, 0 to 255.
  case byte(UInt8)
  /// `Edm.SByte`, -128 to 127.
  case sbyte(Int8)
  /// `Edm.Int16`, -32,768 to 32,767.
  case int16(Int16)
  /// `Edm.Int32`, with a sign.
  case int32(Int32)
  /// `Edm.Int64`, exact even where JSON has a string.
  case int64(Int64)
  /// `Edm.Single`, with its NaN and infinities.
  case single(Float)
  /// `Edm.Double`, with its NaN and infinities.
  case double(Double)
  /// `Edm.Decimal`, with all digits that were written.
  case decimal(EdmDecimal)
  /// `Edm.String`, as Unicode text.
  case string(String)
  /// `Edm.Binary`, decoded from Base64.
  case binary([UInt8])
  /// `Edm.Guid`, 128 bits.
  case guid(EdmGuid)
  /// `Edm.DateTime` of V2 and V3, without a zone.
  case dateTime(EdmDateTime)
  /// `Edm.DateTimeOffset`, with the offset that was written.
  case dateTimeOffset(EdmDateTimeOffset)
  /// `Edm.Time` of V2 and V3, which is a duration since midnight.
  case time(EdmDuration)
  /// `Edm.Date` of V4, a day without a time.
  case date(EdmDate)
  /// `Edm.TimeOfDay` of V4, a time without a day.
  case timeOfDay(EdmTimeOfDay)
  /// `Edm.Duration` of V4, a span that may be negative.
  case duration(EdmDuration)
  /// Names or numbers of members, separated by commas for flags; with the qualified type.
  case enumeration(String, type: String)
  /// Any of the geography and geometry types.
  case spatial(EdmSpatial)
  /// Named properties, as a complex type declares them.
  case complex(EdmComplex)
  /// Values of one type, in the order of the document.
  case collection([EdmValue])
  /// A text that is no value of its type, kept as it came; only where the reader is lenient.
  case invalid(String, EdmPrimitive)

  /// The primitive type of the value; nil for null, enumerations, complex values and collections.
  public var primitive: EdmPrimitive? {
    switch self {
    case .null, .enumeration, .complex, .collection: nil
    case .boolean: .boolean
    case .byte: .byte
    case .sbyte: .sbyte
    case .int16: .int16
    case .int32: .int32
    case .int64: .int64
    case .single: .single
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .binary: .binary
    case .guid: .guid
    case .dateTime: .dateTime
    case .dateTimeOffset: .dateTimeOffset
    case .time: .time
    case .date: .date
    case .timeOfDay: .timeOfDay
    case .duration: .duration
    case .spatial(let shape): shape.primitive
    case .invalid(_, let type): type
    }
  }

  /// True for an explicit null only.
  public var isNull: Bool { self == .null }
  /// The text of a string value.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// Nil for any other kind of value; 0 and 1 are not converted.
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// Nil for any other kind of value.
  public var complex: EdmComplex? { if case .complex(let value) = self { value } else { nil } }
  /// Nil for any other kind of value, also for null.
  public var collection: [EdmValue]? {
    if case .collection(let value) = self { value } else { nil }
  }

  /// The value as an integer, of whatever width it came in; nil when it is none.
  public var integer: Int64? {
    switch self {
    case .byte(let value): Int64(value)
    case .sbyte(let value): Int64(value)
    case .int16(let value): Int64(value)
    case .int32(let value): Int64(value)
    case .int64(let value): value
    default: nil
    }
  }

  /// The value as the nearest `Double`; digits of a decimal may be lost here, and only here.
  public var approximate: Double? {
    switch self {
    case .single(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double(value.text)
    default: integer.map { Double($0) }
    }
  }

  /// Single NaNs equal each other here, so that what is read twice is equal.
  public static func == (left: EdmValue, right: EdmValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.byte(let a), .byte(let b)): a == b
    case (.sbyte(let a), .sbyte(let b)): a == b
    case (.int16(let a), .int16(let b)): a == b
    case (.int32(let a), .int32(let b)): a == b
    case (.int64(let a), .int64(let b)): a == b
    case (.single(let a), .single(let b)): a == b || (a.isNaN && b.isNaN)
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.decimal(let a), .decimal(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.binary(let a), .binary(let b)): a == b
    case (.guid(let a), .guid(let b)): a == b
    case (.dateTime(let a), .dateTime(let b)): a == b
    case (.dateTimeOffset(let a), .dateTimeOffset(let b)): a == b
    case (.time(let a), .time(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.timeOfDay(let a), .timeOfDay(let b)): a == b
    case (.duration(let a), .duration(let b)): a == b
    case (.enumeration(let a, let s), .enumeration(let b, let t)): a == b && s == t
    case (.spatial(let a), .spatial(let b)): a == b
    case (.complex(let a), .complex(let b)): a == b
    case (.collection(let a), .collection(let b)): a == b
    case (.invalid(let a, let s), .invalid(let b, let t)): a == b && s == t
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .single(let value): hasher.combine(value.isNaN ? 1 : value)
    case .double(let value): hasher.combine(value.isNaN ? 1 : value)
    case .complex(let value): hasher.combine(value)
    case .collection(let values): hasher.combine(values)
    case .decimal(let value): hasher.combine(value)
    case .spatial(let value): hasher.combine(value)
    default: hasher.combine(text)
    }
  }
}

/// A complex value: properties, and the type the service named.
public struct EdmComplex: Sendable, Hashable {
  /// The qualified type, when the payload or the schema names it.
  public var type: String?
  /// In the order of the document.
  public var properties: ODataProperties
  /// Links of the value, as V4 allows navigation from complex values.
  public var links: [ODataLink] = []

  /// Without links; the type may be nil where the metadata implies it.
  public init(type: String? = nil, _ properties: ODataProperties) {
    self.type = type
    self.properties = properties
  }

  /// The value of a property; nil where there was none.
  public subscript(name: String) -> EdmValue? { properties[name] }
}
