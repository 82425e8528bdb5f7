/// Shapes as Atom writes them, in a small part of GML 3.2 (GML simple features).
enum GML {
  static func read(_ element: XMLElement, isGeometry: Bool) -> EdmSpatial? {
    // Geography stands latitude first, geometry x first.
    guard let shape = shape(element, swaps: !isGeometry) else { return nil }
    let name = element.attribute("srsName", .gml) ?? element.attribute("srsName")
    let srid = name.flatMap { $0.split(whereSeparator: { $0 == "/" || $0 == ":" }).last }
      .flatMap { Int($0) }
    return EdmSpatial(shape, isGeometry: isGeometry, srid: srid)
  }

  private static func numbers(_ text: String) -> [Double]? {
    var all: [Double] = []
    for part in text.split(whereSeparator: \.isWhitespace) {
      guard let value = Double(part), value.isFinite else { return nil }
      all.append(value)
    }
    return all
  }

  private static func position(_ text: String, _ swaps: Bool) -> EdmSpatial.Position? {
    guard var values = numbers(text), values.count != 1, values.count <= 4 else { return nil }
    if swaps, values.count >= 2 { values.swapAt(0, 1) }
    return values
  }

  private static func positions(_ element: XMLElement, _ swaps: Bool) -> [EdmSpatial.Position]? {
    var all: [EdmSpatial.Position] = []
    for child in element.children {
      if child.local == "pos" {
        guard let position = position(child.text, swaps) else { return nil }
        all.append(position)
      } else if child.local == "posList" {
        guard let values = numbers(child.text), values.count % 2 == 0 else { return nil }
        for index in stride(from: 0, to: values.count, by: 2) {
          all.append(
            swaps ? [values[index + 1], values[index]] : [values[index], values[index + 1]])
        }
      }
    }
    return all
  }

  private static func rings(_ element: XMLElement, _ swaps: Bool) -> [[EdmSpatial.Position]]? {
    var rings: [[EdmSpatial.Position]] = []
    for child in element.children where child.local == "exterior" || child.local == "interior" {
      guard let ring = child.children.first(where: { $0.local == "LinearRing" }),
        let points = positions(ring, swaps)
      else { return nil }
      if child.local == "exterior" { rings.insert(points, at: 0) } else { rings.append(points) }
    }
    return rings
  }

  private static func shape(_ element: XMLElement, swaps: Bool) -> EdmSpatial.Shape? {
    switch element.local {
    case "Point":
      let text = element.children.first { $0.local == "pos" }?.text ?? ""
      return position(text, swaps).map { .point($0) }
    case "LineString": return positions(element, swaps).map { .lineString($0) }
    case "Polygon": return rings(element, swaps).map { .polygon($0) }
    case "MultiPoint":
      var all: [EdmSpatial.Position] = []
      for member in members(element) {
        guard case .point(let point)? = shape(member, swaps: swaps) else { return nil }
        all.append(point)
      }
      return .multiPoint(all)
    case "MultiCurve", "MultiLineString":
      var all: [[EdmSpatial.Position]] = []
      for member in members(element) {
        guard case .lineString(let line)? = shape(member, swaps: swaps) else { return nil }
        all.append(line)
      }
      return .multiLineString(all)
    case "MultiSurface", "MultiPolygon":
      var all: [[[EdmSpatial.Position]]] = []
      for member in members(element) {
        guard case .polygon(let polygon)? = shape(member, swaps: swaps) else { return nil }
        all.append(polygon)
      }
      return .multiPolygon(all)
    case "MultiGeometry":
      var all: [EdmSpatial.Shape] = []
      for member in members(element) {
        guard let part = shape(member, swaps: swaps) else { return nil }
        all.append(part)
      }
      return .collection(all)
    default: return nil
    }
  }

  private static func members(_ element: XMLElement) -> [XMLElement] {
    element.children.flatMap { Array($0.children) }
  }

  static func write(_ value: EdmSpatial, to writer: inout XMLWriter) {
    write(value.shape, srid: value.srid, swaps: !value.isGeometry, isRoot: true, to: &writer)
  }

  private static func number(_ value: Double) -> String { EdmValue.double(value).text }

  private static func text(_ position: EdmSpatial.Position, _ swaps: Bool) -> String {
    var position = position
    if swaps, position.count >= 2 { position.swapAt(0, 1) }
    return position.map(number).joined(separator: " ")
  }

  private static func write(
    _ points: [EdmSpatial.Position], _ swaps: Bool, to writer: inout XMLWriter
  ) {
    for point in points { writer.element("gml:pos", text(point, swaps)) }
  }

  private static func write(
    _ shape: EdmSpatial.Shape, srid: Int?, swaps: Bool, isRoot: Bool, to writer: inout XMLWriter
  ) {
    func open(_ name: String, _ writer: inout XMLWriter) {
      writer.open("gml:" + name)
      if isRoot {
        writer.attribute("xmlns:gml", "http://www.opengis.net/gml")
        if let srid {
          writer.attribute("gml:srsName", "http://www.opengis.net/def/crs/EPSG/0/\(srid)")
        }
      }
    }
    func member(_ name: String, _ part: EdmSpatial.Shape, _ writer: inout XMLWriter) {
      writer.open("gml:" + name)
      write(part, srid: nil, swaps: swaps, isRoot: false, to: &writer)
      writer.close("gml:" + name)
    }
    switch shape {
    case .point(let point):
      open("Point", &writer)
      writer.element("gml:pos", text(point, swaps))
      writer.close("gml:Point")
    case .lineString(let points):
      open("LineString", &writer)
      write(points, swaps, to: &writer)
      writer.close("gml:LineString")
    case .polygon(let rings):
      open("Polygon", &writer)
      for (index, ring) in rings.enumerated() {
        let side = index == 0 ? "gml:exterior" : "gml:interior"
        writer.open(side)
        writer.open("gml:LinearRing")
        write(ring, swaps, to: &writer)
        writer.close("gml:LinearRing")
        writer.close(side)
      }
      writer.close("gml:Polygon")
    case .multiPoint(let points):
      open("MultiPoint", &writer)
      for point in points { member("pointMember", .point(point), &writer) }
      writer.close("gml:MultiPoint")
    case .multiLineString(let lines):
      open("MultiCurve", &writer)
      for line in lines { member("curveMember", .lineString(line), &writer) }
      writer.close("gml:MultiCurve")
    case .multiPolygon(let polygons):
      open("MultiSurface", &writer)
      for polygon in polygons { member("surfaceMember", .polygon(polygon), &writer) }
      writer.close("gml:MultiSurface")
    case .collection(let parts):
      open("MultiGeometry", &writer)
      for part in parts { member("geometryMember", part, &writer) }
      writer.close("gml:MultiGeometry")
    }
  }
}
