import FerryJSON
import FerrySQLite
import Foundation
import Testing

extension Way {
  /// `ferryd --dev business.db`: a server for the development of an app, with nothing made before.
  @Suite struct DevelopmentTests {
    /// What it printed, and where it listens.
    private struct Started {
      let process: ChildProcess
      let text: String
      let port: Int

      init(_ business: Business, _ data: String) async throws {
        let process = try ChildProcess(
          try Programs.path("ferryd"),
          ["--dev", business.database, "--data", data, "--port", "0"])
        self.process = process
        text = try await poll("ferryd --dev has said all") {
          guard process.isRunning else { throw WayFailure("it ended: \(process.errorText)") }
          let text = process.lines.joined(separator: "\n")
          return text.contains("Control-C ends it") ? text : nil
        }
        let address = try #require(text.firstMatch(of: #/http://127\.0\.0\.1:(\d+)/#))
        port = try #require(Int(address.1))
      }

      func stop() async throws {
        process.send(SIGTERM)
        #expect(try await process.ended() == .exit(0))
      }
    }

    @Test("One command serves a database; the next start goes on, also with a new column")
    func serves() async throws {
      let business = try await Business.flights(bookings: 50)
      let data = business.place.file("dev")
      let first = try await Started(business, data)
      #expect(first.text.contains("user      dev, password dev"))
      #expect(first.text.contains("\(data)/model.json"))
      let client = try Stranger(port: first.port, model: "\(data)/model.json")
      try await client.take(#"["login","dev","dev"]"#)
      try await client.take(#"["synchronize"]"#)
      #expect(try await client.rows()["Bookings"]?.count == 50)
      let key = try business.value(
        "SELECT min(BookingID) FROM Bookings JOIN Flights USING (FlightID) WHERE Status = 'planned'"
      )
      let answers = try await client.perform(
        #"{"operation":"update","entity":"Bookings","key":"\#(key)","values":{"passenger":"Ada"}}"#)
      #expect(answers.map { $0["method"]?.string } == ["replayResult"], "\(answers)")
      let passenger = try business.connection().value(
        "SELECT Passenger FROM Bookings WHERE BookingID = \(key)")
      #expect(passenger == .text("Ada"))
      let server = try identity(data)
      try await first.stop()

      try business.connection().execute("ALTER TABLE Bookings ADD COLUMN Remark TEXT")
      let second = try await Started(business, data)
      #expect(second.text.contains("has version 1.1 now"))
      #expect(try identity(data) == server)
      let next = try Stranger(port: second.port, model: "\(data)/model.json")
      try await next.take(#"["login","dev","dev"]"#)
      try await next.take(#"["synchronize"]"#)
      #expect(try await next.rows()["Bookings"]?.count == 50)
      try await second.stop()
      let third = try await Started(business, data)
      #expect(!third.text.contains("has changed since"))
      try await third.stop()
    }

    @Test("What it would make cannot be named too; a missing database is told and not made")
    func refuses() async throws {
      let place = try Place()
      let missing = place.file("missing.db")
      let told = try await Daemon.refuse(["--dev", missing, "--data", place.file("dev")])
      #expect(told.end == .exit(1))
      #expect(told.text.contains("missing.db"), "\(told.text)")
      #expect(!FileManager.default.fileExists(atPath: missing))
      for address in ["postgres:dbname=field password=geheim", "postgresql://ada:geheim@db/field"] {
        let told = try await Daemon.refuse(["--dev", address, "--data", place.file("dev")])
        #expect(told.end == .exit(2))
        #expect(told.text.contains("--dev serves SQLite databases only"), "\(told.text)")
        #expect(told.text.contains("ferry new --from postgres:"), "\(told.text)")
        #expect(!told.text.contains("geheim"), "\(told.text)")
      }
      for name in ["--model", "--users", "--database", "--address"] {
        let told = try await Daemon.refuse(["--dev", missing, name, "x"])
        #expect(told.end == .exit(2))
        #expect(
          told.text.contains("Leave out \(name), or leave out --dev."), "\(told.text)")
      }
    }

    private func identity(_ data: String) throws -> String? {
      try Connection(path: "\(data)/server.sqlite", mode: .readOnly)
        .value("SELECT id FROM server")?.text
    }
  }
}
