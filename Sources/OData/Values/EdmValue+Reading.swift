extension EdmValue {
  /// Reads the text that Atom, and strings of JSON, write for a primitive type.
  ///
  /// Returns nil when the text is no value of the type or out of its range. White space around
  /// anything but a string is allowed, as XML Schema does.
  public init?(text: String, type: EdmPrimitive) {
    var text = text
    guard let value = text.withUTF8({ EdmValue(bytes: $0, type: type) }) else { return nil }
    self = value
  }

  init?(bytes raw: UnsafeBufferPointer<UInt8>, type: EdmPrimitive) {
    if type == .string || type == .stream {
      guard let text = String(validating: raw, as: UTF8.self) else { return nil }
      self = .string(text)
      return
    }
    var scan = EdmTextScanner(raw)
    switch type {
    case .boolean:
      guard let value = scan.boolean() else { return nil }
      self = .boolean(value)
    case .byte:
      guard let value = scan.integer().flatMap({ UInt8(exactly: $0) }) else { return nil }
      self = .byte(value)
    case .sbyte:
      guard let value = scan.integer().flatMap({ Int8(exactly: $0) }) else { return nil }
      self = .sbyte(value)
    case .int16:
      guard let value = scan.integer().flatMap({ Int16(exactly: $0) }) else { return nil }
      self = .int16(value)
    case .int32:
      guard let value = scan.integer().flatMap({ Int32(exactly: $0) }) else { return nil }
      self = .int32(value)
    case .int64:
      guard let value = scan.integer() else { return nil }
      self = .int64(value)
    case .single:
      guard let value: Float = scan.floating() else { return nil }
      self = .single(value)
    case .double:
      guard let value: Double = scan.floating() else { return nil }
      self = .double(value)
    case .decimal:
      guard let value = EdmDecimal(scan.rest) else { return nil }
      self = .decimal(value)
    case .binary:
      guard let value = Base64.bytes(raw) else { return nil }
      self = .binary(value)
      return
    case .guid:
      guard let value = EdmGuid(scan.rest) else { return nil }
      self = .guid(value)
    case .dateTime:
      guard let value = scan.dateTime() else { return nil }
      // A zone that should not be there: UTC is what services mean by it.
      if let offset = scan.offset(), offset != 0 { return nil }
      self = .dateTime(value)
    case .dateTimeOffset:
      guard let value = scan.dateTime() else { return nil }
      guard let offset = scan.isAtEnd ? 0 : scan.offset(),
        let whole = EdmDateTimeOffset(value, offsetMinutes: offset)
      else { return nil }
      self = .dateTimeOffset(whole)
    case .time:
      if let value = scan.duration() {
        self = .time(value)
      } else {
        // Some writers put a time of day where the protocol wants a duration.
        scan = EdmTextScanner(raw)
        guard let clock = scan.timeOfDay() else { return nil }
        self = .time(
          EdmDuration(
            seconds: UInt64(clock.secondsSinceMidnight), picoseconds: clock.picoseconds))
      }
    case .duration:
      guard let value = scan.duration() else { return nil }
      self = .duration(value)
    case .date:
      guard let value = scan.date() else { return nil }
      self = .date(value)
    case .timeOfDay:
      guard let value = scan.timeOfDay() else { return nil }
      self = .timeOfDay(value)
    default: return nil
    }
    if !scan.isAtEnd { return nil }
  }

  /// Reads `/Date(1234)/` and `/Date(1234+0060)/` of verbose JSON as the type asked for.
  init?(verboseDate text: String, type: EdmPrimitive?) {
    guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
    let inner = text.dropFirst(6).dropLast(2)
    var split: Substring.Index?
    for index in inner.indices.dropFirst() where inner[index] == "+" || inner[index] == "-" {
      split = index
    }
    let head = split.map { inner[..<$0] } ?? inner
    guard let milliseconds = Int64(head) else { return nil }
    guard let split else {
      guard let utc = EdmDateTime(milliseconds: milliseconds) else { return nil }
      if type == .dateTimeOffset {
        guard let whole = EdmDateTimeOffset(utc) else { return nil }
        self = .dateTimeOffset(whole)
      } else {
        self = .dateTime(utc)
      }
      return
    }
    guard let minutes = Int16(inner[split...]),
      let shifted = Optional(milliseconds.addingReportingOverflow(Int64(minutes) * 60_000)),
      !shifted.overflow, let local = EdmDateTime(milliseconds: shifted.partialValue),
      let whole = EdmDateTimeOffset(local, offsetMinutes: minutes)
    else { return nil }
    self = type == .dateTime ? .dateTime(local) : .dateTimeOffset(whole)
  }
}

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

  mutating func boolean() -> Bool? {
    switch rest {
    case "true", "1": true
    case "false", "0": false
    case "True", "TRUE": true
    case "False", "FALSE": false
    default: nil
    }
  }

  mutating func integer() -> Int64? {
    let negative = take(UInt8(ascii: "-"))
    if !negative { _ = take(UInt8(ascii: "+")) }
    guard position < end else { return nil }
    var value: Int64 = 0
    while position < end {
      let byte = bytes[position]
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      let digit = Int64(byte - 0x30)
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      let (sum, over2) =
        negative
        ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if over || over2 { return nil }
      value = sum
      position += 1
    }
    return value
  }

  mutating func floating<T: BinaryFloatingPoint & LosslessStringConvertible>() -> T? {
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
