// What an app needs in its first week, as a terminal program has it. Views.swift has the same in
// SwiftUI. Both import the names of other libraries beside Ferry's, and none of them is ambiguous.
import CallSiteNeighbours
public import Ferry
public import FerryTravel

public enum TravelDesk {
  /// At the start of the app. A device that is signed in already needs no network here.
  public static func open(
    at path: String, server: String, password: () -> String
  ) async throws -> FerryDatabase {
    let database = try Travel.open(at: path, profile: ConnectionProfile(server: server))
    try await signIn(to: database, password: password)
    return database
  }

  public static func signIn(
    to database: FerryDatabase, password: () -> String
  ) async throws(FerryError) {
    if database.state.login == .needed {
      try await database.signIn(user: "nancy", password: password())
    } else {
      database.startBackgroundSynchronization()
    }
  }

  /// A list that follows its data. A key that is not assigned yet is shown as `new`.
  public static func list(
    in database: FerryDatabase, show: ([String]) -> Void
  ) async throws(FerryError) {
    let order: [SortCriteria] = [.ascending(Booking.Attributes.passenger)]
    for try await bookings in Booking.live(orderBy: order, in: database) {
      show(bookings.map { "\($0.bookingID) \($0.passenger)" })
    }
  }

  /// A form that saves: the change is sent by itself.
  @discardableResult public static func book(
    _ passenger: String, seats: Int64 = 1, in database: FerryDatabase
  ) async throws(FerryError) -> Booking {
    try await database.save(booking(passenger, seats, database))
  }

  /// A draft that waits until the user sends it.
  public static func draft(
    _ passenger: String, in database: FerryDatabase
  ) async throws(FerryError) -> Booking {
    var draft = try await database.save(booking(passenger, 1, database), submitting: .later)
    draft.seats = 2
    return try await database.save(draft, submitting: .later)
  }

  /// A refusal that is corrected, and a conflict: until the events end with the database.
  public static func follow(_ database: FerryDatabase) async throws(FerryError) {
    for await event in database.events {
      guard case .refused(let reference, let refusal) = event,
        var booking = try await reference.as(Booking.self, in: database)
      else { continue }
      if refusal.conflict != nil {
        try await database.cancel(booking)  // takes what the others wrote; save keeps what is here
      } else if booking.seats > 1 {
        booking.seats = 1
        try await database.save(booking)
      }
    }
  }

  /// A screen that follows references: who is on the same flight.
  public static func companions(of booking: Booking) async throws(FerryError) -> [String] {
    guard let flight = try await booking.flight() else { return [] }
    return [flight.title] + (try await flight.bookings().map(\.passenger))
  }

  /// Several changes as one: all are booked, or none.
  public static func family(
    _ passengers: [String], in database: FerryDatabase
  ) async throws(FerryError) {
    try await database.transaction { () throws(FerryError) in
      for passenger in passengers {
        var booking = booking(passenger, 1, database)
        try database.save(&booking)
      }
    }
  }

  /// How a change ended, for the screen from which it was sent.
  public static func result(
    of booking: Booking, in database: FerryDatabase
  ) async throws(FerryError) -> String {
    switch try await database.outcome(of: booking, within: .seconds(30)) {
    case .accepted(let booked): "booked as \(booked?.bookingID.description ?? "deleted")"
    case .refused(let refusal): refusal.message
    default: "no answer yet"
    }
  }

  /// Progress of the first import; nil while the number of rows is not known.
  public static func progress(
    of database: FerryDatabase, show: (Double?) -> Void
  ) async {
    for await event in database.events {
      if case .downloading(let progress) = event { show(progress.fraction) }
    }
  }

  /// Sign-out. Work that is not sent is lost only if the user says so.
  public static func leave(
    _ database: FerryDatabase, confirm: (String) async -> Bool
  ) async throws(FerryError) {
    do throws(FerryError) { try await database.signOut() } catch {
      guard error.code == .pendingChanges, await confirm(error.message) else { throw error }
      try await database.signOut(discardingPending: true)
    }
  }

  private static func booking(
    _ passenger: String, _ seats: Int64, _ database: FerryDatabase
  ) -> Booking {
    Booking(
      agencyID: "A07", flightID: 318, passenger: passenger, cabin: .economy, seats: seats,
      in: database)
  }
}
