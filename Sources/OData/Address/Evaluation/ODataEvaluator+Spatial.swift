import FerryOData

extension ODataEvaluator {
  /// On a plane as it is drawn; on the earth along a great circle, in metres, with its mean radius.
  /// `geo.intersects` takes a point and a polygon.
  func spatial(
    _ function: ODataFunction, _ values: [EdmValue]
  ) throws(AddressFault) -> EdmValue {
    guard case .spatial(let first) = values[0] else { throw mismatch(function, values[0]) }
    switch (function, first.shape, values.last) {
    case (.geoLength, .lineString(let points), _):
      let parts = zip(points, points.dropFirst()).map { Self.distance($0, $1, first.isGeometry) }
      return .double(parts.reduce(0, +))
    case (.geoDistance, .point(let a), .spatial(let second)?):
      guard case .point(let b) = second.shape, first.isGeometry == second.isGeometry else {
        throw mismatch(function, values[1])
      }
      return .double(Self.distance(a, b, first.isGeometry))
    case (.geoIntersects, .point(let point), .spatial(let second)?):
      guard case .polygon(let rings) = second.shape else { throw mismatch(function, values[1]) }
      // The edge belongs to the polygon, that of a hole as well.
      if rings.contains(where: { Self.isOnEdge(point, $0) }) { return .boolean(true) }
      let holds = rings.map { Self.isInside(point, $0) }
      return .boolean(holds.first == true && !holds.dropFirst().contains(true))
    case (.geoIntersects, .polygon, .spatial(let second)?)
    where second.primitive != first.primitive:
      return try spatial(function, [values[1], values[0]])
    default: throw mismatch(function, values[0])
    }
  }

  private static func distance(
    _ a: EdmSpatial.Position, _ b: EdmSpatial.Position, _ isGeometry: Bool
  ) -> Double {
    if isGeometry {
      return ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])).squareRoot()
    }
    let (west, east) = (unit(a), unit(b))
    let chord = zip(west, east).map { ($0 - $1) * ($0 - $1) }.reduce(0, +).squareRoot()
    return 2 * 6_371_008.8 * arcsine(min(1, chord / 2))
  }

  /// The place as a vector of length one.
  private static func unit(_ position: EdmSpatial.Position) -> [Double] {
    let (longitude, latitude) = (position[0] * .pi / 180, position[1] * .pi / 180)
    let flat = sine(.pi / 2 - latitude)
    return [flat * sine(.pi / 2 - longitude), flat * sine(longitude), sine(latitude)]
  }

  /// The library has no trigonometry without Foundation; the series converges at once near zero.
  private static func sine(_ angle: Double) -> Double {
    var x = angle.remainder(dividingBy: 2 * .pi)
    if x > .pi / 2 { x = .pi - x } else if x < -.pi / 2 { x = -.pi - x }
    var term = x
    var sum = x
    for step in stride(from: 2.0, through: 26, by: 2) {
      term *= -x * x / (step * (step + 1))
      sum += term
    }
    return sum
  }

  private static func arcsine(_ value: Double) -> Double {
    if value > 0.5 { return .pi / 2 - 2 * arcsine(((1 - value) / 2).squareRoot()) }
    var term = value
    var sum = value
    for step in stride(from: 1.0, through: 55, by: 2) {
      term *= value * value * step / (step + 1)
      sum += term / (step + 2)
    }
    return sum
  }

  private static func isOnEdge(
    _ point: EdmSpatial.Position, _ ring: [EdmSpatial.Position]
  ) -> Bool {
    zip(ring, ring.dropFirst()).contains { a, b in
      (b[0] - a[0]) * (point[1] - a[1]) == (b[1] - a[1]) * (point[0] - a[0])
        && (min(a[0], b[0])...max(a[0], b[0])).contains(point[0])
        && (min(a[1], b[1])...max(a[1], b[1])).contains(point[1])
    }
  }

  /// Whether a ray to the east crosses the ring an odd number of times.
  private static func isInside(
    _ point: EdmSpatial.Position, _ ring: [EdmSpatial.Position]
  ) -> Bool {
    var isInside = false
    for (a, b) in zip(ring, ring.dropFirst()) where (a[1] > point[1]) != (b[1] > point[1]) {
      let crossing = (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]) + a[0]
      if point[0] < crossing { isInside.toggle() }
    }
    return isInside
  }
}
