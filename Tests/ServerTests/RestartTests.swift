import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A start may be that of a store which was restored to an earlier state: what it had stored may
/// have been answered since.
@Suite("What a start does with what it finds") struct RestartTests {
  let bench: Bench
  let device: Device
  let ten = ObjectKey([.integer(10)])

  init() throws {
    bench = try Bench()
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
    device = try Device(bench).exchange()
  }

  private func ship(_ text: String) -> (OperationID, [UInt8]) {
    bench.operation(Shop.order, .update, ten, changed: [2: .text(text)])
  }

  private func send(_ operations: (OperationID, [UInt8])...) throws {
    device.open += operations.map(\.0)
    try device.exchange(operations.map(\.1))
  }

  /// A group of two.
  private func sendGroup() throws -> (OperationID, OperationID) {
    let chain = OperationID(bench.newID())!
    let first = bench.operation(
      Shop.order, .update, ten, changed: [2: .text("Bergen")], chain: chain, count: 2)
    let second = bench.operation(
      Shop.order, .create, ObjectKey([.integer(77)]),
      changed: [0: .integer(77), 1: .integer(1), 2: .text("Rome")], chain: chain, position: 1,
      count: 2)
    try send(first, second)
    return (first.0, second.0)
  }

  @Test("What a server stored before its start is performed when its device names it (seed 800673)")
  func named() throws {
    let change = ship("Bergen")
    try send(change)
    try bench.restart()
    // The device has had its answer from the server that is gone: it names nothing.
    device.open = []
    try device.exchange()
    try bench.replay()
    #expect(bench.business.performs == 0)
    device.open = [change.0]
    try device.exchange()
    try bench.replay()
    #expect(bench.business.performed == [change.0: 1])
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
  }

  @Test("What is sent again after a start counts as named")
  func sentAgain() throws {
    let change = ship("Bergen")
    try send(change)
    try bench.restart()
    device.open = []
    try device.exchange([change.1])
    try bench.replay()
    #expect(bench.business.performed == [change.0: 1])
  }

  @Test("Another device or user cannot name an operation")
  func namedByOthers() throws {
    let change = ship("Bergen")
    try send(change)
    try bench.restart()
    for other in [Device(bench, "tablet"), Device(bench, "phone", bench.identity("bob"))] {
      other.open = [change.0]
      try other.exchange()
    }
    try bench.replay()
    #expect(bench.business.performs == 0)
  }

  @Test("What nobody names holds up no other operation on its object")
  func holdsNobodyUp() throws {
    try send(ship("Bergen"))
    try bench.restart()
    let other = try Device(bench, "tablet").exchange()
    let change = ship("Turku")
    other.open = [change.0]
    try other.exchange([change.1])
    try bench.replay()
    #expect(bench.business.performed == [change.0: 1])
    #expect(bench.service.nextReplayMoment == nil)
  }

  @Test("What a crash left unperformed and nobody names holds up no load of its object")
  func releasesItsClaim() throws {
    try send(ship("Bergen"))
    _ = try bench.service.nextReplay()
    try bench.restart()
    try bench.replay()
    #expect(bench.business.performs == 0)
    bench.business.put(Shop.order, Shop.order(10, 1, "Lund"))
    try bench.load()
    device.open = []
    try device.exchange()
    #expect(device.shown == ["Order 10 [10,1,\"Lund\"]"])
  }

  @Test("Of a group that a start found and its device has only in part, nothing is performed")
  func namedInPart() throws {
    let (_, second) = try sendGroup()
    try bench.restart()
    device.open = [second]
    try device.exchange()
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performs == 0)
    #expect(device.answers[second]?.outcome == .notTried)
  }

  @Test("Of a group that was performed, what its device still has is answered as it went")
  func performedInPart() throws {
    let (first, second) = try sendGroup()
    let task = try #require(try bench.service.nextReplay())
    _ = bench.answer(task.step)
    try bench.service.store.release([first, second], mayHaveRun: false)
    try bench.restart()
    device.open = [second]
    try device.exchange()
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performs == 1)
    #expect(device.answers[second]?.outcome == .replayResult)
  }

  @Test("What a crash left is asked for again where the store could not take the claim")
  func claimFails() throws {
    let change = ship("Bergen")
    try send(change)
    _ = try bench.service.nextReplay()
    try bench.restart()
    let store = bench.database
    try store.run(
      """
      CREATE TEMP TRIGGER full BEFORE UPDATE ON operation WHEN NEW.state = 'claimed'
      BEGIN SELECT RAISE(FAIL, 'full'); END
      """)
    #expect(throws: ServerError.self) { try bench.service.nextReplay() }
    try store.run("DROP TRIGGER full")
    bench.clock.advance(5)
    #expect(try bench.service.nextReplay()?.step.recalled == [change.0])
  }

  @Test("What a crash left performed is answered before its device names it")
  func answersWhatRan() throws {
    let change = ship("Bergen")
    try send(change)
    let task = try #require(try bench.service.nextReplay())
    _ = bench.answer(task.step)
    try bench.restart()
    try bench.replay()
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
    #expect(bench.business.performed == [change.0: 1])
  }

  @Test("After a second start no load tells of what an unanswered operation did, before its answer")
  func secondStart() throws {
    let create = bench.operation(
      Shop.order, .create, ObjectKey([.integer(77)]),
      changed: [0: .integer(77), 1: .integer(1), 2: .text("Rome")])
    try send(create)
    let task = try #require(try bench.service.nextReplay())
    _ = bench.answer(task.step)
    try bench.restart()
    try bench.restart()
    try bench.load()
    try device.exchange()
    #expect(device.answers[create.0] == nil)
    #expect(device.rows.count == 1)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[create.0]?.outcome == .replayResult)
    #expect(device.rows.count == 2)
  }
}
