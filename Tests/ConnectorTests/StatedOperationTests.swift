import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Testing

/// Operations that the model states: they make no row of their own.
struct StatedOperationTests {
  static let member = Entity(
    name: "Member", table: "members",
    attributes: [
      Attribute(name: "memberID", column: "memberID", type: .long, isNullable: false),
      Attribute(name: "status", column: "status", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "all")

  static func promote(_ statements: [String]) -> Entity {
    Entity(
      name: "Promote", table: "Promote",
      attributes: [
        Attribute(name: "id", column: "id", type: .string, isNullable: false),
        Attribute(name: "memberID", column: "memberID", type: .long, isNullable: false),
        Attribute(name: "status", column: "status", type: .string, isNullable: true),
      ], key: [0], keyOrigin: .device,
      relationships: [
        Relationship(
          name: "member", target: "Member", attributes: ["memberID"],
          targetAttributes: ["memberID"])
      ], operations: [.create], partition: nil, group: "all", performs: statements)
  }

  static let statement = "UPDATE members SET status = :status WHERE memberID = :memberID"
  static let schema = """
    CREATE TABLE members (memberID INTEGER PRIMARY KEY, status TEXT CHECK (status <> 'bad'));
    INSERT INTO members VALUES (1, 'new'), (2, 'new');
    """

  private func business(_ statements: String...) throws -> (Business, Entity) {
    let promote = Self.promote(statements)
    return (try Business(Self.schema, Self.member, promote), promote)
  }

  private func values(_ member: Int64, _ status: String) -> [String: AttributeValue] {
    ["memberID": .integer(member), "status": .text(status)]
  }

  @Test("What the model states is performed once, and the rows that it changed are given")
  func performed() throws {
    let (business, promote) = try business(Self.statement)
    #expect(try business.connector.mismatches(with: business.package) == [])
    let operation = business.operation(.create, promote, [.text("a")], values(1, "gold"))
    let (outcomes, touched) = try business.perform(operation)
    #expect(outcomes == [.accepted(key: ObjectKey([.text("a")]))])
    #if os(Linux)
      #expect(touched.map(\.entity) == ["Member"])
      #expect(touched.first?.values == [.integer(1), .text("gold")])
    #endif
    try business.other.execute("UPDATE members SET status = 'old'")
    #expect(
      try business.perform(operation).0 == [
        .accepted(key: ObjectKey([.text("a")]), isRepeated: true)
      ],
      "known by its id")
    #expect(try business.other.value("SELECT status FROM members") == .text("old"))
    #expect(
      try business.connector.read(promote, keys: [ObjectKey([.text("a")])]).map(\.values) == [nil])
    var loaded: [String] = []
    _ = try business.connector.load(
      LoadScope(entities: business.package.entities), from: nil,
      each: { loaded.append($0.entity.name) },
      rejected: { _ in })
    #expect(loaded == ["Member"])
  }

  @Test("What it finds nothing for, and what the database forbids, is refused and undone")
  func refused() throws {
    let (business, promote) = try business(
      "UPDATE members SET status = 'seen' WHERE memberID = 2", Self.statement)
    let missing = try business.refusal(
      of: business.operation(.create, promote, [.text("a")], values(9, "gold")))
    #expect(missing.code == 404)
    let forbidden = try business.refusal(
      of: business.operation(.create, promote, [.text("b")], values(1, "bad")))
    #expect(forbidden.code == 412)
    #expect(
      try business.other.rows("SELECT status FROM members") == [[.text("new")], [.text("new")]])
  }

  @Test("A statement that the database does not understand is told at the start")
  func mismatch() throws {
    let (business, _) = try business("UPDATE nobody SET status = :status")
    let found = try business.connector.mismatches(with: business.package)
    #expect(found.count == 1 && found.first?.place == "Promote")
    #expect(found.first?.problem.contains("no such table: nobody") == true)
  }

  @Test("A value is never part of the statement's text")
  func quoted() throws {
    let (business, promote) = try business(Self.statement + " AND ':status' <> 'x'")
    _ = try business.perform(
      business.operation(.create, promote, [.text("a")], values(1, "x' WHERE 1=1; --")))
    #expect(
      try business.other.rows("SELECT status FROM members")
        == [[.text("x' WHERE 1=1; --")], [.text("new")]])
  }

  @Test("The business system in memory performs what it was given for the operation's name")
  func memory() throws {
    let promote = Self.promote([])
    let business = MemoryBusiness(
      package: Business.package([Self.member, promote]),
      operations: [
        "Promote": MemoryOperation { values, transaction in
          let key = ObjectKey([values[1]])
          guard var row = transaction.row("Member", key) else {
            return Refusal(code: 404, message: "There is no such member.")
          }
          row[1] = values[2]
          transaction.write("Member", key, row)
          return nil
        }
      ])
    business.insert("Member", [[.integer(1), .text("new")]])
    let connector = MemoryConnector(business)
    func operation(_ digit: String, _ member: Int64) -> ConnectorOperation {
      ConnectorOperation(
        id: OperationID(String(repeating: digit, count: 32))!, entity: promote, kind: .create,
        key: ObjectKey([.text(digit)]), changed: [1: .integer(member), 2: .text("gold")], base: [:])
    }
    guard case .done(let outcomes, _) = connector.perform([operation("1", 1)]) else {
      Issue.record("not done")
      return
    }
    #expect(outcomes == [.accepted(key: ObjectKey([.text("1")]))])
    #expect(business.rows(of: "Member")[ObjectKey([.integer(1)])]?[1] == .text("gold"))
    guard case .done(let refused, _) = connector.perform([operation("2", 9)]) else { return }
    #expect(refused == [.refused(Refusal(code: 404, message: "There is no such member."))])
  }
}
