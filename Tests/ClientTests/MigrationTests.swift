import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// Keeps what is written to the log.
final class HeardLog: Log {
  private let heard = Mutex<[String]>([])
  var lines: [String] { heard.withLock { $0 } }

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    let text = fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    heard.withLock { $0.append("\(message) \(text)") }
  }
}

@Suite("A newer model on an older database")
struct MigrationTests {
  /// The shop's orders under a newer model: `attributes` instead of its own.
  private func newer(
    _ attributes: [Attribute], key: [Int] = [0], version: String = "1.1", lines: Bool = true
  ) -> Package {
    let order = Entity(
      name: "Order", table: "orders", attributes: attributes, key: key,
      keyOrigin: .businessSystem, relationships: [], operations: [.create, .update, .delete],
      partition: nil, group: "default")
    return Package(
      name: "Shop", version: version, entities: [order] + (lines ? [Line.entity] : []),
      groups: [SynchronizationGroup(name: "default")])
  }

  private var attributes: [Attribute] { Order.entity.attributes }

  private func attribute(_ name: String, _ type: AttributeType) -> Attribute {
    Attribute(name: name, column: name, type: type, isNullable: true)
  }

  private func open(
    _ shop: Stocked, _ model: Package, _ policy: MigrationPolicy = .keepPending
  ) throws -> Store {
    shop.device.store.close()
    return try Store(
      path: shop.device.path, model: model, world: .system(), durability: .application,
      migration: policy)
  }

  private func orders(_ store: Store) throws -> [[String]] {
    guard let entity = store.model.entity(named: "Order") else { return [] }
    return try Records(store).all(entity, "ORDER BY _id", []).map { record in
      record.values.map { value in
        if case .text(let text) = value { text } else { value.shown }
      } + [record.pending.rawValue]
    }
  }

