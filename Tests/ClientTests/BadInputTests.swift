import Ferry
import FerryFaultVFS
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// An error names what, where and the cure, and nothing is lost. What is not here: imports that do
/// not fit the model (`OtherModelTests`), a newer database (`SchemaStepsTests.newer`,
/// `MigrationTests`), 100,000 pending operations (`ManyPendingTests`).
@Suite("Bad input on the device")
struct BadInputTests {
  private typealias A = Article.Attributes

  @Test("A value that is too long, of another type or missing, names entity, attribute and cure")
  func values() throws {
    let shop = try Stocked()
    var long = shop.device.newOrder("Jena", customer: "ALFKIX")
    let tooLong = #expect(throws: FerryError.self) { try long.create() }
    #expect(tooLong?.code == .invalidValue)
    #expect(tooLong?.entity == "Order" && tooLong?.attribute == "customer")
    #expect(tooLong?.hint == "Shorten it to 5 characters and save again.")
    var wrong = try #require(try shop.device.order(1))
    wrong.record.values[3] = .text("much")
    let ofAnotherType = #expect(throws: FerryError.self) { try wrong.update() }
    #expect(ofAnotherType?.entity == "Order" && ofAnotherType?.attribute == "freight")
    #expect(ofAnotherType?.message.contains("is no decimal") == true)
    #expect(ofAnotherType?.hint == "Set a value of that type and save again.")
    var missing = try #require(try shop.device.order(2))
    missing.record.values[1] = .null
    let nothing = #expect(throws: FerryError.self) { try missing.update() }
    #expect(nothing?.entity == "Order" && nothing?.attribute == "customer")
    #expect(nothing?.hint == "Set one and save again.")
    #expect(try shop.device.operations().isEmpty)
    #expect(try shop.device.orders().map(\.city) == ["Bremen", "Bremen", "Bremen"])
    // What the app holds is still there to be mended.
    long.record.values[1] = .text("ALFKI")
    try long.create()
    #expect(try shop.device.orders().count == 4)
  }

