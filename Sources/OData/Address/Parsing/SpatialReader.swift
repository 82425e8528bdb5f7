import FerryOData

/// Reads `SRID=4326;Point(8.4 49.3)`.
struct SpatialReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Nil where the text is no shape; `position` then says up to where it was read.
  mutating func read(isGeometry: Bool, _ depth: Int) -> EdmSpatial? {
    guard word("SRID="), let srid = digits(), take(";"), let shape = shape(depth),
      position == bytes.count
    else { return nil }
    return EdmSpatial(shape, isGeometry: isGeometry, srid: srid)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// In either case, as the grammar has it.
  private mutating func word(_ word: String) -> Bool {
    let end = position + word.utf8.count
    guard end <= bytes.count,
      String(decoding: bytes[position..<end], as: UTF8.self).lowercased() == word.lowercased()
    else { return false }
    position = end
    return true
  }

  private mutating func digits() -> Int? {
    let start = position
    while position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 { position += 1 }
    guard position - start <= 5 else { return nil }
    return Int(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func shape(_ depth: Int) -> EdmSpatial.Shape? {
    guard depth > 0 else { return nil }
    if word("Point") { return point().map { .point($0) } }
    if word("LineString") { return line(least: 2).map { .lineString($0) } }
    if word("Polygon") { return list(allowsNone: false) { $0.line(least: 1) }.map { .polygon($0) } }
    if word("MultiPoint") {
      return list(allowsNone: true) { $0.point() }.map { .multiPoint($0) }
    }
    if word("MultiLineString") {
      return list(allowsNone: true) { $0.line(least: 2) }.map { .multiLineString($0) }
    }
    if word("MultiPolygon") {
      return list(allowsNone: true) { reader in
        reader.list(allowsNone: false) { $0.line(least: 1) }
      }.map { .multiPolygon($0) }
    }
    // 4.0 wrote the shorter word.
    guard word("GeometryCollection") || word("Collection") else { return nil }
    return list(allowsNone: false) { $0.shape(depth - 1) }.map { .collection($0) }
  }

  private mutating func list<Part>(
    allowsNone: Bool, _ part: (inout SpatialReader) -> Part?
  ) -> [Part]? {
    guard take("(") else { return nil }
    var parts: [Part] = []
    if allowsNone, take(")") { return parts }
    repeat {
      guard let one = part(&self) else { return nil }
      parts.append(one)
    } while take(",")
    return take(")") ? parts : nil
  }

  private mutating func point() -> EdmSpatial.Position? {
    guard take("("), let position = coordinates(), take(")") else { return nil }
    return position
  }

  private mutating func line(least: Int) -> [EdmSpatial.Position]? {
    guard let all = list(allowsNone: false, { $0.coordinates() }), all.count >= least else {
      return nil
    }
    return all
  }

  private mutating func coordinates() -> EdmSpatial.Position? {
    var values: EdmSpatial.Position = []
    repeat {
      let start = position
      while position < bytes.count, ![0x20, 0x29, 0x2C].contains(bytes[position]) { position += 1 }
      let spelled = String(decoding: bytes[start..<position], as: UTF8.self)
      guard case .double(let value)? = EdmValue(text: spelled, type: .double) else {
        position = start
        return nil
      }
      values.append(value)
    } while take(" ")
    return (2...4).contains(values.count) ? values : nil
  }
}
