import FerryModel
import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

@testable import Ferry

@Suite("What a save reads and returns")
struct SaveTests {
  private func statements(_ store: Store, _ body: () throws -> Void) throws -> Int {
    let count = { () throws in
      try store.write { connection throws(FerryError) in connection.executions }
    }
    let before = try count()
    try body()
    // Less the one transaction that counted.
    return try count() - before - 2
  }

  @Test("A save reads each thing once: a create takes three statements, an update five")
  func once() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var new = shop.device.newOrder("Jena")
    #expect(try statements(store) { try new.create() } == 2 + 3)
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    #expect(try statements(store) { try order.update() } == 2 + 5)
    order.city = "Jena"
    #expect(try statements(store) { try order.update() } == 2 + 5)
  }

  @Test("A text that changes only its Unicode form is a change, and is kept as it was written")
  func unicodeForm() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Orl\u{E9}ans"
    try order.update()
    order.city = "Orle\u{301}ans"
    #expect(order.isDirty)
    try order.update()
    let read = try #require(try shop.device.order(1))
    #expect(read.city.map { Array($0.utf8) } == Array("Orle\u{301}ans".utf8))
  }

  @Test("A length is counted in code points, as the column of the business system counts")
  func codePoints() throws {
    let shop = try Stocked()
    // Four characters for a reader, six code points.
    var order = shop.device.newOrder("Jena", customer: "ABe\u{301}o\u{308}")
    let error = #expect(throws: FerryError.self) { try order.create() }
    #expect(error?.message.contains("6 characters are more than 5") == true)
  }

  @Test(
    "Lists keep NaN and the infinities, of doubles, floats and decimals", .reference("facts/1.3"))
  func listsOfNumbers() {
    let doubles: [Double] = [1.5, .infinity, -.infinity, .nan]
    let read = [Double](value: doubles.value)
    #expect(read.prefix(3) == doubles.prefix(3) && read[3].isNaN)
    let floats = [Float](value: [Float.infinity, -.infinity, .nan, 0.25].value)
    #expect(floats.prefix(2) == [.infinity, -.infinity] && floats[2].isNaN && floats[3] == 0.25)
    let decimals = [Decimal](value: [Decimal(1), .nan].value)
    #expect(decimals[0] == 1 && decimals[1].isNaN)
  }

  @Test("NaN is refused where null is no value, and no decimal anywhere; infinity is a value")
  func notANumber() throws {
    let entity = Entity(
      name: "Measure", table: "measures",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "weight", column: "weight", type: .double, isNullable: false),
        Attribute(name: "price", column: "price", type: .decimal, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update],
      partition: nil, group: "default")
    let device = try Device(
      Package(
        name: "Measures", version: "1.0", entities: [entity],
        groups: [SynchronizationGroup(name: "default")]))
    var record = ObjectRecord(entity, store: device.store)
    record.set(0, 1 as Int64)
    for (weight, price, attribute, cure) in [
      (.nan, nil, "weight", "Set a number and save again."),
      (1, .nan, "price", "Set a value of that type and save again."),
    ] as [(Double, Decimal?, String, String)] {
      record.set(1, weight)
      record.set(2, price)
      let error = #expect(throws: FerryError.self) { _ = try record.change(.create) }
      #expect(error?.code == .invalidValue && error?.entity == "Measure")
      #expect(error?.attribute == attribute && error?.hint == cure)
      #expect(error?.message.contains("NaN") == true)
    }
    record.set(1, -Double.infinity)
    record.set(2, nil as Decimal?)
    let saved = try #require(try PendingStore.save(try record.change(.create), in: device.store))
    #expect(saved.value(at: 1) == .double(-.infinity))
  }

  @Test("The object that a save returns is the one that is read afterwards")
  func returned() throws {
    let depot = try Depot()
    for (weight, serial) in [(1.5, "12"), (-0.0, nil), (.nan, "-7")] as [(Double, String?)] {
      let id = Int64(weight.isNaN ? 3 : weight == 0 ? 2 : 1)
      var article = try depot.article(
        id, "nail \(id)", text: "a long text, so that it is not kept in place", price: 2,
        weight: weight, since: "2026-01-31", serial: serial)
      #expect(try isAsRead(article, depot))
      article.name = "screw"
      #expect(article.isDirty)
      try article.update()
      #expect(!article.isDirty)
      #expect(try isAsRead(article, depot))
    }
  }

  private func isAsRead(_ article: Article, _ depot: Depot) throws -> Bool {
    let read = try #require(try Article.find(key: article.record.key, in: depot.database))
    return read.record.values == article.record.values
      && read.record.pending == article.record.pending
      && read.record.replay == article.record.replay
      && read.surrogateKey == article.surrogateKey
  }

  @Test("An object of many keeps what it was read with, and knows what was changed of it")
  func kept() throws {
    let depot = try Depot()
    for id in 1...40 as ClosedRange<Int64> {
      try depot.article(
        id, "nail \(id)", text: id % 3 == 0 ? nil : String(repeating: "ä\(id) ", count: Int(id)),
        price: id % 2 == 0 ? nil : 1, weight: Double(id) / 8, isSold: id % 5 == 0)
    }
    let many = try Article.findAll(in: depot.database)
    let one = try many.map { try Article.load(key: $0.record.key, in: depot.database) }
    for (left, right) in zip(many, one) { #expect(left.record.values == right.record.values) }
    var changed = many[7]
    changed.name = "bolt"
    #expect(changed.isDirty && !many[7].isDirty)
    #expect(changed.record.loaded == many[7].record.values)
    try changed.update()
    #expect(many[7].name == "nail 8")
    #expect(try Article.findAll(in: depot.database)[7].name == "bolt")
  }

  @Test("An index is touched only where its attributes change")
  func indexes() throws {
    let depot = try Depot()
    try depot.maker(1, "Hammer & Co", nil)
    var article = try depot.article(1, "nail", maker: 1)
    article.name = "screw"
    try article.update()
    article.record.set(1, Int64?.some(2))
    try article.update()
    let found = try Article.findAll(
      where: Article.Attributes.makerID == 2, in: depot.database)
    #expect(found.map(\.name) == ["screw"])
    let none = try Article.findAll(where: Article.Attributes.makerID == 1, in: depot.database)
    #expect(none.isEmpty)
  }
}
