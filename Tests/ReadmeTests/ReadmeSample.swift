// The lines between the two marks are those of README.md.
// README begins
import Ferry

func openTravel(at path: String, server: String) throws -> Database {
  let database = try Travel.open(at: path, profile: ConnectionProfile(server: server))
  database.beginOnlineLogin(user: "nancy", password: "secret")
  try database.subscribe()  // the bookings of her agency arrive, and every later change
  database.startBackgroundSynchronization()
  return database
}

func book(flight: Int64, for passenger: String, in database: Database) throws -> Booking {
  var booking = Booking(agencyID: "A07", flightID: flight, passenger: passenger, in: database)
  try booking.create()  // saved and visible now, with or without a network
  try booking.submitPending()  // sent as soon as there is a network
  return booking
}

func result(of booking: Booking) async throws -> String {
  switch try await booking.replayOutcome(within: .seconds(30)) {
  case .accepted(let booked): "booked as \(booked?.bookingID ?? 0)"
  case .refused(_, let reasons): "refused: \(reasons.map(\.message))"  // the change is kept
  default: "no answer yet"
  }
}
// README ends
