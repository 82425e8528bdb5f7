import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Submitted while something must be answered first: it goes then as it was submitted, and what is
/// changed after that stays until it is submitted too (sync/P2, RC9).
@Suite("A submit that must wait")
struct HeldSubmitTests {
  /// Order 1 with "Kiel" on its way, and "Ulm" submitted behind it.
  private func held() throws -> (shop: Stocked, order: Order) {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    order.city = "Ulm"
    try order.update()
    try order.submitPending()
    return (shop, order)
  }

  /// Cities of the updates, and kinds of all else, in the order of arrival.
  private func sent(_ shop: Stocked) throws -> [String] {
    try shop.shore.received.map { bytes in
      let operation = try Operation(bytes, in: shop.shore.model)
      guard case .text(let city)? = operation.changed[2] else { return operation.kind.rawValue }
      return city
    }
  }

  private func accept(_ shop: Stocked, _ place: Int) throws {
    shop.shore.accept(try Operation(shop.shore.received[place], in: shop.shore.model).id)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
  }

  @Test("A delete that was saved after it is not sent with it")
  func unsubmittedDelete() throws {
    var (shop, order) = try held()
    try order.delete()
    try accept(shop, 0)
    #expect(try sent(shop) == ["Kiel", "Ulm"])
    try accept(shop, 1)
    #expect(try sent(shop) == ["Kiel", "Ulm"])
    #expect(try shop.device.order(1) == nil)
    #expect(try shop.device.operations().map(\.kind) == [.delete])
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel", "Ulm", "delete"])
  }

