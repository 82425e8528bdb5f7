import Ferry
import FerryTravel
import Foundation

// Each piece between two marks stands in an article of Sources/Client/Ferry.docc, line by line.

enum FerryArticles {
  static func start(at path: String, password: String) async throws {
    // GUIDE begins
    let database = try Travel.open(
      at: path, profile: ConnectionProfile(server: "https://ferry.example.com"))
    try await database.onlineLogin(user: "nancy", password: password)
    try database.subscribe()
    database.startBackgroundSynchronization()
    // GUIDE ends
  }

  static func book(in database: Database) throws {
    // GUIDE begins
    var booking = Booking(
      agencyID: "A07", flightID: 318, passenger: "Grace", cabin: "economy", seats: 1, in: database)
    try booking.create()
    try booking.submitPending()
    let mine = try Booking.findAll(where: Booking.Attributes.agencyID == "A07", in: database)
    // GUIDE ends
    _ = mine
  }

  struct Saving {
    // GUIDE begins
    @concurrent func saved(_ booking: Booking) async throws -> Booking {
      var booking = booking
      try booking.save()
      return booking
    }
    // GUIDE ends
  }

  struct Scene {
    let database: Database

    // GUIDE begins
    func leavesScreen() { database.stopBackgroundSynchronization() }

    func entersScreen() {
      database.startBackgroundSynchronization()
      database.networkIsBack()
    }
    // GUIDE ends
  }
}
