import FerrySQLite
import Foundation
import Testing

extension Way {
  /// What keeps ferryd from starting: one clear error each, that names the cure.
  @Suite struct StartTests {
    private func refused(
      _ business: Business, _ arguments: [String], says parts: String..., exit: Int32 = 1
    ) async throws {
      let (end, text) = try await Daemon.refuse(arguments)
      #expect(end == .exit(exit), "\(text)")
      for part in parts { #expect(text.contains(part), "\(text)") }
      #expect(!text.contains("Fatal error"))
      #expect(!text.contains(".."), "\(text)")
      tell("ferryd says: \(text.replacingOccurrences(of: business.place.path, with: "…"))")
    }

    @Test("A model that does not fit the database is told with the way to compare them")
    func model() async throws {
      let business = try await Business.flights(bookings: 50)
      let model = try String(contentsOfFile: business.model, encoding: .utf8)
      let wrong = try business.place.write(
        model.replacingOccurrences(of: #""column": "Passenger""#, with: #""column": "Traveller""#),
        to: "wrong.json")
      var arguments = Daemon.arguments(business)
      arguments[1] = wrong
      try await refused(business, arguments, says: "does not fit", "Traveller", "ferry diff")
      let told = try await Daemon.refuse(arguments).text
      #expect(told.components(separatedBy: "ferry diff").count == 2, "once: \(told)")
      arguments[1] = try business.place.write(model.dropLast(40).description, to: "cut.json")
      try await refused(business, arguments, says: "cut.json", "ferry check")
      let deep = String(repeating: "[", count: 10_000)
      arguments[1] = try business.place.write(deep, to: "deep.json")
      try await refused(business, arguments, says: "deep.json", "ferry check")
      arguments[1] = business.place.file("nowhere.json")
      try await refused(business, arguments, says: "nowhere.json", "ferry new", exit: 2)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
    }

    @Test("A database that is missing, none, or locked is told, and none is made")
    func database() async throws {
      let business = try await Business.flights(bookings: 50)
      let missing = business.place.file("missing.db")
      try await refused(
        business, Daemon.arguments(business, more: ["--database", "sqlite:\(missing)"]),
        says: "missing.db")
      #expect(!FileManager.default.fileExists(atPath: missing))
      let none = try business.place.write(
        String(repeating: "no database ", count: 99), to: "none.db")
      try await refused(
        business, Daemon.arguments(business, more: ["--database", "sqlite:\(none)"]),
        says: "none.db", "not a SQLite database")
      do {
        let holder = try business.connection()
        try holder.execute("BEGIN EXCLUSIVE")
        try await refused(business, Daemon.arguments(business), says: "business.db", "lock")
        try holder.execute("COMMIT")
      }
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
    }

    @Test("A folder that may only be read is told; with it writable again all is as it was")
    func readOnly() async throws {
      let business = try await Business.flights(bookings: 50)
      guard let disk = try await SmallDisk.memory(business.place, "disk", megabytes: 24) else {
        return SmallDisk.tellMissing(.none)
      }
      let data = disk.file("data")
      let first = try await Daemon.start(business, data: data)
      try await first.ready()
      #expect(try await first.stopInOrder() == .exit(0))
      try await disk.setReadOnly(true)
      try await refused(business, Daemon.arguments(business, data: data), says: "disk/data")
      try await disk.setReadOnly(false)
      let daemon = try await Daemon.start(business, data: data)
      try await daemon.ready()
    }

    @Test("A rollback journal, a claim that brings no rows, and what is served are told at start")
    func warnings() async throws {
      let business = try await Business.flights(bookings: 50)
      try business.connection().execute("PRAGMA journal_mode = DELETE")
      var arguments = Daemon.arguments(business, more: ["--log", "info"])
      let users = try String(contentsOfFile: business.users, encoding: .utf8)
      arguments[5] = try business.place.write(
        users.replacingOccurrences(of: #""claims":{"#, with: #""claims":{"agencyy":["A07"],"#),
        to: "misspelt.json")
      let daemon = try ChildProcess(try Programs.path("ferryd"), arguments)
      let text = try await poll("ferryd has loaded") { () -> String? in
        daemon.errorText.contains("was loaded") ? daemon.errorText : nil
      }
      daemon.kill()
      for part in [
        "PRAGMA journal_mode=wal", "asks for the claim agencyy", "business.db", #""listening""#,
      ] { #expect(text.contains(part), "\(text)") }
      let told = try ChildProcess(try Programs.path("ferryd"), ["--version"])
      #expect(try await told.ended() == .exit(0))
    }

    @Test("A port in use, a folder in use, and users that are missing or broken are told")
    func surroundings() async throws {
      let business = try await Business.flights(bookings: 50)
      let listener = try Listener()
      try await refused(
        business, Daemon.arguments(business, port: listener.port), says: String(listener.port),
        "--port")
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      try await refused(business, Daemon.arguments(business), says: "another server", "--data")
      #expect(try await daemon.isHealthy())
      var arguments = Daemon.arguments(business, data: business.place.file("second"))
      arguments[5] = business.place.file("nobody.json")
      try await refused(business, arguments, says: "nobody.json", "users")
      arguments[5] = try business.place.write(#"{"users":[{"name":"#, to: "broken.json")
      try await refused(business, arguments, says: "broken.json")
      try await refused(
        business, Daemon.arguments(business, data: "/proc/nowhere/data"), says: "/proc/nowhere",
        "--data")
      try await refused(business, ["--model"], says: "ferryd --help", exit: 2)
      #expect(try await daemon.isHealthy())
    }
  }
}