  @Test("An edit after it is based on what came before it, and goes when it is submitted")
  func unsubmittedEdit() throws {
    var (shop, order) = try held()
    order.customer = "BONAP"
    try order.update()
    #expect(order.replayPending > 0 && order.replayPending < order.replayCounter)
    shop.shore.accept(
      try Operation(shop.shore.received[0], in: shop.shore.model).id, changing: [3: .text("9")])
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel", "Ulm"])
    let waiting = try #require(try shop.device.operations().last)
    #expect(waiting.changed == [1: .text("BONAP")] && waiting.base == [1: .text("ALFKI")])
    // Submitted while "Ulm" is on its way: again behind it.
    try order.refresh()
    try order.submitPending()
    try accept(shop, 1)
    #expect(try shop.device.operations().map(\.state) == [.submitted])
    #expect(
      try Operation(shop.shore.received[2], in: shop.shore.model).changed.keys.sorted() == [1])
  }

  @Test("What one accepted change and a later edit have changed is based on what was accepted")
  func rebased() throws {
    var (shop, order) = try held()
    order.city = "Trier"
    order.freight = 4
    try order.update()
    shop.shore.accept(
      try Operation(shop.shore.received[0], in: shop.shore.model).id,
      writing: [2: .text("KIEL")], changing: [3: .text("9")])
    try shop.device.exchange(shop.shore)
    let operations = try shop.device.operations()
    #expect(operations.map { $0.base[2] } == [.text("KIEL"), .text("Ulm")])
  }

  @Test("Submitted again, what waits and what came since are one change")
  func submittedAgain() throws {
    var (shop, order) = try held()
    order.city = "Trier"
    try order.update()
    #expect(try shop.device.operations().count == 3)
    try order.submitPending()
    #expect(try shop.device.operations().count == 2)
    #expect(order.replayPending == order.replayCounter)
    try accept(shop, 0)
    #expect(try sent(shop) == ["Kiel", "Trier"])
  }

  @Test("When the change before it is refused all of them are one again, and refused")
  func refused() throws {
    var (shop, order) = try held()
    order.city = "Trier"
    try order.update()
    shop.shore.refuse(try Operation(shop.shore.received[0], in: shop.shore.model).id)
    try shop.device.exchange(shop.shore)
    let left = try shop.device.operations()
    #expect(left.map(\.state) == [.replayFailed] && left[0].changed == [2: .text("Trier")])
    #expect(left[0].base == [2: .text("Bremen")])
    try order.refresh()
    #expect(order.replayFailed && order.replayCounter > order.replayFailure)
  }

  /// How many operations of an order were submitted and are not answered.
  private func unanswered(_ object: Int64, _ store: Store) throws -> Int {
    try store.withSnapshot { transaction throws(FerryError) in
      try SubmittedOperations(transaction).of(LocalObject(Order.entity.name, object)).count
    }
  }

  @Test(
    "It counts as submitted: in its numbers, the lists and the wait for its answer",
    .reference("facts/1.5"))
  func states() throws {
    let (shop, order) = try held()
    #expect(order.replayPending == order.replayCounter)
    let store = shop.device.store
    #expect(try unanswered(#require(order.record.object), store) == 2)
    var child = shop.device.newOrder("Hof")
    try child.create()
    try child.submitPending()
    var line = shop.device.newLine(of: child.id, 1, "nail")
    try line.create()
    try line.submitPending()
    #expect(try PendingObjects(store).count(Line.entity, nil, .replaying) == 1)
  }

  @Test("A line that is added to the graph after it is not sent with it")
  func graph() throws {
    let shop = try Filled()
    var basket = try #require(try shop.basket(1))
    for name in ["fig", "date"] {
      basket.name = name
      try basket.update()
      try basket.submitPending()
      if name == "fig" { try shop.device.exchange(shop.shore) }
    }
    var item = shop.newItem(of: 1, 3, "plum")
    try item.create()
    shop.shore.accept(try Operation(shop.shore.received[0], in: shop.shore.model).id)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.values.allSatisfy { $0.entity == "Basket" })
    #expect(shop.shore.stored.count == 2)
    #expect(try shop.item(3)?.pendingChange == .create)
  }

  @Test("What was sealed before its chain lost a member is still submitted, whatever is edited")
  func recalled() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Kiel") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    var order = try #require(try shop.device.order(2))
    try order.cancelPending()
    var other = try #require(try shop.device.order(1))
    let object = try #require(other.record.object)
    #expect(try unanswered(object, shop.device.store) == 1)
    other.city = "Ulm"
    try other.update()
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel"])
    #expect(try shop.device.operations().map(\.state) == [.submitted, .waiting])
  }

  @Test("What is replayed as one with what is behind a refused change goes when that is cancelled")
  func besideRefused() throws {
    let shop = try Stocked()
    try edit(shop, 1, "Kiel")
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2, 3] as [Int64] { try edit(shop, id, "Ulm") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    var third = try #require(try shop.device.order(3))
    try third.cancelPending()
    try shop.device.exchange(shop.shore)
    let store = shop.device.store
    let isRestless = try store.withSnapshot { transaction throws(FerryError) in
      try OperationQueue(transaction).hasOutgoing()
    }
    #expect(!isRestless)
    #expect(try sent(shop) == ["Kiel"])
    var first = try #require(try shop.device.order(1))
    try first.cancelPending()
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel", "Ulm"])
  }

  @Test("Row 11: what waits goes when that of its transaction is cancelled which had to wait")
  func memberCancelled() throws {
    let shop = try Stocked()
    try edit(shop, 1, "Kiel")
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Ulm") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    var first = try #require(try shop.device.order(1))
    try first.cancelPending()
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel", "Ulm"])
  }

  private func edit(_ shop: Stocked, _ id: Int64, _ city: String) throws(FerryError) {
    guard
      var order = try Records(shop.device.store).of(Order.entity, key: ObjectKey([.integer(id)]))
    else {
      return
    }
    order.set(2, city as String?)
    _ = try PendingStore.save(try order.change(.update), in: shop.device.store)
  }

  @Test("A refused change that is submitted with one that must wait goes with it")
  func refusedAndHeld() throws {
    let shop = try Stocked()
    try edit(shop, 1, "Kiel")
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    let first = try shop.device.operations()[0].id
    try edit(shop, 2, "Kiel")
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    shop.shore.refuse(try shop.device.operations()[1].id)
    try shop.device.exchange(shop.shore)
    try shop.device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(shop, id, "Ulm") }
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
    #expect(try shop.device.order(2)?.replayFailed == false)
    shop.shore.accept(first)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(try sent(shop) == ["Kiel", "Kiel", "Ulm", "Ulm"])
  }
}
