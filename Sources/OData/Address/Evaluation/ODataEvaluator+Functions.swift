import FerryOData

extension ODataEvaluator {
  /// A function of values; null where one of them is, except for none.
  func call(_ function: ODataFunction, _ values: [EdmValue]) throws(AddressFault) -> EdmValue {
    guard function.arity.contains(values.count) else {
      throw AddressFault(.typeMismatch, "\(function.rawValue) of \(values.count) values")
    }
    if values.contains(where: \.isNull) { return .null }
    switch function {
    case .minDateTime: return EdmValue(text: "0001-01-01T00:00:00Z", type: .dateTimeOffset) ?? .null
    case .maxDateTime:
      return EdmValue(text: "9999-12-31T23:59:59.999999999999Z", type: .dateTimeOffset) ?? .null
    case .now:
      guard let now else {
        throw AddressFault(
          .notOffered, "now() needs a clock", hint: "set now of the evaluator")
      }
      return .dateTimeOffset(now)
    case .year, .month, .day, .hour, .minute, .second, .fractionalSeconds, .date, .time,
      .totalSeconds, .totalOffsetMinutes:
      return try calendar(function, values[0])
    case .round, .floor, .ceiling: return try rounded(function, values[0])
    case .geoDistance, .geoLength, .geoIntersects: return try spatial(function, values)
    default: break
    }
    if case .collection(let members) = values[0] {
      return try collection(function, members, Array(values.dropFirst()))
    }
    return try text(function, values)
  }

  func mismatch(_ function: ODataFunction, _ value: EdmValue) -> AddressFault {
    AddressFault(
      .typeMismatch, "\(function.rawValue) of \(ValueOrder.name(value))",
      hint: "give it a value of its type, or cast it")
  }

  private func text(
    _ function: ODataFunction, _ values: [EdmValue]
  ) throws(AddressFault) -> EdmValue {
    guard let text = values[0].string else { throw mismatch(function, values[0]) }
    switch function {
    case .length: return .int32(Int32(clamping: text.unicodeScalars.count))
    case .toLower: return .string(text.lowercased())
    case .toUpper: return .string(text.uppercased())
    case .trim: return .string(Self.trimmed(text))
    case .substring:
      let scalars = Array(text.unicodeScalars)
      guard let start = values[1].integer, let length = values.last?.integer else {
        throw mismatch(function, values[1])
      }
      var part = String.UnicodeScalarView()
      part.append(
        contentsOf: try slice(scalars[...], from: start, values.count > 2 ? length : nil))
      return .string(String(part))
    default: break
    }
    guard let other = values[1].string else { throw mismatch(function, values[1]) }
    let (bytes, part) = (Array(text.utf8), Array(other.utf8))
    switch function {
    case .startsWith: return .boolean(bytes.starts(with: part))
    case .endsWith: return .boolean(bytes.reversed().starts(with: part.reversed()))
    case .contains: return .boolean(part.isEmpty || bytes.firstRange(of: part) != nil)
    case .indexOf:
      if part.isEmpty { return .int32(0) }
      guard let place = bytes.firstRange(of: part)?.lowerBound else { return .int32(-1) }
      let before = bytes[..<place].count { $0 & 0xC0 != 0x80 }
      return .int32(Int32(clamping: before))
    case .concat: return .string(text + other)
    case .replace:
      guard let replacement = values[2].string else { throw mismatch(function, values[2]) }
      if part.isEmpty { return values[0] }
      return .string(Self.replaced(bytes, part, Array(replacement.utf8)))
    case .matchesPattern:
      guard let matches else {
        return .boolean(try patterns.pattern(other).isFound(in: text))
      }
      do { return .boolean(try matches(text, other)) } catch { throw AddressFault(error) }
    default: throw mismatch(function, values[0])
    }
  }

  /// The members from a place on, at most so many.
  private func slice<Member>(
    _ members: ArraySlice<Member>, from start: Int64, _ length: Int64?
  ) throws(AddressFault) -> ArraySlice<Member> {
    guard start >= 0, length ?? 0 >= 0 else {
      throw AddressFault(
        .evaluation,
        "substring cannot start at \(start)\(length.map { " with the length \($0)" } ?? "")",
        hint: "give numbers from 0")
    }
    return members.dropFirst(Int(clamping: start)).prefix(length.map { Int(clamping: $0) } ?? .max)
  }

  /// By bytes, as everything here compares texts: a letter before a combining mark is one as well.
  private static func replaced(_ text: [UInt8], _ part: [UInt8], _ new: [UInt8]) -> String {
    var made: [UInt8] = []
    var rest = text[...]
    while let range = rest.firstRange(of: part) {
      made += rest[..<range.lowerBound]
      made += new
      rest = rest[range.upperBound...]
    }
    return String(decoding: made + rest, as: UTF8.self)
  }

