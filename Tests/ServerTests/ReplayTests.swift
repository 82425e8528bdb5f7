import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct ReplayTests {
  let bench: Bench
  let device: Device
  let ten = ObjectKey([.integer(10)])

  init() throws {
    bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    bench.business.put(Shop.order, Shop.order(20, 2, "Rome"))
    bench.business.put(Shop.line, Shop.line(10, 1, "a"))
    try bench.load()
    device = try Device(bench).exchange()
  }

  func ship(
    _ text: String, base: String = "Oslo", of key: Int64 = 10
  ) -> (OperationID, [UInt8]) {
    bench.operation(
      Shop.order, .update, ObjectKey([.integer(key)]), changed: [2: .text(text)],
      base: [2: .text(base)])
  }

  func send(_ operations: (OperationID, [UInt8])..., to other: Device? = nil) throws {
    let target = other ?? device
    target.open += operations.map(\.0)
    try target.exchange(operations.map(\.1))
  }

  @Test(
    "An accepted change is answered at the version whose checkpoint shows it",
    .reference("sync/P7", "sync/P8", "sync/RC8"))
  func accepted() throws {
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    #expect(device.stored?.ids == [id])
    #expect(device.answers.isEmpty)
    try bench.replay()
    try device.exchange()
    let answer = try #require(device.answers[id])
    #expect(answer.outcome == .replayResult)
    #expect(answer.version <= device.version)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
    try device.exchange()
    #expect(device.checkpoint?.answers == [])
  }

  @Test("Chains that are refused before they are performed take nobody's turn")
  func turns() throws {
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    try send(ship("a", of: 98), ship("b", of: 99), ship("Bergen"), create)
    let first = try bench.service.nextReplays(limit: 1)
    #expect(first.map { $0.operations.map(\.key) } == [[ten]])
    let second = try bench.service.nextReplays(limit: 9)
    #expect(second.map { $0.operations.map(\.key) } == [[nil]])
    #expect(try bench.service.nextReplays(limit: 9).isEmpty)
  }

  @Test(
    "The answer of a create carries the key that the business system gave", .reference("sync/P8"))
  func create() throws {
    let (id, bytes) = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.newKey == ObjectKey([.integer(1_002)]))
    #expect(device.shown.contains("Order 1002 [1002,1,\"new\"]"))
  }

  @Test(
    "A refusal carries a log record with all its fields",
    .reference("sync/P6", "sync/P15", "sync/P16", "sync/P17", "sync/Q6", "facts/5.21"))
  func refused() throws {
    let (id, bytes) = ship("forbidden")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    let answer = try #require(device.answers[id])
    #expect(answer.outcome == .replayFailed)
    #expect(
      answer.logRecords == [
        LogRecord(
          component: "Order", entityKey: "10", code: 412, message: "a rule was broken",
          operation: .update, requestID: id, timestamp: bench.clock.now.milliseconds, level: .error,
          attribute: "ship")
      ])
  }

  @Test(
    "A conflict shows both values, and the device gets the present row", .reference("facts/5.8"))
  func conflict() throws {
    bench.business.put(Shop.order, Shop.order(10, 1, "Paris"))
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    let record = try #require(device.answers[id]?.logRecords.first)
    #expect(record.code == 412)
    #expect(record.baseValue == .text("Oslo"))
    #expect(record.currentValue == .text("Paris"))
    #expect(device.shown.contains("Order 10 [10,1,\"Paris\"]"))
  }

  @Test("The same operation sent often is performed once", .reference("sync/P25"))
  func duplicate() throws {
    let (id, bytes) = ship("Bergen")
    try send((id, bytes), (id, bytes))
    #expect(device.stored == Stored(ids: [id], refused: []))
    try device.exchange([bytes])
    try bench.replay()
    try device.exchange([bytes])
    try bench.replay()
    #expect(bench.business.performed == [id: 1])
    #expect(device.stored?.ids == [id])
  }

  @Test("Another content under a known id is refused with what became of the first")
  func otherContent() throws {
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    try bench.replay()
    let other = Operation(
      id: id, chain: id, entity: "Order", kind: .update, key: ten, changed: [2: .text("Rome")],
      base: [:])
    try device.exchange([other.encoded(for: Shop.order)])
    let refused = try #require(device.stored?.refused.first)
    #expect(refused.id == id)
    #expect(refused.logRecords.first?.code == 422)
    #expect(
      refused.logRecords.first?.message == "an earlier form of this change was accepted")
    try bench.replay()
    #expect(bench.business.performs == 1)
  }

  @Test("Another user cannot take up an id, and does not learn its answer")
  func otherUser() throws {
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    try bench.replay()
    let stranger = Device(bench, "phone", bench.identity("bob", employees: [2]))
    stranger.open = [id]
    try stranger.exchange([bytes])
    #expect(stranger.stored?.ids == [])
    #expect(stranger.stored?.refused.map(\.id) == [id])
    #expect(stranger.welcome?.operations == [OperationStatus(id: id, state: .neverSeen)])
    #expect(stranger.answers.isEmpty)
  }

  @Test("An operation that makes no sense is refused with the reason; its neighbours are taken")
  func malformed() throws {
    let id = bench.newID()
    let bad = Array("{\"id\":\"\(id)\",\"entity\":\"Ghost\",\"operation\":\"delete\"}".utf8)
    let good = ship("Bergen")
    try device.exchange([bad, good.1])
    #expect(device.stored?.ids == [good.0])
    let record = try #require(device.stored?.refused.first?.logRecords.first)
    #expect(record.code == 422)
    #expect(record.component == "Ghost")
    #expect(record.operation == .delete)
  }

  @Test("What the device has no room for on the server stays on the device")
  func tooMany() throws {
    var limits = ServiceLimits()
    limits.unansweredPerDevice = 1
    let bench = try Bench(limits: limits)
    try bench.load()
    let device = Device(bench)
    let first = bench.operation(
      Shop.audit, .create, ObjectKey([.integer(1)]), changed: [0: .integer(1)])
    let second = bench.operation(
      Shop.audit, .create, ObjectKey([.integer(2)]), changed: [0: .integer(2)])
    try device.exchange([first.1, second.1])
    #expect(device.stored?.ids == [first.0])
    #expect(device.failure?.code == .tooManyOperations)
    #expect(device.checkpoint != nil)
  }

  @Test(
    "An object of another user's partition is refused with 403, before and after",
    .reference("sync/Q2"))
  func rights() throws {
    let theirs = ship("mine", base: "Rome", of: 20)
    let away = bench.operation(
      Shop.order, .update, ten, changed: [1: .integer(2)], base: [1: .integer(1)])
    let create = bench.operation(
      Shop.order, .create, ObjectKey([.integer(40)]), changed: [0: .integer(40), 1: .integer(2)])
    let line = bench.operation(
      Shop.line, .create, ObjectKey([.integer(20), .integer(9)]),
      changed: [0: .integer(20), 1: .integer(9)])
    let delete = bench.operation(Shop.order, .delete, ObjectKey([.integer(20)]))
    try send(theirs, away, create, line, delete)
    try bench.replay()
    try device.exchange()
    for id in [theirs.0, away.0, create.0, line.0, delete.0] {
      #expect(device.answers[id]?.logRecords.first?.code == 403)
    }
    #expect(bench.business.performs == 0)
  }

  @Test("What the model does not offer is refused with 405")
  func readOnly() throws {
    let change = bench.operation(
      Shop.audit, .update, ObjectKey([.integer(1)]), changed: [1: .text("x")])
    try send(change)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[change.0]?.logRecords.first?.code == 405)
    #expect(bench.business.performs == 0)
  }

  @Test("A group is one transaction: its refusal leaves the others not tried, at one version")
  func group() throws {
    let chain = OperationID(bench.newID())!
    let order = bench.operation(
      Shop.order, .create, ObjectKey([.integer(50)]),
      changed: [0: .integer(50), 1: .integer(1), 2: .text("x")], chain: chain, count: 2)
    let line = bench.operation(
      Shop.line, .create, ObjectKey([.integer(50), .integer(1)]),
      changed: [0: .integer(50), 1: .integer(1), 3: .text("forbidden")], chain: chain, position: 1,
      count: 2)
    try send(order)
    try bench.replay()
    #expect(bench.business.performs == 0)
    try send(line)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[order.0]?.outcome == .notTried)
    #expect(device.answers[line.0]?.outcome == .replayFailed)
    #expect(device.answers[order.0]?.version == device.answers[line.0]?.version)
  }

  @Test("A child created with its parent is the user's through the parent")
  func groupRights() throws {
    let chain = OperationID(bench.newID())!
    let order = bench.operation(
      Shop.order, .create, ObjectKey([.integer(50)]), changed: [0: .integer(50), 1: .integer(1)],
      chain: chain, count: 2)
    let line = bench.operation(
      Shop.line, .create, ObjectKey([.integer(50), .integer(1)]),
      changed: [0: .integer(50), 1: .integer(1)], chain: chain, position: 1, count: 2)
    try send(order, line)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[line.0]?.outcome == .replayResult)
    #expect(device.rows.count == 5)
  }

  @Test("What was certainly not done is tried again after a while, its object's next one waits")
  func notDone() throws {
    bench.business.next = .notDone(reason: "it is away")
    let first = ship("Bergen")
    let second = ship("Narvik", base: "Bergen")
    let other = Device(bench, "tablet")
    try send(first)
    try send(second, to: other)
    try bench.replay()
    #expect(bench.business.performed == [:])
    #expect(bench.service.nextReplayMoment == bench.clock.now.advanced(by: .seconds(1)))
    bench.clock.advance(2)
    try bench.replay()
    #expect(bench.business.performed == [first.0: 1, second.0: 1])
    #expect(bench.business.rows["Order"]?[ten]?[2] == .text("Narvik"))
  }

  @Test(
    "An outcome that broke off is recalled, not repeated, and its row is read",
    .reference("sync/P8"))
  func recalled() throws {
    bench.business.breaksAfterWork = true
    let change = ship("Bergen")
    try send(change)
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performed == [change.0: 1])
    #expect(device.answers[change.0]?.outcome == .replayResult)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
  }

  @Test("An outcome that nobody can tell is unknown, and never performed again")
  func unknown() throws {
    bench.business.breaksAfterWork = true
    bench.business.remembers = false
    let change = ship("Bergen")
    try send(change)
    try bench.replay()
    try bench.readAgain()
    try bench.replay()
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .unknown)
    #expect(bench.business.performs == 1)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
  }

  @Test("A claim found after a crash is recalled before anything else", .reference("sync/RC13"))
  func crashAfterPerform() throws {
    let change = ship("Bergen")
    try send(change)
    let task = try #require(try bench.service.nextReplay())
    _ = bench.answer(task.step)
    try bench.restart()
    let again = try #require(try bench.service.nextReplay())
    #expect(again.step.recalled == [change.0])
    var step = again.step
    while let report = bench.answer(step) { step = try bench.service.report(again, report) }
    try device.exchange()
    #expect(bench.business.performed == [change.0: 1])
    #expect(device.answers[change.0]?.outcome == .replayResult)
  }

  @Test("A claim that a crash left unperformed is performed once")
  func crashBeforePerform() throws {
    let change = ship("Bergen")
    try send(change)
    _ = try bench.service.nextReplay()
    try bench.restart()
    try device.exchange()
    try bench.replay()
    #expect(bench.business.performed == [change.0: 1])
  }

  @Test("A restored server asks whether an acknowledged operation ran before it performs it")
  func mayHaveRun() throws {
    let (id, bytes) = bench.operation(Shop.order, .delete, ten)
    let operation = try Operation(bytes, in: bench.package)
    let parts = ConnectorOperation(
      id: id, entity: Shop.order, kind: .delete, key: operation.key, changed: [:], base: [:])
    _ = bench.business.perform([parts])
    try bench.load()
    try device.exchange([bytes], mayHaveRun: [id])
    try bench.replay()
    try device.exchange()
    #expect(bench.business.performed == [id: 1])
    #expect(device.answers[id]?.outcome == .replayResult)
  }

  @Test(
    "Accepted waits until the row that was touched meanwhile is read again", .reference("sync/P8"))
  func touchedMeanwhile() throws {
    let change = ship("Bergen")
    try send(change)
    let task = try #require(try bench.service.nextReplay())
    let report = try #require(bench.answer(task.step))
    // A notice's read-back is kept out by the claim, a row changed by a rule is not.
    bench.business.put(Shop.product, [.integer(1), .text("coffee")])
    try bench.load()
    guard case .performed(.done(let outcomes, let touched)) = report else { return }
    let stale = RowImage(
      entity: "Product", key: ObjectKey([.integer(1)]), values: [.integer(1), .text("tea")])
    let step = try bench.service.report(
      task, .performed(.done(outcomes, touched: touched + [stale])))
    #expect(step == .read(Shop.product, [ObjectKey([.integer(1)])]))
    try device.exchange()
    #expect(device.answers.isEmpty)
    var next = step
    while let report = bench.answer(next) { next = try bench.service.report(task, report) }
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
    #expect(device.shown.contains("Product 1 [1,\"coffee\"]"))
  }

  @Test(
    "Several replays are answered by id, each when it ends",
    .reference("sync/P24", "sync/RC1", "sync/RC2"))
  func several() throws {
    let first = ship("Bergen")
    let second = bench.operation(
      Shop.product, .update, ObjectKey([.integer(1)]), changed: [1: .text("milk")],
      base: [1: .text("tea")])
    try send(first, second)
    let one = try #require(try bench.service.nextReplay())
    let two = try #require(try bench.service.nextReplay())
    #expect(try bench.service.report(two, #require(bench.answer(two.step))) == .done)
    try device.exchange()
    #expect(Set(device.answers.keys) == [second.0])
    #expect(try bench.service.report(one, #require(bench.answer(one.step))) == .done)
    try device.exchange()
    #expect(Set(device.answers.keys) == [first.0, second.0])
  }
}
