import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What seeds of the simulation have found on the server, each as a case of its own.
@Suite("Found by seeds, on the server")
struct SeedFindingsTests {
  let bench: Bench
  let device: Device

  init() throws {
    bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
    device = try Device(bench).exchange()
  }

  @Test(
    "A row that an unanswered create may have made is not read before the answer, also under the key of an object that is gone",
    arguments: [false, true])
  func unknownRow(isKeyGivenAgain: Bool) throws {
    if isKeyGivenAgain {
      bench.business.put(Shop.order, Shop.order(1_001, 1, "old"))
      try bench.load()
      bench.business.remove(Shop.order, ObjectKey([.integer(1_001)]))
      try bench.load()
    }
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    device.open = [create.0]
    try device.exchange([create.1])
    let task = try #require(try bench.service.nextReplay())
    let report = try #require(bench.answer(task.step))
    #expect(try bench.load().readAgain == 1)
    #expect(try bench.service.nextReadBack()?.keys == nil)
    try device.exchange()
    #expect(!device.shown.joined().contains("new"), "the row comes with the answer, not before it")
    var step = try bench.service.report(task, report)
    while let next = bench.answer(step) { step = try bench.service.report(task, next) }
    try bench.readAgain()
    try device.exchange()
    #expect(device.shown.joined().contains("new"))
    #expect(device.answers[create.0]?.outcome == .replayResult)
    #expect(device.answers[create.0]?.newKey == ObjectKey([.integer(1_001)]))
  }

