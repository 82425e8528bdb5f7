import FerryText

/// A date of the calendar, without time or zone: SQL's DATE.
public struct LocalDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 0 to 9999.
  public let year: Int
  public let month: Int
  public let day: Int

  /// Nil when there is no such day.
  public init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= LocalDate.days(in: month, of: year)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Reads `2013-01-31`; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = Digits.number(bytes[0..<4]), let month = Digits.number(bytes[5..<7]),
      let day = Digits.number(bytes[8..<10])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  public var description: String {
    "\(Digits.padded(year, 4))-\(Digits.padded(month, 2))-\(Digits.padded(day, 2))"
  }

  public static func < (left: LocalDate, right: LocalDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// Days counted.
extension LocalDate {
  /// From the first day of the year 0 to the last of the year 9999.
  private static let counted: ClosedRange<Int64> = -719_528...2_932_896

  /// Days from 1 January 1970 to this one; before it negative.
  package var daysSince1970: Int64 {
    CivilDay.number(year: Int64(year), month: Int64(month), day: Int64(day))
  }

  /// Nil outside of the years 0 to 9999.
  package init?(daysSince1970 days: Int64) {
    guard LocalDate.counted.contains(days) else { return nil }
    let found = CivilDay(number: days)
    self.init(year: Int(found.year), month: Int(found.month), day: Int(found.day))
  }
}

/// A time of the day without zone, to the nanosecond: SQL's TIME.
public struct LocalTime: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let hour: Int
  public let minute: Int
  public let second: Int
  public let nanosecond: Int

  /// Nil when there is no such time.
  public init?(hour: Int, minute: Int, second: Int = 0, nanosecond: Int = 0) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
      (0...999_999_999).contains(nanosecond)
    else { return nil }
    self.hour = hour
    self.minute = minute
    self.second = second
    self.nanosecond = nanosecond
  }

  /// Reads `23:59`, `23:59:59` or `23:59:59.123456789`; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 5, bytes[2] == UInt8(ascii: ":"), let hour = Digits.number(bytes[0..<2]),
      let minute = Digits.number(bytes[3..<5])
    else { return nil }
    var second = 0
    var nanosecond = 0
    if bytes.count > 5 {
      guard bytes.count >= 8, bytes[5] == UInt8(ascii: ":"), let read = Digits.number(bytes[6..<8])
      else { return nil }
      second = read
    }
    if bytes.count > 8 {
      let fraction = bytes[9...]
      guard bytes[8] == UInt8(ascii: "."), (1...9).contains(fraction.count),
        let read = Digits.number(fraction)
      else { return nil }
      nanosecond = read
      for _ in fraction.count..<9 { nanosecond *= 10 }
    }
    self.init(hour: hour, minute: minute, second: second, nanosecond: nanosecond)
  }

  public var description: String {
    let whole = "\(Digits.padded(hour, 2)):\(Digits.padded(minute, 2)):\(Digits.padded(second, 2))"
    guard nanosecond > 0 else { return whole }
    var fraction = Digits.padded(nanosecond, 9)
    while fraction.last == "0" { fraction.removeLast() }
    return "\(whole).\(fraction)"
  }

  public static func < (left: LocalTime, right: LocalTime) -> Bool {
    (left.hour, left.minute, left.second, left.nanosecond)
      < (right.hour, right.minute, right.second, right.nanosecond)
  }
}

/// A date and a time of the day, without zone: SQL's TIMESTAMP.
public struct LocalDateTime: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let date: LocalDate
  public let time: LocalTime

  public init(date: LocalDate, time: LocalTime) {
    self.date = date
    self.time = time
  }

  /// Reads `2013-01-31T23:59:59` with an optional fraction; a blank for the T is read too.
  public init?(_ text: some StringProtocol) {
    let utf8 = Array(text.utf8)
    guard utf8.count >= 16, utf8[10] == UInt8(ascii: "T") || utf8[10] == UInt8(ascii: " "),
      let date = LocalDate(String(decoding: utf8[..<10], as: UTF8.self)),
      let time = LocalTime(String(decoding: utf8[11...], as: UTF8.self))
    else { return nil }
    self.init(date: date, time: time)
  }

  public var description: String { "\(date)T\(time)" }

  public static func < (left: LocalDateTime, right: LocalDateTime) -> Bool {
    (left.date, left.time) < (right.date, right.time)
  }
}

enum Digits {
  static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for byte in bytes {
      guard (48...57).contains(byte) else { return nil }
      number = number * 10 + Int(byte - 48)
    }
    return number
  }

  static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
