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
    case .binary(let value): Base64.text(value)
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

/// The base 64 that binary values are written in.
package enum Base64 {
  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func text(_ bytes: [UInt8], urlSafe: Bool = false) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    func letter(_ value: UInt32) -> UInt8 {
      let byte = letters[Int(value & 63)]
      guard urlSafe else { return byte }
      return byte == UInt8(ascii: "+")
        ? UInt8(ascii: "-")
        : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
    }
    while index < bytes.count {
      let left = bytes.count - index
      let word =
        UInt32(bytes[index]) << 16
        | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0) | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      text.append(letter(word >> 18))
      text.append(letter(word >> 12))
      if left > 1 { text.append(letter(word >> 6)) } else if !urlSafe { text.append(0x3D) }
      if left > 2 { text.append(letter(word)) } else if !urlSafe { text.append(0x3D) }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads both alphabets, with or without padding and white space; nil for anything else. Without
  /// padding the bits that are left must be zero: else it is some other text, such as hexadecimal.
  package static func bytes(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var word: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text {
      let value: UInt32
      switch byte {
      case 0x41...0x5A: value = UInt32(byte) - 0x41
      case 0x61...0x7A: value = UInt32(byte) - 0x47
      case 0x30...0x39: value = UInt32(byte) + 4
      case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "="):
        padding += 1
        continue
      default: return nil
      }
      if padding > 0 { return nil }
      word = word << 6 | value
      count += 1
      if count == 4 {
        bytes.append(UInt8(word >> 16 & 0xFF))
        bytes.append(UInt8(word >> 8 & 0xFF))
        bytes.append(UInt8(word & 0xFF))
        (word, count) = (0, 0)
      }
    }
    switch count {
    case 0: return padding == 0 ? bytes : nil
    case 2 where padding == 2 || (padding == 0 && word & 0xF == 0):
      bytes.append(UInt8(word >> 4 & 0xFF))
    case 3 where padding == 1 || (padding == 0 && word & 0x3 == 0):
      bytes.append(UInt8(word >> 10 & 0xFF))
      bytes.append(UInt8(word >> 2 & 0xFF))
    default: return nil
    }
    return bytes
  }
}
