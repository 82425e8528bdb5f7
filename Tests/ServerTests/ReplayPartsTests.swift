import FerryConnector
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("A business system without transactions answers for parts of a chain")
struct ReplayPartsTests {
  let bench: Bench
  let device: Device
  let ids: [OperationID]
  let task: ReplayTask

  private static func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }

  /// A chain of three updates that is about to be performed.
  init() throws {
    let bench = try Bench()
    for (number, town) in [(10, "Oslo"), (20, "Lund"), (30, "Rome")] as [(Int64, String)] {
      bench.business.put(Shop.order, Shop.order(number, 1, town))
    }
    try bench.load()
    device = try Device(bench).exchange()
    let chain = OperationID(bench.newID())
    let operations = [(10, "Oslo"), (20, "Lund"), (30, "Rome")].enumerated().map {
      bench.operation(
        Shop.order, .update, ReplayPartsTests.key(Int64($1.0)), changed: [2: .text("Bergen")],
        base: [2: .text($1.1)], chain: chain, position: $0, count: 3)
    }
    ids = operations.map(\.0)
    device.open += ids
    try device.exchange(operations.map(\.1))
    task = try #require(try bench.service.nextReplay())
    self.bench = bench
  }

  private func accepted(_ number: Int64) -> OperationOutcome {
    .accepted(key: ReplayPartsTests.key(number))
  }

  private func row(_ number: Int64) -> RowImage {
    bench.business.put(Shop.order, Shop.order(number, 1, "Bergen"))
    return RowImage(
      entity: "Order", key: ReplayPartsTests.key(number), values: Shop.order(number, 1, "Bergen"))
  }

  /// The first is accepted, the second unknown, the third not tried.
  private func performed() -> ReplayReport {
    .performed(
      .done([accepted(10), .unknown(reason: "no answer came"), .notTried], touched: [row(10)]))
  }

  private func outcomes() throws -> [Answer.Outcome?] {
    try device.exchange()
    return ids.map { device.answers[$0]?.outcome }
  }

  @Test("Only the unknown one is asked about; where it was performed, the rest is performed")
  func performedAfterAll() throws {
    var step = try bench.service.report(task, performed())
    #expect(step.recalled == [ids[1]])
    step = try bench.service.report(task, .recalled([.performed(accepted(20))]))
    guard case .perform(let rest) = step else {
      Issue.record("not performed but \(step)")
      return
    }
    #expect(rest.map(\.id) == [ids[2]])
    bench.business.put(Shop.order, Shop.order(20, 1, "Bergen"))
    step = try bench.service.report(task, .performed(.done([accepted(30)], touched: [row(30)])))
    #expect(step == .read(Shop.order, [ReplayPartsTests.key(20)]), "its row was not given")
    let report = try #require(bench.answer(step))
    #expect(try bench.service.report(task, report) == .done)
    #expect(try outcomes() == [.replayResult, .replayResult, .replayResult])
    #expect(device.shown.contains("Order 20 [20,1,\"Bergen\"]"))
  }

  @Test("Where it was not performed, it and the rest are performed later, and the first stays")
  func notPerformed() throws {
    _ = try bench.service.report(task, performed())
    guard case .retry = try bench.service.report(task, .recalled([.notPerformed])) else {
      Issue.record("it was not put off")
      return
    }
    #expect(try bench.service.nextReplay() == nil)
    bench.clock.advance(60)
    let again = try #require(try bench.service.nextReplay())
    #expect(again.id == task.id, "the chain was given back, and its first answer with it")
    guard case .perform(let rest) = again.step else {
      Issue.record("not performed but \(again.step)")
      return
    }
    #expect(rest.map(\.id) == [ids[1], ids[2]])
    // The business system is away for a while: what was accepted stays all the same.
    _ = try bench.service.report(again, .performed(.notDone(reason: "it is away")))
    bench.clock.advance(600)
    let third = try #require(try bench.service.nextReplay())
    #expect(third.id == task.id)
    let report = ReplayReport.performed(
      .done([accepted(20), accepted(30)], touched: [row(20), row(30)]))
    #expect(try bench.service.report(third, report) == .done)
    #expect(try outcomes() == [.replayResult, .replayResult, .replayResult])
  }

  @Test("Where nothing tells it, it alone is for a person to decide, and the rest is not tried")
  func cannotTell() throws {
    _ = try bench.service.report(task, performed())
    let unsure = ReplayReport.recalled([
      .cannotTell(reason: "the row is otherwise", candidates: [row(20)])
    ])
    #expect(try bench.service.report(task, unsure) == .done)
    #expect(try outcomes() == [.replayResult, .unknown, .notTried])
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"), "accepted together with its row")
    let open = try bench.service.openOutcomes()
    #expect(open.map(\.operation.id) == [ids[1]])
    #expect(open.first?.found.reason == "the row is otherwise")
    #expect(
      open.first?.found.candidates
        == #"[{"entity":"Order","key":"20","values":[20,1,"Bergen"]}]"#)
    // The operator says that it is to be performed: the business system cannot tell, and does it.
    try bench.service.decide(ids[1], .again)
    let again = try #require(try bench.service.nextReplay())
    #expect(again.step.recalled == [ids[1]])
    guard case .perform(let asked) = try bench.service.report(again, unsure) else {
      Issue.record("the decision was not followed")
      return
    }
    #expect(asked.map(\.id) == [ids[1]])
    let done = ReplayReport.performed(.done([accepted(20)], touched: [row(20)]))
    #expect(try bench.service.report(again, done) == .done)
    #expect(try outcomes() == [.replayResult, .replayResult, .notTried])
    #expect(try bench.service.openOutcomes().isEmpty)
  }

  @Test("While an earlier request may still arrive nothing is sent, and then it is asked again")
  func mayStillArrive() throws {
    _ = try bench.service.report(task, performed())
    let until = bench.clock.moment.advanced(by: .seconds(120))
    let step = try bench.service.report(task, .recalled([.mayStillArrive(until: until)]))
    #expect(step == .retry(after: .seconds(120)))
    bench.clock.advance(119)
    #expect(try bench.service.nextReplay() == nil)
    bench.clock.advance(1)
    let again = try #require(try bench.service.nextReplay())
    #expect(again.step.recalled == [ids[1]])
    guard case .retry = try bench.service.report(again, .recalled([.notPerformed])) else {
      Issue.record("it was not put off")
      return
    }
  }

  @Test("A member that was not done and not refused is performed later, behind what was accepted")
  func notYet() throws {
    let some = ReplayReport.performed(
      .done([accepted(10), .notTried, .notTried], touched: [row(10)]))
    guard case .retry = try bench.service.report(task, some) else {
      Issue.record("it was not put off")
      return
    }
    bench.clock.advance(60)
    let again = try #require(try bench.service.nextReplay())
    guard case .perform(let rest) = again.step else {
      Issue.record("not performed but \(again.step)")
      return
    }
    #expect(rest.map(\.id) == [ids[1], ids[2]])
  }

  @Test("Without a credential of its user a chain waits, is counted, and goes on when there is one")
  func waits() throws {
    let waits = ReplayReport.performed(.waits(for: .credential("anna")))
    guard case .retry = try bench.service.report(task, waits) else {
      Issue.record("it does not wait")
      return
    }
    #expect(bench.service.operations.credentialWaits() == 3)
    #expect(try outcomes() == [nil, nil, nil], "nothing is refused")
    bench.clock.advance(60)
    var again = try #require(try bench.service.nextReplay())
    _ = try bench.service.report(again, waits)
    let told = "warn operations wait: the business system has no credential of their user"
    #expect(bench.log.lines.count { $0 == told } == 1, "told once")
    bench.clock.advance(600)
    again = try #require(try bench.service.nextReplay())
    let done = ReplayReport.performed(
      .done(
        [accepted(10), accepted(20), accepted(30)], touched: [row(10), row(20), row(30)]))
    #expect(try bench.service.report(again, done) == .done)
    #expect(bench.service.operations.credentialWaits() == 0)
    #expect(try outcomes() == [.replayResult, .replayResult, .replayResult])
  }

  @Test("A crash in between asks about the whole chain, each as it was sent")
  func crash() throws {
    _ = try bench.service.report(task, performed())
    try bench.restart()
    let again = try #require(try bench.service.nextReplay())
    guard case .recall(let asked) = again.step else {
      Issue.record("not asked but \(again.step)")
      return
    }
    let sentAt = try #require(asked.first?.sentAt, "nobody knows when it was sent")
    let sent = task.operations.map { operation in
      var sent = operation
      sent.sentAt = sentAt
      return sent
    }
    #expect(asked == sent)
    let known = ReplayReport.recalled([
      .performed(accepted(10)), .cannotTell(reason: "it is otherwise", candidates: []),
      .notPerformed,
    ])
    let step = try bench.service.report(again, known)
    let report = try #require(bench.answer(step))
    #expect(try bench.service.report(again, report) == .done)
    #expect(try outcomes() == [.replayResult, .unknown, .notTried])
  }

  /// The chain behind a start of the server, which is asked about.
  private func restarted() throws -> ReplayTask {
    _ = try bench.service.report(task, performed())
    try bench.restart()
    try device.exchange()
    let again = try #require(try bench.service.nextReplay())
    guard case .recall = again.step else {
      Issue.record("not asked but \(again.step)")
      return again
    }
    return again
  }

  @Test("What may be sent again is not taken for undone where a person must decide beside it")
  func repeatable() throws {
    let known = ReplayReport.recalled([
      .mayBeRepeated, .cannotTell(reason: "it is otherwise", candidates: []), .mayBeRepeated,
    ])
    let again = try restarted()
    #expect(try bench.service.report(again, known) == .done)
    #expect(try outcomes() == [.unknown, .unknown, .unknown])
  }

  @Test("What may be sent again stays what may have run, also where it could not be sent")
  func repeatableLater() throws {
    let again = try restarted()
    let known = ReplayReport.recalled([.mayBeRepeated, .mayBeRepeated, .mayBeRepeated])
    guard case .perform = try bench.service.report(again, known) else {
      Issue.record("it is not sent again")
      return
    }
    _ = try bench.service.report(again, .performed(.notDone(reason: "it is away")))
    let sentAt = try bench.service.store.operation(ids[0]).sentAt
    #expect(sentAt != nil)
    try bench.restart()
    try device.exchange()
    bench.clock.advance(600)
    let third = try #require(try bench.service.nextReplay())
    guard case .recall(let asked) = third.step else {
      Issue.record("not asked but \(third.step)")
      return
    }
    #expect(asked.map(\.sentAt) == [sentAt, sentAt, sentAt])
  }
}

