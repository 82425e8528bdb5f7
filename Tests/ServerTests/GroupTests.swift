import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Chains that are claimed and answered in groups") struct GroupTests {
  let bench: Bench
  let device: Device
  let ten = ObjectKey([.integer(10)])

  init() throws {
    bench = try Bench()
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    bench.business.put(Shop.order, Shop.order(30, 1, "Lund"))
    try bench.load()
    device = try Device(bench).exchange()
  }

  private func ship(_ text: String, base: String, of key: Int64) -> (OperationID, [UInt8]) {
    bench.operation(
      Shop.order, .update, ObjectKey([.integer(key)]), changed: [2: .text(text)],
      base: [2: .text(base)])
  }

  /// Two chains that wait, and what they came to in the business system.
  private func perform() throws -> (
    ids: [OperationID], reports: [(task: ReplayTask, report: ReplayReport)]
  ) {
    let operations = [ship("Bergen", base: "Oslo", of: 10), ship("Turku", base: "Lund", of: 30)]
    device.open += operations.map(\.0)
    try device.exchange(operations.map(\.1))
    let tasks = try bench.service.nextReplays(limit: 8)
    let reports = tasks.compactMap { task in bench.answer(task.step).map { (task, $0) } }
    return (operations.map(\.0), reports)
  }

  @Test("Chains that were performed one after the other are answered at one version")
  func together() throws {
    let (ids, reports) = try perform()
    #expect(reports.map { $0.task.operations.map(\.id) } == ids.map { [$0] })
    #expect(try bench.service.report(reports) == [.done, .done])
    try device.exchange()
    let answers = ids.compactMap { device.answers[$0] }
    #expect(answers.map(\.outcome) == [.replayResult, .replayResult])
    #expect(Set(answers.map(\.version)).count == 1)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
    #expect(device.shown.contains("Order 30 [30,1,\"Turku\"]"))
  }

  @Test("One whose row was touched meanwhile is read again, and the others are answered")
  func touched() throws {
    let (ids, reports) = try perform()
    // Somebody saw the first one's row after its image was taken.
    bench.service.core.marks.confirm(ObjectName(entity: "Order", key: ten))
    let steps = try bench.service.report(reports)
    #expect(steps == [.read(Shop.order, [ten]), .done])
    try device.exchange()
    #expect(device.answers[ids[0]] == nil)
    #expect(device.answers[ids[1]]?.outcome == .replayResult)
    let again = try #require(bench.answer(steps[0]))
    #expect(try bench.service.report(reports[0].task, again) == .done)
    try device.exchange()
    #expect(device.answers[ids[0]]?.outcome == .replayResult)
  }
}
