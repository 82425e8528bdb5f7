import FerryWorld
import Testing

@testable import FerryServer

/// When a device hears of which groups, on a channel that brings no rows (facts/2.8).
@Suite struct NoticeMachineTests {
  private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }

  @Test(
    "A group is told at once the first time, and then at its interval; what nobody wants is not")
  func interval() {
    var machine = NoticeMachine(wanted: ["orders": 60, "master": 0])
    #expect(machine.due == nil)
    machine.note(["orders", "others"])
    #expect(machine.take(now: at(1)) == ["orders"])
    #expect(machine.due == nil)
    machine.note(["orders", "master"])
    #expect(machine.take(now: at(2)) == ["master"])
    #expect(machine.due == at(61))
    #expect(machine.take(now: at(60)).isEmpty)
    #expect(machine.take(now: at(61)) == ["orders"])
    machine.note(nil)
    #expect(machine.take(now: at(500)) == ["master", "orders"])
  }

  @Test("An interval of any size is no overflow, and without a wish nothing is kept")
  func edges() {
    var machine = NoticeMachine(wanted: ["orders": .max, "master": .min])
    machine.note(nil)
    #expect(machine.take(now: at(1)).count == 2)
    machine.note(nil)
    #expect(machine.take(now: at(1)) == ["master"])
    #expect(machine.due != nil)
    var all = NoticeMachine(wanted: nil)
    all.note(["orders"])
    #expect(all.due == nil)
  }
}
