/// A primitive type of the Entity Data Model, by the name that all versions share.
public enum EdmPrimitive: String, Sendable, Hashable, CaseIterable {
  case boolean = "Edm.Boolean"
  case byte = "Edm.Byte"
  case sbyte = "Edm.SByte"
  case int16 = "Edm.Int16"
  case int32 = "Edm.Int32"
  case int64 = "Edm.Int64"
  case single = "Edm.Single"
  case double = "Edm.Double"
  case decimal = "Edm.Decimal"
  case string = "Edm.String"
  case binary = "Edm.Binary"
  case guid = "Edm.Guid"
  /// Local date and time of V2 and V3.
  case dateTime = "Edm.DateTime"
  case dateTimeOffset = "Edm.DateTimeOffset"
  /// The time of day of V2 and V3, written as a duration.
  case time = "Edm.Time"
  case date = "Edm.Date"
  case timeOfDay = "Edm.TimeOfDay"
  case duration = "Edm.Duration"
  case stream = "Edm.Stream"
  case geography = "Edm.Geography"
  case geographyPoint = "Edm.GeographyPoint"
  case geographyLineString = "Edm.GeographyLineString"
  case geographyPolygon = "Edm.GeographyPolygon"
  case geographyMultiPoint = "Edm.GeographyMultiPoint"
  case geographyMultiLineString = "Edm.GeographyMultiLineString"
  case geographyMultiPolygon = "Edm.GeographyMultiPolygon"
  case geographyCollection = "Edm.GeographyCollection"
  case geometry = "Edm.Geometry"
  case geometryPoint = "Edm.GeometryPoint"
  case geometryLineString = "Edm.GeometryLineString"
  case geometryPolygon = "Edm.GeometryPolygon"
  case geometryMultiPoint = "Edm.GeometryMultiPoint"
  case geometryMultiLineString = "Edm.GeometryMultiLineString"
  case geometryMultiPolygon = "Edm.GeometryMultiPolygon"
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
  public var isCollection: Bool

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
