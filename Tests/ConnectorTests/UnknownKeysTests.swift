import FerryModel
import Testing

@testable import FerryConnector

/// What is said of members of a chain under a key that only their device knows.
@Suite("Creates whose key nobody knows")
struct UnknownKeysTests {
  private static func entity(
    _ name: String, _ attributes: [String], key: [Int], _ relationship: Relationship? = nil
  ) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.map {
        Attribute(name: $0, column: $0, type: .long, isNullable: false)
      }, key: key, keyOrigin: .app, relationships: relationship.map { [$0] } ?? [],
      operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  private static let order = entity("Order", ["id"], key: [0])
  private static let line = entity(
    "Line", ["order", "number"], key: [0, 1],
    Relationship(
      name: "order", target: "Order", attributes: ["order"], targetAttributes: ["id"]))
  private static let tag = entity(
    "Tag", ["id", "order", "line"], key: [0],
    Relationship(
      name: "line", target: "Line", attributes: ["order", "line"],
      targetAttributes: ["order", "number"]))

  private func create(
    _ entity: Entity, _ key: [Int64]?, _ changed: [Int: Int64] = [:], temporary: Int64? = nil
  ) throws -> ConnectorOperation {
    ConnectorOperation(
      id: try #require(OperationID(String(repeating: "a", count: 32))), entity: entity,
      kind: .create, key: key.map { ObjectKey($0.map { .integer($0) }) },
      changed: changed.mapValues { .integer($0) }, base: [:],
      temporaryKey: temporary.map { ObjectKey([.integer($0)]) })
  }

  private static let untold = Recall.cannotTell(reason: "nobody knows", candidates: [])

  private func corrected(_ first: Recall) throws -> [Recall] {
    let chain = [
      try create(Self.order, nil, temporary: -5),
      try create(Self.line, [-5, 1], [0: -5, 1: 1]),
      try create(Self.tag, [9], [1: -5, 2: 1]),
      try create(Self.order, [7]),
    ]
    var unknown = UnknownKeys()
    return zip(chain, [first, .notPerformed, .notPerformed, .notPerformed]).map {
      unknown.corrected($1, of: $0)
    }
  }

  @Test("What belongs to one that may be sent again may be sent again, and is not undone")
  func repeated() throws {
    #expect(
      try corrected(.mayBeRepeated)
        == [.mayBeRepeated, .mayBeRepeated, .mayBeRepeated, .notPerformed])
  }

  @Test("What belongs to one that nobody can tell cannot be told either")
  func told() throws {
    let found = try corrected(Self.untold)
    #expect(found[0] == Self.untold && found[3] == .notPerformed)
    for recall in found[1...2] {
      guard case .cannotTell(let reason, _) = recall else {
        Issue.record("\(recall)")
        continue
      }
      #expect(reason.contains("belongs to an object"))
    }
  }

  @Test("Where the first was performed or not, others are as they were said to be")
  func known() throws {
    for first in [
      Recall.notPerformed, .performed(.accepted(key: ObjectKey([.integer(7)]), isRepeated: true)),
    ] {
      #expect(try corrected(first) == [first, .notPerformed, .notPerformed, .notPerformed])
    }
  }
}
