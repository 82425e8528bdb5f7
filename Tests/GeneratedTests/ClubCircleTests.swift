import Ferry
import FerryTestKit
import FerryTestTraits
import Foundation
import Testing

/// What the generator makes of the club's model goes the whole way round: a device, the server, the
/// business system, and another device.
@Suite("The club on two devices", .timeLimit(.minutes(60)))
struct ClubCircleTests {
  private func server() async throws -> TestServer {
    try await TestServer(Club.package)
  }

  /// A member with a value of every type, each at the edge of what it holds.
  private func ada(in database: FerryDatabase) throws -> Member {
    let home = Address(
      street: "Kai 1", phones: ["+49 1", ""], zip: "24\"103", since: LocalDate("2020-02-29"),
      rent: Decimal(string: "0.10"))
    var member = Member(name: "Ada \u{1F6A2} Łódź", in: database)
    member.status = ""
    member.isActive = false
    member.floor = -128
    member.locker = 32_767
    member.visits = .min
    member.points = 123_456_789_012_345_678_901_234_567_890
    member.fee = try #require(Decimal(string: "-12345678901234567890123456789012345.678"))
    member.height = 1.1
    member.weight = 61.300000000000004
    member.born = LocalDate("1815-12-10")
    member.wakes = LocalTime("06:00:00.25")
    member.joined = LocalDateTime("2024-02-29T23:59:59.999")
    member.photo = [0, 255, 1]
    member.tags = ["a", "b,\"c\"", "ü", ""]
    member.scores = [try #require(Decimal(string: "1.5")), -2]
    member.address = home
    member.others = [home, Address(street: "", phones: [])]
    return member
  }

  private func expectSame(_ found: Member, _ made: Member) {
    #expect(found.name == made.name && found.status == made.status)
    #expect(found.isActive == made.isActive && found.floor == made.floor)
    #expect(found.locker == made.locker && found.visits == made.visits)
    #expect(found.points == made.points && found.fee == made.fee)
    #expect(found.height == made.height && found.weight == made.weight)
    #expect(found.born == made.born && found.wakes == made.wakes && found.joined == made.joined)
    #expect(found.photo == made.photo && found.tags == made.tags && found.scores == made.scores)
    #expect(found.address == made.address && found.others == made.others)
    #expect(found.teamID == made.teamID)
  }

  @Test(
    "A value of every type reaches another device as it was made, and so does null",
    .reference("facts/1.2"))
  func everyType() async throws {
    let server = try await server()
    let first = try await server.database(user: "nancy")
    var team = Team(name: "Blue", in: first)
    try team.create()
    var ada = try ada(in: first)
    try ada.setTeam(team)
    try ada.create()
    // Defaults, and nothing where nothing must be.
    var bob = Member(name: "Bob", in: first)
    try bob.create()
    try first.submitPendingOperations()
    try await first.synchronize(awaitingAnswers: true)
    for made in [ada, bob] {
      var now = made
      try now.refresh()
      #expect(!now.isPending && now.memberID > 0 && now.memberID != made.memberID)
      // What a screen shows: nothing before, the key afterwards.
      #expect(made.memberID.assigned == nil && now.memberID.assigned != nil)
      expectSame(now, made)
    }
    let second = try await server.database(user: "bert")
    let found = try Member.findAll(orderBy: [.ascending(Member.Attributes.name)], in: second)
    #expect(found.map(\.name) == [ada.name, "Bob"])
    expectSame(try #require(found.first), ada)
    expectSame(try #require(found.last), bob)
    #expect(try await found.first?.team()?.name == "Blue")
    #expect(found.last?.fee == Decimal(string: "12.50") && found.last?.born == nil)

    // Each back to null, or to another value, and round again.
    var changed = try #require(found.first)
    (changed.floor, changed.locker, changed.points) = (nil, -1, -7)
    (changed.height, changed.weight, changed.born) = (nil, -0.5, nil)
    (changed.wakes, changed.joined, changed.photo) = (LocalTime("23:59:59"), nil, nil)
    (changed.tags, changed.scores, changed.address) = ([], nil, nil)
    changed.others = []
    try changed.setTeam(nil)
    try changed.update()
    try changed.submitPending()
    try await second.synchronize(awaitingAnswers: true)
    try await first.synchronize(awaitingAnswers: true)
    let back = try await #require(try Member.find(changed.memberID, in: first))
    expectSame(back, changed)
    #expect(try await back.team() == nil)
    await server.stop()
  }
}
