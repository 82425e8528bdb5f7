import Ferry
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("Copies of one object in the app's hands")
struct CopyTests {
  @Test(
    "A copy that is older than an import sends only what the app changed in it",
    .reference("sync/P26"))
  func untouched() throws {
    let shop = try Stocked()
    var copy = try #require(try shop.device.order(1))
    shop.shore.put(Order.entity, [.integer(1), .text("BONAP"), .text("Bremen"), .text("99")])
    try shop.device.exchange(shop.shore)
    copy.city = "Kiel"
    try copy.save()
    #expect(try shop.device.operations()[0].changed == [2: .text("Kiel")])
    #expect(copy.customer == "BONAP", "after a save the copy shows the object as it is")
    #expect(copy.freight == 99)
  }

  @Test("A change of a copy is based on what the copy showed, so that a conflict can be told")
  func conflict() throws {
    let shop = try Stocked()
    var copy = try #require(try shop.device.order(1))
    var doomed = try #require(try shop.device.order(2))
    for id in [1, 2] as [Int64] {
      shop.shore.put(
        Order.entity, [.integer(id), .text("ALFKI"), .text("Bonn"), .text("1.5")])
    }
    try shop.device.exchange(shop.shore)
    copy.city = "Kiel"
    try copy.update()
    try doomed.delete()
    let operations = try shop.device.operations()
    #expect(operations[0].base == [2: .text("Bremen")])
    #expect(operations[1].base[2] == .text("Bremen"))
  }

  @Test(
    "A copy with the temporary key changes the object that has its key by now",
    .reference("sync/P11"))
  func temporaryKey() throws {
    let shop = try Stocked()
    var copy = shop.device.newOrder("Jena")
    try copy.create()
    let temporary = copy.record.key
    try copy.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try #require(shop.shore.stored.keys.first)
    shop.shore.accept(id, newKey: ObjectKey([.integer(77)]), changing: [3: .text("12.5")])
    try shop.device.exchange(shop.shore)
    copy.city = "Kiel"
    try copy.update()
    #expect(copy.id == 77)
    #expect(copy.freight == 12.5, "what the business system made of it stays")
    let operation = try shop.device.operations()[0]
    #expect(operation.changed == [2: .text("Kiel")])
    #expect(operation.key == ObjectKey([.integer(77)]))
    #expect(try Records(shop.device.store).of(Order.entity, key: temporary)?.key == operation.key)
    try copy.delete()
    #expect(try shop.device.operations()[0].base[0] == .integer(77))
  }

  @Test("A delete by a copy with the temporary key is based on the key that the object has now")
  func deletedByTemporaryKey() throws {
    let shop = try Stocked()
    var copy = shop.device.newOrder("Jena")
    try copy.create()
    try copy.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try #require(shop.shore.stored.keys.first)
    shop.shore.accept(id, newKey: ObjectKey([.integer(77)]))
    try shop.device.exchange(shop.shore)
    try copy.delete()
    let operation = try #require(try shop.device.operations().first)
    #expect(operation.key == ObjectKey([.integer(77)]) && operation.base[0] == .integer(77))
  }

  @Test("Of two copies the one that is saved last is seen, and its first base stays")
  func twoCopies() throws {
    let shop = try Stocked()
    var first = try #require(try shop.device.order(1))
    var second = first
    first.city = "Kiel"
    try first.save()
    second.city = "Jena"
    second.customer = "BONAP"
    try second.save()
    let operation = try shop.device.operations()[0]
    #expect(operation.changed == [1: .text("BONAP"), 2: .text("Jena")])
    #expect(operation.base == [1: .text("ALFKI"), 2: .text("Bremen")])
    try first.refresh()
    #expect(first.city == "Jena")
  }

