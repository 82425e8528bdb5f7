import Ferry
import FerryTravel
import Foundation

// Each piece between two marks stands in an article of Sources/Circle/Device/Ferry.docc, line by line.

enum FerryArticles {
  static func start(at path: String, password: String) async throws {
    // GUIDE begins
    let database = try Travel.open(
      at: path, profile: ConnectionProfile(server: "https://ferry.example.com"))
    try await database.signIn(user: "nancy", password: password)
    // GUIDE ends
  }

  static func book(in database: FerryDatabase) async throws {
    // GUIDE begins
    let booking = Booking(
      agencyID: "A07", flightID: 318, passenger: "Grace", cabin: .economy, seats: 1, in: database)
    let saved = try await database.save(booking)
    let mine = try await Booking.find(Booking.Attributes.agencyID == "A07", in: database)
    // GUIDE ends
    _ = (saved, mine)
  }

  struct Saving {
    // GUIDE begins
    func saved(_ booking: Booking, in database: FerryDatabase) async throws -> Booking {
      try await database.save(booking)
    }
    // GUIDE ends
  }

  struct Scene {
    let database: FerryDatabase

    // GUIDE begins
    func leavesScreen() { database.stopBackgroundSynchronization() }

    func entersScreen() {
      database.startBackgroundSynchronization()
      database.networkIsBack()
    }
    // GUIDE ends
  }
}
