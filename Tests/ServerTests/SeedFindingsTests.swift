import FerryConnector
import FerryModel
import FerryWire
import Testing

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

  @Test("A row that an unanswered create may have made is not read before the answer")
  func unknownRow() throws {
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
  }

  @Test("A refusal that was confirmed is told to a restored device with a log record")
  func refusedBefore() throws {
    let change = bench.operation(
      Shop.order, .update, Key([.integer(10)]), changed: [2: .text("forbidden")],
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
}
