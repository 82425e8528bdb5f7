import Ferry
import FerryTestKit
import Testing

/// Attributes with a list of values, and keys that are not assigned yet, in generated code.
@Suite(.timeLimit(.minutes(60)))
struct ListedValueTests {
  @Test("The known values have names, in the model's order, and an unknown one is kept as it is")
  func names() {
    #expect(
      Member.Kind.allCases.map(\.rawValue) == ["guest", "in training", "PG-13", "default", ""])
    #expect(Member.Kind.inTraining == Member.Kind("in training"))
    #expect(Member.Kind.default_ == Member.Kind(rawValue: "default"))
    #expect(Member.Level.allCases == [.valueMinus1, .value1, .value2])
    let added = Member.Kind("patron")
    #expect("\(added)" == "patron" && !Member.Kind.allCases.contains(added))
    #expect(Member.Kind(value: .null) == .empty)
    #expect(Member.Level.converted(.text("2")) == .value2)
    #expect(Member.Level.converted(.text("x")) == nil)
    let entity = Member.entity
    #expect(entity.position(of: "level").map { entity.attributes[$0].values.count } == 3)
  }

  @Test("Queries compare with the names, and read them back")
  func queries() async throws {
    let server = try await TestServer(Club.package)
    let database = try await server.database(user: "nancy")
    _ = try await Member(name: "Ada", kind: .pg13, level: .value2, in: database).save()
    _ = try await Member(name: "Bob", in: database).save()
    typealias M = Member.Attributes
    #expect(try Member.findAll(where: M.kind == .pg13, in: database).map(\.name) == ["Ada"])
    #expect(try Member.findAll(where: M.kind.isIn([.guest]), in: database).map(\.name) == ["Bob"])
    #expect(try Member.findAll(where: M.level.isNull, in: database).map(\.name) == ["Bob"])
    let found = try #require(try Member.findFirst(where: M.level == .value2, in: database))
    #expect(found.level == .value2 && found.kind == .pg13)
    await server.stop()
  }

  @Test("A value outside the list is refused with its attribute, itself and the allowed ones")
  func refused() async throws {
    let server = try await TestServer(Club.package)
    let database = try await server.database(user: "nancy")
    var member = Member(name: "Ada", kind: Member.Kind("king"), in: database)
    let error = #expect(throws: FerryError.self) { try member.create() }
    #expect(error?.code == .invalidValue && error?.attribute == "kind")
    #expect(
      error?.message
        == "Member.kind cannot be saved: \"king\" is not one of \"guest\", \"in training\", "
        + "\"PG-13\", \"default\", \"\"")
    #expect(try Member.findAll(in: database).isEmpty)
    member.kind = .guest
    member.level = Member.Level(7)
    let other = #expect(throws: FerryError.self) { try member.create() }
    #expect(other?.message == "Member.level cannot be saved: 7 is not one of -1, 1, 2")
    member.level = nil
    try member.create()
    #expect(try Member.findAll(in: database).count == 1)
    await server.stop()
  }

  @Test("A value that the business system added is kept, and its object can still be changed")
  func added() async throws {
    let server = try await TestServer(Club.package)
    let database = try await server.database(user: "nancy")
    var member = Member(name: "Ada", in: database)
    try member.create()
    try await database.synchronize(awaitingAnswers: true)
    try member.refresh()
    try await server.change(member, ["kind": "patron", "level": Int32(9)])
    try await database.synchronize()
    try member.refresh()
    #expect(member.kind == Member.Kind("patron") && member.level?.rawValue == 9)
    member.name = "Ada L."
    try member.update()
    try await database.synchronize(awaitingAnswers: true)
    try member.refresh()
    #expect(!member.isPending && member.name == "Ada L." && member.kind.rawValue == "patron")
    member.kind = Member.Kind("duke")
    #expect(throws: FerryError.self) { try member.update() }
    member.kind = .guest
    try member.update()
    await server.stop()
  }

  @Test("A reference to a new object has no assigned key until it is accepted, and leads there")
  func references() async throws {
    let server = try await TestServer(Club.package)
    let database = try await server.database(user: "nancy")
    var member = Member(name: "Ada", in: database)
    try member.create()
    var early = Contract(memberID: Member(name: "Bob", in: database).memberID, in: database)
    let refused = #expect(throws: FerryError.self) { try early.create() }
    #expect(refused?.code == .invalidValue && refused?.attribute == "memberID")
    #expect(refused?.hint.contains("after its first save") == true)
    var contract = Contract(memberID: member.memberID, in: database)
    try contract.create()
    let day = try #require(LocalDate("2026-01-31"))
    var visit = Visit(memberID: member.memberID, day: day, in: database)
    try visit.create()
    var reminder = Reminder(text: "Call", in: database)
    #expect(reminder.memberID == nil)
    try reminder.setMember(member)
    try reminder.create()
    #expect(member.memberID.assigned == nil && contract.memberID == member.memberID)
    #expect("\(member.memberID) \(visit.memberID)" == "new new")
    #expect(reminder.memberID == member.memberID)
    #expect(try await contract.member()?.name == "Ada")
    #expect(try await visit.member()?.name == "Ada")
    #expect(try await reminder.member()?.name == "Ada")
    #expect(try await member.visitList().count == 1)
    #expect(try await member.contract()?.memberID == member.memberID)

    try database.submitPendingOperations()
    try await database.synchronize(awaitingAnswers: true)
    try member.refresh()
    let key = try #require(member.memberID.assigned)
    // A copy that is older than the key still has the temporary one, and does not show it.
    #expect(visit.memberID.assigned == nil)
    #expect(try await visit.member()?.memberID.assigned == key)
    let now = try #require(try await member.visitList().first)
    #expect(now.memberID.assigned == key && "\(now.memberID)" == "\(key)")
    #expect(try await member.contract()?.memberID.assigned == key)
    try reminder.refresh()
    #expect(reminder.memberID?.assigned == key)
    await server.stop()
  }
}
