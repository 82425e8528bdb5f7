import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// What waits for what, where the app gives the keys: a business system refuses a reference to what
/// is not there yet, and the delete of what is still referred to.
@Suite("Changes that depend on each other")
struct DependencyTests {
  let device: Device
  let shore = Shore(Warehouse.package())

  init() throws {
    device = try Device(Warehouse.package()).loggedIn()
  }

  func record(_ entity: Entity, _ id: Int64) throws -> ObjectRecord {
    try #require(try Records(device.store).of(entity, key: ObjectKey([.integer(id)])))
  }

  func create(maker id: Int64, owner: Int64? = nil) throws {
    var record = ObjectRecord(Maker.entity, store: device.store)
    record.set(0, id)
    record.set(1, "Ada")
    record.set(3, owner)
    _ = try PendingStore.save(try record.change(.create), in: device.store)
  }

  func create(article id: Int64, maker: Int64) throws {
    var record = ObjectRecord(Article.entity, store: device.store)
    record.set(0, id)
    record.set(1, maker)
    record.set(2, "Nail")
    record.set(7, true)
    _ = try PendingStore.save(try record.change(.create), in: device.store)
  }

  func update(article id: Int64, maker: Int64?) throws {
    var record = try record(Article.entity, id)
    record.set(1, maker)
    _ = try PendingStore.save(try record.change(.update), in: device.store)
  }

  func delete(_ entity: Entity, _ id: Int64) throws {
    _ = try PendingStore.save(try record(entity, id).change(.delete), in: device.store)
  }

  /// Submits all, in the order that is worst, and exchanges until nothing more is sent.
  func submit(_ entities: [Entity]) throws {
    try Outbox(device.store).submitAll(entities)
    try exchange()
  }

  func exchange() throws {
    for _ in 0..<3 { try device.exchange(shore) }
  }

  func received() throws -> [Operation] {
    try shore.received.map { try Operation($0, in: shore.model) }
  }

  /// What arrived, in the order of arrival.
  func sent() throws -> [String] {
    try received().map { "\($0.kind.rawValue) \($0.entity) \($0.key?.text ?? "?")" }
  }

  /// What arrived, chain by chain, in the order in which it is performed.
  func chains() throws -> [[String]] {
    let operations = try received()
    var chains: [OperationID] = []
    for operation in operations where !chains.contains(operation.chain) {
      chains.append(operation.chain)
    }
    return chains.map { chain in
      operations.filter { $0.chain == chain }.sorted { $0.position < $1.position }
        .map { "\($0.kind.rawValue) \($0.entity) \($0.key?.text ?? "?")" }
    }
  }

  func accept(_ place: Int) throws {
    shore.accept(try received()[place].id)
    try exchange()
  }

  /// Submits all, and sees the second sent behind the first's answer, not before.
  func submit(
    _ entities: [Entity], sends first: String, before second: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try submit(entities)
    #expect(try sent() == [first], sourceLocation: sourceLocation)
    try accept(0)
    #expect(try sent() == [first, second], sourceLocation: sourceLocation)
  }