@Suite("Keys that were given inside a chain that is performed in parts")
struct GivenInPartsTests {
  @Test("What is asked and performed later names the key that the first member was given")
  func keys() throws {
    let bench = try Bench()
    try bench.load()
    let device = try Device(bench).exchange()
    let chain = OperationID(bench.newID())
    let temporary = AttributeValue.integer(-5)
    let operations = [
      bench.operation(
        Shop.order, .create, nil, changed: [0: temporary, 1: .integer(1), 2: .text("new")],
        chain: chain, position: 0, count: 2),
      bench.operation(
        Shop.line, .create, ObjectKey([temporary, .integer(1)]),
        changed: [0: temporary, 1: .integer(1), 3: .text("part")], chain: chain, position: 1,
        count: 2),
    ]
    device.open += operations.map(\.0)
    try device.exchange(operations.map(\.1))
    let task = try #require(try bench.service.nextReplay())
    let made = ObjectKey([.integer(1_002)])
    let row = RowImage(entity: "Order", key: made, values: Shop.order(1_002, 1, "new"))
    let first = ReplayReport.performed(
      .done([.accepted(key: made), .unknown(reason: "no answer came")], touched: [row]))
    guard case .recall(let asked) = try bench.service.report(task, first) else {
      Issue.record("not asked")
      return
    }
    let part = ObjectKey([.integer(1_002), .integer(1)])
    #expect(asked.map(\.key) == [part])
    _ = try bench.service.report(task, .recalled([.notPerformed]))
    bench.clock.advance(60)
    guard case .perform(let rest)? = try bench.service.nextReplay()?.step else {
      Issue.record("not performed")
      return
    }
    #expect(rest.map(\.key) == [part])
    #expect(rest.map { $0.changed[0] } == [.integer(1_002)])
  }
}
