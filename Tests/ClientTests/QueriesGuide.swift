import Ferry
import FerryTravel
import Foundation
import Observation

// Each piece between two marks stands in Documentation/Queries.md, line by line.

enum QueriesGuide {
  static func objects(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    typealias B = Booking.Attributes

    let bookings = try Booking.findAll(
      where: B.price > 100 && B.cabin == .economy, orderBy: [.descending(B.bookedAt)], take: 20,
      in: database)
    let graces = try Booking.count(where: B.passenger.starts(with: "Grace"), in: database)
    // GUIDE ends
    _ = (bookings, graces)
  }

  static func relationships(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    let toNewYork = try Booking.findAll(
      where: Booking.Attributes.flight.exists(Flight.Attributes.destination == "JFK"),
      in: database)
    let quiet = try Flight.findAll(where: !Flight.Attributes.bookings.exists(), in: database)
    // GUIDE ends
    _ = (toNewYork, quiet)
  }

  static func following(_ booking: Booking) async throws(FerryError) {
    // GUIDE begins
    let flight = try await booking.flight()
    let passengers = try await flight?.bookings().map(\.passenger)
    // GUIDE ends
    _ = passengers
  }

  static func prefetching(in database: FerryDatabase) async throws(FerryError) {
    // GUIDE begins
    let soon = try await Flight.find(
      Flight.Attributes.seatsLeft < 10, prefetching: [Flight.Attributes.bookings], in: database)
    for flight in soon { print(flight.flightID, try await flight.bookings().count) }

    let way = Booking.Attributes.flight.then(Flight.Attributes.bookings)
    let booking = try await Booking.load(1, prefetching: [way], in: database)
    let beside = try await booking.flight()?.bookings()
    // GUIDE ends
    _ = beside
  }

  static func rows(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    let query = RowQuery(from: Booking.self)
      .join(Booking.Attributes.flight)
      .select(Flight.Attributes.destination, .sum(Booking.Attributes.price).as("total"), .count)
      .groupBy(Flight.Attributes.destination)
      .having(.count > 1)
      .orderBy(.descending("total"))
    for row in try database.executeQuery(query) {
      print(row.get("destination", as: String.self), row.get("total", as: Decimal?.self) ?? 0)
    }
    // GUIDE ends
  }

  static func reference(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    let query = RowQuery(from: "Booking", as: "b")
      .join("Flight", as: "f", "f.flightID", "b.flightID")
      .select("b.passenger, f.destination")
      .where(SelectItem("b.seats") > 1 && SelectItem("f.destination").isIn(["JFK", "EWR"]))
      .orderBy(.ascending("b.passenger"))
    let rows = try database.executeQuery(query)
    // GUIDE ends
    _ = rows
  }

  static func sql(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    let rows = try database.executeSQL(
      "SELECT cabin, ferry_sum(price) AS total FROM Booking WHERE seats > ? GROUP BY cabin", 1)
    // GUIDE ends
    _ = rows
  }

  static func words(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    let found = try Booking.findAll(where: Booking.matches("window grac*"), in: database)
    // GUIDE ends
    _ = found
  }

  static func live(in database: FerryDatabase) async throws(FerryError) {
    // GUIDE begins
    let full = Flight.live(where: Flight.Attributes.seatsLeft < 10, in: database)
    for try await flights in full {
      print(flights.count, "flights are nearly full")
    }
    // GUIDE ends
  }

  @MainActor static func observed(in database: FerryDatabase) -> LiveValue<[Booking]> {
    // GUIDE begins
    let bookings = LiveValue(
      Booking.live(orderBy: [.ascending(Booking.Attributes.passenger)], in: database),
      initially: [])
    // GUIDE ends
    return bookings
  }

  static func answer(_ draft: Booking, in database: FerryDatabase) async throws(FerryError) {
    // GUIDE begins
    let booking = try await database.save(draft)
    switch try await database.outcome(of: booking, within: .seconds(30)) {
    case .accepted(let booking): print("booked as", booking?.bookingID ?? 0)
    case .refused(let refusal): print("refused:", refusal.message)
    case .unknown, .stillWaiting, .cancelled: print("no answer to show")
    }
    // GUIDE ends
  }

  static func answers(_ saved: Booking, in database: FerryDatabase) async throws(FerryError) {
    var booking = saved
    // GUIDE begins
    booking.seats = 2
    booking = try await database.save(booking, submitting: .later)
    let seats = try database.submit(&booking)
    booking.cabin = .business
    booking = try await database.save(booking, submitting: .later)
    let cabin = try database.submit(&booking)
    for submission in [seats, cabin] {
      if case .refused(_, let reasons) = try await submission.outcome(within: .seconds(30)) {
        print("refused:", reasons.map(\.message))
      }
    }
    // GUIDE ends
  }

  static func changes(in database: FerryDatabase) throws(FerryError) {
    // GUIDE begins
    try database.enableChangeLog()
    let changes = try database.getChangeLogs(of: "Booking", take: 100)
    if let last = changes.last {
      try database.deleteChangeLogs(of: "Booking", through: last.number)
    }
    // GUIDE ends
  }
}
