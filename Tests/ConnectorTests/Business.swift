import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Testing

/// A small business database made for one test, with a connector and someone else's connection.
final class Business {
  let folder: TemporaryFolder
  let path: String
  let other: Connection
  let package: Package
  let connector: SQLiteConnector
  private var operations: Int = 0

  init(_ sql: String, _ entities: Entity...) throws {
    folder = try TemporaryFolder()
    path = folder.path("business.db")
    other = try Connection(path: path)
    try other.execute("PRAGMA foreign_keys = ON")
    try other.execute(sql)
    package = Business.package(entities)
    connector = SQLiteConnector(path: path, package: package, busyTimeoutMilliseconds: 10)
  }

  static func package(_ entities: [Entity]) -> Package {
    Package(
      name: "test", version: "1.0", entities: entities, groups: [SynchronizationGroup(name: "all")])
  }

  func operation(
    _ kind: OperationKind, _ entity: Entity, _ key: [AttributeValue]? = nil,
    _ changed: [String: AttributeValue] = [:],
    base: [String: AttributeValue] = [:]
  ) -> ConnectorOperation {
    operations += 1
    let digits = String(operations)
    return ConnectorOperation(
      id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!, entity: entity,
      kind: kind, key: key.map { ObjectKey($0) }, changed: Business.positions(changed, entity),
      base: Business.positions(base, entity))
  }

  static func positions(
    _ values: [String: AttributeValue], _ entity: Entity
  ) -> [Int: AttributeValue] {
    Dictionary(uniqueKeysWithValues: values.map { (entity.position(of: $0.key)!, $0.value) })
  }

  func perform(_ group: ConnectorOperation...) throws -> ([OperationOutcome], [RowImage]) {
    let result = connector.perform(group)
    guard case .done(let outcomes, let touched) = result else {
      Issue.record("not done: \(result)")
      return ([], [])
    }
    return (outcomes, touched)
  }

  func refusal(of operation: ConnectorOperation) throws -> Refusal {
    let (outcomes, _) = try perform(operation)
    guard case .refused(let refusal)? = outcomes.first else {
      Issue.record("not refused: \(outcomes)")
      return Refusal(code: 0, message: "")
    }
    return refusal
  }

  func load(_ entities: Entity...) throws -> (rows: [RowImage], rejected: [RejectedRow]) {
    var rows: [RowImage] = []
    var rejected: [RejectedRow] = []
    _ = try connector.load(
      LoadScope(entities: entities), from: nil, each: { rows += $0.rows },
      rejected: { rejected.append($0) })
    return (rows, rejected)
  }
}

/// An entity of the table of its name whose key is its first attribute.
func entity(
  _ name: String, _ attributes: [Attribute], key: [Int] = [0], origin: KeyOrigin = .app,
  relationships: [Relationship] = []
) -> Entity {
  Entity(
    name: name, table: name, attributes: attributes, key: key, keyOrigin: origin,
    relationships: relationships, operations: Set(OperationKind.allCases), partition: nil,
    group: "all")
}

func attribute(
  _ name: String, _ type: AttributeType, required: Bool = false, stored: StoredForm? = nil
) -> Attribute {
  Attribute(name: name, column: name, type: type, isNullable: !required, stored: stored)
}
