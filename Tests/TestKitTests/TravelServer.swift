import Ferry
import FerryTestKit
import FerryTravel
import Foundation
import Testing

extension TestServer {
  /// A server in memory with an agency, a carrier and the flight 318 of nine seats.
  static func withFlight() async throws -> TestServer {
    let server = try await TestServer(Travel.package)
    try await server.insert(
      Agency.self, ["agencyID": "A07", "name": "Far", "city": "Bonn", "country": "DE"])
    try await server.insert(
      Carrier.self, ["carrierID": "LH", "name": "Lufthansa", "currency": "EUR"])
    try await server.insert(
      Flight.self,
      [
        "flightID": 318, "carrierID": "LH", "number": 400,
        "flightDate": try #require(LocalDate("2026-11-21")),
        "departure": try #require(LocalTime("10:00:00")), "origin": "FRA", "destination": "JFK",
        "price": Decimal(400), "seats": 9, "seatsLeft": 9, "status": "open",
      ])
    return server
  }
}
