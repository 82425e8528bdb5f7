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
}
