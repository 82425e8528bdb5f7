import FerryJSON
import FerryModel
import FerrySQLite
import FerryStage
import Foundation

/// A fault on purpose, to see that the rounds find it.
enum KillPlant: String, CaseIterable {
  /// The server keeps no record of what it performed in the business database.
  case forgottenOperations
  /// That record is emptied whenever the server starts.
  case emptiedRecord
  /// A device that is killed loses what it saved since its first import.
  case lostSaves
  /// A device loses what it saves of an object after the app took something of it back.
  case lostAfterCancel
  /// The business database performs the statements of one change of a note in seven twice.
  case doubledUpdates
  /// The app is told that what was refused was accepted, too.
  case wrongWord
}

/// The business database, the server and two devices of a run, raised again when they were killed.
final class KillHouse {
  let stage: Stage
  let reaper = Reaper()
  let package: Package
  let business: BusinessConnection
  let agencies: [String: [String]]
  /// The devices, each named like its user.
  let names: [String]
  private let database: BusinessDatabase
  private var devices: [String: Device] = [:]
  private var heard: [String: [JSONNode]] = [:]
  private var raised: [String: Int] = [:]
  /// Whoever may be killed.
  let victims: [String]
  var restarts: Int { raised.values.reduce(0, +) }
  let plant: KillPlant?
  private var last = Mark()