  private static func trimmed(_ text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
    guard let first = scalars.firstIndex(where: { !isBlank($0) }),
      let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: scalars[first...last])
    return String(kept)
  }

  private func collection(
    _ function: ODataFunction, _ members: [EdmValue], _ others: [EdmValue]
  ) throws(AddressFault) -> EdmValue {
    if function == .length { return .int32(Int32(clamping: members.count)) }
    if function == .substring, let start = others.first?.integer, let length = others.last?.integer
    {
      return .collection(
        Array(try slice(members[...], from: start, others.count > 1 ? length : nil)))
    }
    guard let other = others.first?.collection else {
      throw mismatch(function, others.first ?? .null)
    }
    func isRun(_ start: Int) throws(AddressFault) -> Bool {
      guard start >= 0, start + other.count <= members.count else { return false }
      for index in other.indices where try !isEqual(members[start + index], other[index]) {
        return false
      }
      return true
    }
    switch function {
    case .concat: return .collection(members + other)
    case .startsWith: return .boolean(try isRun(0))
    case .endsWith: return .boolean(try isRun(members.count - other.count))
    case .contains, .indexOf:
      var found = -1
      for start in 0...members.count where found < 0 {
        if try isRun(start) { found = start }
      }
      return function == .indexOf ? .int32(Int32(clamping: found)) : .boolean(found >= 0)
    case .hasSubset:
      var rest = members
      for wanted in other {
        var place: Int?
        for index in rest.indices where place == nil {
          if try isEqual(rest[index], wanted) { place = index }
        }
        guard let place else { return .boolean(false) }
        rest.remove(at: place)
      }
      return .boolean(true)
    case .hasSubsequence:
      var place = 0
      for wanted in other {
        while place < members.count, try !isEqual(members[place], wanted) { place += 1 }
        guard place < members.count else { return .boolean(false) }
        place += 1
      }
      return .boolean(true)
    default: throw mismatch(function, .collection(members))
    }
  }

  private func rounded(
    _ function: ODataFunction, _ value: EdmValue
  ) throws(AddressFault) -> EdmValue {
    switch Number(value) {
    case .whole: return value
    case .decimal(let number): return .decimal(number.rounded(function).value)
    case .binary, .narrow:
      let number = value.approximate ?? .nan
      let rule: FloatingPointRoundingRule =
        function == .floor ? .down : function == .ceiling ? .up : .toNearestOrAwayFromZero
      if case .single = value { return .single(Float(number.rounded(rule))) }
      return .double(number.rounded(rule))
    case nil: throw mismatch(function, value)
    }
  }

  private func calendar(
    _ function: ODataFunction, _ value: EdmValue
  ) throws(AddressFault) -> EdmValue {
    var date: EdmDate?
    var time: EdmTimeOfDay?
    switch value {
    case .date(let day): date = day
    case .timeOfDay(let clock): time = clock
    case .dateTime(let moment): (date, time) = (moment.date, moment.time)
    case .dateTimeOffset(let moment):
      if function == .totalOffsetMinutes { return .int32(Int32(moment.offsetMinutes)) }
      (date, time) = (moment.local.date, moment.local.time)
    case .time(let span), .duration(let span):
      if function == .totalSeconds {
        let sign = span.isNegative ? "-" : ""
        let parts = DecimalNumber(
          Int128(span.seconds) * Moment.second + Int128(span.picoseconds), exponent: -12)
        return .decimal(EdmDecimal(sign + parts.value.text) ?? 0)
      }
      if case .time = value {
        let rest = span.seconds % 86_400
        time = EdmTimeOfDay(
          hour: UInt8(rest / 3_600), minute: UInt8(rest / 60 % 60), second: UInt8(rest % 60),
          picoseconds: span.picoseconds)
      }
    default: break
    }
    switch (function, date, time) {
    case (.year, let date?, _): return .int32(date.year)
    case (.month, let date?, _): return .int32(Int32(date.month))
    case (.day, let date?, _): return .int32(Int32(date.day))
    case (.date, let date?, _): return .date(date)
    case (.hour, _, let time?): return .int32(Int32(time.hour))
    case (.minute, _, let time?): return .int32(Int32(time.minute))
    case (.second, _, let time?): return .int32(Int32(time.second))
    case (.time, _, let time?): return .timeOfDay(time)
    case (.fractionalSeconds, _, let time?):
      return .decimal(DecimalNumber(Int128(time.picoseconds), exponent: -12).value)
    default: throw mismatch(function, value)
    }
  }

  /// The value as another type; null where it is none.
  func cast(
    _ result: Result?, _ type: EdmTypeReference, _ scope: Scope
  ) throws(AddressFault) -> Result {
    let result = result ?? .entity(scope.entry)
    if type.isCollection {
      let member = EdmTypeReference(type.name)
      switch result {
      case .value(.null): return result
      case .value(.collection(let values)):
        var made: [EdmValue] = []
        for value in values {
          made.append(try plain(cast(.value(value), member, scope)))
        }
        return .value(.collection(made))
      case .entities where isOf(result, type): return result
      default:
        throw AddressFault(
          .notOffered, "only a collection of values can be cast to \(type)",
          hint: "cast a collection of values")
      }
    }
    guard let primitive = metadata?.primitive(type.name) ?? EdmPrimitive(rawValue: type.name),
      case .value(let value) = result
    else { return isOf(result, type) ? result : .value(.null) }
    if value.isNull || value.primitive == primitive { return result }
    if primitive == .string {
      return .value(value.primitive == nil && value.text.isEmpty ? .null : .string(value.text))
    }
    if let number = Number(value), primitive.isWhole {
      let whole = number.decimal ?? DecimalNumber(EdmDecimal("\(number.binary)") ?? 0)
      let text = whole?.truncated.value.plainText() ?? ""
      return .value(EdmValue(text: text, type: primitive) ?? .null)
    }
    return .value(EdmValue(text: value.text, type: primitive) ?? .null)
  }
}

extension EdmPrimitive {
  fileprivate var isWhole: Bool {
    switch self {
    case .byte, .sbyte, .int16, .int32, .int64: true
    default: false
    }
  }
}

extension DecimalNumber {
  fileprivate var truncated: DecimalNumber { rounded(isNegative ? .ceiling : .floor) }
}
