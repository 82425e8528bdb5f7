import Ferry
import FerryTravel

/// The lines of the README, as they stand there.
enum Readme {
  static func run(path: String, server: String, password: String) throws -> FerryDatabase {
    // README begin
    let database = try Travel.open(at: path, profile: ConnectionProfile(server: server))
    database.beginOnlineLogin(user: "nancy", password: password)
    try database.subscribe()
    database.startBackgroundSynchronization()

    // None of this waits for the network.
    var booking = Booking(
      agencyID: "A1", flightID: 17, passenger: "Ada", cabin: .economy, seats: 1, in: database)
    try booking.create()
    booking.seats = 2
    try booking.save()
    try booking.submitPending()

    // What the business refused stays, with its reason, until it is corrected or cancelled.
    for var refused in try Booking.pendingObjects(in: database) where refused.replayFailed {
      for record in try refused.logRecords { print(record.code, record.message) }
      refused.seats = 1
      try refused.save()
      try refused.submitPending()
    }
    let flight = try Flight.find(17, in: database)
    print(flight?.title ?? "not here yet", try flight?.bookings().map(\.passenger) ?? [])
    // README end
    return database
  }
}
