import FerryJSON
import FerryModel
import FerryTestTraits
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
      try await until("what both submitted is performed") {
        try performed("app") == 20 && performed("helper") == 20
      }
      let refused = try await helper.ask(#"["synchronize"]"#, mayFail: true)
      #expect(refused["code"]?.string == "inUse")
      try await app.process.killNow()
      try await make(helper, "alone", flight)
      try await helper.synchronize()
      try await until("the second process goes on") { try performed("alone") == 20 }
      try await until("nothing is pending") {
        try await helper.synchronize()
        let rows = try await helper.rows(business.package)
        return rows["Bookings"]?.values.filter { $0.contains("alone ") }.count == 20
      }
      #expect(try performed("app") == 20)
      #expect(try performed("helper") == 20)
      #expect(try performed("alone") == 20)
    }

    @Test(
      "A live query of one process shows what another commits, and a callback is made in one of them; kill -9 of one leaves the other well, which tells what was owed",
      .reference("facts/1.6", "sync/P22", "sync/P23")
    )
    func liveAndOwed() async throws {
      let business = try await Business.flights()
      let daemon = try await Daemon.start(business)
      let app = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let helper = try Phone(business, "ada", daemon.address)
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 50 LIMIT 1")
      let before = try await app.count("Bookings")
      for phone in [app, helper] { try await phone.ask(#"["watch","Bookings"]"#) }
      try await sees(app, before)
      try await sees(helper, before)
      let first = try await book(app, "app first", flight)
      try await sees(helper, before + 1)
      let second = try await book(helper, "helper first", flight)
      try await sees(app, before + 2)

      try await helper.ask(#"["start"]"#)
      try await app.submit("Bookings", first)
      try await helper.submit("Bookings", second)
      async let ofApp: Void = make(app, "app", flight)
      async let ofHelper: Void = make(helper, "helper", flight)
      _ = try await (ofApp, ofHelper)
      try await until("some callbacks were made") { told([app, helper]).count >= 5 }
      try await app.process.killNow()
      try await make(helper, "alone", flight)
      try await until("nothing is pending") {
        try await helper.ask(#"["pending"]"#)["operations"]?.array?.isEmpty == true
      }
      let performed = try business.connection().rows(
        """
        SELECT BookingID FROM Bookings
        WHERE Passenger LIKE 'app %' OR Passenger LIKE 'helper %' OR Passenger LIKE 'alone %'
        """
      ).compactMap { $0[0].integer.map(String.init) }
      #expect(performed.count == 62, "each is performed once")
      try await until("every callback was made") {
        Set(told([app, helper])) == Set(performed)
      }
      try await sees(helper, before + 62)
      // Who is killed inside a callback has not said that it was made.
      let twice = told([app, helper]).count - performed.count
      #expect(twice <= 1, "\(twice) callbacks were made twice")
    }

    /// Keys of the bookings whose success was told, in all processes.
    private func told(_ phones: [Phone]) -> [String] {
      phones.flatMap { $0.events("replaySuccess", #""entity":"Bookings""#) }.compactMap {
        (try? JSONNode.parse(Array($0.utf8)))?["newKey"]?.string
      }
    }

    /// The last that the live query of a process gave.
    private func sees(_ phone: Phone, _ count: Int64) async throws {
      try await until("process \(phone.process.id) sees \(count) bookings") {
        let last = phone.events("live").last.flatMap { try? JSONNode.parse(Array($0.utf8)) }
        return last?["count"]?.integer == count
      }
    }

    private func book(_ phone: Phone, _ passenger: String, _ flight: Int64) async throws -> String {
      try await phone.create(
        "Bookings",
        #"{"agencyID":"AG-01","flightID":\#(flight),"passenger":"\#(passenger)","#
          + #""cabin":"economy","seats":1}"#)
    }

    private func make(_ phone: Phone, _ name: String, _ flight: Int64) async throws {
      for number in 0..<20 {
        try await phone.submit("Bookings", try await book(phone, "\(name) \(number)", flight))
      }
    }
  }
}
