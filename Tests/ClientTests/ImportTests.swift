import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("Import and answers on the device")
struct ImportTests {
  struct NoRequest: Error {}

  private func edited(_ shop: Stocked, _ id: Int64, city: String) throws -> Order {
    var order = try #require(try shop.device.order(id))
    order.city = city
    try order.update()
    try order.submitPending()
    return order
  }

  @Test(
    "An import is told per entity and then as a whole, when the database shows it",
    .reference("sync/M20"))
  func told() throws {
    let shore = Shore(Shop.package)
    let device = try Device().loggedIn()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .null, .null])
    try device.exchange(shore)
    #expect(
      device.handler.heard == ["connect", "import Order +1 ~0 -0", "importSuccess default"])
    #expect(try device.dump() == "1 ALFKI - N")
  }

  @Test(
    "An accepted change is no longer pending and shows what the server made of it",
    .reference("sync/P9", "sync/P10", "sync/P11", "sync/P22")
  )
  func accepted() throws {
    let shop = try Stocked()
    let order = try edited(shop, 1, city: "kiel")
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.isPending == true, "still pending before its answer")
    shop.shore.accept(try shop.device.operations()[0].id, changing: [2: .text("Kiel")])
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel N\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    #expect(try shop.device.order(1)?.surrogateKey == order.surrogateKey)
    #expect(try shop.device.originals(Order.entity) == 0)
    #expect(shop.device.handler.heard.last == "importSuccess default")
    #expect(shop.device.handler.heard.contains("replaySuccess Order 1 pending N"))
  }

  @Test(
    "Answers that come in another order than the changes each end their own", .reference("sync/P24")
  )
  func otherOrder() throws {
    let shop = try Stocked()
    for (id, city) in [(Int64(1), "Kiel"), (2, "Ulm"), (3, "Rom")] {
      _ = try edited(shop, id, city: city)
    }
    try shop.device.exchange(shop.shore)
    let sent = try shop.device.operations().map(\.id)
    shop.shore.accept(sent[2])
    shop.shore.refuse(sent[0], code: 412, "no seat left")
    shop.shore.accept(sent[1])
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel U!\n2 ALFKI Ulm N\n3 ALFKI Rom N")
    #expect(try shop.device.order(1)?.logRecords.map(\.requestID) == [sent[0]])
  }

  @Test("An answer that comes before the rows of its import loses nothing", .reference("sync/P12"))
  func answerFirst() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "kiel")
    try shop.device.exchange(shop.shore)
    shop.shore.accept(try shop.device.operations()[0].id, changing: [2: .text("Kiel")])
    let request = try #require(try shop.device.request())
    let messages = try shop.shore.respond(to: request.body)
    let early = messages.filter { message in
      if case .rows = message { false } else { true }
    }
    #expect(early.count < messages.count)
    try shop.device.take(early)
    #expect(try shop.device.dump() == "1 ALFKI kiel U\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    #expect(try shop.device.operations().count == 1)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.dump() == "1 ALFKI Kiel N\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    #expect(try shop.device.operations().isEmpty)
  }

  @Test(
    "A download without the results and one with them end as one with them does",
    .reference("sync/RC1"))
  func sameEnd() throws {
    var ends: [String] = []
    for comesBetween in [false, true] {
      let shop = try Stocked()
      _ = try edited(shop, 1, city: "kiel")
      _ = try edited(shop, 2, city: "Ulm")
      try shop.device.exchange(shop.shore)
      let sent = try shop.device.operations().map(\.id)
      shop.shore.put(Order.entity, [.integer(3), .text("BONAP"), .text("Rom"), .null])
      if comesBetween {
        try shop.device.exchange(shop.shore)
        #expect(try shop.device.order(3)?.city == "Rom")
        #expect(try shop.device.order(1)?.isPending == true)
      }
      shop.shore.accept(sent[0], changing: [2: .text("Kiel")])
      shop.shore.refuse(sent[1], code: 412, "no seat left")
      try shop.device.exchange(shop.shore)
      ends.append(try shop.device.dump())
    }
    #expect(ends[0] == ends[1])
    #expect(ends[0] == "1 ALFKI Kiel N\n2 ALFKI Ulm U!\n3 BONAP Rom N")
  }

  @Test("An accepted create takes its key from the business system, and so do its waiting children")
  func newKey() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    let temporary = order.id
    var line = shop.device.newLine(of: temporary, 1, "tea")
    try line.create()
    try order.submitPending()
    try line.submitPending()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 1, "the child waits for the key")
    let create = try #require(shop.shore.stored.values.first)
    #expect(create.key == nil && create.changed[0] == nil)
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(11)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(11)?.surrogateKey == order.surrogateKey)
    #expect(try shop.device.order(temporary)?.id == 11, "the old key still finds the object")
    #expect(try shop.device.order(11)?.lines().map(\.text) == ["tea"])
    try shop.device.exchange(shop.shore)
    let child = try #require(shop.shore.stored.values.first { $0.entity == "Line" })
    #expect(child.key == ObjectKey([11, 1].map(AttributeValue.integer)))
    #expect(child.changed[0] == .integer(11))
  }

  @Test("An accepted delete is gone for good", .reference("sync/P13"))
  func deleteAccepted() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    try order.delete()
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    shop.shore.accept(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.orders().map(\.id) == [2, 3])
    #expect(try shop.device.operations().isEmpty && shop.device.originals(Order.entity) == 0)
  }

  @Test(
    "A refused change stays pending with replayFailed and its own log records",
    .reference("sync/P15", "sync/P16", "sync/P18", "sync/P22")
  )
  func refused() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    let sent = try shop.device.operations()[0].id
    shop.shore.refuse(sent, code: 412, "no seat left")
    try shop.device.exchange(shop.shore)
    let order = try #require(try shop.device.order(1))
    #expect(order.replayFailed && order.city == "Kiel")
    let record = try #require(try order.logRecords.first)
    #expect(record.code == 412 && record.message == "no seat left" && record.requestID == sent)
    #expect(record.component == "Order" && record.entityKey == "1" && record.operation == .update)
    #expect(try shop.device.order(2)?.logRecords.isEmpty == true)
    #expect(shop.device.handler.heard.contains("replayFailure Order 1 failed true"))
    #expect(
      try shop.device.operations()[0].id != sent, "an id that was answered is never sent again")
    try shop.device.restart()
    #expect(try shop.device.order(1)?.logRecords.count == 1, "a refusal survives a restart")
  }

  @Test("A refused change is corrected, submitted again and accepted", .reference("sync/P19"))
  func corrected() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    _ = try edited(shop, 1, city: "Jena")
    try shop.device.exchange(shop.shore)
    shop.shore.accept(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    let order = try #require(try shop.device.order(1))
    #expect(!order.replayFailed && !order.isPending && order.city == "Jena")
    #expect(try order.logRecords.isEmpty)
  }

  @Test(
    "A conflict that was seen is decided by saving again: the change is based on what is there now")
  func conflictDecided() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    shop.shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Ulm"), .text("1.5")])
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    var order = try #require(try shop.device.order(1))
    try Outbox(shop.device.store).submitAll(Order.entity)
    #expect(
      try shop.device.operations()[0].base == [2: .text("Bremen")], "submitting decides nothing")
    try order.cancelPending()
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    shop.shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Hof"), .text("1.5")])
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    var again = try #require(try shop.device.order(1))
    try again.update()
    #expect(try shop.device.operations()[0].base == [2: .text("Hof")])
    #expect(try shop.device.operations()[0].changed == [2: .text("Kiel")])
  }

  @Test("A refused delete stays pending and the object is visible again")
  func deleteRefused() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    try order.delete()
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    let back = try #require(try shop.device.order(1))
    #expect(back.pendingChange == .delete && back.replayFailed && back.city == "Bremen")
    var again = back
    try again.cancelPending()
    #expect(try shop.device.dump() == "1 ALFKI Bremen N\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
  }

  @Test("Who deletes an object whose update was refused sees it no more")
  func refusedThenDeleted() throws {
    let shop = try Stocked()
    var order = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    try order.delete()
    #expect(try shop.device.order(1) == nil)
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let delete = try #require(shop.shore.stored.values.first { $0.kind == .delete })
    #expect(delete.base[2] == .text("Bremen"), "based on what the business system had")
    shop.shore.accept(delete.id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().isEmpty)
    #expect(try shop.device.dump() == "2 ALFKI Bremen N\n3 ALFKI Bremen N")
  }

  @Test(
    "An edit while a replay is under way is a second operation on the accepted values",
    .reference("sync/RC9"))
  func secondEdit() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "kiel")
    try shop.device.exchange(shop.shore)
    _ = try edited(shop, 1, city: "jena")
    #expect(try shop.device.operations().map(\.state) == [.submitted, .waiting])
    shop.shore.accept(try shop.device.operations()[0].id, writing: [2: .text("KIEL")])
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.city == "jena", "the newer edit stays visible")
    try shop.device.exchange(shop.shore)
    let second = try #require(shop.shore.stored.values.first { $0.changed[2] == .text("jena") })
    #expect(second.base == [2: .text("KIEL")], "based on what the server made of the first")
  }

  @Test("A second edit is not based on what another user wrote over the first: it is a conflict")
  func secondEditOverOthers() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "kiel")
    try shop.device.exchange(shop.shore)
    _ = try edited(shop, 1, city: "jena")
    shop.shore.accept(
      try shop.device.operations()[0].id, writing: [2: .text("KIEL")],
      changing: [2: .text("by another user")])
    for _ in 0..<2 { try shop.device.exchange(shop.shore) }
    let second = try #require(shop.shore.stored.values.first { $0.changed[2] == .text("jena") })
    #expect(second.base == [2: .text("KIEL")], "the user has not seen the value of the other")
  }

  @Test("An edit of an older copy is based on what the user's own earlier edit wrote")
  func secondEditOfOlderCopy() throws {
    let shop = try Stocked()
    var older = try #require(try shop.device.order(1))
    _ = try edited(shop, 1, city: "kiel")
    try shop.device.exchange(shop.shore)
    older.city = "jena"
    try older.update()
    try older.submitPending()
    shop.shore.accept(try shop.device.operations()[0].id)
    for _ in 0..<2 { try shop.device.exchange(shop.shore) }
    let second = try #require(shop.shore.stored.values.first { $0.changed[2] == .text("jena") })
    #expect(second.base == [2: .text("kiel")])
  }

  @Test(
    "When the first of two edits is refused they become one: base of the first, values of the second"
  )
  func firstRefused() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    var order = try #require(try shop.device.order(1))
    order.customer = "BONAP"
    try order.update()
    shop.shore.refuse(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    let operations = try shop.device.operations()
    #expect(operations.count == 1 && operations[0].state == .replayFailed)
    #expect(operations[0].changed == [1: .text("BONAP"), 2: .text("Kiel")])
    #expect(operations[0].base == [1: .text("ALFKI"), 2: .text("Bremen")])
  }

  @Test(
    "After a cancel in flight a late answer is applied and told to nobody",
    .reference("sync/P21", "sync/RC10"))
  func cancelInFlight() throws {
    let shop = try Stocked()
    var order = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    try order.cancelPending()
    #expect(order.city == "Bremen" && !order.isPending)
    shop.device.handler.forget()
    shop.shore.accept(try shop.device.operations()[0].id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.city == "Kiel", "what was done is shown")
    #expect(try shop.device.operations().isEmpty)
    #expect(!shop.device.handler.heard.contains { $0.hasPrefix("replay") })
  }

  @Test(
    "An import under a pending change moves the other attributes and keeps the change",
    .reference("sync/P26", "sync/RC11")
  )
  func importUnderPending() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    shop.shore.put(Order.entity, [.integer(1), .text("BONAP"), .text("Ulm"), .text("9")])
    try shop.device.exchange(shop.shore)
    let now = try #require(try shop.device.order(1))
    #expect(now.customer == "BONAP" && now.city == "Kiel" && now.freight == 9 && now.isPending)
    try order.cancelPending()
    #expect(order.city == "Ulm")
  }

  @Test("A row deleted on the server stays visible under a pending update until it is cancelled")
  func deletedUnderPending() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    shop.shore.remove(Order.entity, ObjectKey([.integer(1)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.city == "Kiel")
    try order.cancelPending()
    #expect(order.isDeleted)
    #expect(try shop.device.orders().map(\.id) == [2, 3])
  }

  @Test("An answer that comes twice is taken once", .reference("sync/P25"))
  func answerTwice() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    shop.shore.accept(try shop.device.operations()[0].id)
    let request = try #require(try shop.device.request())
    let messages = try shop.shore.respond(to: request.body)
    try shop.device.take(messages)
    try shop.device.exchange(shop.shore)
    #expect(shop.device.handler.heard.filter { $0.hasPrefix("replaySuccess") }.count == 1)
  }

  @Test("What was sent and is unknown to a restored server is sent again, marked as perhaps done")
  func neverSeen() throws {
    let shop = try Stocked()
    _ = try edited(shop, 1, city: "Kiel")
    try shop.device.exchange(shop.shore)
    let id = try shop.device.operations()[0].id
    shop.shore.neverSeen = [id]
    try shop.device.exchange(shop.shore)
    shop.shore.neverSeen = []
    let request = try #require(try shop.device.request())
    let replay = try FrameReader.frames(of: request.body).compactMap { frame -> Replay? in
      if case .replay(let replay) = try Message(frame) { replay } else { nil }
    }.first
    #expect(replay?.mayHaveRun == [id])
  }
}