  @Test("A decimal that is too long for its attribute names entity, attribute and cure")
  func digits() throws {
    let price = Entity(
      name: "Price", table: "prices",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(
          name: "amount", column: "amount", type: .decimal, isNullable: false, precision: 6,
          scale: 2),
      ], key: [0], keyOrigin: .app, relationships: [], operations: [.create], partition: nil,
      group: "default")
    let device = try Device(
      Package(
        name: "Prices", version: "1.0", entities: [price],
        groups: [SynchronizationGroup(name: "default")]))
    for (amount, cure) in [
      ("1.255", "Round it to 2 digits behind the point and save again."),
      ("12345", "Set a smaller number and save again."),
    ] {
      var record = ObjectRecord(price, store: device.store)
      record.set(0, 1 as Int64)
      record.values[1] = .text(amount)
      let error = #expect(throws: FerryError.self) {
        try PendingStore.save(try record.change(.create), in: device.store)
      }
      #expect(error?.entity == "Price" && error?.attribute == "amount" && error?.hint == cure)
    }
    #expect(try device.operations().isEmpty)
  }

  @Test("A key that exists names entity, attribute and cure, and the object stays as it is")
  func keyExists() throws {
    let depot = try Depot()
    try depot.article(1, "Nail")
    let error = #expect(throws: FerryError.self) { try depot.article(1, "Screw") }
    #expect(error?.code == .objectExists)
    #expect(error?.entity == "Article" && error?.attribute == "id")
    #expect(error?.hint == "Load it and update it, or choose another key.")
    #expect(try Article.findAll(in: depot.database).map(\.name) == ["Nail"])
  }

  @Test("A key of several attributes that exists names them all")
  func keyOfSeveralExists() throws {
    let shop = try Stocked()
    for count in 1...2 {
      var line = shop.device.newLine(of: 1, 2, "tea")
      guard count == 2 else {
        try line.create()
        continue
      }
      let error = #expect(throws: FerryError.self) { try line.create() }
      #expect(error?.code == .objectExists && error?.entity == "Line")
      #expect(error?.attribute == "orderID, number")
    }
  }

  @Test("An object that is deleted under its open live query is nil there, and says so when saved")
  func deletedUnderLiveQuery() async throws {
    let depot = try Depot()
    try depot.article(1, "Nail")
    var held = try #require(try Article.findAll(in: depot.database).first)
    let live = held.live(in: depot.database).makeAsyncIterator()
    let list = Article.live(in: depot.database).makeAsyncIterator()
    #expect(try await live.next()??.name == "Nail")
    #expect(try await list.next()?.count == 1)
    let other = held
    try await other.delete()
    guard case .some(.none) = try await live.next() else {
      Issue.record("the object is still in its live query")
      return
    }
    #expect(try await list.next()?.count == 0)
    held.name = "Screw"
    let error = #expect(throws: FerryError.self) { try held.update() }
    #expect(error?.code == .objectNotFound && error?.entity == "Article")
    #expect(error?.hint == "It was deleted, here or by another user.")
    #expect(held.name == "Screw", "what was typed is still in the app's hands")
  }

  @Test("A live query of an object that is not saved, or no longer, says so when it is read")
  func unsaved() async throws {
    let depot = try Depot()
    let database = depot.database
    var nail = Article(record: ObjectRecord(Article.entity, in: database))
    nail.record.set(0, 1 as Int64)
    nail.name = "Nail"
    nail.record.set(7, true)
    #expect(throws: FerryError.self) {
      try database.transaction { () throws(FerryError) in
        try nail.create()
        throw FerryError(.cancelled, "no", hint: "no")
      }
    }
    #expect(nail.isNew)
    for live in [nail.live(in: database), nail.live(prefetching: [A.maker], in: database)] {
      let iterator = live.makeAsyncIterator()
      let error = await #expect(throws: FerryError.self) { try await iterator.next() }
      #expect(error?.code == .objectNotSaved && error?.entity == "Article")
    }
    try nail.create()
    #expect(try await nail.live(in: database).makeAsyncIterator().next()??.name == "Nail")
    await database.close()
  }

  /// A store on a disk in memory, with one saved order.
  private struct Trial {
    let disk = FaultDisk()
    let store: Store

    init() throws {
      store = try Store(
        path: "/device.db", model: Shop.package, world: .system(), durability: .machine,
        vfs: disk.vfs)
      try save("first")
    }

    func save(_ city: String) throws {
      var record = ObjectRecord(Order.entity, store: store)
      record.set(1, "ALFKI")
      record.set(2, city)
      _ = try PendingStore.save(try record.change(.create), in: store)
    }

    var cities: [String?] {
      get throws { try Records(store).all(Order.entity, "", []).map { Order(record: $0).city } }
    }
  }

  @Test(
    "A disk that is full, or may not be written, is told with the entity and the cure; the next save works",
    arguments: [
      (Int32(13), FerryError.Code.diskFull, "Free some space on the device"),
      (Int32(8), FerryError.Code.readOnly, "may not be written; check their permissions"),
    ])
  func disk(result: Int32, code: FerryError.Code, cure: String) throws {
    let trial = try Trial()
    trial.disk.fail(at: trial.disk.operations, code: result, times: 1_000)
    let error = #expect(throws: FerryError.self) { try trial.save("second") }
    #expect(error?.code == code && error?.entity == "Order")
    #expect(error?.hint.contains(cure) == true, "\(error?.hint ?? "")")
    #expect(try trial.cities == ["first"])
    trial.disk.fail(at: trial.disk.operations, code: result, times: 0)
    try trial.save("third")
    #expect(try trial.cities == ["first", "third"])
    trial.store.close()
  }

  @Test("A file that may not be written is told when it is opened, by its own code, and is left")
  func readOnlyFile() throws {
    let trial = try Trial()
    trial.store.close()
    trial.disk.fail(at: trial.disk.operations, code: 8, times: 1_000)
    let error = #expect(throws: FerryError.self) {
      try Store(
        path: "/device.db", model: Shop.package, world: .system(), durability: .machine,
        vfs: trial.disk.vfs)
    }
    #expect(error?.code == .readOnly, "\(error?.description ?? "")")
    #expect(error?.hint.contains("/device.db") == true && error?.isTransient == false)
    trial.disk.fail(at: trial.disk.operations, code: 8, times: 0)
    let again = try Store(
      path: "/device.db", model: Shop.package, world: .system(), durability: .machine,
      vfs: trial.disk.vfs)
    #expect(try Records(again).all(Order.entity, "", []).count == 1)
    again.close()
  }

  @Test(
    "An import that finds no space tells it once, loses nothing, and tells when there is space again"
  )
  func space() throws {
    let disk = FaultDisk()
    let device = try Device(vfs: disk.vfs).loggedIn()
    let shore = Shore(Shop.package)
    for id in 1...20 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .null])
    }
    var order = device.newOrder("Jena")
    try order.create()
    let told = { device.handler.heard.filter { $0.hasPrefix("space") } }
    for _ in 0..<2 {
      let request = try #require(try device.request())
      let answer = try shore.respond(to: request.body)
      disk.fail(at: disk.operations, code: 13, times: nil)
      #expect { try device.take(answer, on: request.lane) } throws: {
        ($0 as? FerryError)?.code == .diskFull
      }
      disk.fail(at: disk.operations, code: 13, times: 0)
      device.clock.advance(60_000)
    }
    #expect(told() == ["spaceLow"])
    #expect(try device.orders().map(\.city) == ["Jena"])
    try device.exchange(shore)
    #expect(told() == ["spaceLow", "spaceRecovered"])
    #expect(try device.orders().count == 21)
    #expect(order.isPending)
  }
}
