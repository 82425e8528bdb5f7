import FerryTestTraits
import FerryWorld
import Testing

@testable import FerryCachePolicies

@Suite("When a cache group is read") struct CacheGroupMachineTests {
  private static let noon = Timestamp(milliseconds: 1_800_000_000_000)

  private func group(_ refresh: CacheGroup.Refresh) -> CacheGroupMachine {
    CacheGroupMachine(CacheGroup(name: "stock", entities: ["Item"], refresh: refresh))
  }

  private func second(_ seconds: Int64) -> Duration { .seconds(seconds) }

  @Test(
    "Within the interval rows are taken as they are; behind it all who ask share one load",
    .reference("facts/2.2"))
  func onDemand() {
    var machine = group(.onDemand(interval: .seconds(10)))
    #expect(machine.ask(at: second(0)) == .load(1), "nothing is known of what is there")
    #expect(machine.begin(at: second(0)) == 1)
    machine.end(1, failure: nil, at: second(1))
    #expect(machine.ask(at: second(9)) == .cached)
    for _ in 1...1_000 { #expect(machine.ask(at: second(10)) == .load(2)) }
    #expect(machine.begin(at: second(10)) == 2)
    #expect(machine.begin(at: second(10)) == nil, "one load at a time")
    #expect(machine.ask(at: second(12)) == .load(2), "who comes during the load shares it")
    #expect(!machine.isDone(2))
    machine.end(2, failure: nil, at: second(13))
    #expect(machine.isDone(2))
    #expect(machine.begin(at: second(14)) == nil, "and no further one begins")
    #expect(machine.age(at: second(14)) == .seconds(4), "the age counts from the load's beginning")
  }

  @Test("Interval 0: who asks during a load waits for the next one, and so do all others")
  func eachTime() {
    var machine = group(.onDemand(interval: .zero))
    #expect(machine.ask(at: second(1)) == .load(1))
    #expect(machine.begin(at: second(1)) == 1)
    for _ in 1...100 { #expect(machine.ask(at: second(2)) == .load(2)) }
    machine.end(1, failure: nil, at: second(3))
    #expect(!machine.isDone(2), "what was read before they asked is not theirs")
    #expect(machine.begin(at: second(3)) == 2)
    machine.end(2, failure: nil, at: second(4))
    #expect(machine.begin(at: second(4)) == nil)
  }

  @Test("A failing system is asked after a pause, and nobody waits meanwhile")
  func failing() {
    var machine = group(.onDemand(interval: .seconds(10)))
    _ = machine.ask(at: second(0))
    _ = machine.begin(at: second(0))
    machine.end(1, failure: "away", at: second(0))
    #expect(machine.isDone(1) && !machine.hasBrought(1) && machine.failure == "away")
    #expect(machine.ask(at: second(0)) == .away)
    #expect(machine.ask(at: second(1)) == .load(2))
    #expect(machine.begin(at: second(1)) == 2)
    machine.end(2, failure: "away", at: second(1))
    #expect(machine.ask(at: second(2)) == .away, "the pause grows")
    #expect(machine.ask(at: second(3)) == .load(3))
    _ = machine.begin(at: second(3))
    machine.end(3, failure: nil, at: second(4))
    #expect(machine.failure == nil)
    #expect(machine.ask(at: second(5)) == .cached)
  }

  @Test("A group that is suspended during its load lets everybody go, and is not read")
  func suspended() {
    var machine = group(.onDemand(interval: .zero))
    _ = machine.ask(at: second(0))
    _ = machine.begin(at: second(0))
    let isUnderWay = machine.suspend()
    #expect(isUnderWay)
    #expect(machine.isDone(1) && machine.state == .suspended)
    machine.end(1, failure: "suspended", at: second(1))
    #expect(machine.failure == nil, "that is no failure")
    #expect(machine.ask(at: second(2)) == .cached)
    #expect(machine.begin(at: second(2)) == nil)
    machine.resume()
    #expect(machine.ask(at: second(3)) == .load(2))
    #expect(machine.begin(at: second(3)) == 2)
  }

  @Test("A group that is resumed before its load has stopped waits for the next load")
  func resumedSoon() {
    var machine = group(.onDemand(interval: .seconds(10)))
    _ = machine.ask(at: second(0))
    _ = machine.begin(at: second(0))
    _ = machine.suspend()
    machine.resume()
    #expect(machine.ask(at: second(1)) == .load(2), "the load under way is given up")
    machine.end(1, failure: "suspended", at: second(2))
    #expect(machine.failure == nil)
    #expect(machine.begin(at: second(2)) == 2)
  }

  @Test("A scheduled group is read at its hour, once; devices never wait for it")
  func scheduled() {
    var machine = group(.scheduled(Schedule(times: [0])))
    machine.loadedWithAll(began: .zero)
    #expect(machine.ask(at: second(5)) == .cached)
    let midnight = Schedule(times: [0]).next(after: CacheGroupMachineTests.noon)
    _ = machine.advance(to: second(1), CacheGroupMachineTests.noon)
    _ = machine.advance(to: second(2), midnight.advanced(by: .seconds(-1)))
    #expect(machine.begin(at: second(2)) == nil)
    _ = machine.advance(to: second(3), midnight)
    #expect(machine.begin(at: second(3)) == 1)
    machine.end(1, failure: nil, at: second(4))
    _ = machine.advance(to: second(5), midnight.advanced(by: .seconds(2)))
    #expect(machine.begin(at: second(5)) == nil)
  }

  @Test("After a failed load a scheduled group is tried again before its next hour")
  func again() {
    var machine = group(.scheduled(Schedule(times: [0])))
    _ = machine.advance(to: second(0), CacheGroupMachineTests.noon)
    #expect(machine.begin(at: second(0)) == 1, "nothing is known of what is there")
    machine.end(1, failure: "away", at: second(0))
    #expect(machine.begin(at: second(0)) == nil)
    #expect(machine.begin(at: second(1)) == 2)
  }

  @Test("A clock that is set back a day: the schedule begins anew, and no hour is missed")
  func setBack() {
    var machine = group(.scheduled(Schedule(times: [0])))
    machine.loadedWithAll(began: .zero)
    let noon = CacheGroupMachineTests.noon
    _ = machine.advance(to: second(1), noon)
    let yesterday = noon.advanced(by: .seconds(-86_400))
    let isSetBack = machine.advance(to: second(2), yesterday)
    #expect(isSetBack, "the operator reads of it")
    let midnight = Schedule(times: [0]).next(after: yesterday)
    _ = machine.advance(to: second(3), midnight)
    #expect(machine.begin(at: second(3)) == 1)
    let isCorrected = machine.advance(to: second(4), midnight.advanced(by: .seconds(-30)))
    #expect(!isCorrected, "a correction by seconds does not count")
  }

  @Test("Ages do not follow the time of day: set back a day, rows get no younger")
  func ages() {
    var machine = group(.every(.seconds(60)))
    machine.loadedWithAll(began: .zero)
    _ = machine.advance(to: second(59), CacheGroupMachineTests.noon)
    #expect(machine.begin(at: second(59)) == nil)
    _ = machine.advance(
      to: second(60), CacheGroupMachineTests.noon.advanced(by: .seconds(-86_400)))
    #expect(machine.begin(at: second(60)) == 1)
  }

  @Test("An operation that invalidates: the next one who asks waits for a load that began after it")
  func invalidated() {
    var machine = group(.onDemand(interval: .seconds(3_600)))
    machine.loadedWithAll(began: second(0))
    #expect(machine.ask(at: second(5)) == .cached)
    machine.invalidate(at: second(6))
    #expect(machine.ask(at: second(7)) == .load(1))
    #expect(machine.begin(at: second(7)) == 1)
    machine.invalidate(at: second(8))
    #expect(machine.ask(at: second(9)) == .load(2), "what is being read may lack it")
    machine.end(1, failure: nil, at: second(9))
    #expect(machine.begin(at: second(10)) == 2)
    machine.end(2, failure: nil, at: second(11))
    #expect(machine.ask(at: second(12)) == .cached)
  }

  @Test("Other policies: what was read counts on, unless the group has other entities")
  func changed() {
    var machine = group(.onDemand(interval: .seconds(10)))
    machine.loadedWithAll(began: second(0))
    machine.change(
      to: CacheGroup(
        name: "stock", entities: ["Item"], refresh: .onDemand(interval: .seconds(5))))
    #expect(machine.ask(at: second(4)) == .cached)
    #expect(machine.ask(at: second(5)) == .load(1))
    machine.change(
      to: CacheGroup(
        name: "stock", entities: ["Item", "Shelf"], refresh: .onDemand(interval: .seconds(5))))
    #expect(machine.ask(at: second(1)) == .load(1))
  }
}
