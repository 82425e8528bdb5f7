import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

/// Steps of SQLite's machine are counted, which are the same on every machine: what is done about one
/// answer looks at nothing of the others.
@Suite("What an answer costs beside many others")
struct AnswerCostTests {
  /// So many creates are on their way, each with an edit that is submitted and waits behind it, and
  /// each with a line that waits for its key; all are accepted in one import.
  private func answered(_ count: Int) throws -> Int {
    let shop = try Stocked()
    shop.shore.pageRows = 1_000
    var orders: [Order] = []
    try shop.device.store.write { _ throws(FerryError) in
      for number in 0..<count {
        var order = shop.device.newOrder("city \(number)")
        try order.create()
        orders.append(order)
      }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    let ids = try shop.device.operations().map(\.id)
    try shop.device.store.write { _ throws(FerryError) in
      for number in 0..<count {
        orders[number].customer = "BONAP"
        try orders[number].update()
        var line = shop.device.newLine(of: orders[number].id, 1, "nail")
        try line.create()
      }
    }
    try Outbox(shop.device.store).submitAll([Order.entity, Line.entity])
    #expect(try shop.device.operations().count { $0.wanted == .yes } == 2 * count)
    for (number, id) in ids.enumerated() {
      shop.shore.accept(id, newKey: ObjectKey([.integer(Int64(number) + 100)]))
    }
    let messages = try shop.shore.respond(to: #require(try shop.device.request()).body)
    let cost = try shop.device.store.machineSteps { try shop.device.take(messages) }
    let left = try shop.device.operations()
    #expect(left.count == 2 * count && left.allSatisfy { $0.state == .submitted })
    #expect(try shop.device.order(100)?.customer == "BONAP")
    return cost
  }

  @Test(
    "Four times as many accepted creates, with what waits for them, cost about four times as much")
  func accepted() throws {
    let (few, many) = (try answered(50), try answered(200))
    #expect(many < few * 5, "\(few) steps for 50, \(many) for 200")
  }
}
