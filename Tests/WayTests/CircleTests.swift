import FerryModel
import FerryTestTraits
import Foundation
import Testing

extension Way {
  @Suite struct CircleTests {
    @Test(
      "A row goes round: import, update, create, delete, refusal, correction, push",
      .reference("sync/P11", "sync/P17", "sync/P25")
    )
    func flights() async throws {
      let business = try await Business.flights()
      let daemon = try await Daemon.start(business)
      let start = Stopwatch()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      let belongs = Shores.firstAgency(business)
      try await Shores.agree(business, daemon, [ada, ben], belongs: belongs)
      tell(
        "two devices imported 2000 bookings within \(start.seconds) s"
      )
      let mine = try business.value("SELECT count(*) FROM Bookings WHERE AgencyID = 'AG-01'")
      #expect(try await ada.count("Bookings") == mine)
      #expect(mine > 0)
      try await update(business, ada, ben)
      try await create(business, ada, ben)
      try await refuse(business, ada, ben)
      try await Shores.agree(business, daemon, [ada, ben], belongs: belongs)
      #expect(try await daemon.isHealthy())
    }

    @Test(
      "A device that comes while the server loads is not told that all is there",
      .reference("sync/R2"))
    func early() async throws {
      let business = try await Business.flights(bookings: 12_000)
      let daemon = try await Daemon.start(business)
      let ada = try Phone(business, "ada", daemon.address)
      try await ada.ask(#"["login","ada","\#(Business.password)"]"#)
      try await ada.ask(#"["subscribe"]"#)
      let answer = try await ada.ask(#"["synchronize"]"#, mayFail: true)
      if answer["ok"]?.boolean == false {
        #expect(answer["message"]?.string?.contains("has not loaded") == true)
        tell("a device that came early was told: \(answer["message"]?.string ?? "")")
        try await ada.synchronize()
      }
      let mine = try business.value("SELECT count(*) FROM Bookings WHERE AgencyID = 'AG-01'")
      #expect(try await ada.count("Bookings") == mine)
    }

    private func open(_ business: Business) throws -> Int64 {
      try business.value(
        """
        SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
        WHERE AgencyID = 'AG-01' AND Status = 'planned' AND Flights.SeatsLeft > 8 LIMIT 1
        """)
    }

    private func update(_ business: Business, _ ada: Phone, _ ben: Phone) async throws {
      let key = String(try open(business))
      try await ada.update("Bookings", key, #"{"passenger":"Grace Hopper"}"#)
      // Visible at once, one row per object, before anything was sent.
      #expect(try await ada.text("Bookings", key, "passenger") == "Grace Hopper")
      #expect(try await ada.show("Bookings", key)["pending"]?.string == "U")
      try await ada.submit("Bookings", key)
      let seconds = try await until("the other device is told") {
        try await ben.text("Bookings", key, "passenger") == "Grace Hopper"
      }
      try await until("the pending state goes") {
        try await ada.show("Bookings", key)["pending"]?.string == "N"
      }
      tell("an update is on the second device after \(seconds) s")
      #expect(
        try business.value(
          "SELECT count(*) FROM Bookings WHERE BookingID = \(key) AND Passenger = 'Grace Hopper'")
          == 1)
    }

    private func create(_ business: Business, _ ada: Phone, _ ben: Phone) async throws {
      let flight = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 8 LIMIT 1")
      let temporary = try await ada.create(
        "Bookings",
        #"{"agencyID":"AG-01","flightID":\#(flight),"passenger":"Ada Lovelace","cabin":"first","seats":2}"#
      )
      try await ada.submit("Bookings", temporary)
      try await until("the business takes it") {
        try business.value("SELECT count(*) FROM Bookings WHERE Passenger = 'Ada Lovelace'") == 1
      }
      let key = String(
        try business.value("SELECT BookingID FROM Bookings WHERE Passenger = 'Ada Lovelace'"))
      try await until("the key of the business comes back") {
        try await ada.show("Bookings", key)["pending"]?.string == "N"
      }
      // What a trigger set is there too, and the temporary row is gone.
      #expect(try await ada.text("Bookings", key, "price") != nil)
      #expect(try await ada.show("Bookings", key)["key"]?.string == key)
      // The key that the app had in hand still leads to the object, under its key for good.
      #expect(try await ada.show("Bookings", temporary)["key"]?.string == key)
      try await until("the other device has it") {
        try await ben.text("Bookings", key, "passenger") == "Ada Lovelace"
      }
      try await ben.ask(#"["delete","Bookings","[\#(key)]"]"#)
      try await ben.ask(#"["submitAll"]"#)
      try await until("it is deleted everywhere") {
        try await ada.show("Bookings", key)["found"]?.boolean == false
          && business.value("SELECT count(*) FROM Bookings WHERE BookingID = \(key)") == 0
      }
    }

    private func refuse(_ business: Business, _ ada: Phone, _ ben: Phone) async throws {
      let full = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft = 0 LIMIT 1")
      let free = try business.value(
        "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 8 LIMIT 1")
      let temporary = try await ada.create(
        "Bookings",
        #"{"agencyID":"AG-01","flightID":\#(full),"passenger":"Alan Turing","cabin":"economy","seats":1}"#
      )
      try await ada.submit("Bookings", temporary)
      try await until("the refusal comes") {
        try await ada.show("Bookings", temporary)["failed"]?.boolean == true
      }
      let records = try await ada.logs("Bookings", temporary)
      #expect(records.count == 1)
      #expect(records.first?["code"]?.integer == 412)
      #expect(records.first?["message"]?.string?.contains("not enough seats") == true)
      try await until("the app hears of it") { !ada.events("replayFailure").isEmpty }
      #expect(ada.events("replayFailure").count == 1)
      try await ada.update("Bookings", temporary, #"{"flightID":\#(free)}"#)
      try await ada.submit("Bookings", temporary)
      try await until("the correction is accepted") {
        try business.value("SELECT count(*) FROM Bookings WHERE Passenger = 'Alan Turing'") == 1
      }
      let key = String(
        try business.value("SELECT BookingID FROM Bookings WHERE Passenger = 'Alan Turing'"))
      try await until("the log record goes with the acceptance") {
        let shown = try await ada.show("Bookings", key)
        guard shown["pending"]?.string == "N" else { return false }
        return try await ada.logs("Bookings", key).isEmpty
      }
      try await until("the other device has it") {
        try await ben.text("Bookings", key, "passenger") == "Alan Turing"
      }
    }

    @Test(
      "Two devices change one row: the second is refused with 412 and both values",
      .reference("sync/P17"))
    func conflict() async throws {
      let business = try await Business.flights(bookings: 500)
      let daemon = try await Daemon.start(business)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      let key = String(try open(business))
      let before = try await ben.text("Bookings", key, "passenger")
      // Both change the value that they know before the other's change can reach them.
      try await ada.update("Bookings", key, #"{"passenger":"First Hand"}"#)
      try await ben.update("Bookings", key, #"{"passenger":"Second Hand"}"#)
      try await ada.submit("Bookings", key)
      try await until("the first is accepted") {
        try await ada.show("Bookings", key)["pending"]?.string == "N"
      }
      try await ben.submit("Bookings", key)
      try await until("the second is refused") {
        try await ben.show("Bookings", key)["failed"]?.boolean == true
      }
      let record = try await ben.logs("Bookings", key).first
      #expect(record?["code"]?.integer == 412)
      #expect(record?["attribute"]?.string == "passenger")
      #expect(record?["baseValue"]?.string == before)
      #expect(record?["currentValue"]?.string == "First Hand")
      // The user's own value stays in sight until it is corrected or cancelled.
      #expect(try await ben.text("Bookings", key, "passenger") == "Second Hand")
      try await ben.ask(#"["cancel","Bookings","[\#(key)]"]"#)
      #expect(try await ben.text("Bookings", key, "passenger") == "First Hand")
      try await Shores.agree(
        business, daemon, [ada, ben], belongs: Shores.firstAgency(business))
    }
  }
}
