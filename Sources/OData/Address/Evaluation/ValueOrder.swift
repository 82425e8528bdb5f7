import FerryOData

/// How values compare, after numbers of different types were made alike.
extension ODataEvaluator {
  /// Null equals null only.
  func isEqual(_ left: EdmValue, _ right: EdmValue) throws(AddressFault) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.null, _), (_, .null): return false
    case (.boolean(let a), .boolean(let b)): return a == b
    case (.guid(let a), .guid(let b)): return a == b
    case (.binary(let a), .binary(let b)): return a == b
    case (.spatial(let a), .spatial(let b)): return a == b
    case (.enumeration, _), (_, .enumeration):
      guard let (a, b) = members(left, right) else { return try order(left, right) == 0 }
      if let a = a.number, let b = b.number { return a == b }
      if a.names == b.names { return true }
      guard a.isNamed, b.isNamed else { throw unknownMembers(left) }
      return false
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
    default: return try order(left, right) == 0
    }
  }

  /// Negative, zero or positive; nil where a NaN makes the question idle.
  func order(_ left: EdmValue, _ right: EdmValue) throws(AddressFault) -> Int? {
    if let a = Number(left), let b = Number(right) { return Number.compare(a, b) }
    if let (a, b) = moments(left, right) {
      return a.picoseconds < b.picoseconds ? -1 : a.picoseconds > b.picoseconds ? 1 : 0
    }
    if let (a, b) = members(left, right) {
      if let a = a.number, let b = b.number { return a < b ? -1 : a > b ? 1 : 0 }
      if a.names == b.names { return 0 }
      throw unknownMembers(left)
    }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      return a.utf8.elementsEqual(b.utf8) ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.boolean(let a), .boolean(let b)): return a == b ? 0 : b ? -1 : 1
    case (.guid(let a), .guid(let b)):
      return a == b ? 0 : (a.high, a.low) < (b.high, b.low) ? -1 : 1
    case (.binary(let a), .binary(let b)):
      return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    default:
      throw AddressFault(
        .typeMismatch,
        "\(ValueOrder.name(left)) cannot be compared with \(ValueOrder.name(right))",
        hint: "cast one of them")
    }
  }

  /// Two of one kind; a text beside a duration is one, as 4.01 lets it be written.
  private func moments(_ left: EdmValue, _ right: EdmValue) -> (Moment, Moment)? {
    func moment(_ value: EdmValue, beside other: Moment?) -> Moment? {
      guard case .string(let text) = value, other?.kind == .duration else { return Moment(value) }
      return EdmValue(text: text, type: .duration).flatMap { Moment($0) }
    }
    let (first, second) = (Moment(left), Moment(right))
    guard let a = moment(left, beside: second), let b = moment(right, beside: first),
      a.kind == b.kind
    else { return nil }
    return (a, b)
  }

  /// What an enumeration consists of.
  struct Flags {
    var names: Set<String>
    /// All of them added up; nil where one is not known.
    var number: Int64?
    /// Whether none is written as a number.
    var isNamed: Bool
  }

  /// The members of an enumeration, or of a text that stands beside one of the type; nil for others.
  func flags(_ value: EdmValue, _ beside: String) -> Flags? {
    let (text, own): (String, String)
    switch value {
    case .enumeration(let members, let type): (text, own) = (members, type)
    case .string(let members): (text, own) = (members, "")
    default: return nil
    }
    let names = text.split(separator: ",").map { $0.drop { $0 == " " } }
    let known = metadata?.enumType(own.isEmpty ? beside : own)?.members ?? []
    var sum: Int64? = 0
    for name in names {
      let number = Int64(name) ?? known.first { $0.name == name }?.value
      sum = number.flatMap { one in sum.map { $0 | one } }
    }
    return Flags(
      names: Set(names.map(String.init)), number: sum,
      isNamed: names.allSatisfy { Int64($0) == nil })
  }

  private func members(_ left: EdmValue, _ right: EdmValue) -> (Flags, Flags)? {
    var type = ""
    if case .enumeration(_, let own) = right { type = own }
    if case .enumeration(_, let own) = left, !own.isEmpty { type = own }
    switch (left, right) {
    case (.enumeration, _), (_, .enumeration):
      guard let a = flags(left, type), let b = flags(right, type) else { return nil }
      return (a, b)
    default: return nil
    }
  }

  func unknownMembers(_ value: EdmValue) -> AddressFault {
    AddressFault(
      .evaluation, "which numbers the members of \(ValueOrder.name(value)) have is not known",
      hint: "give the evaluator metadata that declares the enumeration")
  }

  /// For sorting: null first, NaN before numbers.
  func sortOrder(_ left: EdmValue, _ right: EdmValue) throws(AddressFault) -> Int {
    if left.isNull || right.isNull { return (left.isNull ? 0 : 1) - (right.isNull ? 0 : 1) }
    if let order = try order(left, right) { return order }
    let isNaN = { (value: EdmValue) in value.approximate?.isNaN == true }
    return (isNaN(left) ? 0 : 1) - (isNaN(right) ? 0 : 1)
  }
}

/// Names of values for refusals.
enum ValueOrder {
  static func name(_ value: EdmValue) -> String {
    switch value {
    case .collection: "a collection"
    case .complex: "a complex value"
    case .null: "null"
    case .enumeration(_, let type): type.isEmpty ? "an enumeration" : type
    default: value.primitive?.rawValue ?? "a value"
    }
  }
}

/// A number of any width.
enum Number {
  case whole(Int64)
  case decimal(DecimalNumber)
  case binary(Double)
  /// Of a single; beside a decimal, which is rounded to one, as numeric promotion has it.
  case narrow(Float)

  init?(_ value: EdmValue) {
    switch value {
    case .single(let number): self = .narrow(number)
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
    case .narrow(let value): Double(value)
    }
  }

  /// The nearest single where the other side is one and this is no double; nil otherwise.
  func narrowed(beside other: Number) -> Float? {
    switch (self, other) {
    case (.narrow(let value), _): value
    case (.decimal(let value), .narrow): Float(value.value.text)
    default: nil
    }
  }

  var decimal: DecimalNumber? {
    switch self {
    case .whole(let value): DecimalNumber(value)
    case .decimal(let value): value
    case .binary, .narrow: nil
    }
  }

  static func compare(_ left: Number, _ right: Number) -> Int? {
    if case .whole(let a) = left, case .whole(let b) = right { return a < b ? -1 : a > b ? 1 : 0 }
    if let a = left.decimal, let b = right.decimal { return DecimalNumber.compare(a, b) }
    if let a = left.narrowed(beside: right), let b = right.narrowed(beside: left) {
      return a.isNaN || b.isNaN ? nil : a < b ? -1 : a > b ? 1 : 0
    }
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
