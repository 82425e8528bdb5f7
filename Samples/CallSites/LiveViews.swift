// Lists whose rows are properties of the view.
import Ferry
import FerryTravel
import FerryUI

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStandIn
#endif

struct FullFlights: View {
  @Live(
    Flight.self, where: Flight.Attributes.seatsLeft < 10,
    orderBy: [.ascending(Flight.Attributes.flightID)])
  var flights

  var body: some View {
    if $flights.isLoading { ProgressView() }
    if let failure = $flights.failure {
      Text(failure.message)
      Button("Try again") { $flights.retry() }
    }
    List(flights) { flight in Text("\(flight.flightID) to \(flight.destination)") }
  }
}

/// A search: another text ends the old query and begins the new one.
struct FlightSearch: View {
  @Live var flights: [Flight]
  @Live var count: Int

  init(to destination: String) {
    let test = Flight.Attributes.destination == destination
    _flights = Live(where: test)
    _count = Live(count: Flight.self, where: test)
  }

  var body: some View {
    Text("\(count) flights")
    List(flights) { flight in Text("\(flight.flightID)") }
  }
}

/// One object, and what the database says of itself.
struct BookingPage: View {
  @Live var booking: Booking?
  @Live("status", { $0.liveStatus }) var status = DatabaseStatus()

  init(_ booking: Booking) { _booking = Live(booking) }

  var body: some View {
    if let booking { Text(booking.passenger) }
    Text("\(status.pendingCount) changes wait")
  }
}
