import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

@Suite struct CoarseColumnTests {
  @Test(
    "A text that the database compares otherwise than by bytes is no key, reference or partition",
    arguments: [
      (type: "text", places: []),
      (type: "char(4)", places: ["Item.code", "Item.depot", "Item.tenant"]),
      (
        type: "text COLLATE ignoring_case", places: ["Item.code", "Item.depot", "Item.tenant"]
      ),
    ])
  func coarse(type: String, places: [String]) throws {
    let address = try Cluster.database()
    let other = try PostgreSQLConnection(address)
    try other.execute(
      """
      CREATE COLLATION ignoring_case
        (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE item (code \(type) PRIMARY KEY, depot \(type), tenant \(type), name \(type))
      """)
    let item = Entity(
      name: "Item", table: "item",
      attributes: ["code", "depot", "tenant", "name"].map {
        Attribute(name: $0, column: $0, type: .string, isNullable: $0 != "code")
      }, key: [0], keyOrigin: .app,
      relationships: [
        Relationship(name: "of", target: "Item", attributes: ["depot"], targetAttributes: ["code"])
      ], operations: [.create, .update, .delete],
      partition: .columns([PartitionColumn(attribute: "tenant", source: .claim("tenant"))]),
      group: "all")
    let package = Package(
      name: "coarse", version: "1.0", entities: [item],
      groups: [SynchronizationGroup(name: "all")])
    let connector = PostgreSQLConnector(address, package: package)
    let found = try connector.mismatches(with: package).filter { $0.problem.contains("key") }
    #expect(found.map(\.place) == places)
    #expect(found.allSatisfy { $0.cure.contains("writes equal values in the same way") })
  }
}
