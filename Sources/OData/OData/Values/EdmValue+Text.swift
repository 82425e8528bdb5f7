import FerryText

extension EdmValue {
  /// The text that Atom writes for the value; empty for null, complex values and collections.
  public var text: String {
    switch self {
    case .null, .complex, .collection: ""
    case .boolean(let value): value ? "true" : "false"
    case .byte(let value): String(value)
    case .sbyte(let value): String(value)
    case .int16(let value): String(value)
    case .int32(let value): String(value)
    case .int64(let value): String(value)
    case .single(let value): Self.text(of: value)
    case .double(let value): Self.text(of: value)
    case .decimal(let value): value.text
    case .string(let value): value
    case .binary(let value): Base64.encode(value)
    case .guid(let value): value.description
    case .dateTime(let value): value.description
    case .dateTimeOffset(let value): value.description
    case .time(let value), .duration(let value): value.description
    case .date(let value): value.description
    case .timeOfDay(let value): value.description
    case .enumeration(let value, _): value
    case .spatial(let value): value.wellKnownText
    case .invalid(let text, _): text
    }
  }

  private static func text<T: BinaryFloatingPoint & CustomStringConvertible>(of value: T) -> String
  {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-INF" : "INF" }
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

extension EdmDate: CustomStringConvertible {
  /// `2026-11-21`.
  public var description: String {
    let digits = String(year.magnitude)
    let padded = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    return (year < 0 ? "-" : "") + padded + "-" + two(month) + "-" + two(day)
  }
}

extension EdmTimeOfDay: CustomStringConvertible {
  /// `07:59:59.1234567`, with no more digits than there are.
  public var description: String {
    "\(two(hour)):\(two(minute)):\(two(second))\(fraction(picoseconds))"
  }
}

extension EdmDateTime: CustomStringConvertible {
  public var description: String { "\(date)T\(time)" }
}

extension EdmDateTimeOffset: CustomStringConvertible {
  public var description: String {
    if offsetMinutes == 0 { return "\(local)Z" }
    let size = offsetMinutes.magnitude
    return
      "\(local)\(offsetMinutes < 0 ? "-" : "+")\(two(UInt8(size / 60))):\(two(UInt8(size % 60)))"
  }
}

extension EdmDuration: CustomStringConvertible {
  /// `P1DT2H3M4.5S`; nothing is `PT0S`.
  public var description: String {
    let days = seconds / 86_400
    let rest = seconds % 86_400
    var text = isNegative ? "-P" : "P"
    if days > 0 { text += "\(days)D" }
    if rest > 0 || picoseconds > 0 || days == 0 {
      text += "T"
      if rest / 3_600 > 0 { text += "\(rest / 3_600)H" }
      if rest / 60 % 60 > 0 { text += "\(rest / 60 % 60)M" }
      if rest % 60 > 0 || picoseconds > 0 || (days == 0 && rest == 0) {
        text += "\(rest % 60)\(fraction(picoseconds))S"
      }
    }
    return text
  }
}

private func two(_ value: UInt8) -> String { value < 10 ? "0\(value)" : String(value) }

private func fraction(_ picoseconds: UInt64) -> String {
  guard picoseconds > 0 else { return "" }
  let digits = String(picoseconds)
  var text = "." + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
  while text.last == "0" { text.removeLast() }
  return text
}

extension EdmSpatial {
  /// `SRID=4326;POINT(1 2)`-like text, for people and for hashing.
  var wellKnownText: String { "SRID=\(srid.map { String($0) } ?? "");\(shape)" }
}
