import Ferry
import FerryMemoryConnector
import FerryModel
import FerryTestKit
import FerryTestTraits
import Testing

/// Baskets own items, items own remarks; the business system gives a basket its key.
private enum Store {
  static let package = Package(
    name: "Store", version: "1.0", entities: [Basket.entity, Item.entity, Remark.entity],
    groups: [SynchronizationGroup(name: "default")])
}

private func attribute(
  _ name: String, _ type: AttributeType, isNullable: Bool = false
) -> Attribute { Attribute(name: name, column: name, type: type, isNullable: isNullable) }

private struct Basket: BusinessObject {
  static let entity = Entity(
    name: "Basket", table: "baskets",
    attributes: [attribute("id", .long), attribute("name", .string)], key: [0],
    keyOrigin: .businessSystem, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default", ownsChildren: true)
  var record: ObjectRecord
  var id: Int64 { record.get(0) }
  var name: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  func items() throws(FerryError) -> [Item] { try record.referring(by: "basket") }
}

private struct Item: BusinessObject {
  static let entity = Entity(
    name: "Item", table: "items",
    attributes: [
      attribute("basketID", .long), attribute("number", .long),
      attribute("text", .string, isNullable: true),
    ], key: [0, 1], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "basket", target: "Basket", attributes: ["basketID"], targetAttributes: ["id"],
        inverse: "items", isComposite: true)
    ], operations: [.create, .update, .delete], partition: nil, group: "default",
    ownsChildren: true)
  var record: ObjectRecord
  var basketID: Int64 { record.get(0) }
  var number: Int64 { record.get(1) }
  func remarks() throws(FerryError) -> [Remark] { try record.referring(by: "item") }
}

private struct Remark: BusinessObject {
  static let entity = Entity(
    name: "Remark", table: "remarks",
    attributes: [
      attribute("id", .string), attribute("basketID", .long), attribute("number", .long),
      attribute("text", .string, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "item", target: "Item", attributes: ["basketID", "number"],
        targetAttributes: ["basketID", "number"], inverse: "remarks", isComposite: true)
    ], operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord
  var basketID: Int64 { record.get(1) }
}

@Suite("A composite graph with keys of the business system", .timeLimit(.minutes(60)))
struct GraphTests {
  /// A basket with two items, and a remark about the second; nothing is submitted.
  private func fill(_ database: FerryDatabase) throws -> Basket {
    var record = ObjectRecord(Basket.entity, in: database)
    record.set(1, "fruit")
    var basket = Basket(record: record)
    try basket.create()
    for number in [1, 2] as [Int64] {
      var record = ObjectRecord(Item.entity, in: database)
      record.set(0, basket.id)
      record.set(1, number)
      var item = Item(record: record)
      try item.create()
    }
    record = ObjectRecord(Remark.entity, in: database)
    record.set(0, "r1")
    record.set(1, basket.id)
    record.set(2, 2 as Int64)
    var remark = Remark(record: record)
    try remark.create()
    return basket
  }

  private func counts(_ server: TestServer) -> [Int] {
    [
      server.rows(of: Basket.self).count, server.rows(of: Item.self).count,
      server.rows(of: Remark.self).count,
    ]
  }

  @Test(
    "It is one replay, and its key reaches every level, here and on another device",
    .reference("sync/P5"))
  func accepted() async throws {
    let server = try await TestServer(Store.package)
    let database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
    var basket = try fill(database)
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(server.business.history.map(\.parts.count) == [4])
    try basket.refresh()
    #expect(basket.id == 1 && !basket.isPending)
    for user in ["nancy", "bert"] {
      let device = user == "nancy" ? database : try await server.database(user: user)
      let found = try #require(try Basket.findAll(in: device).first)
      #expect(try found.items().map(\.number).sorted() == [1, 2])
      #expect(try found.items().allSatisfy { $0.basketID == 1 && !$0.isPending })
      let remarks = try found.items().flatMap { try $0.remarks() }
      #expect(remarks.map(\.basketID) == [1] && remarks.allSatisfy { !$0.isPending })
    }
    await server.stop()
  }

  @Test("Where one part is refused nothing of it is done, and it goes again as a whole")
  func refused() async throws {
    let server = try await TestServer(Store.package)
    let database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
    var basket = try fill(database)
    server.refuse(Remark.self, of: [.create], code: 412, "no remarks today")
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(counts(server) == [0, 0, 0] && server.business.history.isEmpty)
    try basket.refresh()
    #expect(basket.isPending)
    let remark = try #require(try Remark.findAll(in: database).first)
    #expect(remark.replayFailed)
    #expect(try remark.logRecords.map(\.message) == ["no remarks today"])
    #expect(try Item.findAll(in: database).count == 2)
    server.acceptAll()
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(counts(server) == [1, 2, 1] && server.business.history.map(\.parts.count) == [4])
    #expect(try !database.hasPendingOperations)
    await server.stop()
  }

  @Test(
    "To delete the owner is one replay, which deletes every level; refused, all stay",
    .reference("facts/1.5"))
  func deleted() async throws {
    let server = try await TestServer(Store.package)
    let database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
    var basket = try fill(database)
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try basket.refresh()
    server.refuse(Item.self, of: [.delete], "the second item stays") { try $0["number"] == 2 }
    try await basket.delete()
    #expect(try Item.findAll(in: database).isEmpty && Remark.findAll(in: database).isEmpty)
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(counts(server) == [1, 2, 1] && server.business.history.count == 1)
    server.acceptAll()
    try basket.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(counts(server) == [0, 0, 0])
    #expect(server.business.history.count == 2)
    #expect(try !database.hasPendingOperations)
    let other = try await server.database(user: "bert")
    #expect(try Basket.findAll(in: other).isEmpty && Remark.findAll(in: other).isEmpty)
    await server.stop()
  }
}
