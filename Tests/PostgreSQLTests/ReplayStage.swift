import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

/// One table with an integer key, and somebody else's connection.
struct ReplayStage {
  let address: PostgreSQLAddress
  let other: PostgreSQLConnection
  let item: Entity
  let package: Package
  let connector: PostgreSQLConnector

  init(
    _ table: String =
      "CREATE TABLE item (id int8 PRIMARY KEY, name varchar(5), at timestamptz, price numeric(8, 2))"
  )
    throws
  {
    address = try Cluster.database()
    other = try PostgreSQLConnection(address)
    try other.execute(table)
    item = Entity(
      name: "Item", table: "item",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "name", column: "name", type: .string, isNullable: true),
        Attribute(name: "at", column: "at", type: .dateTime, isNullable: true),
        Attribute(name: "price", column: "price", type: .decimal, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "all")
    package = Package(
      name: "replay", version: "1.0", entities: [item],
      groups: [SynchronizationGroup(name: "all")])
    connector = PostgreSQLConnector(
      address, package: package, lockTimeout: .milliseconds(100))
  }

  func isDone(_ result: PerformResult) -> Bool {
    if case .done(let outcomes, _) = result, case .accepted? = outcomes.first { return true }
    Issue.record("\(result)")
    return false
  }

  func create(
    _ id: Int64, _ values: [Int: AttributeValue] = [:], user: String? = nil
  ) -> ConnectorOperation {
    let digits = String(id)
    return ConnectorOperation(
      id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!, entity: item,
      kind: .create, key: ObjectKey([.integer(id)]),
      changed: values.merging([0: .integer(id)]) { own, _ in own }, base: [:], user: user)
  }

  func refusal(_ result: PerformResult) -> Refusal? {
    if case .done(let outcomes, _) = result, case .refused(let refusal)? = outcomes.first {
      return refusal
    }
    Issue.record("not refused: \(result)")
    return nil
  }
}
