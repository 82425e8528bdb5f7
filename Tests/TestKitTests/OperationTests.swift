import Ferry
import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryTestKit
import FerryTestTraits
import Testing

private struct Member: BusinessObject {
  static let entity = Entity(
    name: "Member", table: "members",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "status", column: "status", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord
  var id: Int64 { record.get(0) }
  var status: String? {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
}

/// None of the three: what the business system does when it is created.
private struct Promote: BusinessObject {
  static let entity = Entity(
    name: "Promote", table: "Promote",
    attributes: [
      Attribute(name: "id", column: "id", type: .string, isNullable: false),
      Attribute(name: "memberID", column: "memberID", type: .long, isNullable: false),
      Attribute(name: "status", column: "status", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .device,
    relationships: [
      Relationship(
        name: "member", target: "Member", attributes: ["memberID"], targetAttributes: ["id"])
    ], operations: [.create], partition: nil, group: "default", performs: ["…"])
  var record: ObjectRecord
}

@Suite("Operations that are not create, update or delete", .timeLimit(.minutes(60)))
struct OperationTests {
  private static let package = Package(
    name: "Club", version: "1.0", entities: [Member.entity, Promote.entity],
    groups: [SynchronizationGroup(name: "default")])

  private func server() async throws -> TestServer {
    try await TestServer(
      Self.package,
      operations: [
        "Promote": MemoryOperation { values, transaction in
          let key = ObjectKey([values[1]])
          guard values[2] != .text("king") else {
            return FerryConnector.Refusal(code: 422, message: "A club has no king.")
          }
          guard var row = transaction.row("Member", key) else {
            return FerryConnector.Refusal(code: 404, message: "There is no such member.")
          }
          row[1] = values[2]
          transaction.write("Member", key, row)
          return nil
        }
      ])
  }

  private func promote(_ id: Int64, _ status: String, _ database: FerryDatabase) throws -> Promote {
    var record = ObjectRecord(Promote.entity, in: database)
    record.set(1, id)
    record.set(2, status)
    var promote = Promote(record: record)
    try promote.create()
    try promote.submitPending()
    return promote
  }

  @Test(
    "One goes through the whole server: what it changed comes back, and it is gone",
    .reference("facts/1.5"))
  func accepted() async throws {
    let server = try await server()
    try await server.insert(Member.self, ["id": 1, "status": "new"])
    let database = try await server.database(user: "nancy")
    let promote = try promote(1, "gold", database)
    #expect(promote.isCreated && promote.replayPending != 0)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try Member.findAll(in: database).map(\.status) == ["gold"])
    #expect(server.rows(of: Member.self).count == 1)
    #expect(try Promote.findAll(in: database).isEmpty)
    #expect(try !database.hasPendingOperations)
    await server.stop()
  }

  @Test("One that waits for the key of a new object follows it; a refused one says why")
  func keyAndRefusal() async throws {
    let server = try await server()
    let database = try await server.database(user: "nancy")
    var member = Member(record: ObjectRecord(Member.entity, in: database))
    member.status = "new"
    try member.create()
    _ = try promote(member.id, "silver", database)
    try member.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try Member.findAll(in: database).map(\.status) == ["silver"])
    #expect(try !database.hasPendingOperations)
    let refused = try promote(
      try #require(try Member.findAll(in: database).first).id, "king", database)
    try await database.synchronize(awaitingAnswers: true)
    let shown = try #require(try Promote.findAll(in: database).first)
    #expect(shown.replayFailed && shown.surrogateKey == refused.surrogateKey)
    #expect(try shown.logRecords.map(\.message) == ["A club has no king."])
    #expect(try Member.findAll(in: database).map(\.status) == ["silver"])
    await server.stop()
  }
}
