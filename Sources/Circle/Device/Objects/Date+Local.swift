import FerryModel
import FerryWorld

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#elseif canImport(Foundation)
  public import Foundation
#endif

#if canImport(FoundationEssentials) || canImport(Foundation)
  // Values of the model say what a calendar on the wall says, without a zone; a `Date` is a moment. From
  // one to the other takes a time zone, which is the app's choice: that of the device
  // (`TimeZone.current`), of the customer, of the company. The calendar is the proleptic Gregorian one,
  // as in SQL. Bytes need nothing of the kind: `Data(photo.thumbnail)`, `Array(data)`.

  extension Date {
    /// The same moment, to the millisecond; less exact beyond the year 200,000.
    public init(_ moment: Timestamp) {
      // As `Double`, which every moment fits in.
      self.init(
        timeIntervalSinceReferenceDate: (Double(moment.milliseconds) - Double(LocalClock.reference))
          / 1000)
    }

    /// The moment at which a clock in this zone shows this date and time.
    ///
    /// In the night in which clocks go back, some times occur twice: the result is the first of
    /// both. In the night in which clocks go forward, some times do not occur: 02:30 becomes 03:30.
    /// Digits below the microsecond are lost; before 1865 and after 2137 a few more.
    public init(_ local: LocalDateTime, in zone: TimeZone) {
      let shown = LocalClock.seconds(of: local)
      func offset(at seconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
      }
      let (before, after) = (offset(at: shown - 86_400), offset(at: shown + 86_400))
      let isAfter =
        offset(at: shown - before) != before && offset(at: shown - after) == after
      let seconds = shown - (isAfter ? after : before) - LocalClock.reference / 1000
      // Rounded once, so that what `LocalDateTime` reads of it is what was given.
      self.init(
        timeIntervalSinceReferenceDate: Double(seconds) + Double(local.time.nanosecond) / 1e9)
    }

    /// The first moment of this day in this zone.
    public init(_ day: LocalDate, in zone: TimeZone) {
      self.init(LocalDateTime(date: day, time: LocalTime(value: .null)), in: zone)
    }
  }

  extension Timestamp {
    /// The same moment, rounded to milliseconds. A moment outside of 64 bits becomes the first or
    /// last possible one. A date that is not a number (`.nan`) becomes the last one.
    public init(_ date: Date) {
      let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded()
      guard let known = Int64(exactly: milliseconds) else {
        let sum = milliseconds + Double(LocalClock.reference)
        self.init(milliseconds: Int64(exactly: sum) ?? (sum < 0 ? .min : .max))
        return
      }
      let (sum, isOver) = known.addingReportingOverflow(LocalClock.reference)
      self.init(milliseconds: isOver ? .max : sum)
    }
  }

  extension LocalDateTime {
    /// The date and time that a clock in this zone shows at this moment, to the microsecond; nil
    /// outside of the years 0 to 9999. In the night in which clocks go back two moments give the
    /// same result.
    public init?(_ date: Date, in zone: TimeZone) {
      let microseconds = (date.timeIntervalSinceReferenceDate * 1e6).rounded()
      guard let whole = Int64(exactly: microseconds) else { return nil }
      let moment = Date(timeIntervalSinceReferenceDate: Double(LocalClock.floor(whole, 1_000_000)))
      let (shown, isOver) = whole.addingReportingOverflow(
        LocalClock.reference * 1000 + Int64(zone.secondsFromGMT(for: moment)) * 1_000_000)
      guard !isOver, let local = LocalClock.local(microseconds: shown) else { return nil }
      self = local
    }
  }

  extension LocalDate {
    /// The date in this zone at this moment; nil outside of the years 0 to 9999.
    public init?(_ date: Date, in zone: TimeZone) {
      guard let local = LocalDateTime(date, in: zone) else { return nil }
      self = local.date
    }
  }

  extension LocalTime {
    /// The time of day that a clock in this zone shows at this moment; nil outside of the years 0
    /// to 9999.
    public init?(_ date: Date, in zone: TimeZone) {
      guard let local = LocalDateTime(date, in: zone) else { return nil }
      self = local.time
    }
  }

  /// Dates and times counted, as if all were in one zone.
  private enum LocalClock {
    /// Milliseconds from 1970 to 2001, from which a `Date` counts.
    static let reference: Int64 = 978_307_200_000

    static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
      let quotient = number / divisor
      return number % divisor < 0 ? quotient - 1 : quotient
    }

    /// Seconds since 1970; the nanoseconds stay behind.
    static func seconds(of local: LocalDateTime) -> Int64 {
      let time = local.time
      return local.date.daysSince1970 * 86_400
        + Int64(time.hour * 3600 + time.minute * 60 + time.second)
    }

    static func local(microseconds: Int64) -> LocalDateTime? {
      let days = floor(microseconds, 86_400_000_000)
      let rest = Int(microseconds - days * 86_400_000_000)
      let seconds = rest / 1_000_000
      guard
        let date = LocalDate(daysSince1970: days),
        let time = LocalTime(
          hour: seconds / 3600, minute: seconds / 60 % 60, second: seconds % 60,
          nanosecond: rest % 1_000_000 * 1000)
      else { return nil }
      return LocalDateTime(date: date, time: time)
    }
  }
#endif
