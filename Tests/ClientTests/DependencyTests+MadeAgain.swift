import Ferry
import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// A key that the app gives again while the delete of its object waits (Decision 0117).
extension DependencyTests {
  private func shown(_ id: Int64) throws -> [AttributeValue] {
    try record(Maker.entity, id).values
  }

  private func kinds() throws -> [OperationKind] { try device.operations().map(\.kind) }

  @Test("Decision 0117: what is made again shows nothing of what it was before, when that comes")
  func madeAgainWithLess() throws {
    shore.put(Maker.entity, [.integer(2), .text("Eve"), .null, .null])
    try exchange()
    try create(maker: 1, owner: 2)
    try submit([Maker.entity])
    let first = try record(Maker.entity, 1).object
    try delete(Maker.entity, 1)
    try create(maker: 1)
    #expect(try shown(1)[3] == .null)
    try accept(0)
    #expect(try shown(1)[3] == .null, "the first create's row lies below")
    #expect(try record(Maker.entity, 1).object == first && kinds() == [.update])
    try submit([Maker.entity])
    #expect(try sent() == ["create Maker 1", "update Maker 1"])
    let update = try #require(try received().last)
    #expect(update.changed == [3: .null] && update.base == [3: .integer(2)])
  }

  @Test("Decision 0117: the same where the delete is on its way when the app makes it again")
  func madeAgainBehindSentDelete() throws {
    shore.put(Maker.entity, [.integer(2), .text("Eve"), .null, .null])
    try exchange()
    try create(maker: 1, owner: 2)
    try submit([Maker.entity])
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    try create(maker: 1)
    for place in [0, 1] {
      try accept(place)
      #expect(try shown(1)[3] == .null)
    }
    #expect(try kinds() == [.create])
    try submit([Maker.entity])
    try accept(2)
    #expect(try sent() == ["create Maker 1", "delete Maker 1", "create Maker 1"])
    #expect(try kinds().isEmpty && shown(1)[3] == .null)
  }

  @Test("Decision 0117: where the delete is refused, what was made again changes what is there")
  func madeAgainBehindRefusedDelete() throws {
    shore.put(Maker.entity, [.integer(2), .text("Eve"), .null, .null])
    try exchange()
    try create(maker: 1, owner: 2)
    try submit([Maker.entity])
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    try create(maker: 1)
    try accept(0)
    shore.refuse(try received()[1].id)
    try exchange()
    #expect(try device.operations().map(\.changed) == [[3: .null]] && kinds() == [.update])
    #expect(try shown(1)[3] == .null)
  }

  @Test("Decision 0117: what others have deleted as well is made again by a create of its object")
  func madeAgainAfterOthers() throws {
    try stock()
    try delete(Article.entity, 10)
    let object = try device.operations()[0].object
    shore.remove(Article.entity, ObjectKey([.integer(10)]))
    try exchange()
    try create(article: 10, maker: 1)
    #expect(try kinds() == [.create] && device.operations()[0].object == object)
    try submit([Article.entity])
    #expect(try sent() == ["create Article 10"])
  }

  @Test(
    "Decision 0117: submitted together, a delete and what is made again behind it are an update")
  func madeAgainSubmitted() throws {
    try create(maker: 1)
    try submit([Maker.entity])
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    #expect(try device.operations().last?.wanted != .no)
    var record = ObjectRecord(Maker.entity, store: device.store)
    record.set(0, Int64(1))
    record.set(1, "Bo")
    _ = try PendingStore.save(try record.change(.create), in: device.store)
    try submit([Maker.entity])
    #expect(try kinds() == [.create, .update])
    try accept(0)
    #expect(try sent() == ["create Maker 1", "update Maker 1"] && shown(1)[1] == .text("Bo"))
  }
}
