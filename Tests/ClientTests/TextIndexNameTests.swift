import Ferry
import FerryModel
import FerrySQLite
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// FTS5 keeps tables of its own beside an index, with names that an entity's index once could have.
@Suite("Names of full-text indexes")
struct TextIndexNameTests {
  private struct Note: BusinessObject {
    static let entity = TextIndexNameTests.entity("Order")
    var record: ObjectRecord
  }

  private struct Sheet: BusinessObject {
    static let entity = TextIndexNameTests.entity("Order_data")
    var record: ObjectRecord
  }

  private static func entity(_ name: String) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "text", column: "text", type: .string, isNullable: true, fullText: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
      partition: nil, group: "default")
  }

  private static func model(_ names: [String]) -> Package {
    Package(
      name: "Texts", version: "1.0", entities: names.map(entity),
      groups: [SynchronizationGroup(name: "default")])
  }

  private func save(_ entity: Entity, _ id: Int64, _ text: String, _ store: Store) throws {
    var record = ObjectRecord(entity, store: store)
    record.set(0, id)
    record.set(1, text as String?)
    _ = try PendingStore.save(try record.change(.create), in: store)
  }

  private func ids<Object: BusinessObject>(
    _ type: Object.Type, _ words: String, _ store: Store
  ) throws -> [Int64] {
    let query = RowQuery(from: type).where(Object.matches(words))
    return try query.objects(of: Object.entity, in: store) { $0.get(0) }
  }

  @Test("An entity may have the name of any table that the index of another one needs")
  func besideEachOther() throws {
    let names = ["data", "idx", "content", "docsize", "config", "i", "u", "d"].map { "Order_\($0)" }
    let device = try Device(Self.model(["Order"] + names))
    try save(Note.entity, 1, "thin nail", device.store)
    try save(Sheet.entity, 2, "thin paper", device.store)
    for _ in 0..<2 {
      #expect(try ids(Note.self, "thin", device.store) == [1])
      #expect(try ids(Sheet.self, "thin", device.store) == [2])
      try device.restart()
    }
    let search = try RowQuery(from: Sheet.self).where(Sheet.matches("nail")).count(in: device.store)
    #expect(search == 0)
  }

  @Test("An index of an older Ferry is made anew under its new name, and nothing is left of it")
  func older() throws {
    let device = try Device(Self.model(["Order"]))
    try save(Note.entity, 1, "thin nail", device.store)
    device.store.close()
    let connection = try Connection(path: device.path)
    let now = try connection.value("SELECT value FROM ferry_setting WHERE name = 'textIndex:Order'")
    try TextIndex.removeAll(connection)
    for statement in [
      """
      CREATE VIRTUAL TABLE "ferry_text_Order" USING fts5("text", content="Order",
        content_rowid='_id', tokenize='unicode61 remove_diacritics 2')
      """,
      """
      CREATE TRIGGER "ferry_text_Order_i" AFTER INSERT ON "Order"
      BEGIN INSERT INTO "ferry_text_Order" (rowid, "text") VALUES (new._id, new."text"); END
      """,
      "INSERT INTO \"ferry_text_Order\" (\"ferry_text_Order\") VALUES ('rebuild')",
      "INSERT INTO ferry_setting (name, value) VALUES ('textIndex:Order', '1 \"text\"')",
    ] { try connection.execute(statement) }
    #expect(now?.text != "1 \"text\"")
    try device.restart()
    #expect(try ids(Note.self, "thin", device.store) == [1])
    try save(Note.entity, 2, "thin screw", device.store)
    #expect(try ids(Note.self, "thin", device.store) == [1, 2])
    let left = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE name = 'ferry_text_Order' OR name GLOB 'ferry_text_Order_[a-z][a-z]*'"
    )
    #expect(left.isEmpty, "\(left.map { $0[0].text ?? "" })")
    // A newer model beside it needs the name.
    device.store.close()
    let newer = Package(
      name: "Texts", version: "1.1",
      entities: Self.model(["Order", "Order_data"]).entities,
      groups: [SynchronizationGroup(name: "default")])
    let store = try Store(
      path: device.path, model: newer, world: .system(), durability: .application)
    #expect(try ids(Note.self, "thin", store) == [1, 2])
    try save(Sheet.entity, 3, "thin paper", store)
    #expect(try ids(Sheet.self, "thin", store) == [3])
    store.close()
  }
}
