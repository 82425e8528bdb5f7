/// A primitive type of the Entity Data Model, by the name that all versions share.
public enum EdmPrimitive: String, Sendable, Hashable, CaseIterable {
  /// `true` or `false`; 0 or 1 in some V2 literals.
  case boolean = "Edm.Boolean"
  /// 0 to 255.
  case byte = "Edm.Byte"
  /// -128 to 127.
  case sbyte = "Edm.SByte"
  /// A 16-bit integer with a sign.
  case int16 = "Edm.Int16"
  /// A 32-bit integer with a sign.
  case int32 = "Edm.Int32"
  /// A 64-bit integer with a sign, a string in JSON of V2 and V3.
  case int64 = "Edm.Int64"
  /// A 32-bit binary floating-point number.
  case single = "Edm.Single"
  /// A 64-bit binary floating-point number.
  case double = "Edm.Double"
  /// A decimal number whose digits are exact.
  case decimal = "Edm.Decimal"
  /// Unicode text.
  case string = "Edm.String"
  /// Bytes, as Base64 in payloads.
  case binary = "Edm.Binary"
  /// 128 bits, written as 32 hexadecimal digits with hyphens.
  case guid = "Edm.Guid"
  /// Local date and time of V2 and V3.
  case dateTime = "Edm.DateTime"
  /// A date and time with its distance from UTC.
  case dateTimeOffset = "Edm.DateTimeOffset"
  /// The time of day of V2 and V3, written as a duration.
  case time = "Edm.Time"
  /// A day without a time, from V4 on.
  case date = "Edm.Date"
  /// A time without a day, from V4 on.
  case timeOfDay = "Edm.TimeOfDay"
  /// A span of days, hours, minutes and seconds, from V4 on.
  case duration = "Edm.Duration"
  /// A named stream, from V3 on; payloads have its links only.
  case stream = "Edm.Stream"
  /// Any shape on the earth.
  case geography = "Edm.Geography"
  /// A place on the earth.
  case geographyPoint = "Edm.GeographyPoint"
  /// Positions on the earth that are joined in order.
  case geographyLineString = "Edm.GeographyLineString"
  /// An area on the earth, with holes if any.
  case geographyPolygon = "Edm.GeographyPolygon"
  /// Places on the earth.
  case geographyMultiPoint = "Edm.GeographyMultiPoint"
  /// Any number of such lines on the earth.
  case geographyMultiLineString = "Edm.GeographyMultiLineString"
  /// Areas on the earth.
  case geographyMultiPolygon = "Edm.GeographyMultiPolygon"
  /// Shapes of different kinds on the earth.
  case geographyCollection = "Edm.GeographyCollection"
  /// Any shape on a plane.
  case geometry = "Edm.Geometry"
  /// A position on a plane.
  case geometryPoint = "Edm.GeometryPoint"
  /// Positions on a plane that are joined in order.
  case geometryLineString = "Edm.GeometryLineString"
  /// An area on a plane, with holes if any.
  case geometryPolygon = "Edm.GeometryPolygon"
  /// Positions on a plane.
  case geometryMultiPoint = "Edm.GeometryMultiPoint"
  /// Any number of such lines on a plane.
  case geometryMultiLineString = "Edm.GeometryMultiLineString"
  /// Areas on a plane.
  case geometryMultiPolygon = "Edm.GeometryMultiPolygon"
  /// Shapes of different kinds on a plane.
  case geometryCollection = "Edm.GeometryCollection"

  private static let known: [String: EdmPrimitive] = {
    var known: [String: EdmPrimitive] = [:]
    for type in allCases {
      known[type.rawValue] = type
      known[String(type.rawValue.dropFirst(4))] = type
    }
    return known
  }()

  /// Reads `Edm.String`, and `String` as V1 documents write it.
  public init?(name: String) {
    guard let known = Self.known[name] else { return nil }
    self = known
  }

  /// Whether the values are shapes on the earth or on a plane.
  public var isSpatial: Bool {
    switch self {
    case .geography, .geographyPoint, .geographyLineString, .geographyPolygon,
      .geographyMultiPoint, .geographyMultiLineString, .geographyMultiPolygon,
      .geographyCollection:
      true
    default: isGeometry
    }
  }

  /// Whether the values are shapes on a plane.
  public var isGeometry: Bool {
    switch self {
    case .geometry, .geometryPoint, .geometryLineString, .geometryPolygon, .geometryMultiPoint,
      .geometryMultiLineString, .geometryMultiPolygon, .geometryCollection:
      true
    default: false
    }
  }

  /// The version that first had the type.
  public var since: ODataVersion {
    switch self {
    case .date, .timeOfDay, .duration: .v4
    case .stream: .v3
    default: isSpatial ? .v3 : .v1
    }
  }
}

/// The type of a property, a parameter or a result: a name, and whether it is a collection of it.
public struct EdmTypeReference: Sendable, Hashable, CustomStringConvertible {
  /// `Edm.Int32`, or the qualified name of a type of the schema (aliases resolved when read).
  public var name: String
  /// True for `Collection(…)`, `Bag(…)` and `MultiValue(…)`.
  public var isCollection: Bool

  /// The name is taken as it is, without a look for `Collection(…)`.
  public init(_ name: String, isCollection: Bool = false) {
    self.name = name
    self.isCollection = isCollection
  }

  /// Reads `NS.Type` or `Collection(NS.Type)`; V3's `Bag(…)` and `MultiValue(…)` too.
  public init(text: String) {
    for opening in ["Collection(", "Bag(", "MultiValue("]
    where text.hasPrefix(opening) && text.hasSuffix(")") {
      self.init(String(text.dropFirst(opening.count).dropLast()), isCollection: true)
      return
    }
    self.init(text)
  }

  /// The primitive type that the name is, if it is one.
  public var primitive: EdmPrimitive? { EdmPrimitive(name: name) }
  public var description: String { isCollection ? "Collection(\(name))" : name }
  /// The same without `Collection(…)`.
  public var element: EdmTypeReference { EdmTypeReference(name) }
}
