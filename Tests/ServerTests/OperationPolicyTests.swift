import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerryServer

/// What becomes of the server's copy of a row after an operation on it. The business system writes
/// another text than it was sent, and gives no rows by itself.
extension ReplayTests {
  private func use(_ policy: OperationPolicy, _ kinds: [OperationKind: OperationPolicy] = [:]) {
    bench.business.givesRows = false
    bench.business.rewritten = "BERGEN"
    let orders = CacheGroup(name: "orders", entities: ["Order"], refresh: .notice)
    bench.service.core.cacheGroups.change(
      to: CachePolicies(
        groups: [orders], operations: ["Order": OperationPolicies(policy, kinds: kinds)]))
  }

  /// The order that the device gets, after its change was performed.
  private func shipped() throws -> (order: String?, answer: Answer) {
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    return (order(10), try #require(device.answers[id]))
  }

  private func order(_ key: Int64) -> String? {
    device.shown.first { $0.hasPrefix("Order \(key) ") }
  }

  @Test(
    "result: the row is read once more, and the device gets what the business system made of it",
    .reference("facts/2.4"))
  func policyResult() throws {
    use(.result)
    let (order, answer) = try shipped()
    #expect(order == "Order 10 [10,1,\"BERGEN\"]")
    #expect(bench.business.reads == 1)
    #expect(answer.outcome == .replayResult && answer.logRecords == [])
  }

  @Test(
    "parameters: the row takes the values of the change and is not read, until its group is",
    .reference("facts/2.4"))
  func policyParameters() throws {
    use(.parameters)
    let (order, answer) = try shipped()
    #expect(order == "Order 10 [10,1,\"Bergen\"]")
    #expect(bench.business.reads == 0)
    #expect(answer.outcome == .replayResult && answer.logRecords == [])
    try bench.load()
    try device.exchange()
    #expect(self.order(10) == "Order 10 [10,1,\"BERGEN\"]")
  }

  @Test("parameters: changes of one object in one chain are put in one after the other")
  func policyParametersOfChain() throws {
    use(.parameters)
    let chain = bench.operation(
      Shop.order, .update, ten, changed: [2: .text("Bergen")], base: [2: .text("Oslo")], count: 2)
    let next = bench.operation(
      Shop.order, .update, ten, changed: [2: .text("Narvik")], base: [2: .text("BERGEN")],
      chain: chain.0, position: 1, count: 2)
    try send(chain, next)
    try bench.replay()
    try device.exchange()
    #expect(order(10) == "Order 10 [10,1,\"Narvik\"]")
    #expect(bench.business.reads == 0)
  }

  @Test("parameters: a create with all its values is shown under the key that it was given")
  func policyParametersOfCreate() throws {
    use(.parameters)
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    try send(create)
    try bench.replay()
    try device.exchange()
    let key = try #require(device.answers[create.0]?.newKey)
    #expect(device.shown.contains("Order \(key.text) [\(key.text),1,\"new\"]"))
    #expect(bench.business.reads == 0)
  }

  @Test("parameters: a delete takes the row away")
  func policyParametersOfDelete() throws {
    use(.parameters)
    let delete = bench.operation(
      Shop.order, .delete, ObjectKey([.integer(10)]),
      base: [0: .integer(10), 1: .integer(1), 2: .text("Oslo")])
    try send(delete)
    try bench.replay()
    try device.exchange()
    #expect(device.answers[delete.0]?.outcome == .replayResult)
    #expect(order(10) == nil && bench.business.reads == 0)
  }

  @Test("parameters: what somebody else writes at the same time is read, and not written over")
  func policyParametersAndOthers() throws {
    use(.parameters)
    try send(ship("Bergen"))
    let task = try #require(try bench.service.nextReplay())
    let performed = try #require(bench.answer(task.step))
    bench.business.put(Shop.order, Shop.order(10, 1, "Hamar"))
    try bench.load()
    var step = try bench.service.report(task, performed)
    while let report = bench.answer(step) { step = try bench.service.report(task, report) }
    try bench.readAgain()
    try device.exchange()
    #expect(order(10) == "Order 10 [10,1,\"Hamar\"]")
    #expect(bench.business.reads > 0)
  }

  @Test(
    "none: the device shows the old row again, and its user hears why, until the group is read",
    .reference("facts/2.4"), arguments: [false, true])
  func policyNone(_ givesRows: Bool) throws {
    use(.none)
    bench.business.givesRows = givesRows
    let (order, answer) = try shipped()
    #expect(order == "Order 10 [10,1,\"Oslo\"]")
    #expect(bench.business.reads == 0)
    #expect(answer.outcome == .replayResult)
    #expect(answer.logRecords.map(\.code) == [LogRecord.remark])
    #expect(answer.logRecords.first?.message.contains("accepted") == true)
    try bench.load()
    try device.exchange()
    #expect(self.order(10) == "Order 10 [10,1,\"BERGEN\"]")
  }

  @Test("Each operation of an entity may have a policy of its own")
  func policyOfOneKind() throws {
    use(.result, [.create: .parameters, .update: .none])
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    try send(create, ship("Bergen"))
    try bench.replay()
    try device.exchange()
    #expect(device.shown.contains { $0.hasSuffix("1,\"new\"]") })
    #expect(order(10) == "Order 10 [10,1,\"Oslo\"]")
    #expect(bench.business.reads == 0)
  }

  @Test(
    "A refused change is refused under each policy, and the row is read",
    arguments: [
      OperationPolicy.parameters, .none,
    ])
  func policyOfRefused(_ policy: OperationPolicy) throws {
    use(policy)
    let (id, bytes) = ship("forbidden")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayFailed)
    #expect(bench.business.reads == 1)
  }
}
