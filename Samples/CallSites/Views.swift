// The same in SwiftUI. Elsewhere stand-ins with its declarations let the compiler check the types.
import CallSiteNeighbours
import Ferry
import FerryTestKit
import FerryTravel

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStandIn
#endif

struct BookingList: View {
  let database: FerryDatabase
  @State var bookings: [Booking] = []
  @State var status = DatabaseStatus()

  var body: some View {
    if status.isSignInNeeded { Text("Sign in to send \(status.pendingCount) changes") }
    if let load = status.serverLoad { ProgressView(value: load.fraction) }
    List(bookings) { booking in Text("\(booking.bookingID) \(booking.passenger)") }
      .task {
        do {
          for try await bookings in Booking.live(in: database) { self.bookings = bookings }
        } catch { print(error) }
      }
      .task {
        do {
          for try await status in database.liveStatus { self.status = status }
        } catch { print(error) }
      }
  }
}

struct BookingForm: View {
  let database: FerryDatabase
  @State var booking: Booking
  @State var problem: String?

  var body: some View {
    TextField("Passenger", text: $booking.passenger)
    if let problem { Text(problem) }
    Button("Book") { Task { await save(.now) } }
    Button("Save as draft") { Task { await save(.later) } }
  }

  func save(_ submitting: Submitting) async {
    do {
      booking = try await database.save(booking, submitting: submitting)
      guard submitting == .now else { return }
      if case .refused(let refusal) = try await database.outcome(of: booking, within: .seconds(30))
      {
        problem = refusal.message
      }
    } catch { problem = "\(error)" }
  }
}

struct BookingDetails: View {
  let booking: Booking
  @State var title = ""
  @State var companions: [Booking] = []

  var body: some View {
    Text("\(title), \(booking.passenger)")
    List(companions) { Text($0.passenger) }
      .task {
        do {
          guard let flight = try await booking.flight() else { return }
          title = flight.title
          companions = try await flight.bookings()
        } catch { print(error) }
      }
  }
}

struct ConflictView: View {
  let database: FerryDatabase
  @State var booking: Booking
  let conflict: Conflict

  var body: some View {
    Text("\(conflict.attribute) was changed by somebody else to \(conflict.theirs.shown)")
    Button("Keep mine") { Task { booking = try await database.save(booking) } }
    Button("Take theirs") {
      Task { if let theirs = try await database.cancel(booking) { booking = theirs } }
    }
  }
}

@MainActor let bookingPreview = BookingList(
  database: .preview(Travel.package) { database in
    [
      Booking(
        agencyID: "A07", flightID: 318, passenger: "Ada", cabin: .first, seats: 1, in: database)
    ]
  })
