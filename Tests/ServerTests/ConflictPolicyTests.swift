import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerryServer

extension ReplayTests {
  /// Somebody else has changed the line that the device changes too; gives the device's answer.
  private func conflicting(_ policy: ConflictPolicy?) throws -> Answer {
    let key = ObjectKey([.integer(10), .integer(1)])
    bench.business.put(Shop.line, [.integer(10), .integer(1), .text("x"), .text("theirs")])
    if let policy {
      bench.service.core.cacheGroups.change(to: CachePolicies(conflicts: ["Line": policy]))
    }
    let operation = bench.operation(
      Shop.line, .update, key, changed: [2: .text("y"), 3: .text("mine")],
      base: [2: .text("10-1"), 3: .text("a")])
    try send(operation)
    try bench.replay()
    try device.exchange()
    return try #require(device.answers[operation.0])
  }

  private var line: [AttributeValue]? {
    bench.business.rows["Line"]?[ObjectKey([.integer(10), .integer(1)])]
  }

  @Test("The device wins: its change is written, and a log record of the success says over what")
  func deviceWins() throws {
    let answer = try conflicting(ConflictPolicy(.deviceWins))
    #expect(answer.outcome == .replayResult)
    #expect(line?.suffix(2) == [.text("y"), .text("mine")])
    #expect(answer.logRecords.map(\.attribute) == ["code", "text"])
    #expect(answer.logRecords.allSatisfy { $0.level == .warn && $0.currentValue == nil })
    #expect(answer.logRecords.last?.message.contains("theirs") == true)
    #expect(answer.logRecords.last?.message.hasSuffix("This change was written over it.") == true)
  }

  @Test("The server wins in one attribute: the rest is written, and the device gets both")
  func serverWins() throws {
    let answer = try conflicting(
      ConflictPolicy(.deviceWins, attributes: ["text": .serverWins]))
    #expect(answer.outcome == .replayResult)
    #expect(line?.suffix(2) == [.text("y"), .text("theirs")])
    #expect(
      answer.logRecords.map(\.message).last?.hasSuffix("The business system's value was kept.")
        == true)
    #expect(device.shown.contains { $0.contains("\"y\",\"theirs\"") }, "\(device.shown)")
  }

  @Test("Without a policy, or with one that does not name the attribute, the change is refused")
  func refusedByDefault() throws {
    let answer = try conflicting(ConflictPolicy(.refuse, attributes: ["text": .deviceWins]))
    #expect(answer.outcome == .replayFailed)
    #expect(answer.logRecords.map(\.attribute) == ["code", "text"])
    #expect(answer.logRecords.allSatisfy { $0.currentValue != nil })
    #expect(line?.suffix(2) == [.text("x"), .text("theirs")])
  }

  @Test(
    "An operation that invalidates its group: whoever asks next waits for a load",
    .reference("facts/2.4"), arguments: [true, false])
  func invalidates(_ isInvalidating: Bool) throws {
    let groups = bench.service.core.cacheGroups
    func waits() -> Bool {
      groups.ask(["sales"], at: bench.clock.uptime) { _ in ["Order"] }?.patience != nil
    }
    try send(ship("Bergen"))
    let orders = CacheGroup(
      name: "orders", entities: ["Order"], refresh: .onDemand(interval: .seconds(3_600)))
    groups.change(
      to: CachePolicies(
        groups: [orders],
        operations: isInvalidating ? ["Order": OperationPolicies(.invalidate)] : [:]))
    groups.loadedAll(began: bench.clock.uptime)
    bench.clock.advance(5)
    #expect(!waits())
    try bench.replay()
    #expect(bench.business.performed.count == 1)
    #expect(waits() == isInvalidating)
  }

  @Test("A refused conflict holds back its own object only; others go on")
  func holdsOwn() throws {
    _ = try conflicting(nil)
    let (id, bytes) = ship("Bergen")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayResult)
  }
}
