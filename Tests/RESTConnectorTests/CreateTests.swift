import FerryConnector
import FerryModel
import FerryRESTConnector
import Testing

/// Creates whose keys the service makes, and answers that are lost.
@Suite(.timeLimit(.minutes(60)))
struct CreateTests {
  private static let faults: [FakeService.Fault] = [
    .lostBefore, .lostAfter, .late, .cutBody, .away, .status(502, isDone: true),
    .status(504, isDone: false),
  ]

  private func isThereOnce(_ bench: Bench, _ outcome: OperationOutcome) {
    bench.service.deliverLate()
    guard case .accepted(let key, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(key == ObjectKey([.integer(1)]))
    #expect(bench.service.rows("orders").count == 1)
  }

  @Test(arguments: CreateTests.faults)
  func aNumberOfTheRequestTellsIt(_ fault: FakeService.Fault) async throws {
    let bench = try Bench([], Bench.text("\"memory\": {\"header\": \"Idempotency-Key\"}"))
    bench.service.change { $0.faults = [fault] }
    isThereOnce(bench, try await bench.replay(bench.order()))
  }

  @Test(arguments: CreateTests.faults)
  func aMarkerTellsIt(_ fault: FakeService.Fault) async throws {
    let bench = try Bench(
      [],
      Bench.text(
        "\"memory\": {\"marker\": \"/marker\"}, "
          + "\"find\": {\"address\": \"/orders{?marker}\", \"rows\": \"/rows\"}"))
    bench.service.change { $0.faults = [fault] }
    isThereOnce(bench, try await bench.replay(bench.order()))
  }

  @Test(arguments: CreateTests.faults)
  func aNaturalKeyTellsIt(_ fault: FakeService.Fault) async throws {
    let bench = try Bench(
      [],
      Bench.text(
        "\"memory\": {\"natural\": [\"name\"]}, "
          + "\"find\": {\"address\": \"/orders{?name}\", \"rows\": \"/rows\"}"))
    bench.service.change { $0.faults = [fault] }
    isThereOnce(bench, try await bench.replay(bench.order()))
  }

  @Test func withoutAnythingAPersonDecides() async throws {
    let bench = try Bench()
    bench.service.change { $0.faults = [.lostAfter] }
    #expect(try await bench.replay(bench.order()) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").count == 1)
  }

  /// The window is over: the number proves nothing, and the order is not made twice.
  @Test func aNumberThatIsTooOldProvesNothing() async throws {
    let bench = try Bench(
      [], Bench.text("\"memory\": {\"header\": \"Idempotency-Key\", \"hours\": 1}"))
    bench.service.change { $0.faults = [.lostAfter] }
    let order = bench.order()
    _ = await bench.outcomes(order)
    bench.service.change { $0.numbers = [:] }
    bench.clock.move(.seconds(3_601))
    guard case .cannotTell = try await bench.recall(order)[0] else {
      Issue.record("it is told")
      return
    }
    #expect(bench.service.rows("orders").count == 1)
  }

  /// The service has another request under the number.
  @Test func aNumberOfAnotherRequestIsNoRefusal() async throws {
    let bench = try Bench([], Bench.text("\"memory\": {\"header\": \"Idempotency-Key\"}"))
    bench.service.change { $0.faults = [.lostBefore] }
    let order = bench.order()
    _ = await bench.outcomes(order)
    bench.service.change { $0.numbers[order.id.text] = ("another", 9) }
    #expect(try await bench.replay(order) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").isEmpty)
  }

  @Test func anObjectThatIsNotNamedIsNotMadeTwice() async throws {
    let bench = try Bench([], Bench.text("\"memory\": {\"header\": \"Idempotency-Key\"}"))
    bench.service.change { $0.answersCreate = false }
    #expect(try await bench.replay(bench.order()) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").count == 1)
  }

  @Test(arguments: CreateTests.faults)
  func anOwnKeyIsPutWhereItBelongs(_ fault: FakeService.Fault) async throws {
    let bench = try Bench(
      [],
      Bench.text(create: "{\"method\": \"PUT\", \"address\": \"/items/{id}\", \"body\": \"whole\"}")
    )
    bench.service.change { $0.faults = [fault] }
    let create = bench.operation(.create, Bench.item, 7, [1: .text("seven"), 2: .integer(1)])
    let outcome = try await bench.replay(create)
    bench.service.deliverLate()
    guard case .accepted = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(bench.service.rows("items")[7]?.name == "seven")
    #expect(bench.service.applied == 1)
  }

  @Test func aTakenKeyIsRefused() async throws {
    let bench = try Bench([.one])
    let create = bench.operation(.create, Bench.item, 1, [1: .text("other")])
    #expect(await bench.refusal(create)?.message == "there is one already")
    #expect(bench.service.rows("items")[1]?.name == "one")
  }
}
