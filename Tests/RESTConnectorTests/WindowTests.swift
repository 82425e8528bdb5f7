import FerryConnector
import FerryModel
import FerryRESTConnector
import FerryWorld
import Testing

/// A service knows a request by its number for some hours only, and the server may have been stopped.
@Suite(.timeLimit(.minutes(60)))
struct WindowTests {
  private static let mapping = Bench.text(
    "\"memory\": {\"header\": \"Idempotency-Key\", \"hours\": 2}")

  /// An order that the service has made, whose answer was lost and whose process has ended.
  private func stopped(_ bench: Bench, sentAt: Timestamp?) async throws -> ConnectorOperation {
    bench.service.change { $0.faults = [.lostAfter] }
    var order = bench.order()
    order.sentAt = sentAt
    _ = await bench.outcomes(order)
    try bench.restart()
    return order
  }

  @Test func afterAShortStopTheRequestIsRepeated() async throws {
    let bench = try Bench([], WindowTests.mapping)
    let order = try await stopped(bench, sentAt: bench.clock.now)
    bench.clock.move(.seconds(3_600))
    try bench.restart()
    guard case .accepted(let key, _) = try await bench.replay(recalling: order) else {
      Issue.record("it is not accepted")
      return
    }
    #expect(key == ObjectKey([.integer(1)]))
    #expect(bench.service.rows("orders").count == 1)
  }

  /// The service has forgotten the number: the same request would make a second order.
  @Test func afterALongStopAPersonDecides() async throws {
    let bench = try Bench([], WindowTests.mapping)
    let order = try await stopped(bench, sentAt: bench.clock.now)
    bench.service.change { $0.numbers = [:] }
    bench.clock.move(.seconds(7_201))
    try bench.restart()
    #expect(try await bench.replay(recalling: order) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").count == 1)
  }

  /// A request that leaves at the end of the window may arrive behind it.
  @Test func theEndOfTheWindowIsNotUsed() async throws {
    let bench = try Bench([], WindowTests.mapping)
    let order = try await stopped(bench, sentAt: bench.clock.now)
    bench.clock.move(.seconds(7_150))
    try bench.restart()
    #expect(try await bench.replay(recalling: order) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").count == 1)
  }

  @Test("Nobody knows how old the number is", arguments: [nil, Int64(9_999_000)])
  func unknownAge(_ milliseconds: Int64?) async throws {
    let bench = try Bench([], WindowTests.mapping)
    let order = try await stopped(
      bench, sentAt: milliseconds.map { Timestamp(milliseconds: $0) })
    bench.service.change { $0.numbers = [:] }
    #expect(try await bench.replay(recalling: order) == .unknown(reason: "a person decides"))
    #expect(bench.service.rows("orders").count == 1)
  }
}

extension Bench {
  /// As the server does after a start.
  fileprivate func replay(recalling operation: ConnectorOperation) async throws -> OperationOutcome
  {
    while true {
      switch try await recall(operation)[0] {
      case .performed(let outcome): return outcome
      case .notPerformed, .mayBeRepeated: return try await replay(operation)
      case .mayStillArrive: clock.move(.seconds(121))
      case .cannotTell: return .unknown(reason: "a person decides")
      }
    }
  }
}
