/// A shape on the earth (geography) or on a plane (geometry).
public struct EdmSpatial: Sendable, Hashable {
  /// A point: longitude or x, latitude or y, then height and measure where there are any.
  public typealias Position = [Double]

  /// The kinds of shapes, with their positions.
  public indirect enum Shape: Sendable, Hashable {
    /// One position.
    case point(Position)
    /// Positions that are joined in order.
    case lineString([Position])
    /// The first ring is the outer one.
    case polygon([[Position]])
    /// Points in any number.
    case multiPoint([Position])
    /// Lines in any number.
    case multiLineString([[Position]])
    /// Polygons in any number, each with its rings.
    case multiPolygon([[[Position]]])
    /// Shapes of different kinds; may nest.
    case collection([Shape])
  }

  /// True for a plane, false for the earth.
  public var isGeometry: Bool
  /// Coordinates are kept as doubles.
  public var shape: Shape
  /// The number of the reference system: 4326 where nothing else is said of geography.
  public var srid: Int?

  /// On the earth and without a reference system, unless set otherwise.
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
