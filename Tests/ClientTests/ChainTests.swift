import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("What is replayed as one")
struct ChainTests {
  @Test("What one transaction changed is one chain on the wire, its members in their order")
  func transaction() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try edit(shop, 3, "Ulm")
    var first = try #require(try shop.device.order(1))
    try first.submitPending()
    try shop.device.exchange(shop.shore)
    let sent = shop.shore.stored.values.sorted { $0.position < $1.position }
    #expect(sent.map(\.key) == [ObjectKey([.integer(1)]), ObjectKey([.integer(2)])])
    #expect(sent.map(\.count) == [2, 2] && Set(sent.map(\.chain)) == [sent[0].id])
    #expect(try shop.device.order(3)?.replayPending == 0, "the third is not part of it")
  }

  @Test(
    "A transaction that throws leaves nothing, a savepoint that throws only what was outside it")
  func rollback() throws {
    let shop = try Stocked()
    let before = try shop.device.dump()
    let lost = FerryError(.cancelled, "no", hint: "None.")
    #expect(throws: FerryError.self) {
      try shop.device.store.transaction { () throws(FerryError) in
        try edit(shop, 1, "Kiel")
        throw lost
      }
    }
    #expect(try shop.device.dump() == before)
    try shop.device.store.transaction { () throws(FerryError) in
      try edit(shop, 1, "Kiel")
      do throws(FerryError) {
        try shop.device.store.transaction { () throws(FerryError) in
          try edit(shop, 2, "Kiel")
          throw lost
        }
      } catch {
        guard error.message == "no" else { throw error }
      }
      try shop.device.store.undone { () throws(FerryError) in try edit(shop, 3, "Kiel") }
    }
    #expect(try shop.device.dump() == "1 ALFKI Kiel U\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    #expect(try shop.device.operations().count == 1)
  }

  @Test("A rollback on another thread undoes nothing of the transaction that is open")
  func rollbackElsewhere() throws {
    let shop = try Stocked()
    let store = shop.device.store
    let refused = Mutex<FerryError?>(nil)
    try store.transaction { () throws(FerryError) in
      try edit(shop, 1, "Kiel")
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do throws(FerryError) { try store.rollback() } catch { refused.withLock { $0 = error } }
        done.signal()
      }
      done.wait()
    }
    #expect(try shop.device.order(1)?.city == "Kiel")
    #expect(refused.withLock { $0?.code } == .wrongState)
    #expect(throws: FerryError.self) { try store.rollback() }
  }

  @Test("A transaction inside another does not make the other's rollback forgotten")
  func rollbackThenTransaction() throws {
    let shop = try Stocked()
    let before = try shop.device.dump()
    try shop.device.store.transaction { () throws(FerryError) in
      try edit(shop, 1, "Kiel")
      try shop.device.store.rollback()
      try shop.device.store.transaction { () throws(FerryError) in try edit(shop, 2, "Kiel") }
    }
    #expect(try shop.device.dump() == before)
  }

  @Test("A savepoint that was undone does not draw later changes into another chain")
  func undoneSavepoint() throws {
    let shop = try Stocked()
    try edit(shop, 2, "Ulm")
    let waiting = try shop.device.operations()[0].chain
    try shop.device.store.transaction { () throws(FerryError) in
      try shop.device.store.undone { () throws(FerryError) in try edit(shop, 2, "Hof") }
      try edit(shop, 1, "Kiel")
    }
    let chains = try shop.device.operations().map(\.chain)
    #expect(chains.count == 2 && chains[0] == waiting && chains[1] != waiting)
  }

  @Test("Two transactions that changed the same waiting object become one chain")
  func united() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      try edit(shop, 1, "Kiel")
      try edit(shop, 2, "Kiel")
    }
    try shop.device.store.transaction { () throws(FerryError) in
      try edit(shop, 2, "Ulm")
      try edit(shop, 3, "Ulm")
    }
    #expect(Set(try shop.device.operations().map(\.chain)).count == 1)
    var third = try #require(try shop.device.order(3))
    try third.submitPending()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.values.map(\.count) == [3, 3, 3])
  }

  @Test(
    "A transaction over objects in flight is a second chain, which waits for the first",
    .reference("sync/RC9"))
  func secondChain() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [2, 3] as [Int64] { try edit(shop, id, "Ulm") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 2, "order 3 waits with order 2")
    for operation in shop.shore.stored.values { shop.shore.accept(operation.id) }
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    let second = shop.shore.stored.values.filter { $0.changed[2] == .text("Ulm") }
    #expect(second.count == 2 && second.allSatisfy { $0.count == 2 })
    #expect(second.first { $0.key == ObjectKey([.integer(2)]) }?.base == [2: .text("Kiel")])
  }

  @Test("A refused member holds its chain together: corrected, all of it goes again under new ids")
  func refusedMember() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    let before = Set(shop.shore.stored.keys)
    for operation in shop.shore.stored.values {
      if operation.position == 0 {
        shop.shore.refuse(operation.id)
      } else {
        shop.shore.answer(operation.id, .notTried)
      }
    }
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel U!\n2 ALFKI Kiel U\n3 ALFKI Bremen N")
    try edit(shop, 1, "Jena")
    var second = try #require(try shop.device.order(2))
    try second.submitPending()
    try shop.device.exchange(shop.shore)
    let again = shop.shore.stored.values.filter { !before.contains($0.id) }
    #expect(again.count == 2 && again.allSatisfy { $0.count == 2 })
    #expect(Set(again.map(\.chain)).isDisjoint(with: before))
  }

  @Test(
    "One member of a chain in flight is cancelled, and the late answer is taken",
    .reference("sync/RC10", "sync/P21"))
  func cancelMember() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    var order = try #require(try shop.device.order(1))
    try order.cancelPending()
    #expect(order.city == "Bremen" && !order.isPending)
    for operation in shop.shore.stored.values { shop.shore.accept(operation.id) }
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel N\n2 ALFKI Kiel N\n3 ALFKI Bremen N")
    #expect(try shop.device.operations().isEmpty)
  }

  @Test("A chain that loses a member before it is sent is sealed again without it")
  func recalledMember() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2, 3] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    var order = try #require(try shop.device.order(1))
    try order.cancelPending()
    try shop.device.exchange(shop.shore)
    let sent = shop.shore.stored.values.sorted { $0.position < $1.position }
    #expect(sent.map(\.key) == [ObjectKey([.integer(2)]), ObjectKey([.integer(3)])])
    #expect(sent.map(\.count) == [2, 2] && Set(sent.map(\.chain)) == [sent[0].id])
  }

  @Test(
    "A member that is cancelled while others are on their way goes too: the server waits for all")
  func lateMember() throws {
    let shop = try Stocked()
    let city = String(repeating: "x", count: 900_000)
    var last = shop.device.newOrder(city)
    try shop.device.store.transaction { () throws(FerryError) in
      for _ in 0..<4 {
        var order = shop.device.newOrder(city)
        try order.create()
      }
      try last.create()
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 4, "the fifth does not fit into the first message")
    try last.cancelPending()
    #expect(last.isDeleted)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 5)
    for operation in shop.shore.stored.values { shop.shore.refuse(operation.id) }
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().count == 4, "the withdrawn one is gone with its answer")
  }

  @Test("Created comes before what refers to it, deleted after what referred to it")
  func order() throws {
    let shop = try Filled()
    var item = try #require(try shop.item(1))
    var old = try #require(try shop.basket(1))
    try shop.device.store.transaction { () throws(FerryError) in
      // The basket is changed first and deleted last: the delete merges into the earlier place.
      old.name = "gone"
      try old.update()
      item.text = "none"
      try item.update()
      try old.delete()
      var basket = shop.newBasket("new")
      var receipt = Receipt(record: shop.new(nil, .text("1.5"), of: Receipt.entity))
      try basket.create()
      receipt.record.set(0, basket.id)
      try receipt.create()
    }
    try Outbox(shop.device.store).submitAll(Receipt.entity)
    #expect(
      try shop.sent() == [
        "Remark delete 1/6", "Item delete 2/6", "Item delete 3/6", "Basket delete 4/6",
        "Basket create 5/6", "Receipt create 6/6",
      ])
  }

  @Test("A chain that is too long to be replayed as one is refused with what to do, and stays")
  func tooLong() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for _ in 0...WireLimits.operationsInChain {
        var order = shop.device.newOrder("Jena")
        try order.create()
      }
    }
    let error = #expect(throws: FerryError.self) {
      try Outbox(shop.device.store).submitAll(Order.entity)
    }
    #expect(error?.hint == "Change less in one transaction." && error?.entity == "Order")
    #expect(try shop.device.operations().allSatisfy { $0.state == .waiting })
  }

  @Test("A chain that has too many bytes to be replayed as one is refused, and stays")
  func tooLarge() throws {
    let shop = try Stocked()
    let city = String(repeating: "x", count: WireLimits.operationBytes - 1_000)
    let count = WireLimits.chainBytes / city.utf8.count + 1
    try shop.device.store.transaction { () throws(FerryError) in
      for _ in 0..<count {
        var order = shop.device.newOrder(city)
        try order.create()
      }
    }
    let error = #expect(throws: FerryError.self) {
      try Outbox(shop.device.store).submitAll(Order.entity)
    }
    #expect(error?.message.contains(String(WireLimits.chainBytes)) == true)
    #expect(error?.entity == "Order")
    #expect(try shop.device.operations().allSatisfy { $0.state == .waiting })
  }

  private func edit(_ shop: Stocked, _ id: Int64, _ city: String) throws(FerryError) {
    var order = Order(
      record: try Records(shop.device.store).all(Order.entity, "WHERE id = ?", [.integer(id)])[0])
    order.city = city
    try order.update()
  }
}

extension Store {
  /// A transaction that its own body undoes, without an error.
  fileprivate func undone(_ body: () throws(FerryError) -> Void) throws(FerryError) {
    try transaction { () throws(FerryError) in
      try body()
      try rollback()
    }
  }
}
