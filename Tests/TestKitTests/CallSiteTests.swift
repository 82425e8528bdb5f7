import Ferry
import FerryCallSites
import FerryTestKit
import FerryTravel
import Foundation
import Synchronization
import Testing

/// The call sites of an app's first week (Samples/CallSites), on a server in memory.
@Suite("The call sites of an app's first week", .timeLimit(.minutes(60)))
struct CallSiteTests {
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await TestServer.withFlight()
    database = try await server.database(user: "nancy", claims: ["agency": ["A07"]])
  }

  private var passengers: [String] {
    get throws { try server.rows(of: Booking.self).map { try $0["passenger"] as String } }
  }

  @Test("A list shows `new` until the business system assigns the key")
  func list() async throws {
    let shown = Mutex<[String]>([])
    let (database, server) = (database, server)
    let follower = Task {
      try await TravelDesk.list(in: database) { lines in
        shown.withLock { $0 += lines }
      }
    }
    let booking = try await TravelDesk.book("Ada", in: database)
    #expect("\(booking.bookingID)" == "new" && booking.bookingID.assigned == nil)
    for try await bookings in Booking.live(in: database) where bookings.count == 1 { break }
    try await database.synchronize(awaitingAnswers: true)
    #expect(try await TravelDesk.result(of: booking, in: database) == "booked as 1")
    let now = try #require(try await Booking.find(1, in: database))
    #expect(now.bookingID == 1 && now.bookingID.assigned == 1)
    await server.stop()
    await database.close()
    try await follower.value
    let lines = shown.withLock { $0 }
    #expect(Set(lines).isSubset(of: ["new Ada", "1 Ada"]) && lines.last == "1 Ada")
  }

  @Test(
    "A key that is not assigned works as a reference and in a search; later it is the same object")
  func keys() async throws {
    let first = try await TravelDesk.book("Ada", in: database)
    let second = try await TravelDesk.book("Grace", in: database)
    #expect(first.bookingID != second.bookingID)
    #expect(try await Booking.find(first.bookingID, in: database)?.passenger == "Ada")
    try await database.synchronize(awaitingAnswers: true)
    #expect(try await Booking.find(first.bookingID, in: database)?.bookingID == 1)
    #expect(
      try await Booking.find(Booking.Attributes.bookingID == first.bookingID, in: database)
        .map(\.passenger) == ["Ada"])
    let all = try await Booking.find(in: database)
    #expect(all.map(\.bookingID).sorted() == [1, 2] && [first.bookingID, 2, 1].sorted().last != 2)
    await server.stop()
  }

  @Test("A screen follows a booking to its flight, and to all who are on it")
  func companions() async throws {
    let booking = try await TravelDesk.book("Ada", in: database)
    try await TravelDesk.book("Grace", in: database)
    #expect(
      try await TravelDesk.companions(of: booking) == ["LH 400, FRA to JFK", "Ada", "Grace"])
    await server.stop()
  }

  @Test("A draft waits, a family is booked as one, and a refusal is corrected")
  func refusal() async throws {
    let draft = try await TravelDesk.draft("Ada", in: database)
    try await TravelDesk.family(["Grace", "Linus"], in: database)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try passengers == ["Grace", "Linus"])

    server.refuse(Booking.self, code: 422, "one seat is left") { try ($0["seats"] as Int) > 1 }
    let database = database
    let follower = Task { try await TravelDesk.follow(database) }
    try await database.submit(draft)
    try await database.synchronize(awaitingAnswers: true)
    for try await found in Booking.live(where: Booking.Attributes.seats > 1, in: database)
    where found.isEmpty { break }
    try await database.synchronize(awaitingAnswers: true)
    #expect(try passengers == ["Grace", "Linus", "Ada"])
    await database.close()
    try await follower.value
    await server.stop()
  }

  @Test("Signing out asks before it discards what is not sent")
  func leave() async throws {
    _ = try await TravelDesk.draft("Ada", in: database)
    let refused = await #expect(throws: FerryError.self) {
      try await TravelDesk.leave(database) { _ in false }
    }
    #expect(refused?.code == .pendingChanges && database.state.login == .done)
    #expect(try await Booking.find(in: database).count == 1)
    try await TravelDesk.leave(database) { _ in true }
    #expect(database.state.login == .needed)
    await server.stop()
  }
}
