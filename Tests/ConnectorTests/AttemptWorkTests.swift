import FerryModel
import FerryWorld
import Testing

@testable import FerryConnector

/// A chain at a service whose answers were lost, driven at a desk that only remembers.
@Suite("Work at a service")
struct AttemptWorkTests {
  private static func entity(_ name: String, _ relationships: [Relationship] = []) -> Entity {
    Entity(
      name: name, table: name.lowercased(),
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "order", column: "order", type: .long, isNullable: true),
      ], key: [0], keyOrigin: .businessSystem, relationships: relationships,
      operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  private static let order = entity("Order")
  private static let line = entity(
    "Line",
    [
      Relationship(
        name: "order", target: "Order", attributes: ["order"], targetAttributes: ["id"])
    ])

  /// A service with one order, of key 7, and its line, of key 8.
  private struct Desk: AttemptDesk {
    let memory: AttemptMemory

    func misfit(of entity: Entity) -> String? { nil }

    func means(
      of operation: ConnectorOperation, _ attempt: AttemptMemory.Attempt?
    ) -> AttemptMachine.Means {
      AttemptMachine.Means(isConditional: true, proof: .attribute)
    }

    func read(_ entity: Entity, _ key: ObjectKey) -> ServiceReading<Int> { .absent }

    func write(
      _ operation: ConnectorOperation, _ condition: AttemptMachine.Condition, onto entry: Int?
    ) -> ServiceReply {
      .lost("nobody sends here")
    }

    func find(
      _ operation: ConnectorOperation
    ) throws(ConnectorError) -> (rows: [RowImage], isExact: Bool) {
      if operation.entity.name == "Order" {
        let row = RowImage(
          entity: "Order", key: ObjectKey([.integer(7)]), values: [.integer(7), .null])
        return ([row], true)
      }
      guard operation.changed[1] == .integer(7) else { return ([], true) }
      let row = RowImage(
        entity: "Line", key: ObjectKey([.integer(8)]), values: [.integer(8), .integer(7)])
      return ([row], true)
    }

    func lookUp(
      _ entity: Entity, _ positions: [Int], _ values: [AttributeValue]
    ) throws(ConnectorError) -> [AttributeValue]? {
      nil
    }

    func impossibleETag(of entity: Entity) -> String? { nil }
  }

  @Test("A recalled chain looks for a line by the key that the service gave to its order")
  func recalledChain() throws {
    let temporary = ObjectKey([.integer(-1)])
    let id = { (digit: String) in try #require(OperationID(String(repeating: digit, count: 32))) }
    let chain = [
      ConnectorOperation(
        id: try id("a"), entity: Self.order, kind: .create, key: nil, changed: [:], base: [:],
        temporaryKey: temporary),
      ConnectorOperation(
        id: try id("b"), entity: Self.line, kind: .create, key: nil, changed: [1: .integer(-1)],
        base: [:]),
    ]
    let memory = AttemptMemory(SystemClock(), late: .zero)
    var work = AttemptWork(chain, Desk(memory: memory))
    #expect(
      try work.recall() == [
        .performed(.accepted(key: ObjectKey([.integer(7)]), isRepeated: true)),
        .performed(.accepted(key: ObjectKey([.integer(8)]), isRepeated: true)),
      ])
  }
}
