import FerryOData

/// How values compare, after numbers of different types were made alike.
enum ValueOrder {
  /// Null equals null only.
  static func isEqual(_ left: EdmValue, _ right: EdmValue) throws(AddressFault) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.null, _), (_, .null): return false
    case (.boolean(let a), .boolean(let b)): return a == b
    case (.guid(let a), .guid(let b)): return a == b
    case (.binary(let a), .binary(let b)): return a == b
    case (.spatial(let a), .spatial(let b)): return a == b
    case (.enumeration(let a, _), .enumeration(let b, _)), (.enumeration(let a, _), .string(let b)),
      (.string(let a), .enumeration(let b, _)):
      return a == b
    case (.collection(let a), .collection(let b)):
      guard a.count == b.count else { return false }
      for (one, other) in zip(a, b) where try !isEqual(one, other) { return false }
      return true
    case (.complex(let a), .complex(let b)):
      guard a.properties.count == b.properties.count else { return false }
      for property in a.properties {
        guard let other = b[property.name], try isEqual(property.value, other) else {
          return false
        }
      }
      return true
    default: return try compare(left, right) == 0
    }
  }

  /// Negative, zero or positive; nil where a NaN makes the question idle.
  static func compare(_ left: EdmValue, _ right: EdmValue) throws(AddressFault) -> Int? {
    if let a = Number(left), let b = Number(right) { return Number.compare(a, b) }
    if let a = Moment(left), let b = Moment(right), a.kind == b.kind {
      return a.picoseconds < b.picoseconds ? -1 : a.picoseconds > b.picoseconds ? 1 : 0
    }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      return a.utf8.elementsEqual(b.utf8) ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.boolean(let a), .boolean(let b)): return a == b ? 0 : b ? -1 : 1
    case (.guid(let a), .guid(let b)):
      return a == b ? 0 : (a.high, a.low) < (b.high, b.low) ? -1 : 1
    case (.binary(let a), .binary(let b)):
      return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    case (.enumeration(let a, _), .enumeration(let b, _)): return a == b ? 0 : a < b ? -1 : 1
    default:
      throw AddressFault(
        .typeMismatch, "\(name(left)) cannot be compared with \(name(right))",
        hint: "cast one of them")
    }
  }

  static func name(_ value: EdmValue) -> String {
    switch value {
    case .collection: "a collection"
    case .complex: "a complex value"
    case .null: "null"
    case .enumeration(_, let type): type
    default: value.primitive?.rawValue ?? "a value"
    }
  }

  /// For sorting: null first, NaN before numbers, what does not compare stays where it is.
  static func sortOrder(_ left: EdmValue, _ right: EdmValue) -> Int {
    if left.isNull || right.isNull { return (left.isNull ? 0 : 1) - (right.isNull ? 0 : 1) }
    do {
      if let order = try compare(left, right) { return order }
      let isNaN = { (value: EdmValue) in value.approximate?.isNaN == true }
      return (isNaN(left) ? 0 : 1) - (isNaN(right) ? 0 : 1)
    } catch { return 0 }
  }
}

/// A number of any width.
enum Number {
  case whole(Int64)
  case decimal(DecimalNumber)
  case binary(Double)

  init?(_ value: EdmValue) {
    switch value {
    case .single(let number): self = .binary(Double(number))
    case .double(let number): self = .binary(number)
    case .decimal(let decimal):
      self = DecimalNumber(decimal).map { .decimal($0) } ?? .binary(value.approximate ?? .nan)
    default:
      guard let whole = value.integer else { return nil }
      self = .whole(whole)
    }
  }

  var binary: Double {
    switch self {
    case .whole(let value): Double(value)
    case .decimal(let value): Double(value.value.text) ?? .nan
    case .binary(let value): value
    }
  }

  var decimal: DecimalNumber? {
    switch self {
    case .whole(let value): DecimalNumber(value)
    case .decimal(let value): value
    case .binary: nil
    }
  }

  static func compare(_ left: Number, _ right: Number) -> Int? {
    if case .whole(let a) = left, case .whole(let b) = right { return a < b ? -1 : a > b ? 1 : 0 }
    if let a = left.decimal, let b = right.decimal { return DecimalNumber.compare(a, b) }
    let (a, b) = (left.binary, right.binary)
    return a.isNaN || b.isNaN ? nil : a < b ? -1 : a > b ? 1 : 0
  }
}

/// A point in time, a time of day or a span, counted in millionths of a millionth of a second.
struct Moment {
  enum Kind { case dateTime, dateTimeOffset, date, timeOfDay, duration }

  var kind: Kind
  var picoseconds: Int128
  var offsetMinutes: Int16 = 0

  static let second: Int128 = 1_000_000_000_000

  init?(_ value: EdmValue) {
    switch value {
    case .dateTime(let moment):
      kind = .dateTime
      picoseconds = Self.count(moment)
    case .dateTimeOffset(let moment):
      kind = .dateTimeOffset
      offsetMinutes = moment.offsetMinutes
      picoseconds =
        Int128(moment.secondsSince1970) * Self.second + Int128(moment.local.time.picoseconds)
    case .date(let date):
      kind = .date
      picoseconds = Int128(date.daysSince1970) * 86_400 * Self.second
    case .timeOfDay(let time):
      kind = .timeOfDay
      picoseconds = Int128(time.secondsSinceMidnight) * Self.second + Int128(time.picoseconds)
    case .time(let span), .duration(let span):
      kind = .duration
      let size = Int128(span.seconds) * Self.second + Int128(span.picoseconds)
      picoseconds = span.isNegative ? -size : size
    default: return nil
    }
  }

  private static func count(_ moment: EdmDateTime) -> Int128 {
    (Int128(moment.date.daysSince1970) * 86_400 + Int128(moment.time.secondsSinceMidnight)) * second
      + Int128(moment.time.picoseconds)
  }

  /// Nil beyond the calendar.
  var value: EdmValue? {
    if kind == .duration {
      guard let seconds = UInt64(exactly: picoseconds.magnitude / UInt128(Self.second)) else {
        return nil
      }
      return .duration(
        EdmDuration(
          seconds: seconds, picoseconds: UInt64(picoseconds.magnitude % UInt128(Self.second)),
          isNegative: picoseconds < 0))
    }
    let local = picoseconds + Int128(offsetMinutes) * 60 * Self.second
    let day = 86_400 * Self.second
    let days = (local >= 0 ? local : local - day + 1) / day
    let rest = local - days * day
    let seconds = Int64(rest / Self.second)
    guard let count = Int64(exactly: days), let date = EdmDate(daysSince1970: count),
      let time = EdmTimeOfDay(
        hour: UInt8(seconds / 3_600), minute: UInt8(seconds / 60 % 60), second: UInt8(seconds % 60),
        picoseconds: UInt64(rest % Self.second))
    else { return nil }
    switch kind {
    case .date: return .date(date)
    case .timeOfDay: return .timeOfDay(time)
    case .dateTime: return .dateTime(EdmDateTime(date, time))
    default:
      return EdmDateTimeOffset(EdmDateTime(date, time), offsetMinutes: offsetMinutes)
        .map { .dateTimeOffset($0) }
    }
  }
}
