import FerryJSON
import FerrySQLite
import FerryTestTraits
import Foundation
import Testing

extension Way {
  /// `ferry device` with a running server and real devices.
  @Suite struct DeviceCommandTests {
    private func ferry(_ daemon: Daemon, _ words: String...) async throws -> (Bool, String) {
      let process = try ChildProcess(
        try Programs.path("ferry"),
        ["device"] + words + ["--data", daemon.data])
      let end = try await process.ended()
      return (end == .exit(0), process.lines.joined(separator: "\n") + process.errorText)
    }

    private func device(_ daemon: Daemon, _ user: String) async throws -> JSONNode {
      let (isDone, text) = try await ferry(daemon, "list", "--json", "--user", user)
      // An activation code that nobody has used is listed under an id of its own.
      let found = try JSONNode.parse(Array(text.utf8)).array?.first {
        $0["device"]?.string?.hasPrefix("code-") == false
      }
      guard isDone, let node = found else {
        throw WayFailure("no device: \(text)")
      }
      return node
    }

    private func id(_ daemon: Daemon, _ user: String) async throws -> String {
      try await device(daemon, user)["device"]?.string ?? ""
    }

    private static func booking(_ business: Business) throws -> String {
      let key = try Connection(path: business.database).value(
        """
        SELECT BookingID FROM Bookings JOIN Flights USING (FlightID)
        WHERE AgencyID = 'AG-01' AND Status = 'planned' LIMIT 1
        """)?.integer
      return String(try #require(key))
    }

    @Test(
      "A locked device tells its user why and keeps what is pending, which goes out when it is unlocked"
    )
    func lock() async throws {
      let business = try await Business.flights(bookings: 300)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let id = try await id(daemon, "ada")
      let (isLocked, text) = try await ferry(
        daemon, "lock", "--device", String(id.prefix(8)), "--reason", "lost in Oslo")
      #expect(isLocked, "\(text)")
      try await until("the app hears why") {
        !ada.events("loginFailure", "lost in Oslo").isEmpty
      }
      let key = try Self.booking(business)
      try await ada.update("Bookings", key, #"{"passenger":"Kept Here"}"#)
      try await ada.submit("Bookings", key)
      let refused = try await ada.ask(#"["synchronize"]"#, mayFail: true)
      #expect(refused["code"]?.string == "deviceLocked")
      #expect(try await ferry(daemon, "unlock", "--device", id).0)
      try await ada.synchronize()
      let server = try Connection(path: business.database)
      try await until("the change arrives") {
        try server.value("SELECT Passenger FROM Bookings WHERE BookingID = \(key)")?.text
          == "Kept Here"
      }
      try await ada.quit()
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      #expect(audit.contains("deviceLocked") && audit.contains("deviceUnlocked"))
    }

    @Test(
      "A device is registered by an activation code, and settings travel while it runs",
      .reference("facts/2.10", "sync/Q9")
    )
    func activation() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let file = "\(daemon.data)/templates.json"
      try Self.template("green").write(toFile: file, atomically: true, encoding: .utf8)
      try await until("the server has read the templates") {
        try await ferry(daemon, "activate", "--user", "ada", "--template", "field").0
      }
      let (isMade, text) = try await ferry(
        daemon, "activate", "--user", "ada", "--template", "field", "--json")
      #expect(isMade, "\(text)")
      let code = try JSONNode.parse(Array(text.utf8))["code"]?.string ?? ""
      let ada = try Phone(business, "ada", daemon.address)
      let wrong = try await ada.ask(#"["register","ada","AAAA-BBBB-CCCC"]"#, mayFail: true)
      #expect(wrong["code"]?.string == "notLoggedIn")
      try await ada.ask(#"["register","ada","\#(code)"]"#)
      #expect(try await ada.ask(#"["setting","custom.color"]"#)["value"]?.string == "green")
      try await ada.ask(#"["subscribe"]"#)
      try await ada.ask(#"["start"]"#)
      try await ada.synchronize()
      try Self.template("blue").write(toFile: file, atomically: true, encoding: .utf8)
      try await until("the setting travels") {
        try await ada.ask(#"["setting","custom.color"]"#)["value"]?.string == "blue"
      }
      // A file that cannot be read changes nothing.
      try "{".write(toFile: file, atomically: true, encoding: .utf8)
      let (isShown, shown) = try await ferry(
        daemon, "show", "--device", try await id(daemon, "ada"))
      #expect(isShown && shown.contains("template field"), "\(shown)")
      #expect(shown.contains("subscription accepted"), "\(shown)")
      let rotated = try ChildProcess(
        try Programs.path("ferry"),
        ["key", "rotate", "--data", daemon.data])
      #expect(try await rotated.ended() == .exit(0), "\(rotated.errorText)")
      try await ada.synchronize()
      try await ada.ask(#"["unregister"]"#)
      #expect(try await ada.count("Bookings") > 0, "what was downloaded stays")
      try await ada.quit()
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      for event in ["activationMade", "loginRefused", "keyRotated", "deviceUnregistered"] {
        #expect(audit.contains(event), "\(event) is not in the audit log")
      }
      #expect(!audit.contains(code), "a code is no audit line's")
    }

    @Test(
      "A device gets another template while it runs, and a clone of it registers with the same one",
      .reference("facts/2.10", "sync/Q9")
    )
    func clone() async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let templates = ["field": "green", "van": "red"].map { name, color in
        #"{"name": "\#(name)", "settings": {"custom": {"color": "\#(color)"}}}"#
      }
      try #"{"templates": [\#(templates.joined(separator: ","))]}"#
        .write(toFile: "\(daemon.data)/templates.json", atomically: true, encoding: .utf8)
      try await until("the server has read the templates") {
        try await ferry(daemon, "activate", "--user", "ada", "--template", "field").0
      }
      let first = try await registered(
        business, daemon, "first",
        try await ferry(daemon, "activate", "--user", "ada", "--template", "field", "--json"))
      #expect(try await first.ask(#"["setting","custom.color"]"#)["value"]?.string == "green")
      let id = try await id(daemon, "ada")
      let (isKnown, unknown) = try await ferry(
        daemon, "template", "--device", id, "--template", "boat")
      #expect(!isKnown && unknown.contains("boat"), "\(unknown)")
      #expect(try await ferry(daemon, "template", "--device", id, "--template", "van").0)
      try await first.ask(#"["start"]"#)
      try await until("the settings travel") {
        try await first.ask(#"["setting","custom.color"]"#)["value"]?.string == "red"
      }
      let second = try await registered(
        business, daemon, "second", try await ferry(daemon, "clone", "--device", id, "--json"))
      #expect(try await second.ask(#"["setting","custom.color"]"#)["value"]?.string == "red")
      // Every id begins with nothing, so nothing is done.
      let (isClear, unclear) = try await ferry(
        daemon, "template", "--template", "field", "--device", "")
      #expect(!isClear && unclear.contains("devices have an id"), "\(unclear)")
      #expect(try await second.ask(#"["setting","custom.color"]"#)["value"]?.string == "red")
      for phone in [first, second] { try await phone.quit() }
    }

    /// A device that used the code which a command printed.
    private func registered(
      _ business: Business, _ daemon: Daemon, _ name: String, _ made: (Bool, String)
    ) async throws -> Phone {
      #expect(made.0, "\(made.1)")
      let code = try JSONNode.parse(Array(made.1.utf8))["code"]?.string ?? ""
      let phone = try Phone(business, name, daemon.address)
      try await phone.ask(#"["register","ada","\#(code)"]"#)
      try await phone.ask(#"["subscribe"]"#)
      try await phone.synchronize()
      return phone
    }

    private static func template(_ color: String) -> String {
      #"{"templates": [{"name": "field", "settings": {"custom": {"color": "\#(color)"}}}]}"#
    }

    @Test("A wipe keeps unsent changes unless it is told to destroy them")
    func pending() async throws {
      let business = try await Business.flights(bookings: 300)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let id = try await id(daemon, "ada")
      // Pending since the device was last here: the server does not know of it.
      try await ada.update("Bookings", try Self.booking(business), #"{"passenger":"Unsent"}"#)
      let (isOrdered, text) = try await ferry(daemon, "wipe", "--device", id)
      #expect(isOrdered, "\(text)")
      try await until("the device refuses") {
        !ada.events("loginFailure", "a change that was not sent").isEmpty
      }
      #expect(try await ada.count("Bookings") > 0)
      try await until("the operator sees it") {
        try await device(daemon, "ada")["pending"]?.integer == 1
      }
      let (isAgain, refusal) = try await ferry(daemon, "wipe", "--device", id)
      #expect(!isAgain && refusal.contains("--with-pending"), "\(refusal)")
      #expect(FileManager.default.fileExists(atPath: ada.database))
      #expect(try await ferry(daemon, "wipe", "--device", id, "--with-pending").0)
      try await ada.ask(#"["network"]"#)
      try await until("the data is destroyed") {
        try await device(daemon, "ada")["state"]?.string == "wiped"
      }
      #expect(!FileManager.default.fileExists(atPath: ada.database))
    }

    @Test(
      "A wipe that is killed behind any step is finished at the next start, with its receipt",
      arguments: ["mark", "key", "files", "receipt"])
    func killed(step: String) async throws {
      let business = try await Business.flights(bookings: 200)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let id = try await id(daemon, "ada")
      let backup = "\(ada.database).backup"
      try await ada.quit()
      try FileManager.default.copyItem(atPath: ada.database, toPath: backup)
      #expect(try await ferry(daemon, "wipe", "--device", id).0)
      let killed = try Phone(
        business, "ada", daemon.address, prefix: ["/usr/bin/env", "FERRY_WIPE_KILL=\(step)"])
      try killed.process.type(#"["synchronize"]"#)
      let end = try await killed.process.ended()
      #expect(end == .signal(SIGKILL))
      let again = try Phone(business, "ada", daemon.address)
      #expect(try await again.count("Bookings") == 0)
      try await until("the receipt is there") {
        try await device(daemon, "ada")["state"]?.string == "wiped"
      }
      try await until("the mark goes") {
        !FileManager.default.fileExists(atPath: "\(again.database)-wipe")
      }
      try await again.quit()
      for name in try FileManager.default.contentsOfDirectory(
        atPath: URL(fileURLWithPath: backup).deletingLastPathComponent().path)
      where name.hasPrefix("ada.db") && !name.hasSuffix(".backup") {
        let bytes = FileManager.default.contents(atPath: business.place.file(name)) ?? Data()
        #expect(bytes.range(of: Data("AG-01".utf8)) == nil, "\(name) still has rows")
      }
      guard step == "receipt" else { return }
      // The backup of the device comes back: it is wiped again.
      let old = try Phone(business, "back", daemon.address)
      try await old.quit()
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: old.database + suffix)
      }
      try FileManager.default.removeItem(atPath: old.database)
      try FileManager.default.copyItem(atPath: backup, toPath: old.database)
      let back = try Phone(business, "back", daemon.address)
      try back.process.type(#"["synchronize"]"#)
      try await until("the backup is destroyed") {
        !FileManager.default.fileExists(atPath: back.database)
      }
    }
  }
}
