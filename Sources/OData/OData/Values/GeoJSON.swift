import FerryJSON

/// Shapes as JSON of V3 and V4 writes them.
enum GeoJSON {
  static func read(
    _ record: JSONRecord, _ node: Int, isGeometry: Bool
  ) throws(ODataError) -> EdmSpatial? {
    guard let kind = try record.text(node, "type"), let shape = try shape(record, node, kind) else {
      return nil
    }
    var srid: Int?
    if let crs = try record.member(node, "crs"), let inner = try record.member(crs, "properties"),
      let name = try record.text(inner, "name")
    {
      srid = name.split(separator: ":").last.flatMap { Int($0) }
    }
    return EdmSpatial(shape, isGeometry: isGeometry, srid: srid)
  }

  private static func shape(
    _ record: JSONRecord, _ node: Int, _ kind: String
  ) throws(ODataError) -> EdmSpatial.Shape? {
    if kind == "GeometryCollection" {
      guard let list = try record.member(node, "geometries"), record.kind(list) == .array else {
        return nil
      }
      var parts: [EdmSpatial.Shape] = []
      for child in record.children(list) {
        guard let inner = try record.text(child, "type"),
          let part = try shape(record, child, inner)
        else { return nil }
        parts.append(part)
      }
      return .collection(parts)
    }
    guard let coordinates = try record.member(node, "coordinates"),
      record.kind(coordinates) == .array
    else { return nil }
    switch kind {
    case "Point": return position(record, coordinates).map { .point($0) }
    case "LineString": return positions(record, coordinates).map { .lineString($0) }
    case "MultiPoint": return positions(record, coordinates).map { .multiPoint($0) }
    case "Polygon": return rings(record, coordinates).map { .polygon($0) }
    case "MultiLineString": return rings(record, coordinates).map { .multiLineString($0) }
    case "MultiPolygon": return list(record, coordinates, rings).map { .multiPolygon($0) }
    default: return nil
    }
  }

  private static func position(_ record: JSONRecord, _ node: Int) -> EdmSpatial.Position? {
    guard record.kind(node) == .array else { return nil }
    var values: EdmSpatial.Position = []
    for child in record.children(node) {
      guard record.kind(child) == .number, let value = Double(record.spelled(child)), value.isFinite
      else { return nil }
      values.append(value)
    }
    return values.count == 1 || values.count > 4 ? nil : values
  }

  private static func list<T>(
    _ record: JSONRecord, _ node: Int, _ element: (JSONRecord, Int) -> T?
  ) -> [T]? {
    guard record.kind(node) == .array else { return nil }
    var all: [T] = []
    for child in record.children(node) {
      guard let value = element(record, child) else { return nil }
      all.append(value)
    }
    return all
  }

  private static func positions(_ record: JSONRecord, _ node: Int) -> [EdmSpatial.Position]? {
    list(record, node, position)
  }

  private static func rings(_ record: JSONRecord, _ node: Int) -> [[EdmSpatial.Position]]? {
    list(record, node, positions)
  }

  static func write(_ value: EdmSpatial, to writer: inout JSONWriter) {
    write(value.shape, srid: value.srid, to: &writer)
  }

  private static func write(_ shape: EdmSpatial.Shape, srid: Int?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch shape {
    case .point: writer.string("Point")
    case .lineString: writer.string("LineString")
    case .polygon: writer.string("Polygon")
    case .multiPoint: writer.string("MultiPoint")
    case .multiLineString: writer.string("MultiLineString")
    case .multiPolygon: writer.string("MultiPolygon")
    case .collection: writer.string("GeometryCollection")
    }
    writer.key("coordinates")
    switch shape {
    case .point(let point): write(point, to: &writer)
    case .lineString(let points), .multiPoint(let points): write(points, to: &writer)
    case .polygon(let rings), .multiLineString(let rings):
      writer.array(rings) { write($1, to: &$0) }
    case .multiPolygon(let polygons):
      writer.array(polygons) { writer, rings in writer.array(rings) { write($1, to: &$0) } }
    case .collection: writer.array([] as [Int]) { _, _ in }
    }
    if case .collection(let parts) = shape {
      writer.key("geometries")
      writer.array(parts) { write($1, srid: nil, to: &$0) }
    }
    if let srid {
      writer.key("crs")
      writer.beginObject()
      writer.field("type", "name")
      writer.key("properties")
      writer.beginObject()
      writer.field("name", "EPSG:\(srid)")
      writer.endObject()
      writer.endObject()
    }
    writer.endObject()
  }

  private static func write(_ point: EdmSpatial.Position, to writer: inout JSONWriter) {
    writer.array(point) { writer, value in writer.raw(EdmValue.double(value).text.utf8) }
  }

  private static func write(_ points: [EdmSpatial.Position], to writer: inout JSONWriter) {
    writer.array(points) { write($1, to: &$0) }
  }
}
