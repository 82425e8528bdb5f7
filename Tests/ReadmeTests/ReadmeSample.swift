// What stands between the two marks is the code of README.md, line by line.
// README begins
import Ferry

func goOnBoard(at path: String, server: String) throws -> Database {
  let database = try Travel.open(at: path, profile: ConnectionProfile(server: server))
  database.registerCallbackHandler(Refusals())
  database.beginOnlineLogin(user: "nancy", password: "secret")
  try database.subscribe()  // her agency's rows come, and what changes in them
  database.startBackgroundSynchronization()
  return database
}

func book(flight: Int64, for passenger: String, in database: Database) throws -> Booking {
  var booking = Booking(agencyID: "A07", flightID: flight, passenger: passenger, in: database)
  try booking.create()  // saved and visible at once, with a network or without
  try booking.submitPending()  // goes out when there is one
  return booking
}

struct Refusals: CallbackHandler {
  func onReplayFailure(_ object: ReplayedObject) {
    guard let booking = object.as(Booking.self) else { return }
    for record in (try? booking.logRecords) ?? [] {
      print(booking.passenger, record.code, record.message)  // correct it, submit it again
    }
  }
}
// README ends
