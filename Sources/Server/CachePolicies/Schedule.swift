import FerryWorld

/// Hours of the day at which something is done, by the clocks of a time zone. Pure.
///
/// Where the clocks jump over such an hour it is done as much later as they jumped. Where the hour comes
/// twice it is done the first time.
package struct Schedule: Sendable, Equatable {
  /// Seconds since midnight.
  package let times: [Int64]
  /// Monday is 1, Sunday 7.
  package let days: Set<Int64>
  package let zone: ZoneClock

  package static let everyDay: Set<Int64> = Set(1...7)

  package init(times: [Int64], days: Set<Int64> = Schedule.everyDay, zone: ZoneClock = .utc) {
    precondition(!times.isEmpty && !days.isEmpty, "a schedule without any hour")
    self.times = times.sorted()
    self.days = days
    self.zone = zone
  }

  private static let day: Int64 = 86_400

  /// The first moment after this one.
  package func next(after moment: Timestamp) -> Timestamp {
    let ahead = zone.secondsAhead(at: moment)
    let today = moment.advanced(by: .seconds(ahead)).day
    // A day back, for zones whose day is another one; nine ahead, for one day of the week.
    let candidates = (today - 1...today + 9).filter { days.contains(Schedule.weekday($0)) }
      .flatMap { day in times.map { self.moment(ofLocal: day * Schedule.day + $0) } }
    return candidates.filter { $0 > moment }.min() ?? moment.advanced(by: .seconds(Schedule.day))
  }

  /// The last day, counted from 1970 by the clocks of the zone, whose first hour has come at this
  /// moment. For a schedule of every day.
  package func lastDay(at moment: Timestamp) -> Int64 {
    // Clocks beyond the years 1 and 9999 are wrong anyhow.
    let moment = Timestamp(
      milliseconds: min(max(moment.milliseconds, -62_000_000_000_000), 253_000_000_000_000))
    let today = moment.advanced(by: .seconds(zone.secondsAhead(at: moment))).day
    let time = times.first ?? 0
    return (today - 1...today + 1).last {
      self.moment(ofLocal: $0 * Schedule.day + time) <= moment
    } ?? today - 2
  }

  /// The first of January 1970 was a Thursday.
  private static func weekday(_ day: Int64) -> Int64 { ((day + 3) % 7 + 7) % 7 + 1 }

  /// When the clocks of the zone show this, in seconds since 1970.
  private func moment(ofLocal seconds: Int64) -> Timestamp {
    func at(_ offset: Int64) -> Timestamp {
      Timestamp(milliseconds: (seconds - offset) * 1_000)
    }
    let before = zone.secondsAhead(at: at(Schedule.day))
    let after = zone.secondsAhead(at: at(-Schedule.day))
    let fitting = [before, after].filter { zone.secondsAhead(at: at($0)) == $0 }
    return fitting.map(at).min() ?? at(before)
  }
}