  init(
    _ stage: Stage, _ database: BusinessDatabase, plant: KillPlant?, postgreSQLLine: String?
  ) throws {
    self.stage = stage
    self.plant = plant
    if plant == .forgottenOperations { stage.serverOptions = ["--forget-operations"] }
    self.database = database
    _ = try database.makeSample(stage, rows: "600")
    package = try stage.makeModel(
      of: database, ["--partition", "Bookings=AgencyID:claim:agency"]
    ).0
    business = try database.open(writes: true)
    try AuditTrail.make(in: database, business)
    if case .postgreSQL = database, plant != .forgottenOperations {
      _ = try database.prepare(stage)
    }
    if plant == .doubledUpdates { try business.execute(KillHouse.doubled(database)) }
    let all = try business.texts(#"SELECT "AgencyID" FROM "Agencies" ORDER BY 1"#)
      .compactMap { $0[0] }
    agencies = ["ada": Array(all.prefix(1)), "dora": all]
    names = agencies.keys.sorted()
    victims = ["ferryd"] + names + (postgreSQLLine == nil ? [] : ["postgres"])
    if let postgreSQLLine { reaper.watch("postgres", line: postgreSQLLine) }
    try stage.writeUsers(names.map { ($0, agencies[$0] ?? []) })
    stage.hasStarted = { [reaper] child in
      reaper.watch(child.name.hasPrefix("ferryd") ? "ferryd" : child.name, child.processID)
    }
    _ = try stage.startServer(database)
    for name in names { try begin(name) }
  }

  private static func doubled(_ database: BusinessDatabase) -> String {
    switch database {
    case .sqlite:
      """
      CREATE TRIGGER Again AFTER UPDATE OF Note ON Bookings WHEN NEW.BookingID % 7 = 0 BEGIN
        UPDATE Bookings SET Note = NEW.Note WHERE BookingID = NEW.BookingID;
      END
      """
    case .postgreSQL:
      """
      CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF pg_trigger_depth() = 1 THEN
          UPDATE "Bookings" SET "Note" = NEW."Note" WHERE "BookingID" = NEW."BookingID";
        END IF;
        RETURN NULL;
      END
      $$;
      CREATE TRIGGER again AFTER UPDATE OF "Note" ON "Bookings" FOR EACH ROW
        WHEN (NEW."BookingID" % 7 = 0) EXECUTE FUNCTION again()
      """
    }
  }

  private func emptyRecord() throws {
    switch database {
    case .sqlite: try business.execute("DELETE FROM ferry_applied")
    case .postgreSQL: try business.execute("DELETE FROM ferry.applied")
    }
  }

  private func begin(_ name: String) throws {
    let device = try stage.startDevice(name, user: name, package)
    devices[name] = device
    try device.login()
    try device.subscribe()
    try device.start()
    var missing = Set(package.groups.map(\.name))
    while !missing.isEmpty {
      let event = try device.anyEvent("the first import")
      if event["event"]?.string == "importSuccess" { missing.remove(event["group"]?.string ?? "") }
    }
    if plant == .lostSaves {
      let file = try Connection(path: stage.path("\(name).device"), mode: .readOnly)
      try file.addCollation("ferry_decimal") { DecimalText.compare($0, $1) }
      try file.run("VACUUM INTO ?", .text(stage.path("\(name).first")))
    }
  }

  /// The device, started again if it was killed.
  func device(_ name: String) throws -> Device {
    if let device = devices[name], device.isRunning { return device }
    if let gone = devices[name] { keep(name, gone) }
    if plant == .lostSaves { try loseSaves(name) }
    let device = try stage.startDevice(name, user: name, package)
    devices[name] = device
    raised[name, default: 0] += 1
    try device.start()
    return device
  }

  /// Puts the device's file back to what it was after the first import: who it is stays.
  private func loseSaves(_ name: String) throws {
    let files = FileManager.default
    let path = stage.path("\(name).device")
    for file in [path, path + "-wal", path + "-shm"] where files.fileExists(atPath: file) {
      try files.removeItem(atPath: file)
    }
    try files.copyItem(atPath: stage.path("\(name).first"), toPath: path)
  }

  /// Asks a device, and once more if it was killed just before.
  func ask<Answer>(_ name: String, _ question: (Device) throws -> Answer) throws -> Answer {
    let device = try device(name)
    do { return try question(device) } catch {
      guard device.isGone(within: 30) else { throw error }
      return try question(try self.device(name))
    }
  }

  /// Processes that ended more often than they were killed.
  func crashed(_ kills: [String]) -> [String] {
    (["ferryd"] + names).compactMap { name in
      let deaths = raised[name] ?? 0
      let wanted = kills.filter { $0 == name }.count
      return deaths > wanted ? "\(name) was killed \(wanted) times and ended \(deaths) times" : nil
    }
  }

  /// The server, started again if it was killed and it is its time.
  func raiseServer(perhaps: Bool) throws {
    guard perhaps, !stage.isServerRunning else { return }
    if plant == .emptiedRecord { try emptyRecord() }
    for attempt in 1...5 {
      // A server that finds no business database at its start ends, as it should.
      _ = try business.texts("SELECT 1")
      raised["ferryd", default: 0] += 1
      do {
        _ = try stage.startServer(database)
        return
      } catch {
        let isAlone = ["cannot be reached", "could not do it now"].contains {
          "\(error)".contains($0)
        }
        if isAlone, victims.contains("postgres") { raised["ferryd", default: 0] -= 1 }
        // Killed while it started, as may be; any other reason stays and is thrown.
        if attempt == 5 { throw error }
      }
    }
  }

  func forgetEnded() { stage.forgetEnded() }

  // What was told.

  private func keep(_ name: String, _ device: Device) {
    heard[name, default: []] += device.takeEvents()
  }

  /// The answers that the app was told since they were last forgotten.
  func told(_ name: String) -> [KillCallbacks.Word] {
    if let device = devices[name] { keep(name, device) }
    let words = (heard[name] ?? []).compactMap { event -> KillCallbacks.Word? in
      guard let outcome = event["event"]?.string, outcome.hasPrefix("replay"),
        let kind = event["operation"]?.string.flatMap(OperationKind.init(rawValue:))
      else { return nil }
      return KillCallbacks.Word(
        isAccepted: outcome == "replaySuccess", kind: kind,
        keys: [event["key"]?.string, event["newKey"]?.string].compactMap { $0 })
    }
    guard plant == .wrongWord else { return words }
    return words
      + words.filter { !$0.isAccepted }.map {
        KillCallbacks.Word(isAccepted: true, kind: $0.kind, keys: $0.keys)
      }
  }

  func forgetEvents() { heard = [:] }

  // What the server keeps.

  private func store() throws -> Connection {
    try Connection(path: stage.path("data/server.sqlite"), mode: .readOnly)
  }

  func lastOperation() throws -> Int64 {
    try store().value("SELECT max(sequence) FROM operation")?.integer ?? 0
  }

  /// Whether the server cannot say how an operation has ended.
  func isUnknown(_ name: String, _ id: String) throws -> Bool {
    try store().value(
      """
      SELECT 1 FROM operation
      WHERE user = ? AND id = ? AND outcome = 'unknown' AND state <> 'claimed'
      """, .text(name), .text(id)) != nil
  }

  func answers(
    _ name: String, after sequence: Int64, until last: Int64 = .max
  ) throws -> [KillCallbacks.Word] {
    try store().rows(
      """
      SELECT outcome, kind, object_key, new_key FROM operation
      WHERE user = ? AND sequence > ? AND sequence <= ?
        AND outcome IN ('replayResult', 'replayFailed')
      """, [.text(name), .integer(sequence), .integer(last)]
    ).map { row in
      guard let kind = OperationKind(rawValue: row[1].text ?? "") else {
        throw StageFailure("the server's store has an operation of no known kind: \(row[1])")
      }
      return KillCallbacks.Word(
        isAccepted: row[0].text == "replayResult", kind: kind,
        keys: [row[2].text, row[3].text].compactMap { $0 })
    }
  }

  /// The beginning of a round.
  struct Mark {
    var operation: Int64 = 0
    var starts: [String: Int] = [:]
  }

  /// A round begins; gives the beginning of the round before.
  func mark(_ operation: Int64) -> Mark {
    defer { last = Mark(operation: operation, starts: raised) }
    return last
  }

  func starts(_ name: String) -> Int { raised[name] ?? 0 }

  func shownPending() throws -> String {
    try names.map { name in
      let states = try device(name).pending().map {
        "\($0["kind"]?.string ?? "") \($0["key"]?.string ?? "") \($0["state"]?.string ?? "")"
      }
      return "\(name): \(states.joined(separator: ", "))"
    }.joined(separator: "; ")
  }

  /// Business database, server and devices, row by row, and the health of their files.
  func differences() throws -> [String] {
    let comparison = Comparison(
      package: package, database: database, store: stage.path("data/server.sqlite"),
      devices: try names.map(device)
    ) { [agencies] device, entity, values in
      guard entity.name == "Bookings", let column = entity.position(of: "agencyID"),
        case .text(let agency) = values[column]
      else { return true }
      return agencies[device.name]?.contains(agency) ?? false
    }
    var found = try comparison.settled().flatMap(\.differences)
    if let damage = try business.damage() { found.append("the business database: \(damage)") }
    for file in [stage.path("data/server.sqlite")] + names.map({ stage.path("\($0).device") }) {
      let connection = try Connection(path: file, mode: .readOnly, busyTimeoutMilliseconds: 300_000)
      if let damage = try BusinessConnection(connection: connection).damage() {
        found.append("\(file): \(damage)")
      }
    }
    return found
  }
}
