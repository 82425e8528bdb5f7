import FerryText

/// A calendar date in the proleptic Gregorian calendar.
public struct EdmDate: Sendable, Hashable, Comparable {
  /// Astronomical: the year before 1 is 0.
  public var year: Int32
  /// 1 for January to 12.
  public var month: UInt8
  /// 1 to 31, as the month allows.
  public var day: UInt8

  /// Nil when there is no such day.
  public init?(year: Int32, month: UInt8, day: UInt8) {
    guard month >= 1, month <= 12, day >= 1, day <= Self.days(in: month, of: year) else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Days since 1970-01-01; nil beyond the years that `Int32` holds.
  public init?(daysSince1970 days: Int64) {
    guard days.magnitude < 700_000_000_000 else { return nil }
    let found = CivilDay(number: days)
    guard let year = Int32(exactly: found.year) else { return nil }
    self.year = year
    month = UInt8(found.month)
    day = UInt8(found.day)
  }

  /// Negative for dates before 1970-01-01.
  public var daysSince1970: Int64 {
    CivilDay.number(year: Int64(year), month: Int64(month), day: Int64(day))
  }

  public static func < (left: EdmDate, right: EdmDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  static func days(in month: UInt8, of year: Int32) -> UInt8 {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// A time of day with up to twelve fractional digits.
public struct EdmTimeOfDay: Sendable, Hashable, Comparable {
  /// 0 to 23.
  public var hour: UInt8
  /// 0 to 59.
  public var minute: UInt8
  /// 0 to 59; there are no leap seconds.
  public var second: UInt8
  /// Millionths of a millionth of a second.
  public var picoseconds: UInt64

  /// Nil when there is no such time; a leap second is none.
  public init?(hour: UInt8, minute: UInt8, second: UInt8 = 0, picoseconds: UInt64 = 0) {
    guard hour < 24, minute < 60, second < 60, picoseconds < 1_000_000_000_000 else { return nil }
    (self.hour, self.minute, self.second) = (hour, minute, second)
    self.picoseconds = picoseconds
  }

  /// Whole seconds, without the fraction; 0 to 86,399.
  public var secondsSinceMidnight: Int64 {
    Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second)
  }

  public static func < (left: EdmTimeOfDay, right: EdmTimeOfDay) -> Bool {
    (left.secondsSinceMidnight, left.picoseconds) < (right.secondsSinceMidnight, right.picoseconds)
  }
}

/// A date and time without a zone, as `Edm.DateTime` of V2 and V3 means it.
public struct EdmDateTime: Sendable, Hashable, Comparable {
  /// The calendar day, in no zone.
  public var date: EdmDate
  /// The time on that day, in no zone.
  public var time: EdmTimeOfDay

  /// Any date goes with any time.
  public init(_ date: EdmDate, _ time: EdmTimeOfDay) { (self.date, self.time) = (date, time) }

  /// Milliseconds since 1970, as verbose JSON writes them; nil beyond the calendar.
  public init?(milliseconds: Int64) {
    let (whole, part) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let days = part < 0 ? whole - 1 : whole
    let rest = part < 0 ? part + 86_400_000 : part
    let seconds = rest / 1_000
    guard let date = EdmDate(daysSince1970: days),
      let time = EdmTimeOfDay(
        hour: UInt8(seconds / 3_600), minute: UInt8(seconds / 60 % 60),
        second: UInt8(seconds % 60), picoseconds: UInt64(rest % 1_000) * 1_000_000_000)
    else { return nil }
    self.init(date, time)
  }

  /// Milliseconds since 1970, and whether that is all there is; of years that 64 bits do not
  /// reach, the last or first millisecond that they do.
  public var milliseconds: (value: Int64, exact: Bool) {
    let seconds = date.daysSince1970 * 86_400 + time.secondsSinceMidnight
    let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, isOver) = whole.addingReportingOverflow(Int64(time.picoseconds / 1_000_000_000))
    guard !isFar && !isOver else { return (seconds < 0 ? .min : .max, false) }
    return (sum, time.picoseconds % 1_000_000_000 == 0)
  }

  public static func < (left: EdmDateTime, right: EdmDateTime) -> Bool {
    left.date == right.date ? left.time < right.time : left.date < right.date
  }
}

/// A date and time with its distance from UTC, kept as it was written.
public struct EdmDateTimeOffset: Sendable, Hashable {
  /// The time on the clock there.
  public var local: EdmDateTime
  /// East of Greenwich is positive; up to 14 hours either way.
  public var offsetMinutes: Int16

  /// Nil when the offset is more than 14 hours either way.
  public init?(_ local: EdmDateTime, offsetMinutes: Int16 = 0) {
    guard offsetMinutes.magnitude <= 14 * 60 else { return nil }
    (self.local, self.offsetMinutes) = (local, offsetMinutes)
  }

  /// Seconds since 1970 in UTC, without the fraction.
  public var secondsSince1970: Int64 {
    local.date.daysSince1970 * 86_400 + local.time.secondsSinceMidnight - Int64(offsetMinutes) * 60
  }
}

/// A span of time in days and smaller, with up to twelve fractional digits of a second.
public struct EdmDuration: Sendable, Hashable, Comparable {
  /// True for a span like `-P1D`; never for zero.
  public var isNegative: Bool
  /// Whole seconds, without a sign; days count 86,400.
  public var seconds: UInt64
  /// Millionths of a millionth of a second, less than a second.
  public var picoseconds: UInt64

  /// Nothing is never negative.
  public init(seconds: UInt64, picoseconds: UInt64 = 0, isNegative: Bool = false) {
    self.seconds = seconds
    self.picoseconds = picoseconds
    self.isNegative = isNegative && (seconds > 0 || picoseconds > 0)
  }

  public static func < (left: EdmDuration, right: EdmDuration) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    let less = (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    return left.isNegative ? left != right && !less : less
  }
}
