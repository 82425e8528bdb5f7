import FerryJSON
import FerrySQLite
import Foundation
import Testing

extension Way {
  /// Values that no model can hold, written by others while triggers report changes.
  @Suite struct RejectedRowTests {
    private func ferry(_ words: String...) async throws -> String {
      let process = try ChildProcess(try Programs.path("ferry"), words)
      _ = try await process.ended()
      return process.lines.joined(separator: "\n") + process.errorText
    }

    private func leftOut(_ daemon: Daemon) async throws -> JSONNode? {
      try JSONNode.parse(Array(try await daemon.health().text.utf8))["leftOut"]
    }

    private func lines(_ daemon: Daemon) -> [String] {
      daemon.process.errorLines.filter { $0.contains("a row does not fit the model") }
    }

    /// `spoil` and `cure` are what somebody does to rows 1 to `count`, one after the other.
    private func follow(
      _ business: Business, _ count: Int, spoil: (Int) async throws -> Void,
      cure: () async throws -> Void
    ) async throws {
      #expect(try await ferry("prepare", business.model).contains("is prepared"))
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let entity = try #require(business.package.entities.first?.name)
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      #expect(try await ada.count(entity) == Int64(count + 1))
      for number in 1...count {
        try await spoil(number)
        try await until("row \(number) is named") {
          try await leftOut(daemon)?["rows"]?.integer == Int64(number)
        }
        #expect(lines(daemon).count { $0.contains(#""\#(number)""#) } == 1)
        let why = try await ferry("why", entity, String(number), "--data", daemon.data)
        #expect(why.contains("The row does not fit the model: "), "\(why)")
        #expect(why.contains("correct it in") && !why.contains("deleted"), "\(why)")
      }
      try await until("the rows have left the device") { try await ada.count(entity) == 1 }
      #expect(try await daemon.health().status == 200)
      let status = try await ferry("status", "--data", daemon.data, "--users", business.users)
      #expect(status.contains("  left out \(count) rows, see the log"), "\(status)")
      #expect(status.contains("correct it in"), "\(status)")

      try await cure()
      try await until("the rows are back") { try await ada.count(entity) == Int64(count + 1) }
      try await until("nothing is left out") { try await leftOut(daemon) == nil }
      let why = try await ferry("why", entity, "1", "--data", daemon.data)
      #expect(why.contains("have the row") && !why.contains("does not fit"), "\(why)")
      #expect(lines(daemon).count == count)
      try await ada.quit()
      #expect(try await daemon.stopInOrder() == .exit(0))
    }

    @Test("Values that PostgreSQL has and a model cannot hold are named, and come back when right")
    func postgreSQL() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(
        """
        CREATE TABLE visit (
          visit_id int PRIMARY KEY, depot text NOT NULL, at timestamptz NOT NULL, day date,
          price numeric);
        INSERT INTO visit SELECT n, 'A', '2026-01-01', '2026-01-01', 1
          FROM generate_series(1, 6) AS n
        """)
      let business = try await Business(
        try Place(), database, source: server.address(database),
        partition: "visit=depot:claim:depot",
        users: [Business.User("ada", #"{"depot":["A"]}"#)])
      let values = [
        "at = 'infinity'", "day = '-infinity'", "at = '0044-03-15 BC'", "price = 'NaN'",
        "day = '15000-01-01'",
      ]
      try await follow(business, values.count) { number in
        try await server.psql(
          database, "UPDATE visit SET \(values[number - 1]) WHERE visit_id = \(number)")
      } cure: {
        try await server.psql(
          database, "UPDATE visit SET at = '2026-01-02', day = '2026-01-02', price = 2")
      }
    }

    @Test("Values that SQLite takes and a model cannot hold are named, and come back when right")
    func sqlite() async throws {
      let place = try Place()
      let file = place.file("business.db")
      let other = try Connection(path: file, busyTimeoutMilliseconds: 300_000)
      try other.execute(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE visit (
          visit_id INTEGER PRIMARY KEY, depot TEXT NOT NULL, at DATE NOT NULL, n INTEGER NOT NULL);
        INSERT INTO visit VALUES (1, 'A', '2026-01-01', 1), (2, 'A', '2026-01-02', 2),
          (3, 'A', '2026-01-02', 2), (4, 'A', '2026-01-02', 2);
        """)
      let business = try await Business(
        place, file, partition: "visit=depot:claim:depot",
        users: [Business.User("ada", #"{"depot":["A"]}"#)])
      let values = ["at = 'soon'", "n = 'many'", "at = '15000-01-01'"]
      try await follow(business, values.count) { number in
        try other.execute("UPDATE visit SET \(values[number - 1]) WHERE visit_id = \(number)")
      } cure: {
        try other.execute("UPDATE visit SET at = '2026-01-03', n = 3")
      }
    }
  }
}
