/// A shape on the earth (geography) or on a plane (geometry).
public struct EdmSpatial: Sendable, Hashable {
  /// A point: longitude or x, latitude or y, then height and measure where there are any.
  public typealias Position = [Double]

  /// The kinds of shapes, with their positions.
  public indirect enum Shape: Sendable, Hashable {
    case point(Position)
    case lineString([Position])
    /// The first ring is the outer one.
    case polygon([[Position]])
    case multiPoint([Position])
    case multiLineString([[Position]])
    case multiPolygon([[[Position]]])
    case collection([Shape])
  }

  public var isGeometry: Bool
  public var shape: Shape
  /// The number of the reference system: 4326 where nothing else is said of geography.
  public var srid: Int?

  public init(_ shape: Shape, isGeometry: Bool = false, srid: Int? = nil) {
    self.shape = shape
    self.isGeometry = isGeometry
    self.srid = srid
  }

  /// The most special type of the shape.
  public var primitive: EdmPrimitive {
    switch shape {
    case .point: isGeometry ? .geometryPoint : .geographyPoint
    case .lineString: isGeometry ? .geometryLineString : .geographyLineString
    case .polygon: isGeometry ? .geometryPolygon : .geographyPolygon
    case .multiPoint: isGeometry ? .geometryMultiPoint : .geographyMultiPoint
    case .multiLineString: isGeometry ? .geometryMultiLineString : .geographyMultiLineString
    case .multiPolygon: isGeometry ? .geometryMultiPolygon : .geographyMultiPolygon
    case .collection: isGeometry ? .geometryCollection : .geographyCollection
    }
  }

}
