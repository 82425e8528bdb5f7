import FerryConnector
import FerryModel
import Testing

@testable import FerryServer

@Suite("How far the business system's changes were followed is kept behind the cache")
struct CursorTests {
  private static func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }

  private func bench(_ limits: ServiceLimits = .standard) throws -> Bench {
    let bench = try Bench(limits: limits)
    for number in 1...3 { bench.business.put(Shop.product, [.integer(Int64(number)), .text("a")]) }
    try bench.load()
    return bench
  }

  private func hint(_ cursor: String, _ numbers: Int64...) -> BusinessChanges {
    BusinessChanges(
      cursor: cursor,
      hints: numbers.isEmpty
        ? [] : [.objects(entity: "Product", keys: numbers.map(CursorTests.key))])
  }

  @Test("What is hinted at while it is read is read again before the cursor is kept")
  func again() throws {
    let bench = try bench()
    #expect(try !bench.service.take(hint("a", 1)))
    let task = try #require(try bench.service.nextReadBack())
    let rows = try bench.business.read(task.entity, keys: task.keys)
    bench.business.put(Shop.product, [.integer(1), .text("b")])
    #expect(try !bench.service.take(hint("b", 1)))
    try bench.service.finish(task, rows)
    #expect(try bench.service.sourceCursor() != "b")
    try bench.readAgain()
    #expect(try bench.service.sourceCursor() == "b")
    #expect(try bench.service.cachedRows().first?.values == [.integer(1), .text("b")])
  }

  @Test("Images of a replay that are not written hold the cursor back")
  func replay() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let change = bench.operation(
      Shop.product, .update, CursorTests.key(1), changed: [1: .text("b")], base: [1: .text("a")])
    try device.exchange([change.1])
    let task = try #require(try bench.service.nextReplay())
    _ = bench.answer(task.step)
    // Somebody else's change of the row that the business system's rule touched comes between.
    bench.business.put(Shop.product, [.integer(2), .text("other")])
    _ = try bench.service.take(BusinessChanges(cursor: nil, hints: hint("", 2).hints))
    try bench.readAgain()
    let touched = [Int64(1), 2].map {
      RowImage(entity: "Product", key: CursorTests.key($0), values: [.integer($0), .text("b")])
    }
    var step = try bench.service.report(
      task, .performed(.done([.accepted(key: CursorTests.key(1))], touched: touched)))
    #expect(step != .done)
    _ = try bench.service.take(hint("c"))
    #expect(try bench.service.sourceCursor() == nil)
    while let report = bench.answer(step) { step = try bench.service.report(task, report) }
    #expect(try bench.service.sourceCursor() == "c")
  }

  @Test("More hints than memory should hold become a load")
  func storm() throws {
    var limits = ServiceLimits.standard
    limits.hintedObjects = 2
    let bench = try bench(limits)
    #expect(try !bench.service.take(hint("a", 1, 2)))
    #expect(try bench.service.take(hint("b", 3)))
    try bench.readAgain()
    #expect(try bench.service.sourceCursor() == "a")
    try bench.load()
    #expect(try bench.service.sourceCursor() == "b")
  }
}
