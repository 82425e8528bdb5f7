import Foundation
import Testing

extension Way {
  /// `ferry why` beside a running server.
  @Suite struct WhyTests {
    @Test("ferry why --user says whether the devices of a user have a row, and what is missing")
    func user() async throws {
      let business = try await Business.flights(bookings: 100)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let key = try business.value("SELECT min(BookingID) FROM Bookings WHERE AgencyID = 'AG-01'")
      func why(_ user: String) async throws -> String {
        let process = try ChildProcess(
          try Programs.path("ferry"),
          [
            "why", "Bookings", "\(key)", "--data", daemon.data, "--users", business.users, "--user",
            user,
          ])
        #expect(try await process.ended() == .exit(0))
        return process.lines.joined(separator: "\n")
      }
      let ada = try await why("ada")
      #expect(ada.contains("user       Devices of ada have it."), "\(ada)")
      let cleo = try await why("cleo")
      #expect(
        cleo.contains("cleo has agency = AG-02, and the object is for agency = AG-01."), "\(cleo)")
      try await daemon.stopNow()
    }
  }
}
