import FerryJSON
import FerrySQLite
import Foundation
import Testing

extension Way {
  /// `ferry deploy` with a running server and real devices.
  @Suite struct DeployTests {
    private func deploy(_ daemon: Daemon, _ words: String...) async throws -> (Int32, String) {
      let process = try ChildProcess(
        try Programs.path("ferry"),
        ["deploy"] + words + ["--data", daemon.data])
      let end = try await process.ended()
      let text = process.lines.joined(separator: "\n") + process.errorText
      guard case .exit(let code) = end else { throw WayFailure("ferry deploy: \(end) \(text)") }
      return (code, text)
    }

    /// The list without what each second changes.
    private func listed(_ daemon: Daemon) async throws -> String {
      try await deploy(daemon, "--list", "--json").1
        .replacing(/"ageSeconds":[0-9]+/, with: #""ageSeconds":0"#)
    }

    private func why(
      _ entity: String, _ key: String, _ daemon: Daemon
    ) async throws -> (Int32, String) {
      let process = try ChildProcess(
        try Programs.path("ferry"), ["why", entity, key, "--data", daemon.data])
      let end = try await process.ended()
      let text = process.lines.joined(separator: "\n") + process.errorText
      guard case .exit(let code) = end else { throw WayFailure("ferry why: \(end) \(text)") }
      return (code, text)
    }

    /// The model of a business with another version, and what else a person changes.
    private func version(
      _ version: String, of business: Business, _ edit: (String) -> String = { $0 }
    ) throws -> String {
      let model = try String(contentsOfFile: business.model, encoding: .utf8)
        .replacingOccurrences(of: #""version": "1.0""#, with: #""version": "\#(version)""#)
      #expect(model.contains(#""version": "\#(version)""#))
      return try business.place.write(edit(model), to: "model-\(version).json")
    }

    @Test(
      "A new version is served beside the old one, which goes when no device uses it; a restart serves both"
    )
    func versions() async throws {
      let business = try await Business.flights(bookings: 100)
      var daemon = try await Daemon.start(business)
      try await daemon.ready()
      let old = try await Phone.start(business, "old", user: "ada", daemon.address)
      let name = business.package.name
      let model = try version("1.1", of: business)

      var (code, text) = try await deploy(daemon, model)
      #expect(code == 0 && text.contains("\(name):1.1 is served now"), "\(text)")
      #expect(text.contains("no device uses it") && text.contains("ada "), "\(text)")
      let newer = try business.with(model: model)
      let new = try await Phone.start(newer, "new", user: "ben", daemon.address)
      #expect(try await new.count("Bookings") == old.count("Bookings"))
      try await old.synchronize()
      // The same once more changes nothing.
      (code, text) = try await deploy(daemon, model, "--json")
      #expect(code == 0)
      #expect(text.contains(#""outcome":"unchanged""#), "\(text)")

      // Nobody takes a version away from its devices.
      (code, text) = try await deploy(daemon, "--withdraw", name, "1.1")
      #expect(code == 1 && text.contains("1 device uses \(name):1.1: ben "), "\(text)")
      try await new.synchronize()

      // A restart serves what was deployed.
      let port = daemon.port
      try await daemon.stopNow()
      daemon = try await Daemon.start(business, port: port)
      try await daemon.ready()
      try await old.synchronize()
      try await new.synchronize()

      // The old version is withdrawn from under its device, which says why.
      (code, text) = try await deploy(daemon, "--withdraw", name, "1.0", "--force")
      #expect(code == 0 && text.contains("leave out --model"), "\(text)")
      let refused = try await old.ask(#"["synchronize"]"#, mayFail: true)
      #expect(
        refused["message"]?.string
          == "this server has no package \(name):1.0; it serves \(name):1.1"
      )
      try await new.synchronize()
      (code, text) = try await why("Bookings", "1", daemon)
      #expect(text.contains("\(name):1.0 Bookings 1: The package was withdrawn"), "\(text)")
      #expect(!text.contains("\(name):1.1 Bookings 1: The package was withdrawn"), "\(text)")
      (code, text) = try await deploy(daemon, "--withdraw", name, "1.1", "--force")
      #expect(code == 1 && text.contains("is the only package"), "\(text)")
      // And comes back.
      (code, text) = try await deploy(daemon, business.model)
      #expect(code == 0, "\(text)")
      try await old.synchronize()
      (_, text) = try await why("Bookings", "1", daemon)
      #expect(!text.contains("withdrawn"), "\(text)")
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      #expect(audit.contains("packageDeployed") && audit.contains("packageWithdrawn"))
      try await old.quit()
      try await new.quit()
    }

    @Test("A deployed model is replaced by one that devices need not know, and they go on")
    func replaced() async throws {
      let business = try await Business.flights(bookings: 100)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let model = try version("1.1", of: business)
      #expect(try await deploy(daemon, model).0 == 0)
      let phone = try await Phone.start(
        try business.with(model: model), "phone", user: "ada", daemon.address)
      let changed = try version("1.1", of: business) { text in
        text.replacingOccurrences(of: #""version": "1.1","#, with: #""version": "1.1", "#)
      }
      var (code, text) = try await deploy(daemon, changed)
      #expect(code == 0 && text.contains("has been replaced"), "\(text)")
      let key = try Connection(path: business.database).value(
        """
        SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
        WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
        """)?.integer
      let booking = String(try #require(key))
      try await phone.update("Bookings", booking, #"{"passenger":"After It"}"#)
      try await phone.submit("Bookings", booking)
      try await phone.synchronize()
      try await until("the change is in the database") {
        try Connection(path: business.database)
          .value("SELECT Passenger FROM Bookings WHERE BookingID = \(booking)")?.text == "After It"
      }
      // What devices would have to know needs another version.
      let other = try version("1.1", of: business) { text in
        text.replacingOccurrences(of: "claim:agency", with: "claim:other")
      }
      (code, text) = try await deploy(daemon, other)
      #expect(code == 1 && text.contains("higher version"), "\(text)")
      try await phone.synchronize()
      try await phone.quit()
    }

    @Test("A model that is no model, fits nothing, or is not for the operator changes nothing")
    func refused() async throws {
      let business = try await Business.flights(bookings: 50)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      // Its first load is over, and so is what the list says of it.
      let before = try await poll("the list is at rest") { () -> String? in
        let list = try await listed(daemon)
        return list.contains(#""load""#) ? nil : list
      }
      let broken = try business.place.write("{", to: "broken.json")
      var (code, text) = try await deploy(daemon, broken)
      #expect(code == 1 && text.contains("broken.json"), "\(text)")
      let misfit = try version("1.1", of: business) { text in
        text.replacingOccurrences(of: #""Passenger""#, with: #""Nobody""#)
      }
      (code, text) = try await deploy(daemon, misfit)
      #expect(code == 1 && text.contains("does not fit the database"), "\(text)")
      #expect(text.contains("Nobody") && text.contains("Nothing was changed"), "\(text)")
      (code, text) = try await deploy(
        daemon, try version("1.2", of: business), "--database", "sqlite:/nowhere.db")
      #expect(code == 1 && text.contains("/nowhere.db"), "\(text)")
      (code, text) = try await deploy(daemon, "--withdraw", "Nothing", "1.0")
      #expect(code == 1 && text.contains("no package Nothing:1.0"), "\(text)")
      (code, _) = try await deploy(daemon, "--list", "--withdraw")
      #expect(code == 2)
      #expect(try await listed(daemon) == before)
      let stranger = try await Wires.post(
        "\(daemon.address)/ferry/1/operator/packages", Array(#"{"verb":"withdraw"}"#.utf8),
        token: "none")
      #expect(stranger.status == 401 && stranger.code == "notOperator")
      #expect(!FileManager.default.fileExists(atPath: "\(daemon.data)/packages"))
    }

    @Test(
      "What one of two nodes deploys the other serves within seconds, and what it withdraws both end"
    )
    func nodes() async throws {
      let business = try await Business.flights(bookings: 100)
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let more = ["--store", server.address(database)]
      let one = try await Daemon.start(business, data: business.place.file("one"), more: more)
      try await one.ready()
      var two = try await Daemon.start(business, data: business.place.file("two"), more: more)
      try await two.ready()
      let name = business.package.name
      let model = try version("1.1", of: business)
      var (code, text) = try await deploy(one, model, "--database", "sqlite:\(business.database)")
      #expect(code == 0 && text.contains("\(name):1.1 is served now"), "\(text)")
      let newer = try business.with(model: model)
      let phone = try await Phone.start(newer, "new", user: "ben", one.address)
      let rows = try await phone.count("Bookings")
      #expect(rows > 0)
      try await until("the other node serves it") {
        try await self.deploy(two, "--list").1.contains("\(name):1.1")
      }
      let other = try await Phone.start(newer, "other", user: "ada", two.address)
      #expect(try await other.count("Bookings") == rows)
      // A restart serves it without being told.
      let port = two.port
      try await two.stopNow()
      two = try await Daemon.start(
        business, data: business.place.file("two"), port: port, more: more)
      try await other.synchronize()
      // Whichever node is asked knows that devices use it.
      (code, text) = try await deploy(two, "--withdraw", name, "1.1")
      #expect(code == 1 && text.contains("2 devices use \(name):1.1"), "\(text)")
      (code, text) = try await deploy(two, "--withdraw", name, "1.1", "--force")
      #expect(code == 0, "\(text)")
      try await until("the other node serves it no more") {
        try await !self.deploy(one, "--list").1.contains("\(name):1.1")
      }
      let refused = try await phone.ask(#"["synchronize"]"#, mayFail: true)
      #expect(
        refused["message"]?.string
          == "this server has no package \(name):1.1; it serves \(name):1.0")
      #expect(try await phone.count("Bookings") == rows)
      // What does not fit is refused, and no node knows of it.
      let misfit = try version("1.2", of: business) { text in
        text.replacingOccurrences(of: #""Passenger""#, with: #""Nobody""#)
      }
      (code, text) = try await deploy(one, misfit)
      #expect(code == 1 && text.contains("does not fit the database"), "\(text)")
      #expect(try await server.psql(database, "SELECT count(*) FROM ferry_store.deployed") == "0")
      for phone in [phone, other] { phone.process.kill() }
    }
  }
}
