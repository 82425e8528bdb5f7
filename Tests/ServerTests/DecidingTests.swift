import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Machines of the server, each decision by itself") struct DecidingTests {
  @Test("A cursor inside the floor's own version is below the floor; one at its end is not")
  func insideTheFloor() {
    #expect(WelcomeMachine.isBelow(Cursor(version: 5, row: 3), floor: 5))
    #expect(WelcomeMachine.isBelow(Cursor(version: 4, row: 9), floor: 5))
    #expect(!WelcomeMachine.isBelow(.end(of: 5), floor: 5))
    #expect(!WelcomeMachine.isBelow(.start, floor: 5))
  }

  @Test("A page cut inside the floor's version is downloaded anew")
  func resetInsideTheFloor() {
    let eras = EraList(eras: [EraList.Era(id: "now", firstVersion: 1)])
    let judgement = WelcomeMachine(eras: eras, clock: 9).judge(
      [WelcomeMachine.Partition(number: 1, group: "sales", floor: 5, count: 2)],
      positions: ["sales": WelcomeMachine.Position(era: "now", version: 5, stagedAt: 9)],
      applied: [:], staged: [1: Cursor(version: 5, row: 3)])
    #expect(judgement.reset == [1])
    #expect(judgement.cursors == [1: .start])
  }

  @Test(
    "A device that asks for no rows gives up the pages that wait for it where the server lost their state"
  )
  func pagesOfALostState() {
    let eras = EraList(eras: [
      EraList.Era(id: "before", firstVersion: 1), EraList.Era(id: "now", firstVersion: 6),
    ])
    func judged(_ era: String, version: Int64) -> WelcomeMachine.Judgement {
      WelcomeMachine(eras: eras, clock: 9).judge(
        [WelcomeMachine.Partition(number: 1, group: "sales", floor: 0, count: 2)],
        positions: [
          "sales": WelcomeMachine.Position(era: era, version: version, stagedAt: version)
        ], applied: [1: .start], staged: [:])
    }
    #expect(judged("before", version: 8).reset == [1])
    #expect(judged("before", version: 5).keep == [1])
    #expect(judged("now", version: 8).keep == [1])
  }

  @Test("Half an answer is doubted again after a whole one: two equal ones must follow each other")
  func doubtsEnd() {
    var machine = LoadMachine(massDeletionRows: 2)
    let half = [LoadMachine.Absence(partition: 1, rows: [4, 5, 6, 7, 8], liveRows: 8)]
    #expect(machine.judge(half).deleted.isEmpty)
    #expect(machine.judge([]).deleted.isEmpty)
    #expect(machine.judge(half) == LoadMachine.Verdict(deleted: [], doubted: [1]))
    #expect(machine.judge(half) == LoadMachine.Verdict(deleted: [4, 5, 6, 7, 8], doubted: []))
  }

  @Test("An answer comes with the checkpoint of its own synchronization group")
  func twoGroups() throws {
    let order = Shop.entity(
      "Order", [("id", .int, false), ("ship", .string, true)], key: [0], group: "sales")
    let visit = Shop.entity(
      "Visit", [("id", .int, false), ("text", .string, true)], key: [0], group: "field")
    let bench = try Bench(
      Package(
        name: "two", version: "1.0", entities: [order, visit],
        groups: [SynchronizationGroup(name: "sales"), SynchronizationGroup(name: "field")]))
    try bench.load()
    let device = try Device(bench).exchange()
    let change = bench.operation(
      visit, .create, ObjectKey([.integer(1)]), changed: [0: .integer(1), 1: .text("new")])
    device.open = [change.0]
    try device.exchange([change.1])
    try bench.replay()
    let before = device.messages.count
    try device.exchange()
    let told = device.messages[before...].compactMap { message -> String? in
      guard case .checkpoint(let checkpoint) = message, !checkpoint.answers.isEmpty else {
        return nil
      }
      return checkpoint.group
    }
    #expect(told == ["field"])
  }
}
