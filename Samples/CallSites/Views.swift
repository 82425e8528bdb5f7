// The same in SwiftUI.
import Ferry
import Neighbours
import SwiftUI
import Travel

struct BookingList: View {
  let database: FerryDatabase
  @State var bookings: [Booking] = []

  var body: some View {
    if let download = database.state.download { ProgressView(value: download.fraction) }
    List(bookings) { booking in Text("\(booking.passenger) \(booking.seats)") }
      .task {
        do {
          for try await bookings in Booking.live(in: database) { self.bookings = bookings }
        } catch { print(error) }
      }
  }
}

struct BookingForm: View {
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
      booking = try await booking.save(submitting)
      if case .refused(let refusal) = try await booking.outcome(within: .seconds(30)) {
        problem = refusal.message
      }
    } catch { problem = "\(error)" }
  }
}

struct ConflictView: View {
  @State var booking: Booking
  let conflict: Conflict

  var body: some View {
    Text("\(conflict.attribute) was changed by somebody else")
    Button("Keep mine") { Task { booking = try await booking.save() } }
    Button("Take theirs") {
      Task { if let theirs = try await booking.cancel() { booking = theirs } }
    }
  }
}

@MainActor let preview = BookingList(
  database: .preview { database in [Booking(passenger: "Ada", in: database)] })
