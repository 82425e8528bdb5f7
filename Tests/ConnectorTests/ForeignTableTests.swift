import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

@Suite("A table that Ferry would need")
struct ForeignTableTests {
  private let package = Package(
    name: "Shop", version: "1.0", entities: [], groups: [SynchronizationGroup(name: "default")])

  private func mismatches(_ sql: String, remembers: Bool) throws -> [Mismatch] {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-foreign-\(UUID().uuidString).db").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let connection = try Connection(path: path)
    try connection.execute(sql)
    return try SQLiteConnector(path: path, package: package, remembersOperations: remembers)
      .mismatches(with: package)
  }

  @Test("Somebody else's ferry_applied is told before the server starts, with the cure")
  func foreign() throws {
    let found = try mismatches("CREATE TABLE ferry_applied (x)", remembers: true)
    #expect(found.map(\.place) == ["ferry_applied"])
    #expect(found.first?.cure.contains("--forget-operations") == true)
    #expect(try mismatches("CREATE TABLE ferry_applied (x)", remembers: false).isEmpty)
    #expect(try mismatches("CREATE TABLE other (x)", remembers: true).isEmpty)
  }

  @Test(
    "A key, reference or partition column that takes different texts for one is refused",
    arguments: [
      ("code TEXT COLLATE NOCASE PRIMARY KEY, depot TEXT, tenant TEXT", ["Item.code"]),
      ("code TEXT PRIMARY KEY, depot TEXT COLLATE RTRIM, tenant TEXT", ["Item.depot"]),
      ("code TEXT PRIMARY KEY, depot TEXT, tenant TEXT COLLATE nocase", ["Item.tenant"]),
      ("code TEXT PRIMARY KEY, depot TEXT, tenant TEXT, name TEXT COLLATE NOCASE", []),
    ])
  func coarse(columns: String, places: [String]) throws {
    let item = Entity(
      name: "Item", table: "items",
      attributes: ["code", "depot", "tenant"].map {
        Attribute(name: $0, column: $0, type: .string, isNullable: $0 != "code")
      }, key: [0], keyOrigin: .app,
      relationships: [
        Relationship(name: "of", target: "Item", attributes: ["depot"], targetAttributes: ["code"])
      ], operations: [.create, .update, .delete],
      partition: .columns([PartitionColumn(attribute: "tenant", source: .claim("tenant"))]),
      group: "default")
    let package = Package(
      name: "Shop", version: "1.0", entities: [item],
      groups: [SynchronizationGroup(name: "default")])
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-coarse-\(UUID().uuidString).db").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let connection = try Connection(path: path)
    try connection.execute("CREATE TABLE items (\(columns))")
    let found = try SQLiteConnector(path: path, package: package).mismatches(with: package)
    #expect(found.map(\.place) == places)
    #expect(found.allSatisfy { $0.cure.contains("COLLATE BINARY") })
  }
}
