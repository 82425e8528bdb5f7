import FerryJSON
import Foundation
import Testing

extension Way {
  /// `ferry move` with a real PostgreSQL, real servers and real devices.
  @Suite struct MoveTests {
    private func ferry(_ words: String...) async throws -> (Int32, String) {
      let process = try ChildProcess(try Programs.path("ferry"), words)
      let end = try await process.ended()
      let text = process.lines.joined(separator: "\n") + process.errorText
      guard case .exit(let code) = end else { throw WayFailure("ferry: \(end) \(text)") }
      return (code, text)
    }

    @Test(
      "A store with operations on their way moves: devices stay logged in, nothing is lost or done twice"
    )
    func moved() async throws {
      let business = try await Business.flights(bookings: 500)
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let store = server.address(database)
      var daemon = try await Daemon.start(business)
      let (port, data) = (daemon.port, daemon.data)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      var (code, text) = try await ferry("move", "--data", data, "--to", store)
      #expect(code == 1 && text.contains("another server uses the folder"), "\(text)")
      try await ada.book(0..<40, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("some are done") { try business.booked() >= 5 }
      // Some have been taken in and are not performed, some are performed and not answered.
      try await daemon.stopNow()
      let done = try business.booked()
      // Pending while there is no server.
      try await ada.book(40..<60, business)
      try await ada.ask(#"["submitAll"]"#)
      let shown = try await ben.count("Bookings")

      (code, text) = try await ferry("move", "--data", data, "--to", store, "--json")
      #expect(code == 0, "\(text)")
      let told = try JSONNode.parse(Array(text.utf8))
      #expect(told["store"]?.string == store)
      #expect(told["packages"]?.array?.first?.string == business.package.id)
      #expect(told["tables"]?["era"]?.integer == 1)
      let rows = try daemon.rows().values.reduce(0) { $0 + $1.count }
      #expect(told["tables"]?["row"]?.integer ?? 0 >= rows && rows > 500)
      let (end, refusal) = try await Daemon.refuse(Daemon.arguments(business))
      #expect(end == .exit(1) && refusal.contains("--store '\(store)'"), "\(refusal)")
      let backup = business.place.file("backup")
      (code, text) = try await ferry("backup", backup, "--data", data)
      #expect(code == 1 && text.contains("was moved to"), "\(text)")

      daemon = try await Daemon.start(business, port: port, more: ["--store", store])
      try await daemon.ready()
      try await until("all are done") { try business.booked() == 60 }
      try await ben.synchronize()
      try await Shores.agree(
        business, server: { try await server.storedRows(database, business) }, [ada, ben],
        belongs: Shores.firstAgency(business))
      tell("the store was moved after \(done) of 40 creates")
      #expect(try await ben.count("Bookings") >= shown)
      try business.expectOnce(60)
      #expect(ada.events("replayFailure").isEmpty && ada.events("replayUnknown").isEmpty)
      for phone in [ada, ben] { #expect(phone.events("loginFailure").isEmpty) }
      #expect(try await ada.ask(#"["pending"]"#)["operations"]?.array?.isEmpty != false)
      #expect(try await server.psql(database, "SELECT count(*) FROM ferry_store.era") == "2")
      // Devices go on with the partitions that they have: the numbers stay.
      #expect(
        try await server.psql(database, "SELECT min(id) FROM ferry_store.partition WHERE count > 0")
          == "1")
      // Nobody goes back by mistake once devices have sent something to the new store.
      #expect(try await daemon.stopInOrder() == .exit(0))
      (code, text) = try await ferry("move", "--undo", "--data", data)
      #expect(code == 1 && text.contains("a server has run on the store"), "\(text)")
      (code, text) = try await ferry("move", "--data", data, "--to", store)
      #expect(code == 1 && text.contains("a server has run on the store"), "\(text)")
      try await ada.quit()
      try await ben.quit()
    }

    @Test("A move that is killed is begun again or undone, and the old store is as it was")
    func killed() async throws {
      let business = try await Business.flights(bookings: 300)
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let store = server.address(database)
      var daemon = try await Daemon.start(business)
      let (port, data) = (daemon.port, daemon.data)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      #expect(try await daemon.stopInOrder() == .exit(0))
      let before = try daemon.rows()
      // It stops amid its rows: the database waits for somebody.
      try await server.psql(
        database,
        """
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(1000); RETURN NULL; END $$;
        CREATE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'slow') THEN
            CREATE TRIGGER slow BEFORE INSERT ON ferry_store.registered_device
              FOR EACH STATEMENT EXECUTE FUNCTION public.slow();
          END IF;
        END $$;
        CREATE EVENT TRIGGER planting ON ddl_command_end WHEN TAG IN ('ALTER TABLE')
          EXECUTE FUNCTION plant();
        """)
      let process = try ChildProcess(
        try Programs.path("ferry"), ["move", "--data", data, "--to", store])
      let moving = """
        FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'ferry move'
          AND query LIKE 'INSERT INTO ferry_store.registered_device%'
        """
      try await until("it moves") {
        try await server.psql("postgres", "SELECT count(*) \(moving)") == "1"
      }
      try await process.killNow()
      try await server.psql("postgres", "SELECT pg_terminate_backend(pid) \(moving)")
      try await server.psql(database, "DROP EVENT TRIGGER planting")
      #expect(
        try await server.psql(database, "SELECT to_regclass('ferry_store.server') IS NULL") == "t")
      // Nothing starts on what may be a copy, and nothing goes elsewhere.
      let (end, refusal) = try await Daemon.refuse(Daemon.arguments(business))
      #expect(end == .exit(1) && refusal.contains("was interrupted"), "\(refusal)")
      let elsewhere = server.address("elsewhere")
      var (code, text) = try await ferry("move", "--data", data, "--to", elsewhere)
      #expect(code == 1 && text.contains("Go back to it first"), "\(text)")
      (code, text) = try await ferry("move", "--data", data, "--to", store)
      #expect(code == 0 && text.contains("tables were moved and counted"), "\(text)")
      (code, text) = try await ferry("move", "--undo", "--data", data)
      #expect(code == 0 && text.contains("DROP SCHEMA"), "\(text)")
      daemon = try await Daemon.start(business, port: port)
      try await daemon.ready()
      #expect(try daemon.rows() == before)
      try await ada.synchronize()
      // From there it moves again, and the copy that nobody used is replaced.
      try business.run("UPDATE Bookings SET Passenger = 'Later' WHERE BookingID = 1")
      try await until("the change is there") { try daemon.rows() != before }
      #expect(try await daemon.stopInOrder() == .exit(0))
      (code, text) = try await ferry("move", "--data", data, "--to", store)
      #expect(code == 0, "\(text)")
      #expect(
        try await server.psql(
          database, "SELECT count(*) FROM ferry_store.row WHERE body LIKE '%\"Later\"%'") == "1")
      (code, text) = try await ferry("move", "--undo", "--data", business.place.path)
      #expect(code == 1 && text.contains("no store in the folder"), "\(text)")
      (code, text) = try await ferry("move", "--data", data, "--to", "sqlite:x")
      #expect(code == 2, "\(text)")
      try await ada.quit()
    }
  }
}
