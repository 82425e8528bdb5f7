/// Reads the parts of dates, times and numbers from the bytes of one text.
struct EdmTextScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position: Int
  private let end: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    var start = 0
    var end = bytes.count
    while start < end, Self.isSpace(bytes[start]) { start += 1 }
    while end > start, Self.isSpace(bytes[end - 1]) { end -= 1 }
    position = start
    self.end = end
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  var isAtEnd: Bool { position == end }

  /// All that is left, taken.
  var rest: String {
    mutating get {
      defer { position = end }
      return String(decoding: bytes[position..<end], as: UTF8.self)
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < end, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  /// Reads a whole text: nil when something is left.
  @inline(__always)
  static func whole<T>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout EdmTextScanner) -> T?
  ) -> T? {
    var scan = EdmTextScanner(bytes)
    guard let value = body(&scan), scan.isAtEnd else { return nil }
    return value
  }

  private mutating func takeAll(_ word: StaticString) -> Bool {
    end - position == word.utf8CodeUnitCount && take(word)
  }

  private mutating func take(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard end - position >= count else { return false }
    for index in 0..<count where bytes[position + index] != word.utf8Start[index] { return false }
    position += count
    return true
  }

  mutating func boolean() -> Bool? {
    if takeAll("true") || takeAll("1") || takeAll("True") || takeAll("TRUE") { return true }
    if takeAll("false") || takeAll("0") || takeAll("False") || takeAll("FALSE") { return false }
    return nil
  }

  mutating func integer() -> Int64? {
    let negative = take(UInt8(ascii: "-"))
    if !negative { _ = take(UInt8(ascii: "+")) }
    guard position < end else { return nil }
    var value: Int64 = 0
    // Eighteen digits never overflow.
    let safe = min(end, position + 18)
    while position < safe {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int64(digit)
      position += 1
    }
    if negative { value = -value }
    while position < end {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return nil }
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      let (sum, over2) =
        negative
        ? product.subtractingReportingOverflow(Int64(digit))
        : product.addingReportingOverflow(Int64(digit))
      if over || over2 { return nil }
      value = sum
      position += 1
    }
    return value
  }

  mutating func floating<T: BinaryFloatingPoint & LosslessStringConvertible>() -> T? {
    if T.self == Double.self, let value = shortDouble() { return T(value) }
    let text = rest
    switch text {
    case "INF", "Infinity": return T.infinity
    case "-INF", "-Infinity": return -T.infinity
    case "NaN": return T.nan
    default: break
    }
    guard let first = text.utf8.first,
      first == UInt8(ascii: "-") || first == UInt8(ascii: "+") || first == UInt8(ascii: ".")
        || (first >= 0x30 && first <= 0x39),
      text.utf8.allSatisfy({ ($0 >= 0x2B && $0 <= 0x39 && $0 != 0x2F) || $0 | 0x20 == 0x65 }),
      let value = T(text), value.isFinite
    else { return nil }
    return value
  }

  /// Numbers of at most fifteen digits and no exponent: both parts are exact, so their quotient is
  /// rounded once, which is what a correct reader does. Nil, with nothing taken, for all others.
  private mutating func shortDouble() -> Double? {
    var place = position
    let isNegative = place < end && bytes[place] == UInt8(ascii: "-")
    if isNegative { place += 1 }
    var mantissa: UInt64 = 0
    var count = 0
    var point = -1
    while place < end {
      let byte = bytes[place]
      let digit = byte &- 0x30
      if digit < 10 {
        mantissa = mantissa &* 10 &+ UInt64(digit)
        count += 1
      } else if byte == UInt8(ascii: "."), point < 0, count > 0 {
        point = count
      } else {
        return nil
      }
      place += 1
    }
    guard count > 0, count <= 15, point != count else { return nil }
    position = end
    let scale = point < 0 ? 0 : count - point
    let value = Double(mantissa) / Self.powers[scale]
    return isNegative ? -value : value
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  mutating func decimal() -> EdmDecimal? {
    let text = UnsafeBufferPointer(rebasing: bytes[position..<end])
    position = end
    return EdmDecimal(bytes: text)
  }

  mutating func guid() -> EdmGuid? {
    guard end - position == 36 else { return nil }
    let found = EdmGuid(bytes: UnsafeBufferPointer(rebasing: bytes[position..<end]))
    position = end
    return found
  }

  /// The time of `/Date(1234)/`, and the minutes of `/Date(1234+0060)/`; slashes may be escaped.
  /// With an offset the milliseconds are those of the clock there, as all writers of V2 mean it.
  mutating func verboseDate() -> (EdmDateTime, Int16?)? {
    _ = take(UInt8(ascii: "\\"))
    guard take("/Date(") else { return nil }
    let isNegative = take(UInt8(ascii: "-"))
    guard let size = number() else { return nil }
    var minutes: Int16?
    let east = take(UInt8(ascii: "+"))
    if east || take(UInt8(ascii: "-")) {
      guard let offset = number().flatMap({ Int16(exactly: east ? $0 : -$0) }) else { return nil }
      minutes = offset
    }
    guard take(UInt8(ascii: ")")) else { return nil }
    _ = take(UInt8(ascii: "\\"))
    guard take(UInt8(ascii: "/")),
      let time = EdmDateTime(milliseconds: isNegative ? -size : size)
    else { return nil }
    return (time, minutes)
  }

  /// Digits as far as they go, at most eighteen.
  private mutating func number() -> Int64? {
    let start = position
    // Eighteen digits never overflow.
    let safe = min(end, position + 18)
    var value: Int64 = 0
    while position < safe {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return position > start ? value : nil }
      value = value &* 10 &+ Int64(digit)
      position += 1
    }
    let goesOn = position < end && bytes[position] &- 0x30 < 10
    return position > start && !goesOn ? value : nil
  }

  private var isVerboseDate: Bool {
    position < end
      && (bytes[position] == UInt8(ascii: "/") || bytes[position] == UInt8(ascii: "\\"))
  }

  /// A date-time without a zone, as Atom or verbose JSON writes it.
  mutating func anyDateTime() -> EdmDateTime? {
    if isVerboseDate { return verboseDate()?.0 }
    guard let value = dateTime() else { return nil }
    // A zone that should not be there: UTC is what services mean by it.
    if let offset = offset(), offset != 0 { return nil }
    return value
  }

  /// A date-time with its zone, as Atom, V4 or verbose JSON writes it.
  mutating func anyDateTimeOffset() -> EdmDateTimeOffset? {
    if isVerboseDate {
      guard let (time, minutes) = verboseDate() else { return nil }
      return EdmDateTimeOffset(time, offsetMinutes: minutes ?? 0)
    }
    guard let value = dateTime(), let offset = isAtEnd ? 0 : offset() else { return nil }
    return EdmDateTimeOffset(value, offsetMinutes: offset)
  }

  private mutating func digits(_ count: Int) -> Int? {
    guard end - position >= count else { return nil }
    var value = 0
    for _ in 0..<count {
      let byte = bytes[position]
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      value = value * 10 + Int(byte - 0x30)
      position += 1
    }
    return value
  }

  /// The digits after the point: one to twelve; more are no value.
  private mutating func fraction() -> UInt64? {
    var value: UInt64 = 0
    var count = 0
    while position < end, bytes[position] >= 0x30, bytes[position] <= 0x39 {
      guard count < 12 else { return nil }
      value = value * 10 + UInt64(bytes[position] - 0x30)
      count += 1
      position += 1
    }
    guard count > 0 else { return nil }
    for _ in count..<12 { value *= 10 }
    return value
  }

  mutating func date() -> EdmDate? {
    let negative = take(UInt8(ascii: "-"))
    var year = 0
    var count = 0
    while position < end, bytes[position] >= 0x30, bytes[position] <= 0x39 {
      guard count < 9 else { return nil }
      year = year * 10 + Int(bytes[position] - 0x30)
      count += 1
      position += 1
    }
    guard count >= 4, take(UInt8(ascii: "-")), let month = digits(2), take(UInt8(ascii: "-")),
      let day = digits(2)
    else { return nil }
    return EdmDate(year: Int32(negative ? -year : year), month: UInt8(month), day: UInt8(day))
  }

  mutating func timeOfDay() -> EdmTimeOfDay? {
    guard let hour = digits(2), take(UInt8(ascii: ":")), let minute = digits(2) else { return nil }
    var second = 0
    var picoseconds: UInt64 = 0
    if take(UInt8(ascii: ":")) {
      guard let whole = digits(2) else { return nil }
      second = whole
      if take(UInt8(ascii: ".")) {
        guard let part = fraction() else { return nil }
        picoseconds = part
      }
    }
    return EdmTimeOfDay(
      hour: UInt8(hour), minute: UInt8(minute), second: UInt8(second), picoseconds: picoseconds)
  }

  mutating func dateTime() -> EdmDateTime? {
    guard let date = date(), take(UInt8(ascii: "T")) || take(UInt8(ascii: "t")),
      let time = timeOfDay()
    else { return nil }
    return EdmDateTime(date, time)
  }

  /// `Z`, `+01:00`, `-05:30`; nil when none stands there.
  mutating func offset() -> Int16? {
    if take(UInt8(ascii: "Z")) || take(UInt8(ascii: "z")) { return 0 }
    let east = take(UInt8(ascii: "+"))
    guard east || take(UInt8(ascii: "-")), let hours = digits(2), take(UInt8(ascii: ":")),
      let minutes = digits(2), minutes < 60
    else { return nil }
    let total = Int16(hours * 60 + minutes)
    return east ? total : -total
  }

  /// `P1DT2H3M4.5S`; years and months only when they are zero, for they have no fixed length.
  mutating func duration() -> EdmDuration? {
    let negative = take(UInt8(ascii: "-"))
    guard take(UInt8(ascii: "P")) else { return nil }
    var total: UInt64 = 0
    var picoseconds: UInt64 = 0
    var inTime = false
    var parts = 0
    var lastRank = -1
    while position < end {
      if take(UInt8(ascii: "T")) {
        guard !inTime, position < end else { return nil }
        inTime = true
        continue
      }
      var value: UInt64 = 0
      let start = position
      while position < end, bytes[position] >= 0x30, bytes[position] <= 0x39 {
        let (product, over) = value.multipliedReportingOverflow(by: 10)
        let (sum, over2) = product.addingReportingOverflow(UInt64(bytes[position] - 0x30))
        if over || over2 { return nil }
        value = sum
        position += 1
      }
      guard position > start, position < end else { return nil }
      var hasFraction = false
      if take(UInt8(ascii: ".")) {
        guard let part = fraction() else { return nil }
        picoseconds = part
        hasFraction = true
      }
      guard position < end else { return nil }
      let unit = bytes[position]
      position += 1
      let rank: Int
      let size: UInt64
      switch (unit, inTime) {
      case (UInt8(ascii: "Y"), false): (rank, size) = (0, 0)
      case (UInt8(ascii: "M"), false): (rank, size) = (1, 0)
      case (UInt8(ascii: "D"), false): (rank, size) = (2, 86_400)
      case (UInt8(ascii: "H"), true): (rank, size) = (3, 3_600)
      case (UInt8(ascii: "M"), true): (rank, size) = (4, 60)
      case (UInt8(ascii: "S"), true): (rank, size) = (5, 1)
      default: return nil
      }
      guard rank > lastRank, !hasFraction || rank == 5, size > 0 || value == 0 else { return nil }
      lastRank = rank
      parts += 1
      let (product, over) = value.multipliedReportingOverflow(by: size)
      let (sum, over2) = total.addingReportingOverflow(product)
      if over || over2 { return nil }
      total = sum
    }
    guard parts > 0 else { return nil }
    return EdmDuration(seconds: total, picoseconds: picoseconds, isNegative: negative)
  }
}
