// The lines between the two marks are those of README.md.
// README begins
import Ferry

func openTravel(at path: String, server: String) throws -> FerryDatabase {
  let database = try Travel.open(at: path, profile: ConnectionProfile(server: server))
  database.startBackgroundSynchronization()
  return database
}

func signIn(to database: FerryDatabase) async throws {  // once; the device stays signed in
  try await database.signIn(user: "nancy", password: "secret")  // her bookings arrive now
}

func book(
  flight: Int64, for passenger: String, in database: FerryDatabase
) async throws -> Booking {
  let booking = Booking(agencyID: "A07", flightID: flight, passenger: passenger, in: database)
  return try await database.save(booking)  // visible now; sent as soon as there is a network
}

func result(of booking: Booking, in database: FerryDatabase) async throws -> String {
  switch try await database.outcome(of: booking, within: .seconds(30)) {
  case .accepted(let booked): "booked as \(booked?.bookingID ?? 0)"
  case .refused(let refusal): "refused: \(refusal.message)"  // the change is kept
  default: "no answer yet"
  }
}
// README ends
