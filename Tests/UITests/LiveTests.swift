import Ferry
import FerryTestKit
import FerryTravel
import Testing

@testable import FerryUI

/// A view without a body: what SwiftUI does with its properties, the tests do.
@MainActor private struct Desk {
  @Live(Booking.self, orderBy: [.ascending(Booking.Attributes.passenger)]) var bookings
  @Live(count: Booking.self) var count
  @Live("status", { $0.liveStatus }) var status = DatabaseStatus()

  /// The state of the two lists.
  var follower: LiveFollower<[Booking]> { $bookings }

  func draw(in database: FerryDatabase?) {
    var values = ViewValues()
    values.liveDatabase = LiveDatabase(database)
    ViewValues.$current.withValue(values) {
      _bookings.update()
      _count.update()
      _status.update()
    }
  }
}

@Suite("Live properties of views", .timeLimit(.minutes(60)))
@MainActor struct LiveTests {
  private func database() async throws -> FerryDatabase {
    let database = FerryDatabase.preview(Travel.package)
    for (name, seats) in [("Ada", 1), ("Grace", 2)] as [(String, Int64)] {
      try await database.save(booking(name, seats))
    }
    return database
  }

  private func booking(_ passenger: String, _ seats: Int64) -> Booking {
    Booking(agencyID: "A07", flightID: 318, passenger: passenger, cabin: .first, seats: seats)
  }

  @Test("A view shows the rows, and again when they change")
  func rows() async throws {
    let database = try await database()
    let desk = Desk()
    #expect(desk.bookings.isEmpty && desk.follower.isLoading && desk.count == 0)
    desk.draw(in: nil)
    #expect(desk.follower.isLoading && desk.follower.failure == nil)
    desk.draw(in: database)
    await eventually { desk.bookings.map(\.passenger) == ["Ada", "Grace"] && desk.count == 2 }
    #expect(!desk.follower.isLoading)
    try await database.save(booking("Emmy", 1))
    await eventually { desk.bookings.map(\.passenger) == ["Ada", "Emmy", "Grace"] }
    await eventually { desk.count == 3 && desk.status.pendingCount == 3 }
    await database.close()
    await eventually { desk.follower.failure?.code == .closed }
    #expect(desk.bookings.count == 3)
  }

  @Test(
    "A property of one object shows the copy at first, then the object, then that it is deleted")
  func object() async throws {
    let database = try await database()
    let all = try await Booking.find(in: database)
    var ada = try #require(all.first { $0.passenger == "Ada" })
    let live = Live(ada, in: database)
    #expect(live.wrappedValue == ada)
    live.update()
    ada.seats = 4
    try database.save(&ada)
    await eventually { live.wrappedValue?.seats == 4 }
    try database.delete(&ada)
    await eventually { live.wrappedValue == nil }
    #expect(live.projectedValue.failure == nil)
    await database.close()
  }

  @Test("Queries are the same if their tests, orders and paths are")
  func identity() {
    let request = { (name: String) in
      LiveQueryIdentity(
        query: Booking.query(Booking.Attributes.passenger == name, [], 0, nil), paths: [],
        isCount: false)
    }
    #expect(request("Ada") == request("Ada") && request("Ada") != request("Grace"))
  }

  @Test("A query that names what is not there is an error of the property")
  func invalid() async throws {
    let database = try await database()
    let live = Live<[Booking]>(
      RowQuery(from: Booking.self).where(SelectItem("pasenger") == "Ada"), in: database)
    live.update()
    await eventually { live.projectedValue.failure?.code == .invalidQuery }
    #expect(live.wrappedValue.isEmpty && !live.projectedValue.isLoading)
    await database.close()
  }
}