  @Test(
    "What a copy saved in a transaction that was undone is unsaved again, and saved by the next")
  func undone() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var copy = try #require(try shop.device.order(1))
    copy.freight = 9
    try store.transaction { () throws(FerryError) in
      try copy.update()
      try store.rollback()
    }
    #expect(copy.isDirty && !copy.isPending && copy.replayCounter == 0)
    copy.city = "Kiel"
    try copy.update()
    #expect(try shop.device.operations()[0].changed == [2: .text("Kiel"), 3: .text("9")])
    #expect(!copy.isDirty && copy.isUpdated && copy.freight == 9)
    copy.customer = "BONAP"
    #expect(throws: FerryError.self) {
      try store.transaction { () throws(FerryError) in
        try copy.save()
        throw FerryError(.cancelled, "no", hint: "none")
      }
    }
    #expect(copy.isDirty && copy.isUpdated)
    try copy.refresh()
    #expect(copy.customer == "ALFKI" && !copy.isDirty)
  }

  @Test("A submit in a transaction that was undone leaves the copy with what it had not saved")
  func undoneSubmit() throws {
    let shop = try Stocked()
    var copy = try #require(try shop.device.order(1))
    copy.city = "Kiel"
    try shop.device.store.transaction { () throws(FerryError) in
      try copy.update()
      try copy.submitPending()
      try shop.device.store.rollback()
    }
    #expect(copy.isDirty && !copy.isPending && copy.replayPending == 0)
    try copy.update()
    #expect(try shop.device.operations().map(\.changed) == [[2: .text("Kiel")]])
  }

  @Test("A savepoint that was undone takes back what was saved in it alone, the whole everything")
  func savepoint() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var copy = try #require(try shop.device.order(1))
    let both = { (isUndone: Bool) throws(FerryError) in
      try store.transaction { () throws(FerryError) in
        copy.freight = 9
        try copy.update()
        try store.transaction { () throws(FerryError) in
          copy.city = "Kiel"
          try copy.update()
          try store.rollback()
        }
        if isUndone { try store.rollback() }
      }
    }
    try both(true)
    try copy.update()
    #expect(try shop.device.operations()[0].changed == [2: .text("Kiel"), 3: .text("9")])
    try copy.cancelPending()
    #expect(copy.city == "Bremen" && !copy.isDirty)
    try both(false)
    #expect(copy.isDirty && copy.isUpdated)
    #expect(try shop.device.operations()[0].changed == [3: .text("9")])
    try copy.update()
    #expect(try shop.device.operations()[0].changed == [2: .text("Kiel"), 3: .text("9")])
  }

  @Test("A copy that was deleted in a transaction that was undone is there, and can be changed")
  func undeleted() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var copy = try #require(try shop.device.order(1))
    try store.transaction { () throws(FerryError) in
      try copy.delete()
      #expect(copy.isDeleted)
      try store.rollback()
    }
    #expect(!copy.isDeleted && !copy.isPending && !copy.isDirty)
    copy.city = "Kiel"
    try copy.update()
    #expect(try shop.device.dump().hasPrefix("1 ALFKI Kiel U"))
  }

  /// A copy with "Kiel" pending and a freight that is not saved, after `body` in a transaction that
  /// was undone.
  private func undone(
    _ shop: Stocked, _ body: (inout Order) throws(FerryError) -> Void
  ) throws -> Order {
    var copy = try #require(try shop.device.order(1))
    copy.city = "Kiel"
    try copy.update()
    copy.freight = 9
    try shop.device.store.transaction { () throws(FerryError) in
      try body(&copy)
      try shop.device.store.rollback()
    }
    return copy
  }

  @Test(
    "A pending change that was cancelled or deleted in a transaction that was undone shows again",
    arguments: [true, false])
  func undoneCancel(isDelete: Bool) throws {
    let shop = try Stocked()
    var copy = try undone(shop) { (copy) throws(FerryError) in
      if isDelete {
        try copy.delete()
        #expect(copy.isDeleted)
      } else {
        try copy.cancelPending()
        #expect(copy.city == "Bremen" && !copy.isPending && !copy.isDirty)
      }
    }
    #expect(copy.city == "Kiel" && copy.isUpdated && !copy.isDeleted && copy.replayCounter > 0)
    #expect(copy.freight == 9 && copy.isDirty, "what was not saved is there, too")
    try copy.update()
    #expect(try shop.device.operations().map(\.changed) == [[2: .text("Kiel"), 3: .text("9")]])
    #expect(try shop.device.operations().map { $0.base[2] } == [.text("Bremen")])
  }

  @Test("What the app set after such a cancel is what it changed, and a set value stays set")
  func setAfterUndoneCancel() throws {
    let shop = try Stocked()
    var copy = try undone(shop) { (copy) throws(FerryError) in
      try copy.cancelPending()
      copy.customer = "BONAP"
      try copy.update()
    }
    #expect(copy.customer == "BONAP" && copy.city == "Kiel" && copy.isDirty)
    copy.city = "Bremen"
    #expect(copy.city == "Bremen" && copy.freight == 9)
    try copy.refresh()
    #expect(copy.city == "Kiel" && copy.customer == "ALFKI" && !copy.isDirty)
  }

  @Test("A new object that was cancelled in a transaction that was undone is there")
  func undoneCancelOfNew() throws {
    let shop = try Stocked()
    var copy = shop.device.newOrder("Jena")
    try copy.create()
    try shop.device.store.transaction { () throws(FerryError) in
      try copy.cancelPending()
      #expect(copy.isDeleted)
      try shop.device.store.rollback()
    }
    #expect(copy.isCreated && !copy.isDeleted && !copy.isDirty)
    copy.city = "Gera"
    try copy.update()
    #expect(try shop.device.operations().map { $0.changed[2] } == [.text("Gera")])
  }

  @Test("A copy that was read again, or saved over an import, in such a transaction is as before")
  func undoneRefresh() throws {
    let shop = try Stocked()
    let copy = try undone(shop) { (copy) throws(FerryError) in
      var other = copy
      other.city = "Ulm"
      try other.update()
      try copy.refresh()
      #expect(copy.city == "Ulm")
    }
    #expect(copy.city == "Kiel" && copy.freight == 1.5 && !copy.isDirty)
    var old = try #require(try shop.device.order(2))
    shop.shore.put(Order.entity, [.integer(2), .text("BONAP"), .text("Bremen"), .text("1.5")])
    try shop.device.exchange(shop.shore)
    try shop.device.store.transaction { () throws(FerryError) in
      old.city = "Hof"
      try old.update()
      #expect(old.customer == "BONAP")
      try shop.device.store.rollback()
    }
    try old.update()
    #expect(try shop.device.operations().last?.changed == [2: .text("Hof")])
  }
}
