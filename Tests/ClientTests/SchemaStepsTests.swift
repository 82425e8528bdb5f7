import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

@Suite("Databases that an older Ferry made")
struct SchemaStepsTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "device.db").path)
  }

  private func open(_ path: String) throws -> Store {
    try Store(path: path, model: Shop.package, world: .system(), durability: .application)
  }

  private var fixture: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/device-1.sql")
  }

  @Test(
    "Are opened with all that is pending, as it is: waiting, submitted and refused",
    .reference("facts/1.6"))
  func first() throws {
    try withFile { path in
      try Connection(path: path).execute(String(contentsOf: fixture, encoding: .utf8))
      let store = try open(path)
      let orders = try Records(store).all(Order.entity, "ORDER BY id", []).map(Order.init(record:))
      #expect(orders.map(\.city) == ["Jena", "Kiel", "Bremen", "Ulm"])
      #expect(orders.map(\.pendingChange) == [.create, .update, .none, .update])
      #expect(orders[1].replayCounter == 2_000 && orders[1].replayPending == 2_000)
      #expect(orders[3].replayFailure == 4_000 && orders[3].replayFailed)
      #expect(try orders[1].originalState?.city == "Bremen")
      var waiting = orders[0]
      waiting.city = "Weimar"
      try waiting.update()
      try waiting.submitPending()
      var refused = orders[3]
      try refused.cancelPending()
      #expect(refused.city == "Bremen")
      store.close()
      let again = try open(path)
      #expect(try Records(again).all(Order.entity, "", []).count == 4)
      again.close()
    }
  }

  @Test("What was submitted and waited in an older one goes when what it waited for is answered")
  func waiting() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    for city in ["Kiel", "Ulm"] {
      order.city = city
      try order.update()
      try order.submitPending()
      try shop.device.exchange(shop.shore)
    }
    try shop.device.store.write { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        for statement in [
          "DROP TRIGGER ferry_reference_end", "DROP TRIGGER ferry_reference_change",
          "DROP TABLE ferry_reference",
          "DROP INDEX ferry_operation_again",
          "PRAGMA user_version = 2",
        ] { try connection.execute(statement) }
      }
    }
    try shop.device.restart()
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.wanted) == [.no, .yes])
    shop.shore.accept(try Operation(shop.shore.received[0], in: shop.shore.model).id)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.received.count == 2)
  }

  @Test("A database of a newer Ferry is refused and left as it is")
  func newer() throws {
    try withFile { path in
      try open(path).close()
      let version = Schema.version + 1
      try Connection(path: path).execute("PRAGMA user_version = \(version)")
      let before = try Data(contentsOf: URL(filePath: path))
      let error = #expect(throws: FerryError.self) { try open(path) }
      #expect(error?.code == .incompatibleModel)
      #expect(error?.message.contains("of version \(version)") == true)
      #expect(error?.hint == "Update the app; the database was not changed.")
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }
}
