import Ferry
import FerryUI

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStandIn
#endif

// The lines between the two marks are those of Documentation/Views.md.
// README begins
struct FollowedBookings: View {
  @Live(Booking.self, orderBy: [.ascending(Booking.Attributes.passenger)]) var bookings

  var body: some View {
    if $bookings.isLoading { ProgressView() }
    if let failure = $bookings.failure {
      Text(failure.message)
      Button("Try again") { $bookings.retry() }
    }
    List(bookings) { booking in Text("\(booking.bookingID) \(booking.passenger)") }
  }
}
// README ends
