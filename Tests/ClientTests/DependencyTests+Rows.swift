import Ferry
import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// What waits is judged again after each event: rows of the rules of operations.
extension DependencyTests {
  private func rename(maker id: Int64) throws {
    var maker = try record(Maker.entity, id)
    maker.set(1, "Bo")
    _ = try PendingStore.save(try maker.change(.update), in: device.store)
  }

  private func cancel(_ entity: Entity, _ id: Int64) throws {
    _ = try PendingStore.cancel(
      entity, try #require(try record(entity, id).object), in: device.store)
  }

  private func refuse(_ place: Int) throws {
    shore.refuse(try received()[place].id)
    try exchange()
  }

  @Test("Row 1: a delete goes when the refused delete that it waited for is edited (seed 700073)")
  func refusedDeleteEdited() throws {
    try stock()
    try delete(Article.entity, 10)
    try delete(Maker.entity, 1)
    try submit([Article.entity, Maker.entity])
    try refuse(0)
    #expect(try sent() == ["delete Article 10"])
    var article = try record(Article.entity, 10)
    article.set(2, "Saw")
    _ = try PendingStore.save(try article.change(.update), in: device.store)
    try exchange()
    #expect(try sent() == ["delete Article 10", "delete Maker 1"])
  }

  @Test("Row 2: a delete goes when an edit leads back what it waited for")
  func ledBack() throws {
    try stock()
    try update(article: 10, maker: nil)
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    #expect(try sent() == [])
    try update(article: 10, maker: 1)
    try exchange()
    #expect(try sent() == ["delete Maker 1"])
  }

  @Test("Row 2: so it does where a refusal joins what leads away with what leads back")
  func ledBackByJoin() throws {
    try stock()
    try update(article: 10, maker: nil)
    try submit([Article.entity])
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    try update(article: 10, maker: 1)
    #expect(try sent() == ["update Article 10"])
    try refuse(0)
    #expect(try sent() == ["update Article 10", "delete Maker 1"])
  }

  @Test("A delete goes when an import shows that nothing leads to its object any more")
  func imageLeads() throws {
    try stock()
    try create(maker: 2)
    try submit([Maker.entity])
    try accept(0)
    // For the business system the article leads to maker 1, for the app to maker 2, and away.
    try update(article: 10, maker: 2)
    try submit([Article.entity])
    try update(article: 10, maker: nil)
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    #expect(try sent() == ["create Maker 2", "update Article 10"])
    shore.accept(try received()[1].id)
    shore.put(
      Article.entity,
      [
        .integer(10), .integer(2), .text("Nail"), .null, .null, .null, .null, .boolean(true), .null,
      ])
    try exchange()
    #expect(try sent().last == "delete Maker 1")
  }

  @Test("Row 7: a new object over another, refused, and its delete leave a delete of the other")
  func createOverAnother() throws {
    try create(maker: 1)
    try submit([Maker.entity])
    try cancel(Maker.entity, 1)
    try create(maker: 1)
    try submit([Maker.entity])
    try delete(Maker.entity, 1)
    #expect(try sent() == ["create Maker 1"])
    try accept(0)
    #expect(try sent() == ["create Maker 1", "create Maker 1"])
    try refuse(1)
    #expect(try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) == nil)
    #expect(try device.operations().map(\.kind) == [.delete])
    try submit([Maker.entity])
    #expect(try sent().last == "delete Maker 1")
  }

  @Test("Row 7: a delete of what is gone, refused, and the object made again leave its create")
  func madeAgainBehindDelete() throws {
    try stock()
    let object = try #require(try record(Maker.entity, 1).object)
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    _ = try PendingStore.cancel(Maker.entity, object, in: device.store)
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    try create(maker: 1)
    try accept(0)
    #expect(try sent() == ["delete Maker 1", "delete Maker 1"])
    try refuse(1)
    #expect(try device.operations().map(\.kind) == [.create])
    #expect(try record(Maker.entity, 1).values[1] == .text("Ada"))
  }

  @Test("Decision 0018, 2: a new object that turns out to be there, and its delete, leave a delete")
  func deletedOverImage() throws {
    try create(maker: 1)
    shore.put(Maker.entity, [.integer(1), .text("Eve"), .null, .null])
    try exchange()
    try delete(Maker.entity, 1)
    let left = try device.operations()
    #expect(left.map(\.kind) == [.delete] && left.first?.base[1] == .text("Eve"))
    #expect(try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) == nil)
  }

  @Test("Row 13: a key made again waits for the delete of its object, though the image is gone")
  func keyMadeAgain() throws {
    try stock()
    try delete(Article.entity, 10)
    try submit([Article.entity])
    shore.remove(Article.entity, ObjectKey([.integer(10)]))
    try exchange()
    try create(article: 10, maker: 1)
    try submit([Article.entity])
    #expect(try sent() == ["delete Article 10"])
    try accept(0)
    #expect(try sent().dropFirst() == ["create Article 10"])
    try accept(1)
    #expect(try device.operations().isEmpty)
  }

  @Test(
    "Rows 8, 10: refused or not tried, all that is replayed as one with what is behind it is open",
    arguments: [Answer.Outcome.replayFailed, .notTried])
  func broughtBack(_ outcome: Answer.Outcome) throws {
    for id in [1, 2, 3] as [Int64] {
      shore.put(Maker.entity, [.integer(id), .text("Ada"), .null, .null])
    }
    try exchange()
    try rename(maker: 1)
    try submit([Maker.entity])
    try device.store.transaction { () throws(FerryError) in
      for id in [1, 2] as [Int64] { try edit(id, "Cy") }
    }
    try submit([Maker.entity])
    try device.store.transaction { () throws(FerryError) in
      for id in [1, 3] as [Int64] { try edit(id, "Di") }
    }
    shore.answer(try received()[0].id, outcome)
    try exchange()
    let left = try device.operations()
    #expect(left.map { $0.changed[1] } == [.text("Di"), .text("Cy"), .text("Di")])
    #expect(left.allSatisfy(\.isOpen) && left.first?.base[1] == .text("Ada"))
    #expect(try sent().count == 1)
    try Outbox(device.store).submitAll([Maker.entity])
    try exchange()
    #expect(try chains().last == ["update Maker 1", "update Maker 2", "update Maker 3"])
  }

  private func edit(_ id: Int64, _ name: String) throws(FerryError) {
    guard var maker = try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(id)]))
    else {
      return
    }
    maker.set(1, name)
    _ = try PendingStore.save(try maker.change(.update), in: device.store)
  }
}
