import FerryConnector
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel
import Testing

/// A table of items that belong to places, and somebody else's connection.
struct ItemStage {
  let address: MariaDBAddress
  let other: MariaDBConnection
  let item: Entity
  let place: Entity
  let package: Package
  let connector: MariaDBConnector

  static let places = "CREATE TABLE place (code VARCHAR(10) PRIMARY KEY, city VARCHAR(20) UNIQUE)"
  static let items = """
    CREATE TABLE item (
      id BIGINT PRIMARY KEY, name VARCHAR(5), at DATETIME(2), price DECIMAL(8, 2), code VARCHAR(10),
      CONSTRAINT item_place FOREIGN KEY (code) REFERENCES place (code) ON DELETE CASCADE)
    """

  init(
    _ tables: [String] = [ItemStage.places, ItemStage.items], isPrepared: Bool = true,
    lockTimeout: Duration = .seconds(1)
  ) throws {
    address = try MariaDBServer.database()
    other = try MariaDBConnection(address)
    for table in tables { try other.execute(table) }
    place = Entity(
      name: "Place", table: "place",
      attributes: [
        Attribute(name: "code", column: "code", type: .string, isNullable: false),
        Attribute(name: "city", column: "city", type: .string, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "all")
    item = Entity(
      name: "Item", table: "item",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "name", column: "name", type: .string, isNullable: true),
        Attribute(name: "at", column: "at", type: .dateTime, isNullable: true),
        Attribute(name: "price", column: "price", type: .decimal, isNullable: true),
        Attribute(name: "code", column: "code", type: .string, isNullable: true),
      ], key: [0], keyOrigin: .app,
      relationships: [
        Relationship(
          name: "place", target: "Place", attributes: ["code"], targetAttributes: ["code"])
      ], operations: Set(OperationKind.allCases), partition: nil, group: "all")
    package = Package(
      name: "items", version: "1.0", entities: [place, item],
      groups: [SynchronizationGroup(name: "all")])
    if isPrepared {
      for statement in try Preparation(package, other).statements { try other.execute(statement) }
    }
    connector = MariaDBConnector(address, package: package, lockTimeout: lockTimeout)
  }

  func newConnector() -> MariaDBConnector {
    MariaDBConnector(address, package: package, lockTimeout: .seconds(1))
  }

  static func id(_ number: Int64) -> OperationID {
    let digits = String(number)
    return OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!
  }

  func create(_ number: Int64, _ values: [Int: AttributeValue] = [:]) -> ConnectorOperation {
    ConnectorOperation(
      id: ItemStage.id(number), entity: item, kind: .create, key: ObjectKey([.integer(number)]),
      changed: values.merging([0: .integer(number)]) { own, _ in own }, base: [:])
  }

  func update(
    _ operation: Int64, _ number: Int64, to name: String, from base: String
  ) -> ConnectorOperation {
    ConnectorOperation(
      id: ItemStage.id(operation), entity: item, kind: .update, key: ObjectKey([.integer(number)]),
      changed: [1: .text(name)], base: [1: .text(base)])
  }

  func isDone(_ result: PerformResult) -> Bool {
    if case .done(let outcomes, _) = result, case .accepted? = outcomes.first { return true }
    Issue.record("\(result)")
    return false
  }

  func refusal(_ result: PerformResult) -> Refusal? {
    if case .done(let outcomes, _) = result, case .refused(let refusal)? = outcomes.first {
      return refusal
    }
    Issue.record("not refused: \(result)")
    return nil
  }

  func reason(_ result: PerformResult) -> String? {
    if case .notDone(let reason) = result { return reason }
    Issue.record("it was answered: \(result)")
    return nil
  }
}
