import FerryGenerator
import FerryModel
import Testing

struct NorthwindTests {
  private func made(_ database: FixtureDatabase) throws -> ModelMaker.Result {
    try ModelMaker.make(
      fromSQLite: database.path,
      options: TranslationOptions(
        name: "Northwind", partitions: [try PartitionRequest("Orders=EmployeeID:claim:employee")],
        writable: .these(["shippers"])),
      file: "model.json")
  }

  @Test("Northwind becomes a model with orders by employee, and their details follow")
  func model() throws {
    let (database, isReal) = try FixtureDatabase.northwind()
    let made = try made(database)
    let package = made.translation.package
    #expect(package.id == "Northwind:1.0")
    #expect(package.entities.count == (isReal ? 13 : 7))
    let orders = try #require(package.entity(named: "Orders"))
    #expect(orders.keyOrigin == .businessSystem)
    #expect(
      orders.partition
        == .columns([PartitionColumn(attribute: "employeeID", source: .claim("employee"))]))
    #expect(orders.attributes.first { $0.name == "orderDate" }?.stored == .space)
    #expect(orders.attributes.first { $0.name == "freight" }?.type == .decimal)
    let details = try #require(package.entity(named: "OrderDetails"))
    #expect(details.table == "Order Details")
    #expect(details.key == [0, 1])
    #expect(details.partition == .through(relationship: "order"))
    let employees = try #require(package.entity(named: "Employees"))
    #expect(employees.attributes.contains { $0.name == "extension_" && $0.column == "Extension" })
    #expect(employees.relationships.map(\.inverse) == ["employeesByReportsTo"])
    #expect(made.warnings == [])
    #expect(made.translation.notes(.leftOut).allSatisfy { $0.what.contains("is a view") })
  }

  @Test(
    "What changes in the database is named, with whether devices can go on",
    arguments: [
      ("ALTER TABLE Orders ADD COLUMN Remark TEXT", true, "Orders.Remark"),
      ("ALTER TABLE Orders ADD COLUMN Rank INTEGER NOT NULL DEFAULT 0", true, "Orders.Rank"),
      ("CREATE TABLE Extra (n INTEGER PRIMARY KEY)", true, "Extra"),
      ("ALTER TABLE Orders RENAME COLUMN ShipCity TO ShipTown", false, "Orders.ShipCity"),
      ("ALTER TABLE Orders DROP COLUMN ShipCity", false, "Orders.ShipCity"),
      (
        "DROP VIEW IF EXISTS [Order Subtotals]; ALTER TABLE Orders RENAME TO Purchases", false,
        "Orders"
      ),
      ("UPDATE Orders SET Freight = 'much' WHERE OrderID = 10248", false, "Orders.Freight"),
      ("UPDATE Orders SET OrderDate = 'soon' WHERE OrderID = 10248", false, "Orders.OrderDate"),
      (
        "CREATE TABLE s (ShipperID TEXT NOT NULL PRIMARY KEY, CompanyName TEXT NOT NULL, Phone TEXT);"
          + "DROP TABLE Shippers; ALTER TABLE s RENAME TO Shippers", false, "Shippers.ShipperID"
      ),
      (
        "CREATE TABLE s (ShipperID INTEGER NOT NULL, CompanyName TEXT NOT NULL PRIMARY KEY, Phone TEXT);"
          + "DROP TABLE Shippers; ALTER TABLE s RENAME TO Shippers", false, "Shippers"
      ),
      (
        "CREATE TABLE s (ShipperID INTEGER PRIMARY KEY, CompanyName TEXT, Phone TEXT, Code TEXT NOT NULL);"
          + "DROP TABLE Shippers; ALTER TABLE s RENAME TO Shippers", false, "Shippers.Code"
      ),
    ])
  func difference(_ sql: String, _ canGoOn: Bool, _ subject: String) throws {
    let (database, _) = try FixtureDatabase.northwind()
    let package = try made(database).translation.package
    #expect(try ModelDifference.compare(package, withSQLite: database.path).canGoOn)
    // Views of the real Northwind hinder renaming unless the old rules are asked for.
    try database.execute(
      "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; " + withoutViews(database) + sql)
    let difference = try ModelDifference.compare(package, withSQLite: database.path)
    #expect(difference.canGoOn == canGoOn, "\(difference.changes)")
    #expect(
      difference.changes.contains { $0.subject == subject && $0.canGoOn == canGoOn },
      "\(difference.changes)")
  }

  private func withoutViews(_ database: FixtureDatabase) throws -> String {
    try SchemaReader.read(path: database.path).views.map { "DROP VIEW [\($0)]; " }.joined()
  }

  @Test("A type that the author chose is kept where the values are of that type")
  func authorsType() throws {
    let database = try FixtureDatabase(
      "CREATE TABLE t (n INTEGER PRIMARY KEY, day TEXT, size INTEGER); INSERT INTO t VALUES (1, '2024-01-31', 7)"
    )
    let attribute = { Attribute(name: $0, column: $0, type: $1, isNullable: $2) }
    let entity = Entity(
      name: "T", table: "t",
      attributes: [
        attribute("n", .long, false), attribute("day", .date, true),
        attribute("size", .short, true),
      ],
      key: [0], keyOrigin: .businessSystem, relationships: [], operations: [], partition: nil,
      group: "default")
    let package = Package(
      name: "P", version: "1.0", entities: [entity], groups: [SynchronizationGroup(name: "default")]
    )
    #expect(try ModelDifference.compare(package, withSQLite: database.path).changes == [])
    try database.execute("INSERT INTO t VALUES (2, 'today', 70000)")
    let subjects = try ModelDifference.compare(package, withSQLite: database.path).changes.map(
      \.subject)
    #expect(subjects == ["t.day", "t.size"])
  }
}
