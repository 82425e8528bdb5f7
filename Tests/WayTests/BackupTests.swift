import FerrySQLite
import Foundation
import Testing

extension Way {
  /// `ferry backup` and `ferry restore` with a running server and real devices.
  @Suite struct BackupTests {
    private func ferry(_ words: String...) async throws -> (Int32, String) {
      let process = try ChildProcess(try Programs.path("ferry"), words)
      let end = try await process.ended()
      let text = process.lines.joined(separator: "\n") + process.errorText
      guard case .exit(let code) = end else { throw WayFailure("ferry: \(end) \(text)") }
      return (code, text)
    }

    private func eras(_ folder: String) throws -> Int64 {
      let store = try Connection(path: "\(folder)/server.sqlite", mode: .readOnly)
      return try store.value("SELECT count(*) FROM era")?.integer ?? 0
    }

    @Test(
      "A backup made amid replays is restored: devices stay logged in, nothing is lost or done twice"
    )
    func restored() async throws {
      let business = try await Business.flights(bookings: 1_000)
      var daemon = try await Daemon.start(business)
      let port = daemon.port
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      try await ada.book(0..<60, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("some are done") { try business.booked() >= 5 }
      let backup = business.place.file("backup")
      let (code, text) = try await ferry("backup", backup, "--data", daemon.data)
      #expect(code == 0 && text.contains(business.package.id), "\(text)")
      let done = try business.booked()
      try await until("all are done") { try business.booked() == 60 }
      // Devices know what the backup does not.
      try await ada.book(60..<80, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("the later ones are done") { try business.booked() == 80 }
      try await ada.synchronize()
      try await ben.synchronize()
      let shown = try await ben.count("Bookings")
      try await daemon.stopNow()
      // Pending while there is no server.
      try await ada.book(80..<90, business)
      try await ada.ask(#"["submitAll"]"#)

      let data = business.place.file("restored")
      let (restoredCode, restoredText) = try await ferry(
        "restore", backup, "--data", data, "--model", business.model)
      #expect(restoredCode == 0 && restoredText.contains("ferryd --data"), "\(restoredText)")
      let lines = restoredText.split(separator: "\n")
      #expect(
        lines.count == 2
          && lines[0].hasPrefix("Restored into \(data): \(business.package.id), as of 20")
          && lines[1].hasPrefix("Next: start "), "\(restoredText)")
      daemon = try await Daemon.start(business, data: data, port: port)
      try await daemon.ready()
      try await until("the pending ones are done") { try business.booked() == 90 }
      try await Shores.agree(
        business, daemon, [ada, ben], belongs: Shores.firstAgency(business))
      tell("the backup was made after \(done) of 60 creates")
      #expect(try await ben.count("Bookings") == shown + 10)
      #expect(try eras(data) == eras(backup) + 1)
      try business.expectOnce(90)
      #expect(ada.events("replayFailure").isEmpty && ada.events("replayUnknown").isEmpty)
      #expect(ada.events("loginFailure").isEmpty)
      #expect(try await ada.ask(#"["pending"]"#)["operations"]?.array?.isEmpty != false)
      try await ada.quit()
      try await ben.quit()
    }

    @Test("What is no backup, half of one, changed, newer or of another package is refused whole")
    func refused() async throws {
      let business = try await Business.flights(bookings: 50)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let manager = FileManager.default
      let (backup, data) = (business.place.file("backup"), business.place.file("restored"))
      var (code, text) = try await ferry("backup", backup, "--data", business.place.path)
      #expect(code == 1 && text.contains("no store in the folder"), "\(text)")
      (code, text) = try await ferry("backup", backup, "--data", daemon.data)
      #expect(code == 0, "\(text)")
      let mode = try manager.attributesOfItem(atPath: backup)[.posixPermissions] as? Int
      #expect(mode == 0o700)
      (code, text) = try await ferry("backup", backup, "--data", daemon.data)
      #expect(code == 1 && text.contains("already exists"), "\(text)")
      (code, text) = try await ferry("restore", backup, "--data", daemon.data)
      #expect(code == 1 && text.contains("already exists"), "\(text)")
      (code, text) = try await ferry("restore", business.place.file("none"), "--data", data)
      #expect(code == 1 && text.contains("there is no backup"), "\(text)")
      // Another package, and the same with another shape.
      let other = try business.place.write(
        try String(contentsOfFile: business.model, encoding: .utf8)
          .replacingOccurrences(of: #""version": "1.0""#, with: #""version": "1.1""#),
        to: "other.json")
      (code, text) = try await ferry("restore", backup, "--data", data, "--model", other)
      #expect(code == 1 && text.contains("does not have the package"), "\(text)")
      // A byte that the disk has changed.
      let key = "\(backup)/token.key"
      let bytes = try Data(contentsOf: URL(filePath: key))
      try Data(bytes.reversed()).write(to: URL(filePath: key))
      (code, text) = try await ferry("restore", backup, "--data", data)
      #expect(code == 1 && text.contains("token.key of the backup"), "\(text)")
      try bytes.write(to: URL(filePath: key))
      // Half of one: its list is written last.
      let list = try Data(contentsOf: URL(filePath: "\(backup)/backup.json"))
      try manager.removeItem(atPath: "\(backup)/backup.json")
      (code, text) = try await ferry("restore", backup, "--data", data)
      #expect(code == 1 && text.contains("is incomplete"), "\(text)")
      try list.write(to: URL(filePath: "\(backup)/backup.json"))
      #expect(!manager.fileExists(atPath: data) && !manager.fileExists(atPath: "\(data).part"))
      (code, text) = try await ferry("restore", backup, "--data", data)
      #expect(code == 0, "\(text)")
      // A store whose pages the disk has damaged has no backup.
      let good = try Data(contentsOf: URL(filePath: "\(data)/server.sqlite"))
      var bad = good
      let root = try #require(
        try Connection(path: "\(data)/server.sqlite", mode: .readOnly)
          .value("SELECT rootpage FROM sqlite_schema WHERE name = 'row'")?.integer)
      bad[Int(root - 1) * 4_096] = 0xFF
      try bad.write(to: URL(filePath: "\(data)/server.sqlite"))
      (code, text) = try await ferry("backup", business.place.file("bad"), "--data", data)
      #expect(code == 1 && text.contains("\(data)/server.sqlite is broken"), "\(text)")
      #expect(text.contains("no backup was made"), "\(text)")
      #expect(!text.dropLast().contains("\n") && !text.contains("***"), "\(text)")
      #expect(!manager.fileExists(atPath: business.place.file("bad")))
      #expect(!manager.fileExists(atPath: business.place.file("bad.part")))
      try good.write(to: URL(filePath: "\(data)/server.sqlite"))
      // A store that a newer server has.
      let newer = try Connection(path: "\(data)/server.sqlite")
      try newer.execute("PRAGMA user_version = 99")
      (code, text) = try await ferry("backup", business.place.file("newer"), "--data", data)
      #expect(code == 1 && text.contains("has version 99"), "\(text)")
      #expect(!manager.fileExists(atPath: business.place.file("newer")))
      #expect(!manager.fileExists(atPath: business.place.file("newer.part")))
    }
  }
}
