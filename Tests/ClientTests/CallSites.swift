import Ferry
import FerryReference
import FerryTravel

/// Where apps call Ferry from, under complete checking. Objects are values: they are handed over
/// without a word, and nothing here waits for the network.
enum CallSites {
  /// From a function of no isolation, in one transaction.
  nonisolated static func rebook(
    _ passenger: String, to flight: Int64, in database: FerryDatabase
  ) throws(FerryError) -> [Booking] {
    try database.transaction { () throws(FerryError) in
      var moved: [Booking] = []
      for var booking in try Booking.findAll(in: database) where booking.passenger == passenger {
        booking.flightID = AssignedKey(flight)
        try booking.save()
        try booking.submitPending()
        moved.append(booking)
      }
      return moved
    }
  }
}

/// From an actor: drafts are its state until they are saved.
actor BookingDesk {
  private let database: FerryDatabase
  private var drafts: [Booking] = []

  init(_ database: FerryDatabase) { self.database = database }

  func draft(_ booking: Booking) { drafts.append(booking) }

  /// Creates all drafts, or none, and gives them away.
  func close() throws(FerryError) -> [Booking] {
    var created: [Booking] = []
    try database.transaction { () throws(FerryError) in
      for var draft in drafts {
        try draft.create()
        created.append(draft)
      }
    }
    drafts = []
    return created
  }
}

/// From the main actor: an object is edited where it lies.
@MainActor final class BookingScreen {
  private let database: FerryDatabase
  private(set) var bookings: [Booking] = []

  init(_ database: FerryDatabase) { self.database = database }

  func show() throws(FerryError) { bookings = try Booking.findAll(in: database) }

  func changeSeats(of index: Int, to seats: Int64) throws(FerryError) {
    bookings[index].seats = seats
    try bookings[index].save()
  }

  func takeBack(_ index: Int) throws(FerryError) {
    try bookings[index].cancelPending()
    if bookings[index].isDeleted { bookings.remove(at: index) }
  }

  /// The work of another task, with the object as it is on the screen now.
  func describe(_ index: Int) async -> String {
    let booking = bookings[index]
    return await Task.detached { "\(booking.passenger) \(booking.seats)" }.value
  }
}

/// From callbacks, which come on the session's thread: an object goes on to whom it concerns.
struct BookingCallbacks: CallbackHandler {
  let answered: AsyncStream<Booking>.Continuation

  func onReplaySuccess(_ object: ReplayedObject) {
    if let booking = object.as(Booking.self) { answered.yield(booking) }
  }

  func onReplayFailure(_ object: ReplayedObject) {
    if let booking = object.as(Booking.self) { answered.yield(booking) }
  }
}
