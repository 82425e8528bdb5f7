import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

/// Steps of SQLite's machine are counted, which are the same on every machine.
@Suite("What one change costs beside many that wait")
struct PendingCostTests {
  /// What is measured beside so many others.
  private struct Cost {
    let name: String
    let steps: Int

    /// Whoever looks at each of the others takes a step or more for each: 180 more steps beside 180
    /// more. Where an id that is drawn falls in a page of an index is a step or two.
    func isSame(beside more: Int, as other: Cost) -> Bool {
      name == other.name && abs(steps - other.steps) < more / 10
    }
  }

  private static let (few, many) = (20, 200)

  private func cost(_ name: String, _ store: Store, _ body: () throws -> Void) throws -> Cost {
    Cost(name: name, steps: try store.machineSteps(of: body))
  }

  /// So many creates that are not submitted, so many that were refused and so many lines that are
  /// submitted and wait for the keys of those.
  private func crowd(_ count: Int) throws -> Stocked {
    let shop = try Stocked()
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
    try shop.device.store.write { _ throws(FerryError) in
      for order in orders {
        var line = shop.device.newLine(of: order.id, 1, "nail")
        try line.create()
      }
    }
    try Outbox(shop.device.store).submitAll(Line.entity)
    for id in shop.shore.stored.keys { shop.shore.refuse(id) }
    try shop.device.exchange(shop.shore)
    try shop.device.store.write { _ throws(FerryError) in
      for number in 0..<count {
        var order = shop.device.newOrder("other \(number)")
        try order.create()
      }
    }
    let operations = try shop.device.operations()
    #expect(operations.count { $0.wanted == .yes } == count)
    #expect(operations.count { $0.state == .replayFailed } == count)
    return shop
  }

  private func costs(beside count: Int) throws -> [Cost] {
    let shop = try crowd(count)
    let store = shop.device.store
    var order = try #require(try shop.device.order(1))
    var new = shop.device.newOrder("Jena")
    var costs: [Cost] = []
    costs.append(
      try cost("update", store) {
        order.city = "Kiel"; try order.update()
      })
    costs.append(try cost("submit", store) { try order.submitPending() })
    costs.append(try cost("create", store) { try new.create() })
    costs.append(try cost("submit a create", store) { try new.submitPending() })
    costs.append(
      try cost("submit behind it", store) {
        new.city = "Ulm"
        try new.update()
        try new.submitPending()
      })
    costs.append(try cost("make a request", store) { _ = try shop.device.request() })
    costs.append(try cost("cancel a create", store) { try new.cancelPending() })
    costs.append(
      try cost("delete", store) {
        var other = try #require(try shop.device.order(2))
        try other.delete()
      })
    return costs
  }

  @Test("Saving, submitting, sending and cancelling one look at nothing of the others")
  func one() throws {
    let few = try costs(beside: Self.few)
    let many = try costs(beside: Self.many)
    #expect(few.count == many.count)
    for (one, other) in zip(few, many) {
      #expect(one.isSame(beside: Self.many - Self.few, as: other), "\(one), \(other)")
    }
  }

  /// Steps of an import of another user's row, and statements of one with the answer to one create
  /// that a line waits for: its key is replaced in whatever may refer to it.
  private func imports(beside count: Int) throws -> (plain: Cost, answered: Int) {
    let shop = try crowd(count)
    let store = shop.device.store
    shop.shore.put(Order.entity, [.integer(9), .text("BONAP"), .null, .null])
    let plain = try cost("import", store) { try shop.device.exchange(shop.shore) }
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    var line = shop.device.newLine(of: order.id, 1, "nail")
    try line.create()
    try line.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try Operation(#require(shop.shore.received.last), in: shop.shore.model).id
    shop.shore.accept(id, newKey: ObjectKey([.integer(100)]))
    let messages = try shop.shore.respond(to: #require(try shop.device.request()).body)
    let before = try executions(store)
    try shop.device.take(messages)
    let answered = try executions(store) - before
    #expect(
      try shop.device.operations().contains {
        $0.state == .submitted && $0.key == ObjectKey([.integer(100), .integer(1)])
      })
    return (plain, answered)
  }

  private func executions(_ store: Store) throws -> Int {
    try store.writer.withConnection(closed: Store.closed("")) { connection throws(FerryError) in
      connection.executions
    }
  }

  @Test("An import looks at nothing that waits on, and an answer seals what waited for it")
  func imported() throws {
    let few = try imports(beside: Self.few)
    let many = try imports(beside: Self.many)
    #expect(few.plain.isSame(beside: Self.many - Self.few, as: many.plain), "\(few), \(many)")
    #expect(few.answered == many.answered)
  }
}
