import FerryText

extension EdmValue {
  /// The literal that addresses and function parameters use for the value, not percent-encoded.
  ///
  /// V2 marks types (`datetime'…'`, `5L`, `1.0M`); V4 writes most values bare.
  public func literal(_ version: ODataVersion) -> String {
    let isOld = version < .v4
    return switch self {
    case .null: "null"
    case .string(let value): Self.quoted(value)
    case .int64(let value): isOld ? "\(value)L" : String(value)
    case .decimal(let value):
      (value.plainText(limit: 60) ?? value.text) + (isOld && !text.contains("N") ? "M" : "")
    case .single: isOld && !text.contains("N") ? text + "f" : text
    case .double: isOld && !text.contains("N") ? text + "d" : text
    case .binary(let bytes):
      isOld
        ? "X'" + Hexadecimal.encode(bytes, isUppercase: true) + "'"
        : "binary'" + Base64.encode(bytes, .url) + "'"
    case .guid(let value): isOld ? "guid'\(value)'" : value.description
    case .dateTime(let value): isOld ? "datetime'\(value)'" : "\(value)Z"
    case .dateTimeOffset(let value): isOld ? "datetimeoffset'\(value)'" : value.description
    case .time(let value): isOld ? "time'\(value)'" : "duration'\(value)'"
    case .duration(let value): isOld ? "time'\(value)'" : "duration'\(value)'"
    case .enumeration(let value, let type): type + Self.quoted(value)
    case .spatial(let value): (value.isGeometry ? "geometry'" : "geography'") + value.literal + "'"
    default: text
    }
  }

  private static func quoted(_ text: String) -> String { "'\(text.doubling("'"))'" }
}

extension String {
  /// The text with each of its quotes written twice, as it stands between quotes.
  ///
  /// Byte by byte: a quote before a combining mark is no `Character` of its own, and ends the text
  /// all the same.
  package func doubling(_ quote: Unicode.Scalar) -> String {
    let quote = UInt8(ascii: quote)
    guard utf8.contains(quote) else { return self }
    return String(decoding: utf8.flatMap { $0 == quote ? [$0, $0] : [$0] }, as: UTF8.self)
  }
}

extension EdmSpatial {
  /// `SRID=4326;Point(1 2)`.
  var literal: String { "SRID=\(srid ?? (isGeometry ? 0 : 4_326));" + Self.text(shape) }

  private static func text(_ position: Position) -> String {
    position.map { EdmValue.double($0).text }.joined(separator: " ")
  }

  private static func text(_ points: [Position]) -> String {
    "(" + points.map { text($0) }.joined(separator: ",") + ")"
  }

  private static func text(_ rings: [[Position]]) -> String {
    "(" + rings.map { text($0) as String }.joined(separator: ",") + ")"
  }

  private static func text(_ shape: Shape) -> String {
    switch shape {
    case .point(let point): "Point(\(text(point) as String))"
    case .lineString(let points): "LineString" + text(points)
    case .polygon(let rings): "Polygon" + text(rings)
    case .multiPoint(let points):
      "MultiPoint(" + points.map { "(\(text($0) as String))" }.joined(separator: ",") + ")"
    case .multiLineString(let lines): "MultiLineString" + text(lines)
    case .multiPolygon(let polygons):
      "MultiPolygon(" + polygons.map { text($0) as String }.joined(separator: ",") + ")"
    case .collection(let parts):
      "GeometryCollection(" + parts.map { text($0) as String }.joined(separator: ",") + ")"
    }
  }
}
