import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// What a server sends that does not fit the device's model: the app is told what and where, nothing
/// of it is seen, pending work stays, and when the server is mended the device goes on by itself.
@Suite("An import that does not fit the model")
struct OtherModelTests {
  /// What is wrong at the server, and what the app is told of it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let entities: @Sendable () -> [Entity]
    let spoil: @Sendable (Shore) -> Void
    let entity: String
    let attribute: String?
    let word: String
    var testDescription: String { name }
  }

  private static func order(_ attributes: [Attribute]) -> Entity {
    Entity(
      name: "Order", table: "orders", attributes: attributes, key: [0],
      keyOrigin: .businessSystem, relationships: [], operations: [.create, .update, .delete],
      partition: nil, group: "default")
  }

  private static let crate = Entity(
    name: "Crate", table: "crates",
    attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)], key: [0],
    keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "default")

  private static let right: [AttributeValue] = [
    .integer(9), .text("ALFKI"), .text("Bremen"), .null,
  ]

  static let cases: [Case] = [
    Case(
      name: "an attribute that is unknown here",
      entities: {
        let colour = Attribute(name: "colour", column: "colour", type: .string, isNullable: true)
        return [order(Order.entity.attributes + [colour]), Line.entity]
      },
      spoil: { $0.put($0.model.entities[0], right + [.text("red")]) },
      entity: "Order", attribute: "colour", word: "has no colour"),
    Case(
      name: "an attribute that is missing there",
      entities: { [order(Array(Order.entity.attributes.dropLast())), Line.entity] },
      spoil: { $0.put($0.model.entities[0], Array(right.dropLast())) },
      entity: "Order", attribute: "freight", word: "columns of Order"),
    Case(
      name: "an entity that is unknown here", entities: { [Order.entity, Line.entity, crate] },
      spoil: { $0.put(crate, [.integer(1)]) },
      entity: "Crate", attribute: nil, word: "has no entity Crate"),
    Case(
      name: "a text for a decimal", entities: { [Order.entity, Line.entity] },
      spoil: { $0.put(Order.entity, [.integer(9), .text("ALFKI"), .null, .text("much")]) },
      entity: "Order", attribute: "freight", word: "canonical decimal"),
    Case(
      name: "a number for a text", entities: { [Order.entity, Line.entity] },
      spoil: { $0.put(Order.entity, [.integer(9), .text("ALFKI"), .integer(4), .null]) },
      entity: "Order", attribute: "city", word: "type string"),
    Case(
      name: "a value too few", entities: { [Order.entity, Line.entity] },
      spoil: { $0.put(Order.entity, Array(right.dropLast())) },
      entity: "Order", attribute: "freight", word: "has only 3"),
    Case(
      name: "a value too many", entities: { [Order.entity, Line.entity] },
      spoil: { $0.put(Order.entity, right + [.null]) },
      entity: "Order", attribute: nil, word: "has more"),
    Case(
      name: "null where a value must be", entities: { [Order.entity, Line.entity] },
      spoil: { $0.put(Order.entity, [.integer(9), .null, .null, .null]) },
      entity: "Order", attribute: "customer", word: "is null"),
  ]

  /// A server of this model, with what every device of the test has already.
  private func shore(_ entities: [Entity]) -> Shore {
    let shore = Shore(
      Package(
        name: "Shop", version: "1.0", entities: entities,
        groups: [SynchronizationGroup(name: "default")]))
    shore.put(Line.entity, [.integer(1), .integer(1), .text("tea")])
    return shore
  }

  @Test(
    "It is told with entity, attribute and cure, and the device goes on", .reference("sync/M20"),
    arguments: cases
  )
  func told(wrong: Case) throws {
    for isFirst in [true, false] {
      let device = try Device().loggedIn()
      if !isFirst { try device.exchange(shore([Order.entity, Line.entity])) }
      let lines = try Records(device.store).all(Line.entity, "", []).count
      var order = device.newOrder("Jena")
      try order.create()
      try order.submitPending()
      let spoiled = shore(wrong.entities())
      wrong.spoil(spoiled)
      for _ in 0..<2 {
        let error = #expect(throws: FerryError.self) { try device.exchange(spoiled) }
        #expect(error?.code == .protocolViolation && error?.isTransient == false)
        #expect(error?.entity == wrong.entity && error?.attribute == wrong.attribute)
        #expect(error?.message.contains(wrong.word) == true, "\(error?.message ?? "")")
        #expect(error?.hint.contains("update the app or the server") == true)
      }
      #expect(device.handler.exceptions.map(\.entity) == [wrong.entity, wrong.entity])
      #expect(try device.orders().map(\.city) == ["Jena"], "nothing of it is seen")
      #expect(try Records(device.store).all(Line.entity, "", []).count == lines)
      #expect(try device.operations().count == 1 && order.isPending)

      let mended = shore([Order.entity, Line.entity])
      mended.put(Order.entity, OtherModelTests.right)
      // The operation had come before; the mended server is the same one.
      try device.exchange(mended)
      #expect(try device.order(9)?.city == "Bremen")
      #expect(try Records(device.store).all(Line.entity, "", []).count == 1)
      let id = try #require(try device.operations().first).id
      spoiled.stored.forEach { mended.take($1) }
      mended.accept(id, newKey: ObjectKey([.integer(10)]))
      try device.exchange(mended)
      #expect(try device.operations().isEmpty)
      #expect(try device.order(10)?.city == "Jena")
    }
  }

  private func pages(_ device: Device) throws -> [Int64: Int64] {
    let rows = try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.rows("SELECT partition, count(*) FROM ferry_page GROUP BY partition")
      }
    }
    return Dictionary(
      uniqueKeysWithValues: rows.map { ($0[0].integer ?? 0, $0[1].integer ?? 0) })
  }

  private func receivedRows(_ device: Device) throws -> Int {
    try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try ProgressTable.read(connection).receivedRows
      }
    }
  }

  @Test(
    "What came before it and in other partitions stays: the rest alone comes again",
    .reference("sync/M20"))
  func kept() throws {
    let device = try Device().loggedIn()
    let shore = shore([Order.entity, Line.entity])
    shore.partitions = [1, 2]
    func put(_ id: Int64, _ customer: AttributeValue = .text("ALFKI"), partition: Int64) {
      shore.put(Order.entity, [.integer(id), customer, .null, .null], partition: partition)
    }
    for id in 1...3 { put(Int64(id), partition: 1) }
    for id in 4...9 { put(Int64(id), id == 6 ? .null : .text("ALFKI"), partition: 2) }
    let error = #expect(throws: FerryError.self) { try device.exchange(shore) }
    #expect(error?.entity == "Order" && error?.attribute == "customer")
    // Two rows in a page: the second page of partition 2 is the bad one, a third followed.
    #expect(try pages(device) == [1: 2, 2: 1])
    #expect(try receivedRows(device) == 6)

    put(6, partition: 2)
    let request = try #require(try device.request())
    let answer = try shore.respond(to: request.body)
    let rows = answer.compactMap { if case .rows(let page) = $0 { page } else { nil } }
    #expect(rows.filter { $0.rowCount > 0 }.map(\.partition) == [2, 2])
    try device.take(answer)
    #expect(try device.orders().map(\.id) == Array(1...9))
    #expect(try pages(device) == [:] && receivedRows(device) == 0)
  }

  @Test("The other groups of an exchange are imported, and the error is told at its end")
  func otherGroup() throws {
    let line = Entity(
      name: "Line", table: "lines", attributes: Line.entity.attributes, key: Line.entity.key,
      keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "goods")
    let model = Package(
      name: "Shop", version: "1.0", entities: [Order.entity, line],
      groups: ["default", "goods"].map { SynchronizationGroup(name: $0) })
    let device = try Device(model).loggedIn()
    _ = try device.request()
    func part(_ partition: Int64, _ entity: Entity, _ values: [AttributeValue]) throws -> [Message]
    {
      let body = RowCoder.encode(values)
      var writer = RowsPageWriter()
      writer.row(entity, body: body)
      let end = Cursor.end(of: 1)
      let page = writer.json(partition: partition, from: .start, to: end, at: 1)
      let hash = RowHash.of(entity: entity.name, key: entity.key(of: values), body: body)
      let sum = PartitionSum(
        partition: partition, cursor: end, sum: UInt64(bitPattern: hash), count: 1)
      return [
        .rows(try RowsPage(json: page)),
        .checkpoint(
          Checkpoint(
            group: entity.group, era: "era-1", version: 1, partitions: [sum], answers: [],
            rightsVersion: "1", unavailable: [])),
      ]
    }
    let welcome = Welcome(
      server: "server-1", era: "era-1", clock: 1, rightsVersion: "1", keep: [],
      start: [
        PartitionPlace(partition: 1, group: "default"),
        PartitionPlace(partition: 2, group: "goods"),
      ], drop: [], reset: [], operations: [], expectedRows: 2)
    let wrong = try part(1, Order.entity, [.integer(9), .null, .null, .null])
    let right = try part(2, line, [.integer(1), .integer(1), .text("tea")])
    let error = #expect(throws: FerryError.self) {
      try device.take([.welcome(welcome)] + wrong + right)
    }
    #expect(error?.entity == "Order" && error?.attribute == "customer")
    #expect(device.handler.exceptions.map(\.entity) == ["Order"])
    #expect(try Records(device.store).all(line, "", []).count == 1)
    #expect(try device.orders().isEmpty)
  }
}
