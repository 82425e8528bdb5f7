import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

/// The Northwind database where it lies beside the checkout, else its shape with a few rows.
enum Northwind {
  static let root: URL = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Whether it is the real one.
  static func write(to path: String) throws -> Bool {
    let real = root.appending(path: "../shared/data/northwind/northwind.sql")
    let connection = try Connection(path: path)
    if let sql = try? String(contentsOf: real, encoding: .utf8) {
      try connection.execute("BEGIN")
      try connection.execute(sql)
      try connection.execute("COMMIT")
      return true
    }
    print("Northwind is not beside the checkout: its shape stands in for it.")
    let shape = root.appending(path: "Tests/Fixtures/northwind-shape.sql")
    try connection.execute(String(contentsOf: shape, encoding: .utf8))
    return false
  }

  static let customer: Entity = Entity(
    name: "Customer", table: "Customers",
    attributes: [
      Attribute(name: "customerID", column: "CustomerID", type: .string, isNullable: false),
      Attribute(name: "companyName", column: "CompanyName", type: .string, isNullable: true),
    ],
    key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")

  static let order: Entity = Entity(
    name: "Order", table: "Orders",
    attributes: [
      Attribute(name: "orderID", column: "OrderID", type: .long, isNullable: false),
      Attribute(name: "customerID", column: "CustomerID", type: .string, isNullable: true),
      Attribute(name: "employeeID", column: "EmployeeID", type: .long, isNullable: true),
      Attribute(
        name: "orderDate", column: "OrderDate", type: .dateTime, isNullable: true, stored: .space),
      Attribute(name: "freight", column: "Freight", type: .decimal, isNullable: true),
      Attribute(name: "shipCity", column: "ShipCity", type: .string, isNullable: true),
    ],
    key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: Set(OperationKind.allCases),
    partition: .columns([PartitionColumn(attribute: "employeeID", source: .claim("employee"))]),
    group: "all")

  static let detail: Entity = Entity(
    name: "OrderDetail", table: "Order Details",
    attributes: [
      Attribute(name: "orderID", column: "OrderID", type: .long, isNullable: false),
      Attribute(name: "productID", column: "ProductID", type: .long, isNullable: false),
      Attribute(name: "unitPrice", column: "UnitPrice", type: .decimal, isNullable: false),
      Attribute(name: "quantity", column: "Quantity", type: .int, isNullable: false),
      Attribute(name: "discount", column: "Discount", type: .double, isNullable: false),
    ],
    key: [0, 1], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: .through(relationship: "order"), group: "all")

  static let package: Package = Package(
    name: "northwind", version: "1.0", entities: [customer, order, detail],
    groups: [SynchronizationGroup(name: "all")])
}

@Suite("Northwind through the connector")
struct NorthwindTests {
  let folder: TemporaryFolder
  let connector: SQLiteConnector
  let other: Connection
  let orders: Int
  let first: ObjectKey = ObjectKey([.integer(10248)])

  init() throws {
    folder = try TemporaryFolder()
    let path = folder.path("northwind.db")
    orders = try Northwind.write(to: path) ? 830 : 1
    other = try Connection(path: path)
    connector = SQLiteConnector(path: path, package: Northwind.package)
  }

  private func operation(
    _ number: Int, _ kind: OperationKind, _ entity: Entity, _ key: ObjectKey?,
    _ changed: [String: AttributeValue], base: [String: AttributeValue] = [:]
  ) -> ConnectorOperation {
    ConnectorOperation(
      id: OperationID(String(repeating: "a", count: 30) + String(10 + number))!, entity: entity,
      kind: kind, key: key, changed: Business.positions(changed, entity),
      base: Business.positions(base, entity))
  }

  @Test("The model fits and every row loads")
  func load() throws {
    #expect(try connector.mismatches(with: Northwind.package) == [])
    var counts: [String: Int] = [:]
    var rejected: [RejectedRow] = []
    _ = try connector.load(
      LoadScope(entities: Northwind.package.entities), from: nil,
      each: { counts[$0.entity.name, default: 0] += $0.rows.count },
      rejected: { rejected.append($0) })
    #expect(rejected == [])
    #expect(counts["Order"] == orders)
    let order = try connector.read(Northwind.order, keys: [first])[0].values
    #expect(order?[3] == .text("1996-07-04T00:00:00"))
    #expect(order?[4] == .text("32.38"))
  }

  @Test("An update, an insert with a key of the database, a refusal that names its foreign key")
  func changes() throws {
    let update = operation(
      1, .update, Northwind.order, first, ["freight": .text("40.05")],
      base: ["freight": .text("32.38")])
    let create = operation(
      2, .create, Northwind.order, nil,
      ["customerID": .text("VINET"), "employeeID": .integer(1), "shipCity": .text("Köln")])
    guard case .done(let outcomes, let touched) = connector.perform([update, create]) else {
      Issue.record("not done")
      return
    }
    let next = ObjectKey([.integer(Int64(10248 + orders))])
    #expect(outcomes == [.accepted(key: first), .accepted(key: next)])
    #expect(touched.map(\.key) == [first, next])
    #expect(touched[0].values?[4] == .text("40.05"))
    #expect(touched[1].values?[4] == .text("0"))
    #expect(
      try other.value("SELECT Freight FROM Orders WHERE OrderID = 10248") == .real(40.05))

    let orphan = operation(
      3, .update, Northwind.order, first, ["customerID": .text("XXXXX")],
      base: ["customerID": .text("VINET")])
    #expect(
      connector.perform([orphan])
        == .done(
          [
            .refused(
              Refusal(
                code: 412, message: "customerID \"XXXXX\" does not exist in Customers.",
                attribute: "customerID"))
          ], touched: []))
  }

  @Test("A broken rule of the order lines and a needed order are refused by name")
  func rules() throws {
    let line = ObjectKey([.integer(10248), .integer(11)])
    let none = operation(
      1, .update, Northwind.detail, line, ["quantity": .integer(0)],
      base: ["quantity": .integer(12)])
    guard case .done(let outcomes, _) = connector.perform([none]),
      case .refused(let refusal)? = outcomes.first
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.attribute == "quantity")
    #expect(refusal.message.contains("Order Details is not met (quantity is 0)"))
    let delete = operation(2, .delete, Northwind.order, first, [:])
    guard case .done(let answers, _) = connector.perform([delete]),
      case .refused(let needed)? = answers.first
    else {
      Issue.record("not refused")
      return
    }
    #expect(needed.message.contains("Order 10248 is still needed"))
    #expect(needed.message.contains("of Order Details"))
  }
}
