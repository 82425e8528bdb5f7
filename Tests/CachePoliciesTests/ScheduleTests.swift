import FerryTestTraits
import FerryWorld
import Testing

@testable import FerryCachePolicies

/// Central Europe in 2026: summer time from 29 March to 25 October, at 01:00 UTC each.
private let zurich = ZoneClock(name: "Europe/Zurich") { moment in
  let (spring, autumn) = (at(2026, 3, 29, 1, 0), at(2026, 10, 25, 1, 0))
  return moment >= spring && moment < autumn ? 7_200 : 3_600
}

/// In UTC.
private func at(
  _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64
)
  -> Timestamp
{
  // Days since 1970 by the civil calendar.
  let (y, m) = month <= 2 ? (year - 1, month + 9) : (year, month - 3)
  let days =
    365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
  return Timestamp(milliseconds: ((days * 24 + hour) * 60 + minute) * 60_000)
}

@Suite("Hours of the day at which rows are read") struct ScheduleTests {
  private let early = Schedule(times: [9_000], zone: zurich)

  @Test("The next hour is today's, or tomorrow's once it has passed", .reference("facts/2.2"))
  func next() {
    let schedule = Schedule(times: [6 * 3_600, 18 * 3_600], zone: zurich)
    #expect(schedule.next(after: at(2026, 1, 10, 0, 0)) == at(2026, 1, 10, 5, 0))
    #expect(schedule.next(after: at(2026, 1, 10, 5, 0)) == at(2026, 1, 10, 17, 0))
    #expect(schedule.next(after: at(2026, 1, 10, 17, 0)) == at(2026, 1, 11, 5, 0))
    #expect(schedule.next(after: at(2026, 7, 10, 0, 0)) == at(2026, 7, 10, 4, 0), "summer time")
  }

  @Test("An hour that the clocks jump over is done as much later as they jumped")
  func jumpedOver() {
    let before = at(2026, 3, 28, 12, 0)
    #expect(early.next(after: before) == at(2026, 3, 29, 1, 30), "half past three, summer time")
    #expect(early.next(after: at(2026, 3, 29, 1, 30)) == at(2026, 3, 30, 0, 30))
  }

  @Test("An hour that comes twice is done the first time only")
  func twice() {
    let first = early.next(after: at(2026, 10, 24, 12, 0))
    #expect(first == at(2026, 10, 25, 0, 30), "half past two, summer time")
    #expect(early.next(after: first) == at(2026, 10, 26, 1, 30))
  }

  @Test("Only the named days of the week count")
  func days() {
    // The first of January 2026 was a Thursday.
    let monday = Schedule(times: [0], days: [1])
    #expect(monday.next(after: at(2026, 1, 1, 0, 0)) == at(2026, 1, 5, 0, 0))
    #expect(monday.next(after: at(2026, 1, 5, 0, 0)) == at(2026, 1, 12, 0, 0))
  }

  @Test("A zone far from UTC has another day")
  func far() {
    let kiritimati = ZoneClock(name: "Pacific/Kiritimati") { _ in 14 * 3_600 }
    let samoa = ZoneClock(name: "Pacific/Pago_Pago") { _ in -11 * 3_600 }
    let now = at(2026, 5, 1, 12, 0)
    let one = Schedule(times: [3_600], zone: kiritimati)
    #expect(one.next(after: now) == at(2026, 5, 2, 11, 0))
    let two = Schedule(times: [3_600], zone: samoa)
    #expect(two.next(after: now) == at(2026, 5, 2, 12, 0))
    #expect(two.next(after: at(2026, 5, 1, 11, 59)) == now)
  }

  @Test("The day of a schedule begins at its hour, by the clocks of the zone")
  func lastDay() {
    // 10 January 2026 was the day 20,463.
    let schedule = Schedule(times: [6 * 3_600], zone: zurich)
    #expect(schedule.lastDay(at: at(2026, 1, 10, 4, 59)) == 20_462)
    #expect(schedule.lastDay(at: at(2026, 1, 10, 5, 0)) == 20_463)
    #expect(schedule.lastDay(at: at(2026, 1, 11, 4, 59)) == 20_463)
    let midnight = Schedule(times: [0], zone: zurich)
    #expect(midnight.lastDay(at: at(2026, 1, 9, 22, 59)) == 20_462)
    #expect(midnight.lastDay(at: at(2026, 1, 9, 23, 0)) == 20_463)
    let late = Schedule(times: [86_340], zone: zurich)
    #expect(late.lastDay(at: at(2026, 1, 10, 22, 58)) == 20_462, "23:58")
    #expect(late.lastDay(at: at(2026, 1, 10, 22, 59)) == 20_463, "23:59")
  }

  @Test("A day whose hour the clocks jump over begins later; one whose hour comes twice, once")
  func lastDayOfSummerTime() {
    // 29 March 2026 was the day 20,541, 25 October the day 20,751.
    #expect(early.lastDay(at: at(2026, 3, 29, 0, 59)) == 20_540, "01:59")
    #expect(early.lastDay(at: at(2026, 3, 29, 1, 29)) == 20_540, "03:29")
    #expect(early.lastDay(at: at(2026, 3, 29, 1, 30)) == 20_541, "03:30")
    #expect(early.lastDay(at: at(2026, 10, 25, 0, 29)) == 20_750, "02:29 in summer time")
    #expect(early.lastDay(at: at(2026, 10, 25, 0, 30)) == 20_751, "02:30 in summer time")
    #expect(early.lastDay(at: at(2026, 10, 25, 1, 29)) == 20_751, "02:29 in winter time")
    #expect(early.lastDay(at: at(2026, 10, 25, 1, 30)) == 20_751, "02:30 in winter time")
    for hour in 0..<(366 * 24) as Range<Int64> {
      let moment = at(2026, 1, 1, hour, 0)
      let next = early.next(after: moment)
      #expect(early.lastDay(at: next) == early.lastDay(at: moment) + 1, "hour \(hour)")
    }
  }

  @Test("A day that a zone has left out, and clocks that show nonsense")
  func strangeDays() {
    // Samoa went from 29 to 31 December 2011, from 10 hours behind UTC to 14 ahead of it.
    let change = at(2011, 12, 30, 10, 0)
    let samoa = ZoneClock(name: "Pacific/Apia") { $0 < change ? -36_000 : 50_400 }
    let noon = Schedule(times: [43_200], zone: samoa)
    // 29 December 2011 was the day 15,337.
    #expect(noon.lastDay(at: at(2011, 12, 30, 9, 59)) == 15_337)
    #expect(noon.lastDay(at: change) == 15_337)
    #expect(noon.lastDay(at: at(2011, 12, 30, 22, 0)) == 15_339)
    for milliseconds in [Int64.min, Int64.max, 0] {
      _ = noon.lastDay(at: Timestamp(milliseconds: milliseconds))
    }
  }
}