  @Test("A refusal that was confirmed is told to a restored device with a log record")
  func refusedBefore() throws {
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("forbidden")],
      base: [2: .text("Oslo")])
    device.open = [change.0]
    try device.exchange([change.1])
    try bench.replay()
    for _ in 0..<3 { try device.exchange() }
    #expect(device.checkpoint?.answers == [])
    device.open = [change.0]
    try device.exchange()
    let answer = try #require(device.checkpoint?.answers.first)
    #expect(answer.outcome == .replayFailed)
    #expect(answer.logRecords.map(\.requestID) == [change.0])
  }

  @Test("A load that begins before a crashed replay is taken up does not tell of what that made")
  func loadBeforeRecovery() throws {
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    device.open = [create.0]
    try device.exchange([create.1])
    let task = try #require(try bench.service.nextReplay())
    _ = try #require(bench.answer(task.step))
    try bench.restart()
    #expect(try bench.load().readAgain == 1)
    try device.exchange()
    #expect(!device.shown.joined().contains("new"), "the row comes with the answer, not before it")
    try bench.replay()
    try bench.readAgain()
    try device.exchange()
    #expect(device.shown.joined().contains("new"))
    #expect(device.answers[create.0]?.outcome == .replayResult)
  }

  @Test(
    "What was performed before a set-back, and not answered, is read again before it is written")
  func setBackBeforeAnswer() throws {
    let create = bench.operation(
      Shop.product, .create, ObjectKey([.integer(7)]),
      changed: [0: .integer(7), 1: .text("coffee")])
    device.open = [create.0]
    try device.exchange([create.1])
    let task = try #require(try bench.service.nextReplay())
    let store = bench.database
    try store.run(
      """
      CREATE TEMP TRIGGER full BEFORE UPDATE ON operation WHEN NEW.state = 'answered'
      BEGIN SELECT RAISE(FAIL, 'full'); END
      """)
    let report = try #require(bench.answer(task.step))
    #expect(throws: ServerError.self) { try bench.service.report(task, report) }
    // The business system goes back to before it, and all is compared: neither has the row.
    bench.business.remove(Shop.product, ObjectKey([.integer(7)]))
    try bench.load()
    try store.run("DROP TRIGGER full")
    bench.clock.advance(5)
    try bench.replay()
    let cached = try bench.service.cachedRows().map(\.image.description)
    #expect(cached.sorted() == ["Order 10", "Product 1"])
    try device.exchange()
    #expect(device.answers[create.0]?.outcome == .replayResult)
    #expect(!device.shown.joined().contains("coffee"))
  }

  @Test(
    "What a create may have made is not told before its answer, though it was read before the create was claimed again",
    arguments: [false, true])
  func readBeforeClaim(byKey: Bool) throws {
    let chain = OperationID(bench.newID())!
    let (first, second) = (
      bench.operation(
        Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")], chain: chain, count: 2
      ),
      bench.operation(
        Shop.product, .create, ObjectKey([.integer(7)]),
        changed: [0: .integer(7), 1: .text("forbidden")], chain: chain, position: 1, count: 2)
    )
    device.open = [first.0, second.0]
    try device.exchange([first.1, second.1])
    _ = try #require(try bench.service.nextReplay())
    // A business system that performs a group operation by operation has done the first.
    let part = ConnectorOperation(
      id: first.0, entity: Shop.order, kind: .create, key: nil,
      changed: [1: .integer(1), 2: .text("new")], base: [:])
    _ = bench.business.perform([part])
    try bench.restart()
    // It is asked for, and holds nothing up until its device has named it.
    try bench.replay()
    let made = ObjectKey([.integer(1_001)])
    let ticket = try bench.service.beginLoad()
    for entity in bench.package.entities {
      try bench.service.stage(ticket, entity, bench.business.images(entity))
    }
    let hint = ChangeHint.objects(entity: "Order", keys: [made])
    if byKey { _ = try bench.service.take(BusinessChanges(cursor: nil, hints: [hint])) }
    let read = try bench.service.nextReadBack()
    #expect(read?.keys == (byKey ? [made] : nil))
    try device.exchange()
    let task = try #require(try bench.service.nextReplay())
    if let read {
      try bench.service.finish(read, try bench.business.read(read.entity, keys: read.keys))
    } else {
      try bench.end(ticket)
    }
    try device.exchange()
    #expect(!device.shown.joined().contains("new"), "the row comes with the answer, not before it")
    var step = task.step
    while let next = bench.answer(step) { step = try bench.service.report(task, next) }
    try bench.readAgain()
    try device.exchange()
    #expect(device.shown.joined().contains("new"))
    #expect(device.answers[first.0]?.newKey == made)
    #expect(device.answers[second.0]?.outcome == .replayFailed)
  }

  /// A change of somebody else's order, as a device sends it again that a restored server has
  /// forgotten.
  private func sendForbidden() throws -> OperationID {
    bench.business.put(Shop.order, Shop.order(20, 2, "Rome"))
    try bench.load()
    let (id, bytes) = bench.operation(
      Shop.order, .update, ObjectKey([.integer(20)]), changed: [2: .text("mine")], base: [:])
    device.open = [id]
    try device.exchange([bytes], mayHaveRun: [id])
    return id
  }

  @Test("What rights refuse is not performed after all where the store could not take the refusal")
  func refusalOwed() throws {
    let change = try sendForbidden()
    let task = try #require(try bench.service.nextReplay())
    let store = bench.database
    try store.run(
      """
      CREATE TEMP TRIGGER full BEFORE UPDATE ON operation WHEN NEW.state = 'answered'
      BEGIN SELECT RAISE(FAIL, 'full'); END
      """)
    let report = try #require(bench.answer(task.step))
    #expect(throws: ServerError.self) { try bench.service.report(task, report) }
    try store.run("DROP TRIGGER full")
    bench.clock.advance(5)
    try bench.replay()
    #expect(bench.business.performed[change] == nil)
    try device.exchange()
    #expect(device.answers[change]?.outcome == .replayFailed)
  }

  @Test("What a restored server asks for is judged before it is performed, also across a crash")
  func judgedAfterCrash() throws {
    let change = try sendForbidden()
    let task = try #require(try bench.service.nextReplay())
    #expect(task.step.recalled == [change])
    try bench.restart()
    try device.exchange()
    try bench.replay()
    #expect(bench.business.performed.isEmpty)
    try device.exchange()
    #expect(device.answers[change]?.logRecords.first?.code == 403)
  }

  @Test("What was performed of a group is accepted, where rights refuse the rest meanwhile")
  func refusedRest() throws {
    bench.business.put(Shop.line, Shop.line(10, 1, "a"))
    try bench.load()
    let chain = OperationID(bench.newID())!
    let tea = ObjectKey([.integer(1)])
    let (first, second) = (
      bench.operation(
        Shop.product, .update, tea, changed: [1: .text("mate")], chain: chain, count: 2),
      bench.operation(
        Shop.line, .delete, ObjectKey([.integer(10), .integer(1)]), chain: chain, position: 1,
        count: 2)
    )
    device.open = [first.0, second.0]
    try device.exchange([first.1, second.1])
    // A business system that performs a group operation by operation breaks off after the first.
    let part = ConnectorOperation(
      id: first.0, entity: Shop.product, kind: .update, key: tea, changed: [1: .text("mate")],
      base: [:])
    _ = bench.business.perform([part])
    bench.business.next = .unknown(reason: "the line broke")
    try bench.replay()
    #expect(bench.service.nextReplayMoment != nil)
    // Others give the order, and its line with it, to somebody else.
    bench.business.put(Shop.order, Shop.order(10, 2, "Oslo"))
    try bench.load()
    bench.clock.advance(5)
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performed == [first.0: 1])
    #expect(device.answers[first.0]?.outcome == .replayResult)
    #expect(device.answers[second.0]?.logRecords.first?.code == 403)
    #expect(device.shown.contains("Product 1 [1,\"mate\"]"))
  }

  @Test("A decision about one of a chain that a crash interrupts is the operator's again")
  func decisionInterrupted() throws {
    let chain = OperationID(bench.newID())!
    let (first, second) = (
      bench.operation(
        Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Ulm")], chain: chain,
        count: 2),
      bench.operation(
        Shop.product, .update, ObjectKey([.integer(1)]), changed: [1: .text("mate")], chain: chain,
        position: 1, count: 2)
    )
    device.open = [first.0, second.0]
    try device.exchange([first.1, second.1])
    let task = try #require(try bench.service.nextReplay())
    let failure = ConnectorError("nobody remembers", hint: "", isTransient: false)
    _ = try bench.service.report(task, .performed(.unknown(reason: "cut")))
    _ = try bench.service.report(task, .failed(failure))
    try bench.service.decide(first.0, .again)
    try bench.restart()
    try bench.service.decide(first.0, .refused(message: "it was not done"))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[first.0]?.outcome == .replayFailed)
    #expect(device.answers[second.0]?.outcome == .unknown)
  }

  @Test(
    "What a restored server may have performed is unknown where nobody remembers, and not performed",
    .reference("sync/RC13")
  )
  func mayHaveRunForgotten() throws {
    bench.business.remembers = false
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")])
    try device.exchange([change.1], mayHaveRun: [change.0])
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performs == 0)
    #expect(device.answers[change.0]?.outcome == .unknown)
    #expect(device.answers[change.0]?.logRecords.isEmpty == false)
  }

  @Test("What was never judged is judged when an operator has it performed again (seed 104)")
  func decisionJudged() throws {
    bench.business.remembers = false
    let away = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [1: .integer(2)],
      base: [1: .integer(1)])
    // Its server was restored: it asks whether it was performed before anything else.
    try device.exchange([away.1], mayHaveRun: [away.0])
    try bench.replay()
    try device.exchange()
    #expect(device.answers[away.0]?.outcome == .unknown)
    try bench.service.decide(away.0, .again)
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performs == 0)
    #expect(device.answers[away.0]?.outcome == .replayFailed)
    #expect(device.answers[away.0]?.logRecords.first?.code == 403)
  }

  /// A change that was done, of which nobody can tell, so far.
  private func unknownChange() throws -> OperationID {
    bench.business.remembers = false
    bench.business.breaksAfterWork = true
    let (id, bytes) = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")])
    device.open = [id]
    try device.exchange([bytes])
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .unknown)
    return id
  }

  @Test("What is being decided is not decided a second time")
  func decidedTwice() throws {
    let change = try unknownChange()
    bench.business.isAway = true
    try bench.service.decide(change, .again)
    let error = #expect(throws: ServerError.self) {
      try bench.service.decide(change, .refused(message: "it was not done"))
    }
    #expect(error?.code == .badRequest && error?.message.contains("decision about") == true)
  }

  @Test("What an operator has performed again is asked for before: what was done is not done twice")
  func decisionRecalled() throws {
    let change = try unknownChange()
    bench.business.remembers = true
    // Nobody may see the order by now: that says nothing of what was done.
    bench.business.put(Shop.order, Shop.order(10, 2, "Bergen"))
    try bench.load()
    try bench.service.decide(change, .again)
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performs == 1)
    #expect(device.answers[change]?.outcome == .replayResult)
  }

  @Test("An operation is remembered from its confirmation on, however long that took (seed 147)")
  func rememberedFromConfirmation() throws {
    bench.business.remembers = false
    let days = bench.limits.operationMemoryDays
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")])
    device.open = [change.0]
    try device.exchange([change.1])
    try bench.replay()
    // Its device is silent for longer than that, and hears of the answer then.
    for _ in 0...days {
      bench.clock.advance(86_400)
      try bench.service.compact()
    }
    try device.exchange().exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
    bench.clock.advance(86_400)
    try bench.service.compact()
    // It is set back to before it was sent.
    try device.exchange([change.1])
    try bench.replay()
    #expect(bench.business.performs == 1)
  }
}
