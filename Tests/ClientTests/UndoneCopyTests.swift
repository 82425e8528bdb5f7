import Ferry
import FerryModel
import Testing

@testable import Ferry

@Suite("Copies in sets and dictionaries, and transactions that are undone")
struct UndoneCopyTests {
  private struct Refused: Error {}

  @Test("A set finds what was created in a transaction, before and after it is undone")
  func created() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var orders: [Order] = []
    var set: Set<Order> = []
    try store.transaction { () throws(FerryError) in
      for number in 0..<100 {
        var order = shop.device.newOrder("\(number)")
        try order.create()
        orders.append(order)
        set.insert(order)
      }
      try store.rollback()
    }
    #expect(set.count == 100 && orders.allSatisfy { set.contains($0) && $0.isNew })
    #expect(orders.indices.allSatisfy { index in orders[index] == orders[index] })
  }

  @Test("A dictionary finds what was changed in a transaction, before and after it is undone")
  func changed() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var order = try #require(try shop.device.order(1))
    var places: [Order: Int] = [:]
    try store.transaction { () throws(FerryError) in
      order.city = "Kiel"
      try order.update()
      places[order] = 1
      let read = try Records(store).all(Order.entity, "WHERE id = 1", []).map(Order.init(record:))
      places[read[0], default: 0] += 1
      try store.rollback()
    }
    #expect(places == [order: 2] && order.isDirty)
  }

  @Test("Another object gets no number of one whose creation was undone, so lists tell them apart")
  func numbers() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var first = shop.device.newOrder("first")
    try store.transaction { () throws(FerryError) in
      try store.transaction { () throws(FerryError) in
        try first.create()
        try store.rollback()
      }
      try store.rollback()
    }
    let identity = first.record.identity
    var second = shop.device.newOrder("second")
    try second.create()
    #expect(first.record.identity == identity && second.record.identity != identity)
    #expect(first != second)
    try first.create()
    #expect(!first.isNew && first.record.identity != second.record.identity)
  }
}
