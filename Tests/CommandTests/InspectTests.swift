import Ferry
import FerryInspection
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import FerryCommand

/// A device's database with two changes that wait, one of them refused.
private final class InspectedDevice {
  static let customer = Entity(
    name: "Customer", table: "customers",
    attributes: [
      Attribute(name: "code", column: "code", type: .string, isNullable: false, maxLength: 40),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
      Attribute(name: "credit", column: "credit", type: .decimal, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "default")
  static let package = Package(
    name: "Trade", version: "1.0", entities: [customer],
    groups: [SynchronizationGroup(name: "default")])

  let folder: URL
  let store: Store

  init(key: DatabaseKey? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try Store(
      path: folder.appending(path: "device.db").path, model: InspectedDevice.package,
      world: .system(), durability: .application, key: key)
    try create("GRACE", "Grace Hopper", "1250.75")
    try refuse(
      "GRACE", message: "Customer 'Hopper' may not have 1250.75: Grace Hopper isn't known to GRACE")
  }

  /// What the app wrote itself, personalization keys, and a content on its way.
  func write(_ message: String, about key: String) throws {
    _ = try Reports(store).write(
      .warn, message, code: 7, component: "Customer", entityKey: key, operation: nil)
    let digest = String(repeating: "0f", count: 32)
    try store.write { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        try connection.run(
          "INSERT OR IGNORE INTO ferry_personalization VALUES ('region', 'Hopper Bay', 1)")
        try connection.run(
          "INSERT OR IGNORE INTO ferry_upload VALUES ('ab', 'photo', '2048:\(digest)', 0)")
      }
    }
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  var path: String { folder.appending(path: "device.db").path }

  func create(_ code: String, _ name: String, _ credit: String) throws {
    var record = ObjectRecord(InspectedDevice.customer, store: store)
    record.set(0, code)
    record.set(1, name)
    record.set(2, credit)
    _ = try PendingStore.save(try record.change(.create), in: store)
  }

  /// As an import keeps it.
  private func refuse(_ code: String, message: String) throws {
    let record = """
      {"component":"Customer","entityKey":"\\"\(code)\\"","code":412,"message":"\(message)",\
      "operation":"create","requestId":"\(String(repeating: "ab", count: 16))",\
      "timestamp":1700000000000,"level":"error","attribute":"credit","currentValue":"99.5"}
      """
    try store.write { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        try connection.run(
          "INSERT INTO ferry_log_record (entity, object, record) VALUES ('Customer', 1, ?)",
          .text(record))
      }
    }
  }
}

@Suite("ferry inspect", OwnThread())
struct InspectTests {
  /// Values of the device; none of them may be in an export that hides them. Each has a sign that
  /// neither an id in hexadecimal digits nor a number of milliseconds can have.
  private static let values = ["GRACE", "Hopper", "Grace", "1250.", "99.5"]

  @Test("The live view fits its terminal and shows nothing that moves the cursor")
  func fits() throws {
    let device = try InspectedDevice()
    try device.create("EVIL", "\u{1B}[2J\u{202E}" + String(repeating: "漢字", count: 60), "1")
    for number in 0..<40 { try device.create("C\(number)", "name", "1") }
    let inspection = try DeviceFile(path: device.path).inspection(limit: InspectScreen.limit)
    for (width, height) in [(80, 24), (40, 12), (200, 50), (20, 5)] {
      let screen = InspectScreen(
        name: "device.db", width: width, height: height, now: 1_700_000_060_000)
      let lines = screen.lines(inspection)
      #expect(lines.count <= height)
      for line in lines {
        #expect(InspectScreen.columns(of: line) <= width, "\(line)")
        #expect(!line.contains("\u{1B}") && !line.contains("\u{202E}"))
      }
    }
    let text = InspectScreen(name: "d", width: 80, height: 24, now: 1_700_000_060_000)
      .lines(inspection).joined(separator: "\n")
    for expected in [
      "Trade:1.0", "not subscribed", "Customer 42 (42 pending)", "pending operations: 42",
      "log records: 1", "60 s  error 412  create Customer",
    ] { #expect(text.contains(expected), "\(expected)") }
  }

  @Test(
    "In a terminal it is a live view that follows the app, and q gives the terminal back",
    .reference("facts/5.15")
  )
  func live() throws {
    for key in ["q", "\u{3}"] {
      let device = try InspectedDevice()
      let terminal = try PseudoTerminal(columns: 80, lines: 24)
      let process = try terminal.run(["inspect", device.path])
      try terminal.wait(for: "pending operations: 1")
      try device.create("ADA", "Ada", "7")
      try terminal.wait(for: "pending operations: 2")
      #expect(try !terminal.echoes())
      try terminal.type(key)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
      #expect(try terminal.echoes())
      try terminal.wait(for: "\u{1B}[?25h\u{1B}[?1049l")
    }
  }

  @Test("A device whose login ended says that somebody must log in; one with no partition says why")
  func silent() throws {
    let device = try InspectedDevice()
    func set(_ settings: [Settings.Name: String]) throws {
      try device.store.write { connection throws(FerryError) in
        try device.store.sql { () throws(SQLiteError) in
          for (name, value) in settings { try Settings.set(name, value, connection) }
        }
      }
    }
    try set([.user: "nancy", .subscribed: "yes"])
    #expect(
      try FerryProgram.run(["inspect", device.path]).said.contains("nancy, must log in again"))
    try set([.refreshToken: "r"])
    try device.store.write { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.run(
          "INSERT OR REPLACE INTO ferry_checkpoint (grp, era, version) VALUES ('default', 'e', 1)")
      }
    }
    let said = try FerryProgram.run(["inspect", device.path]).said
    #expect(said.contains("user    nancy\n"))
    #expect(said.contains("none: this user gets no rows. Look at the user's claims"))
    let screen = InspectScreen(name: "d", width: 80, height: 24, now: 0)
      .lines(try DeviceFile(path: device.path).inspection(limit: 10)).joined(separator: "\n")
    #expect(screen.contains("no partitions: look at the user's claims"))
  }

