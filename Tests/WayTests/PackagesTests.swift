import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

extension Way {
  /// Several packages in one `ferryd`.
  @Suite struct PackagesTests {
    /// Another business, with a database and a model of its own, for the same users.
    private func notes(_ agencies: [String]) async throws -> Business {
      let place = try Place()
      let connection = try Connection(path: place.file("notes.db"))
      try connection.execute(
        "CREATE TABLE Notes (ID INTEGER PRIMARY KEY, AgencyID TEXT NOT NULL, Body TEXT NOT NULL)")
      for (number, agency) in agencies.enumerated() {
        try connection.run(
          "INSERT INTO Notes VALUES (?, ?, 'of before')", .integer(Int64(number + 1)),
          .text(agency))
      }
      return try await Business(
        place, place.file("notes.db"), partition: "Notes=AgencyID:claim:agency", users: [])
    }

    @Test(
      "Two packages in one server: two devices, one user, one port, each with its own rows",
      .reference("sync/Q1", "facts/2.1")
    )
    func two() async throws {
      let flights = try await Business.flights(bookings: 50)
      let notes = try await notes(["AG-01", "AG-02", "AG-01"])
      var daemon = try await Daemon.start(flights, more: ["--model", notes.model])
      try await daemon.ready()
      let first = try await Phone.start(flights, "first", user: "ada", daemon.address)
      let second = try await Phone.start(notes, "second", user: "ada", daemon.address)
      #expect(try await first.count("Agencies") > 0)
      #expect(try await second.count("Notes") == 2)
      // What others change reaches the devices of that package.
      try notes.run("INSERT INTO Notes VALUES (9, 'AG-01', 'of others')")
      try await until("the note of others arrives") { try await second.count("Notes") == 3 }
      // A change of a device reaches the database of its package.
      let key = try await second.create("Notes", #"{"agencyID":"AG-01","body":"mine"}"#)
      try await second.submit("Notes", key)
      try await until("the note is in the database") {
        try notes.value("SELECT count(*) FROM Notes WHERE Body = 'mine'") == 1
      }
      // An operator sees both devices once, in the register of the server.
      let list = try await Wires.get(
        "\(daemon.address)/ferry/1/operator/devices",
        token: try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8))
      let models = (list.node?["devices"]?.array ?? []).compactMap { $0["model"]?.string }
      #expect(models.sorted() == [flights.package.id, notes.package.id].sorted())
      // The packages share the readers, too.
      #expect(daemon.process.threadCount <= Daemon.mostThreads)
      // After a restart both go on with the sessions that they have.
      let port = daemon.port
      try await daemon.stopNow()
      daemon = try await Daemon.start(flights, port: port, more: ["--model", notes.model])
      try await first.synchronize()
      try await second.synchronize()
      // A server that serves one of them alone tells the devices of the other.
      try await daemon.stopNow()
      daemon = try await Daemon.start(flights, port: port)
      try await first.synchronize()
      let refused = try await second.ask(#"["synchronize"]"#, mayFail: true)
      #expect(
        refused["message"]?.string
          == "this server has no package \(notes.package.id)", "packages of others are not named")
      #expect(try await second.count("Notes") == 4)
      try await first.quit()
      try await second.quit()
    }

    @Test("Two models of one name and version are refused")
    func refused() async throws {
      let flights = try await Business.flights(bookings: 50)
      let copy = try flights.place.write(
        try String(contentsOfFile: flights.model, encoding: .utf8), to: "copy.json")
      let (end, text) = try await Daemon.refuse(
        Daemon.arguments(flights, more: ["--model", copy]))
      #expect(end == .exit(2))
      for part in ["model.json", "copy.json", flights.package.id, "higher version"] {
        #expect(text.contains(part), "\(text)")
      }
      #expect(!FileManager.default.fileExists(atPath: flights.place.file("data")))
    }

    @Test(
      "Two packages on a shared store: one user, two nodes, each package with a leader of its own")
    func shared() async throws {
      let flights = try await Business.flights(bookings: 50)
      let notes = try await notes(["AG-01", "AG-02", "AG-01"])
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let more = ["--store", server.address(database), "--model", notes.model]
      let one = try await Daemon.start(flights, data: flights.place.file("one"), more: more)
      try await one.ready()
      let two = try await Daemon.start(flights, data: flights.place.file("two"), more: more)
      try await two.ready()
      let first = try await Phone.start(flights, "first", user: "ada", one.address)
      let second = try await Phone.start(notes, "second", user: "ada", two.address)
      #expect(try await first.count("Agencies") > 0)
      #expect(try await second.count("Notes") == 2)
      try notes.run("INSERT INTO Notes VALUES (9, 'AG-01', 'of others')")
      try await until("the note of others arrives") { try await second.count("Notes") == 3 }
      let key = try await second.create("Notes", #"{"agencyID":"AG-01","body":"mine"}"#)
      try await second.submit("Notes", key)
      try await until("the note is in the database") {
        try notes.value("SELECT count(*) FROM Notes WHERE Body = 'mine'") == 1
      }
      // The register of the store has each device once, whichever node it came to.
      for daemon in [one, two] {
        let list = try await Wires.get(
          "\(daemon.address)/ferry/1/operator/devices",
          token: try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8))
        let models = (list.node?["devices"]?.array ?? []).compactMap { $0["model"]?.string }
        #expect(models.sorted() == [flights.package.id, notes.package.id].sorted())
      }
      // Both leases go to the other node, and both packages go on there.
      try await one.stopNow()
      try await until("the other node leads both") {
        try await server.psql(
          database,
          """
          SELECT count(*) FROM ferry_store.lease
          WHERE until > clock_timestamp() AND holder LIKE '% \(two.process.id)'
          """) == "2"
      }
      try notes.run("INSERT INTO Notes VALUES (100, 'AG-01', 'later')")
      try await until("the later note arrives") { try await second.count("Notes") == 5 }
      try await second.quit()
      first.process.kill()
    }
  }
}
