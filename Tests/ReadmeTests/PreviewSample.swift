import Ferry
import FerryTestKit

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStandIn
#endif

// The lines between the two marks are those of Documentation/Testing.md.
// README begins
struct BookingList: View {
  let database: FerryDatabase
  @State var bookings: [Booking] = []

  var body: some View {
    List(bookings) { booking in Text("\(booking.bookingID) \(booking.passenger)") }
      .task {
        do {
          for try await bookings in Booking.live(in: database) { self.bookings = bookings }
        } catch { print(error) }
      }
  }
}

extension FerryDatabase {
  /// What the previews of this app show.
  static var sample: FerryDatabase {
    .preview(Travel.package) { database in
      [
        Booking(agencyID: "A07", flightID: 318, passenger: "Ada Lovelace", in: database),
        Booking(agencyID: "A07", flightID: 318, passenger: "Grace Hopper", in: database),
      ]
    }
  }

  /// The same with a draft, which is not sent.
  static var sampleWithDraft: FerryDatabase {
    get throws {
      let database = sample
      var draft = Booking(agencyID: "A07", flightID: 318, passenger: "Linus", in: database)
      try database.save(&draft)
      return database
    }
  }
}
// README ends