  private func changed(_ shop: Stocked) throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    var created = shop.device.newOrder("Jena")
    try created.create()
  }

  @Test("An attribute that is new is null until it is downloaded; rows and pending changes stay")
  func added() throws {
    let shop = try Stocked()
    try changed(shop)
    let payload = try shop.device.request()
    #expect(payload != nil)
    let before = try shop.device.operations()
    let store = try open(shop, newer([attribute("note", .string)] + attributes, key: [1]))
    #expect(
      try orders(store).map { Array($0[2...]) } == [
        ["ALFKI", "Kiel", "1.5", "U"], ["ALFKI", "Bremen", "1.5", "N"],
        ["ALFKI", "Bremen", "1.5", "N"], ["ALFKI", "Jena", "null", "C"],
      ])
    #expect(try orders(store).map { $0[0] } == ["null", "null", "null", "null"])
    let after = try operations(store)
    #expect(after.map(\.id) == before.map(\.id))
    #expect(after.map(\.state) == before.map(\.state))
    #expect(after[0].changed == [3: .text("Kiel")])
    #expect(after[0].base == [3: .text("Bremen")])
  }

  private func operations(_ store: Store) throws -> [PendingOperation] {
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try OperationTable(store, connection).select("ORDER BY sequence", [])
      }
    }
  }

  @Test("After the next download everything is as the newer server has it, under the same numbers")
  func downloaded() throws {
    let shop = try Stocked()
    try changed(shop)
    let model = newer([attribute("note", .string)] + attributes, key: [1])
    let numbers = try Records(shop.device.store).all(Order.entity, "ORDER BY _id", []).map(\.object)
    let store = try open(shop, model)
    let shore = Shore(model)
    shore.partitions = [7]
    let entity = try #require(model.entity(named: "Order"))
    for id in 1...2 {
      shore.put(
        entity,
        [.text("n\(id)"), .integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .text("1.5")],
        partition: 7)
    }
    // Its clock goes on: a checkpoint older than the device's would be refused.
    while shore.clock <= shop.shore.clock {
      shore.put(
        entity, [.text("n2"), .integer(2), .text("ALFKI"), .text("Bremen"), .text("1.5")],
        partition: 7)
    }
    let session = Session(store: store, observers: Observers(), settings: SessionSettings())
    session.requestExchange()
    guard case .send(let request) = try session.next() else { throw Missing() }
    session.received(status: 200, on: request.lane)
    for message in try shore.respond(to: request.body) {
      try session.received(message.frame.encoded(), on: request.lane)
    }
    try session.ended(request.lane, nil)
    // The third was deleted meanwhile; the first has its pending change on top.
    #expect(
      try orders(store).map { Array($0[...3]) }.map { [$0[0], $0[1], $0[3]] } == [
        ["n1", "1", "Kiel"], ["n2", "2", "Bremen"],
        ["null", try orders(store)[2][1], "Jena"],
      ])
    let kept = try Records(store).all(entity, "ORDER BY _id", []).map(\.object)
    #expect(kept == [numbers[0], numbers[1], numbers[3]])
    #expect(shore.stored.count == 1)
  }

  private struct Missing: Error {}

  @Test("A value goes over into its new type; one that does not fit is null until the download")
  func converted() throws {
    let shop = try Stocked()
    shop.shore.put(Order.entity, [.integer(4), .text("ALFKI"), .text("17"), .null])
    try shop.device.exchange(shop.shore)
    var types = attributes
    types[2] = attribute("city", .decimal)
    types[3] = attribute("freight", .string)
    let store = try open(shop, newer(types))
    #expect(try orders(store).map { $0[2] } == ["null", "null", "null", "17"])
    #expect(try orders(store).map { $0[3] } == ["1.5", "1.5", "1.5", "null"])
  }

  @Test("Changes of what the model no longer has are not lost: it is not opened, and says why")
  func refused() throws {
    let shop = try Stocked()
    try changed(shop)
    let before = try shop.device.dump()
    let model = newer([attributes[0], attributes[1], attributes[3]])
    #expect {
      _ = try open(shop, model)
    } throws: { error in
      guard let error = error as? FerryError else { return false }
      return error.code == .incompatibleModel
        && error.message.contains("2 × Order.city, which the model no longer has")
        && error.hint.contains("Shop:1.0")
    }
    try shop.device.restart()
    #expect(try shop.device.dump() == before)
    #expect(try shop.device.operations().count == 2)
  }

  @Test("Asked to, it throws away what cannot be expressed and keeps everything else")
  func discarded() throws {
    let shop = try Stocked()
    try changed(shop)
    var other = try #require(try shop.device.order(2))
    other.freight = 9
    try other.update()
    let model = newer([attributes[0], attributes[1], attributes[3]])
    let store = try open(shop, model, .discardUnmigratable)
    #expect(
      try orders(store) == [
        ["1", "ALFKI", "1.5", "N"], ["2", "ALFKI", "9", "U"], ["3", "ALFKI", "1.5", "N"],
      ])
    #expect(try operations(store).map(\.changed) == [[2: .text("9")]])
  }

  /// The shop's lines without their text.
  private var withoutText: Package {
    let line = Entity(
      name: "Line", table: "lines", attributes: Array(Line.entity.attributes.prefix(2)),
      key: [0, 1], keyOrigin: .app, relationships: Line.entity.relationships,
      operations: [.create, .update, .delete], partition: nil, group: "default")
    return Package(
      name: "Shop", version: "1.1", entities: [Order.entity, line],
      groups: [SynchronizationGroup(name: "default")])
  }

  /// A new line with a text and a change of an order, in one transaction.
  private func chained(_ shop: Stocked, of order: Int64 = 1) throws {
    try shop.device.store.transaction { () throws(FerryError) in
      var line = shop.device.newLine(of: order, 1, "tea")
      try line.create()
      var record = try Records(shop.device.store).all(Order.entity, "WHERE id = 1", [])[0]
      record.set(2, "Kiel" as String?)
      _ = try PendingStore.save(try record.change(.update), in: shop.device.store)
    }
    try Outbox(shop.device.store).submitAll(Order.entity)
  }

  @Test("What was replayed as one with a discarded change is sealed anew without it, and sent")
  func discardedOfChain() throws {
    let shop = try Stocked()
    try chained(shop)
    #expect(try shop.device.operations().map(\.state) == [.submitted, .submitted])
    let store = try open(shop, withoutText, .discardUnmigratable)
    #expect(try operations(store).map(\.entity) == ["Order"])
    let record = try #require(try Records(store).of(Order.entity, key: ObjectKey([.integer(1)])))
    #expect(record.replay.pending == record.replay.counter && record.pending == .update)
    let session = Session(store: store, observers: Observers(), settings: SessionSettings())
    session.requestExchange()
    guard case .send(let request) = try session.next() else { throw Missing() }
    let shore = Shore(withoutText)
    _ = try shore.respond(to: request.body)
    #expect(shore.stored.values.map { "\($0.position + 1)/\($0.count)" } == ["1/1"])
  }

  @Test("What waited with a discarded change, and for nothing else, is sent")
  func discardedOfWaitingChain() throws {
    let shop = try Stocked()
    var new = shop.device.newOrder("Jena")
    try new.create()
    try new.submitPending()
    try shop.device.exchange(shop.shore)
    try chained(shop, of: new.id)
    #expect(try shop.device.operations().map(\.wanted) == [.no, .yes, .yes])
    let store = try open(shop, withoutText, .discardUnmigratable)
    let session = Session(store: store, observers: Observers(), settings: SessionSettings())
    session.requestExchange()
    guard case .send(let request) = try session.next() else { throw Missing() }
    let shore = Shore(withoutText)
    _ = try shore.respond(to: request.body)
    #expect(shore.stored.values.map(\.changed) == [[2: .text("Kiel")]])
  }

  @Test("Where some of what is replayed as one was sent, nothing is discarded and it says so")
  func discardedOfSentChain() throws {
    let shop = try Stocked()
    try chained(shop)
    _ = try shop.device.request()
    let before = try shop.device.dump()
    let error = #expect(throws: FerryError.self) {
      _ = try open(shop, withoutText, .discardUnmigratable)
    }
    #expect(error?.code == .incompatibleModel)
    #expect(error?.message.contains("on their way to the server (Line, Order)") == true)
    try shop.device.restart()
    #expect(try shop.device.dump() == before)
    #expect(try shop.device.operations().count == 2)
  }

  @Test(
    "With a new object goes what refers to its temporary key: it would be sent and mean nothing")
  func discardedDependents() throws {
    let shop = try Stocked()
    var created = shop.device.newOrder("Jena")
    try created.create()
    var line = shop.device.newLine(of: created.id, 1, "tea")
    try line.create()
    var other = shop.device.newLine(of: 1, 1, "tea")
    try other.create()
    let log = HeardLog()
    shop.device.store.close()
    let store = try Store(
      path: shop.device.path, model: newer([attributes[0], attributes[1], attributes[3]]),
      world: World(clock: SystemClock(), chance: SystemChance(), log: log),
      durability: .application, migration: .discardUnmigratable)
    #expect(try operations(store).map(\.key.text) == ["1,1"])
    #expect(try Records(store).count(Line.entity) == 1)
    #expect(log.lines.contains { $0.contains("1 × Line, which refers to a new Order that goes") })
    #expect(log.lines.contains { $0.contains("1 × Order.city") })
  }

  @Test("An entity that the model no longer has goes; with changes pending it is refused")
  func entityGone() throws {
    let shop = try Stocked()
    var line = shop.device.newLine(of: 1, 1, "tea")
    try line.create()
    #expect {
      _ = try open(shop, newer(attributes, lines: false))
    } throws: { "\($0)".contains("1 × Line, which the model no longer has") }
    try shop.device.restart()
    let kept = try Records(shop.device.store).of(
      Line.entity, key: ObjectKey([.integer(1), .integer(1)]))
    var again = Line(record: try #require(kept))
    try again.cancelPending()
    let store = try open(shop, newer(attributes, lines: false))
    #expect(try orders(store).count == 3)
  }

  @Test(
    "A key that changed empties the entity until the download; with changes pending it is refused")
  func keyChanged() throws {
    let shop = try Stocked()
    let model = newer(attributes, key: [1])
    let store = try open(shop, model)
    #expect(try orders(store).isEmpty)
    let other = try Stocked()
    try changed(other)
    #expect {
      _ = try open(other, model)
    } throws: { "\($0)".contains("2 × Order, whose key is another one now") }
  }

  @Test("A database of a newer model is not opened by an older app")
  func newerDatabase() throws {
    let shop = try Stocked()
    _ = try open(shop, newer(attributes, version: "1.10")).close()
    #expect {
      _ = try open(shop, newer(attributes, version: "1.9"))
    } throws: { error in
      (error as? FerryError)?.code == .incompatibleModel && "\(error)".contains("Update the app")
    }
  }
}
