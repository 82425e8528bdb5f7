import Ferry
import FerryMemoryConnector
import FerryModel
import FerryReference
import FerryTestKit
import FerryTestTraits
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Writes down what imports tell of orders, and whether the database shows it by then.
private final class EachObject: CallbackHandler {
  let hearsEachObject: Bool
  private let lines = Mutex<[String]>([])
  private let database = Mutex<FerryDatabase?>(nil)

  init(hearsEachObject: Bool = true) { self.hearsEachObject = hearsEachObject }

  var heard: [String] { lines.withLock { $0 } }
  func forget() { lines.withLock { $0 = [] } }
  func look(into database: FerryDatabase) { self.database.withLock { $0 = database } }

  private func hear(_ line: String) { lines.withLock { $0.append(line) } }

  func onImport(_ object: ImportedObject) {
    guard let order = object.as(Trade.Order.self) else { return }
    var isShown = ""
    if let database = database.withLock({ $0 }) {
      let found = try? Trade.Order.find(key: object.key, in: database)
      isShown = found?.city == order.city ? " shown" : " not shown"
    }
    hear("\(object.entity) \(order.id) \(order.city ?? "-")\(isShown)")
  }
  func onImport(_ changes: EntityChanges) {
    guard changes.entity == "Order" else { return }
    hear("import +\(changes.inserted) ~\(changes.updated) -\(changes.deleted)")
  }
  func onImportSuccess(group: String) { if group == "orders" { hear("success") } }
}

/// Imports that are told object by object.
@Suite("Each object of an import", .timeLimit(.minutes(60)))
struct ImportedObjectTests: TradeSuite {
  private func order(_ id: Int64, in database: FerryDatabase) throws -> Trade.Order? {
    try Trade.Order.find(key: ObjectKey([.integer(id)]), in: database)
  }

  @Test(
    "Each object of the first import is told, then its entity, then once that it is whole",
    .reference("sync/M20")
  )
  func first() async throws {
    let server = try await Trade.server()
    try await server.insert(
      Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"],
      ["id": 12, "customer": 1, "city": "Rom"])
    let handler = EachObject()
    let database = try await server.database(user: "nancy", handler: handler)
    #expect(
      handler.heard.prefix(3).sorted() == ["Order 10 Bonn", "Order 11 Ulm", "Order 12 Rom"])
    #expect(handler.heard.dropFirst(3) == ["import +3 ~0 -0", "success"])
    handler.forget()
    handler.look(into: database)
    try await server.insert(Trade.Order.self, ["id": 13, "customer": 1, "city": "Oslo"])
    try await server.replace(Trade.Order.self, ["id": 11, "customer": 1, "city": "Jena"])
    let gone = try #require(try order(12, in: database))
    try await server.remove(gone)
    try await database.synchronize()
    #expect(
      handler.heard.prefix(2).sorted() == ["Order 11 Jena shown", "Order 13 Oslo shown"])
    #expect(handler.heard.dropFirst(2) == ["import +1 ~1 -1", "success"])
    await server.stop()
  }

  @Test(
    "Of a large import each object is told once, and the entity once with its counts",
    .reference("sync/M20"))
  func large() async throws {
    let server = try await Trade.server()
    let rows = (11...2_510).map { [AttributeValue.integer($0), .integer(1), .text("Ulm")] }
    _ = server.business.insert("Order", rows)
    await server.reload()
    let handler = EachObject()
    _ = try await server.database(user: "nancy", handler: handler)
    let objects = handler.heard.filter { $0.hasPrefix("Order") }
    #expect(objects.count == 2_501 && Set(objects).count == 2_501)
    #expect(handler.heard.dropFirst(2_501) == ["import +2501 ~0 -0", "success"])
    await server.stop()
  }

  @Test("A handler that wants counts alone hears of no object")
  func counts() async throws {
    let server = try await Trade.server()
    let handler = EachObject(hearsEachObject: false)
    _ = try await server.database(user: "nancy", handler: handler)
    #expect(handler.heard == ["import +1 ~0 -0", "success"])
    await server.stop()
  }
}