  /// A maker and its article, downloaded.
  func stock() throws {
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .null, .null])
    shore.put(
      Article.entity,
      [
        .integer(10), .integer(1), .text("Nail"), .null, .null, .null, .null, .boolean(true), .null,
      ])
    try exchange()
    _ = try record(Article.entity, 10)
  }

  @Test(
    "What refers to a new object is sent when that is accepted, not before", .reference("sync/P2"))
  func create() throws {
    try create(maker: 1)
    try create(article: 10, maker: 1)
    try submit(
      [Article.entity, Maker.entity], sends: "create Maker 1", before: "create Article 10")
  }

  @Test("While the new object is refused, what refers to it stays on the device")
  func refused() throws {
    try create(maker: 1)
    try create(article: 10, maker: 1)
    try submit([Article.entity, Maker.entity])
    shore.refuse(try received()[0].id)
    try exchange()
    #expect(try sent() == ["create Maker 1"])
    // Corrected, it goes, and then what waited for it.
    var maker = try record(Maker.entity, 1)
    maker.set(1, "Bo")
    _ = try PendingStore.save(try maker.change(.update), in: device.store)
    try submit([Maker.entity])
    try accept(1)
    #expect(try sent() == ["create Maker 1", "create Maker 1", "create Article 10"])
  }

  @Test("An object is deleted after what referred to it")
  func delete() throws {
    try stock()
    try delete(Article.entity, 10)
    try delete(Maker.entity, 1)
    try submit(
      [Maker.entity, Article.entity], sends: "delete Article 10", before: "delete Maker 1")
  }

  @Test(
    "An object is deleted after what referred to it leads elsewhere; other changes do not count")
  func leadsElsewhere() throws {
    try stock()
    shore.put(
      Article.entity,
      [
        .integer(11), .integer(1), .text("Saw"), .null, .null, .null, .null, .boolean(true), .null,
      ])
    try exchange()
    var article = try record(Article.entity, 10)
    article.set(1, Int64?.none)
    _ = try PendingStore.save(try article.change(.update), in: device.store)
    var other = try record(Article.entity, 11)
    other.set(2, "Axe")
    _ = try PendingStore.save(try other.change(.update), in: device.store)
    try delete(Maker.entity, 1)
    try Outbox(device.store).submitAll([Maker.entity])
    try Outbox(device.store).submitAll(Article.entity)
    try exchange()
    #expect(try sent() == ["update Article 10", "update Article 11"])
    try accept(0)
    #expect(try sent().last == "delete Maker 1")
  }

  @Test("What was cancelled on its way may lead elsewhere after all, and is waited for")
  func withdrawn() throws {
    try stock()
    var article = try record(Article.entity, 10)
    article.set(1, Int64?.none)
    _ = try PendingStore.save(try article.change(.update), in: device.store)
    try submit([Article.entity])
    _ = try PendingStore.cancel(Article.entity, try #require(article.object), in: device.store)
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    #expect(try sent() == ["update Article 10"])
    try accept(0)
    #expect(try sent().last == "delete Maker 1")
  }

  @Test("So is what is deleted behind its create, which is on its way")
  func deletedBehindCreate() throws {
    try stock()
    try create(article: 11, maker: 1)
    try submit([Article.entity])
    try delete(Article.entity, 11)
    try delete(Maker.entity, 1)
    try submit([Maker.entity, Article.entity])
    #expect(try sent() == ["create Article 11"])
    try accept(0)
    #expect(try sent().dropFirst() == ["delete Article 11"])
    try accept(1)
    #expect(try sent().last == "delete Maker 1")
  }

  @Test("And what leads elsewhere again, behind a change that is on its way")
  func leadsElsewhereAgain() throws {
    try stock()
    try create(maker: 2)
    try submit([Maker.entity])
    try accept(0)
    try update(article: 10, maker: 2)
    try submit([Article.entity])
    try update(article: 10, maker: nil)
    try delete(Maker.entity, 2)
    try submit([Maker.entity, Article.entity])
    #expect(try sent() == ["create Maker 2", "update Article 10"])
    try accept(1)
    #expect(try sent().dropFirst(2) == ["update Article 10"])
    try accept(2)
    #expect(try sent().last == "delete Maker 2")
  }

  @Test("Attributes may be called as the columns are in which operations are kept")
  func columns() throws {
    let names = ["sequence", "entity", "object", "kind", "key", "state", "changed", "chain"]
    let part = Entity(
      name: "Part", table: "parts",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "maker", column: "maker", type: .long, isNullable: true),
      ] + names.map { Attribute(name: $0, column: $0, type: .string, isNullable: true) }, key: [0],
      keyOrigin: .app,
      relationships: [
        Relationship(
          name: "by", target: "Maker", attributes: ["maker"], targetAttributes: ["id"])
      ], operations: [.create, .update, .delete], partition: nil, group: "default")
    let model = Package(
      name: "Parts", version: "1.0", entities: [Maker.entity, part],
      groups: [SynchronizationGroup(name: "default")])
    let (device, shore) = (try Device(model).loggedIn(), Shore(model))
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .null, .null])
    shore.put(part, [.integer(10), .integer(1)] + names.map { _ in .text("delete") })
    for _ in 0..<3 { try device.exchange(shore) }
    for (entity, id) in [(part, 10), (Maker.entity, 1)] as [(Entity, Int64)] {
      let record = try #require(
        try Records(device.store).of(entity, key: ObjectKey([.integer(id)])))
      _ = try PendingStore.save(try record.change(.delete), in: device.store)
    }
    try Outbox(device.store).submitAll([Maker.entity, part])
    for _ in 0..<3 { try device.exchange(shore) }
    #expect(try shore.received.map { try Operation($0, in: model).entity } == ["Part"])
  }

  @Test("New objects that refer to each other go as one; a reference that may be empty is set last")
  func circle() throws {
    try create(maker: 1, owner: 2)
    try create(maker: 2, owner: 1)
    try submit([Maker.entity])
    #expect(try chains() == [["create Maker 2", "create Maker 1", "update Maker 2"]])
    let operations = try received().sorted { $0.position < $1.position }
    #expect(operations[0].changed[3] == nil && operations[1].changed[3] == .integer(2))
    #expect(operations[2].changed == [3: .integer(1)] && operations[2].base == [3: .null])
    for operation in operations { shore.accept(operation.id) }
    try exchange()
    #expect(try device.operations().isEmpty)
    #expect(try record(Maker.entity, 2).values[3] == .integer(1))
  }

  @Test("Refused, they are two changes in the app's hand as before, with their references")
  func circleRefused() throws {
    try create(maker: 1, owner: 2)
    try create(maker: 2, owner: 1)
    try submit([Maker.entity])
    for operation in try received() { shore.refuse(operation.id) }
    try exchange()
    let left = try device.operations()
    #expect(left.map(\.kind) == [.create, .create])
    #expect(left.map { $0.changed[3] } == [.integer(2), .integer(1)])
    #expect(left.allSatisfy { $0.state == .replayFailed })
    try submit([Maker.entity])
    #expect(try chains().last?.count == 3)
  }

  @Test("Objects that refer to each other and are deleted go as one, one of them emptied before")
  func circleOfDeletes() throws {
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .null, .integer(2)])
    shore.put(Maker.entity, [.integer(2), .text("Bo"), .null, .integer(1)])
    try exchange()
    try delete(Maker.entity, 1)
    try delete(Maker.entity, 2)
    try submit([Maker.entity])
    #expect(try chains() == [["update Maker 1", "delete Maker 2", "delete Maker 1"]])
    let operations = try received().sorted { $0.position < $1.position }
    #expect(operations[0].changed == [3: .null] && operations[2].base[3] == .null)
    #expect(try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) == nil)
    for operation in operations { shore.refuse(operation.id) }
    try exchange()
    let left = try device.operations()
    #expect(left.map(\.kind) == [.delete, .delete])
    #expect(left.map { $0.base[3] } == [.integer(2), .integer(1)])
  }

  @Test("What was created again behind a circle of deletes stays visible")
  func behindCircle() throws {
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .null, .integer(2)])
    shore.put(Maker.entity, [.integer(2), .text("Bo"), .null, .integer(1)])
    try exchange()
    let first = try #require(try record(Maker.entity, 1).object)
    let second = try #require(try record(Maker.entity, 2).object)
    try delete(Maker.entity, 1)
    try delete(Maker.entity, 2)
    _ = try Outbox(device.store).submit(Maker.entity, first)
    try create(maker: 1)
    #expect(try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) != nil)
    _ = try Outbox(device.store).submit(Maker.entity, second)
    let operations = try device.operations().map {
      "\($0.sequence) \($0.kind) \($0.key.text) \($0.state) \($0.wanted)"
    }
    #expect(
      try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) != nil,
      "\(operations)")
    for _ in 0..<3 {
      for operation in try device.operations() where operation.isSent { shore.accept(operation.id) }
      try exchange()
    }
    let rest = try device.operations().map {
      "\($0.sequence) \($0.kind) \($0.key.text) \($0.state) \($0.wanted)"
    }
    #expect(
      try Records(device.store).of(Maker.entity, key: ObjectKey([.integer(1)])) != nil, "\(rest)")
  }

  @Test("An object that refers to itself waits for nobody")
  func itself() throws {
    try create(maker: 1, owner: 1)
    try submit([Maker.entity])
    #expect(try sent() == ["create Maker 1"])
  }

  @Test("What waits goes when the app gives the new object up")
  func cancelled() throws {
    try create(maker: 1)
    try create(article: 10, maker: 1)
    try Outbox(device.store).submitAll(Article.entity)
    try exchange()
    #expect(try sent() == [])
    _ = try PendingStore.cancel(
      Maker.entity, try #require(try record(Maker.entity, 1).object), in: device.store)
    try exchange()
    #expect(try sent() == ["create Article 10"])
  }

  @Test(
    "Who edits what a refused delete shows again does not want it deleted", .reference("facts/1.3"))
  func editedAfterRefusedDelete() throws {
    try stock()
    try delete(Maker.entity, 1)
    try submit([Maker.entity])
    shore.refuse(try received()[0].id)
    try exchange()
    var maker = try record(Maker.entity, 1)
    maker.set(1, "Bo")
    _ = try PendingStore.save(try maker.change(.update), in: device.store)
    let left = try device.operations()
    #expect(left.map(\.kind) == [.update] && left[0].changed == [1: .text("Bo")])
    try submit([Maker.entity])
    #expect(try sent() == ["delete Maker 1", "update Maker 1"])
  }
}