  @Test("A signal ends the live view and gives the terminal back")
  func terminated() throws {
    let device = try InspectedDevice()
    let terminal = try PseudoTerminal(columns: 80, lines: 24)
    let process = try terminal.run(["inspect", device.path])
    try terminal.wait(for: "pending operations: 1")
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
    #expect(try terminal.echoes())
  }

  @Test("Elsewhere it prints once, in words or as JSON")
  func once() throws {
    let device = try InspectedDevice()
    let text = try FerryProgram.run(["inspect", device.path])
    #expect(text.code == 0)
    #expect(text.said.contains("create Customer \"GRACE\"  waiting"))
    let json = try FerryProgram.run(["inspect", device.path, "--json"])
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(json.said.utf8)) as? [String: Any])
    #expect((read["operations"] as? [Any])?.count == 1)
    #expect(read["subscription"] as? String == "not subscribed")
    #expect(read["mustLogIn"] as? Bool == true)
  }

  @Test("An export tells of values only types and lengths, also where a message quotes them")
  func hidden() throws {
    let device = try InspectedDevice()
    let out = device.folder.appending(path: "support.json").path
    let said = try FerryProgram.run(["inspect", device.path, "--export", out])
    #expect(said.code == 0)
    let text = try String(contentsOfFile: out, encoding: .utf8)
    for value in InspectTests.values { #expect(!text.contains(value), "\(value)") }
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(read["format"] as? String == "ferry device export")
    #expect(read["version"] as? Int == 1)
    #expect(read["values"] as? String == "hidden")
    let operation = try #require((read["operations"] as? [[String: Any]])?.first)
    #expect(operation["entity"] as? String == "Customer")
    #expect(operation["state"] as? String == "waiting")
    let changed = try #require(operation["changed"] as? [String: [String: Any]])
    #expect(changed["credit"]?["type"] as? String == "decimal")
    #expect(changed["credit"]?["length"] as? Int == 7)
    let record = try #require((read["logRecords"] as? [[String: Any]])?.first)
    #expect(
      record["message"] as? String
        == "Customer '<6 characters>' may not have <7 characters>: "
        + "<12 characters> isn't known to <5 characters>")
    #expect(record["code"] as? Int == 412)
    let mode = try FileManager.default.attributesOfItem(atPath: out)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("An export has what the app wrote itself, uploads and personalization, values hidden")
  func whole() throws {
    let device = try InspectedDevice()
    try device.write("Grace Hopper did not sign", about: "\"GRACE\"")
    try device.write("nobody at ADA's door", about: "\"ADA\"")
    for isShown in [false, true] {
      let out = device.folder.appending(path: "support-\(isShown).json").path
      let words = ["inspect", device.path, "--export", out] + (isShown ? ["--values"] : [])
      #expect(try FerryProgram.run(words).code == 0)
      let read = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: out)))
          as? [String: Any])
      let records = try #require(read["appLogRecords"] as? [[String: Any]])
      #expect(
        records.map { $0["message"] as? String }
          == (isShown
            ? ["Grace Hopper did not sign", "nobody at ADA's door"]
            : ["<12 characters> did not sign", "<20 characters>"]))
      let key = try #require((read["personalization"] as? [[String: Any]])?.first)
      #expect(key["name"] as? String == "region" && key["isSent"] as? Bool == false)
      #expect((key["value"] as? String) == (isShown ? "Hopper Bay" : nil))
      #expect(isShown || (key["value"] as? [String: Any])?["length"] as? Int == 10)
      let upload = try #require((read["uploads"] as? [[String: Any]])?.first)
      #expect(upload["attribute"] as? String == "photo" && upload["bytes"] as? Int == 2_048)
    }
    let inspection = try DeviceFile(path: device.path).inspection(limit: InspectScreen.limit)
    let text = InspectScreen(name: "d", width: 100, height: 24, now: 1_700_000_060_000)
      .lines(inspection).joined(separator: "\n")
    #expect(text.contains("pending operations: 1, 1 contents of 2048 bytes to upload"))
    #expect(text.contains("log records: 1, 2 of the app not sent"))
  }

  @Test("An export with --values shows them, and a file that is there is kept")
  func shown() throws {
    let device = try InspectedDevice()
    let out = device.folder.appending(path: "support.json").path
    let words = ["inspect", device.path, "--export", out, "--values"]
    #expect(try FerryProgram.run(words).code == 0)
    let text = try String(contentsOfFile: out, encoding: .utf8)
    for value in InspectTests.values { #expect(text.contains(value), "\(value)") }
    let again = try FerryProgram.run(["inspect", device.path, "--export", out])
    #expect(again.code == 1)
    #expect(again.said.contains("\(out) already exists and was not changed. Name another file."))
    #expect(try String(contentsOfFile: out, encoding: .utf8) == text)
    #expect(try FerryProgram.run(["inspect", device.path, "--values"]).code == 2)
    #expect(try FerryProgram.run(["inspect", device.path, "--export", "x", "--json"]).code == 2)
  }

  @Test("A sealed database opens with its key from a file or the environment, and no other way")
  func sealed() throws {
    let key = DatabaseKey.random()
    let device = try InspectedDevice(key: key)
    let bytes = try #require(key.bytes)
    let digits = bytes.map { String(format: "%02x", $0) }.joined()
    let file = device.folder.appending(path: "key").path
    try Data(bytes).write(to: URL(filePath: file))
    let without = try FerryProgram.run(["inspect", device.path])
    #expect(without.code == 1 && without.said.contains("sealed"))
    #expect(try FerryProgram.run(["inspect", device.path, "--key-file", file]).code == 0)
    #expect(
      try FerryProgram.run(["inspect", device.path], ["FERRY_DATABASE_KEY": digits]).code == 0)
    try Data("\(digits)\n".utf8).write(to: URL(filePath: file))
    let why = ["why", "Customer", "GRACE", "--device", device.path, "--key-file", file]
    #expect(try FerryProgram.run(why).code == 0)
    let wrong = try FerryProgram.run(
      ["inspect", device.path], ["FERRY_DATABASE_PASSPHRASE": "guess"])
    #expect(wrong.code == 1)
    try Data("short".utf8).write(to: URL(filePath: file))
    #expect(try FerryProgram.run(["inspect", device.path, "--key-file", file]).code == 2)
  }

  @Test("ferry why shows similar keys where there is no such object")
  func similarKeys() throws {
    let device = try InspectedDevice()
    let why = ["why", "Customer", "GRACY", "--device", device.path]
    let end = try FerryProgram.run(why)
    #expect(end.code == 1 && end.said.contains("\nsimilar    \"GRACE\"\n"), "\(end.said)")
    let json = try FerryProgram.run(why + ["--json"])
    #expect(json.said.contains(#""similar":["\"GRACE\""]"#), "\(json.said)")
    let far = try FerryProgram.run(["why", "Customer", "ZZZZZ", "--device", device.path])
    #expect(far.code == 1 && !far.said.contains("similar"), "\(far.said)")
  }

  @Test("ferry why says that a key is a number, where a word was typed")
  func keyOfAnotherType() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let invoice = Entity(
      name: "Invoice", table: "invoices",
      attributes: [Attribute(name: "number", column: "number", type: .long, isNullable: false)],
      key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
      partition: nil, group: "default")
    let package = Package(
      name: "Trade", version: "1.0", entities: [invoice],
      groups: [SynchronizationGroup(name: "default")])
    let path = folder.appending(path: "device.db").path
    let store = try Store(path: path, model: package, world: .system(), durability: .application)
    defer { store.close() }
    let word = try FerryProgram.run(["why", "Invoice", "abc", "--device", path])
    #expect(word.code == 1 && word.said.contains("number is a number"), "\(word.said)")
    let number = try FerryProgram.run(["why", "Invoice", "7", "--device", path])
    #expect(number.code == 1 && number.said.contains("Nothing was imported yet"))
    let entity = try FerryProgram.run(["why", "Invoise", "7", "--device", path])
    #expect(entity.code == 1 && entity.said.contains("\nsimilar    Invoice\n"), "\(entity.said)")
  }

  @Test("What is no device's database is told from one that is not there")
  func others() throws {
    let device = try InspectedDevice()
    let missing = try FerryProgram.run(["inspect", "/nowhere/device.db"])
    #expect(missing.code == 1 && missing.said.contains("there is no database at /nowhere"))
    let other = device.folder.appending(path: "other.db").path
    try Connection(path: other).execute("CREATE TABLE t (a)")
    let foreign = try FerryProgram.run(["inspect", other])
    #expect(foreign.code == 1 && foreign.said.contains("not a device's database"))
  }
}
