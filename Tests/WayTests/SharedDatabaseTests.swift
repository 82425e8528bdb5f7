import FerryModel
import Foundation
import Testing

extension Way {
  @Suite struct SharedDatabaseTests {
    @Test(
      "Two processes on one database: one synchronizes, what both submit is performed once, and the other takes over when it is killed"
    )
    func twoProcesses() async throws {
      let business = try await Business.flights()
      let daemon = try await Daemon.start(business)
      let app = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let helper = try Phone(business, "ada", daemon.address)
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 50 LIMIT 1")
      async let ofApp: Void = make(app, "app", flight)
      async let ofHelper: Void = make(helper, "helper", flight)
      _ = try await (ofApp, ofHelper)
      let performed = { (name: String) in
        try business.value("SELECT count(*) FROM Bookings WHERE Passenger LIKE '\(name) %'")
      }
      try await until("what both submitted is performed", within: 30) {
        try performed("app") == 20 && performed("helper") == 20
      }
      let refused = try await helper.ask(#"["synchronize"]"#, mayFail: true)
      #expect(refused["code"]?.string == "inUse")
      try await app.process.killNow()
      try await make(helper, "alone", flight)
      try await helper.synchronize()
      try await until("the second process goes on", within: 30) { try performed("alone") == 20 }
      try await until("nothing is pending", within: 30) {
        try await helper.synchronize()
        let rows = try await helper.rows(business.package)
        return rows["Bookings"]?.values.filter { $0.contains("alone ") }.count == 20
      }
      #expect(try performed("app") == 20)
      #expect(try performed("helper") == 20)
      #expect(try performed("alone") == 20)
    }

    private func make(_ phone: Phone, _ name: String, _ flight: Int64) async throws {
      for number in 0..<20 {
        let values =
          #"{"agencyID":"AG-01","flightID":\#(flight),"passenger":"\#(name) \#(number)","#
        let key = try await phone.create("Bookings", values + #""cabin":"economy","seats":1}"#)
        try await phone.submit("Bookings", key)
      }
    }
  }
}
