import Ferry
import FerryModel
import FerryReference
import FerrySQLite
import Testing

@testable import Ferry

/// Names that a model may have and that Ferry's own tables, indexes and queries have too.
@Suite("Names of the model that are Ferry's own")
struct OwnNamesTests {
  private static let own = [
    "ferry_id", "ferry_place", "old_key", "entity", "object", "sequence", "value", "key", "name",
    "ferry_now", "a", "n",
  ]

  private struct Log: BusinessObject {
    static let entity = OwnNamesTests.entity("Log", [("record", "Record_operation")])
    var record: ObjectRecord
  }

  private struct Note: BusinessObject {
    static let entity = OwnNamesTests.entity("Record_operation", [])
    var record: ObjectRecord
  }

  private static func entity(_ name: String, _ relationships: [(String, String)]) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)]
        + own.map { Attribute(name: $0, column: $0, type: .long, isNullable: true) },
      key: [0], keyOrigin: .businessSystem,
      relationships: relationships.map {
        Relationship(name: $0, target: $1, attributes: ["object"], targetAttributes: ["id"])
      }, operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  /// Indexes that had one name: `ferry_A_b_c`, `ferry_operation_key` and that of a table.
  private static let package = Package(
    name: "Names", version: "1.0",
    entities: [
      Log.entity, Note.entity, entity("A", [("b_c", "Log")]), entity("A_b", [("c", "Log")]),
      entity("operation", [("key", "Log")]), entity("original", [("log", "Log")]),
    ], groups: [SynchronizationGroup(name: "default")])

  private func create(
    _ entity: Entity, _ values: [AttributeValue], _ depot: Depot
  ) throws -> ObjectRecord {
    var record = ObjectRecord(entity, in: depot.database)
    for (position, value) in values.enumerated() { record.values[position] = value }
    return try #require(try PendingStore.save(try record.change(.create), in: depot.database.store))
  }

  @Test("open, and each relationship has an index, beside those of Ferry's own tables")
  func indexes() throws {
    let depot = try Depot(model: OwnNamesTests.package)
    let store = depot.database.store
    let tables = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows(
          "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
      }
    }.compactMap { $0[0].text }
    for table in ["Log", "A", "A_b", "operation", "original"] {
      #expect(tables.count { $0 == table } == 1, "\(table)")
    }
    let fresh = try Depot()
    let usual = try fresh.database.store.read { connection throws(FerryError) in
      try fresh.database.store.sql { () throws(SQLiteError) in
        try connection.value(
          """
          SELECT count(*) FROM sqlite_schema
          WHERE type = 'index' AND sql IS NOT NULL AND tbl_name LIKE 'ferry\\_%' ESCAPE '\\'
          """)
      }
    }
    #expect(usual == .integer(Int64(tables.count { $0.hasPrefix("ferry_") })))
  }

  @Test("are read by queries with joins, by inner tests, and by tests with temporary keys")
  func queries() throws {
    let depot = try Depot(model: OwnNamesTests.package)
    let values = Array(repeating: AttributeValue.integer(3), count: 12)
    let note = try create(Note.entity, [.null] + values, depot)
    var log = [.null] + values
    log[5] = note.values[0]
    _ = try create(Log.entity, log, depot)
    let join = RowQuery(from: "Log").join("Record_operation", "Log.object", "Record_operation.id")
      .where(AttributeTest("Log.ferry_id", .equal, 3)).orderBy(.ascending("Log.ferry_place"))
    #expect(try Log.findWithQuery(join, in: depot.database).count == 1)
    let path = RelationshipOf<Log, Note>("record")
    let old = AttributeOf<Note, Int64?>("old_key", 3)
    let id = AttributeOf<Note, Int64>("id", 0)
    let test = path.exists(old == 3 && id == note.key.values(of: Note.entity)?[0].number ?? 0)
    #expect(try Log.count(where: test, in: depot.database) == 1)
  }
}

extension AttributeValue {
  fileprivate var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}
