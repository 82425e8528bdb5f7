import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// A device of the simulation: the very store and session that ship, over a disk that can fail.
final class SimulatedDevice {
  /// The app, or an extension of it that has the same database open.
  struct Program {
    let store: Store
    let session: Session
  }

  /// All that a copy of a device takes with it.
  struct Image {
    let disk: SimulatedDisk
    let claims: [CheckpointName: [Set<Int64>]]
  }

  let number: Int
  let user: String
  /// Rows and operations travel in sessions that the app begins.
  let isReplicationBased: Bool
  /// Batches whose upload the app was told of, and whose results no session has fetched.
  var batches: [Int64: Set<OperationID>] = [:]
  /// The operations of batches whose results a session has begun to fetch.
  var completing: [Int64: Set<OperationID>] = [:]
  let durability: Durability
  let clock: SimulatedClock
  let log: DeviceLog
  let recorder = CallbackRecorder()
  let watch: DeviceWatch
  let model: Package
  private let world: World
  private let databaseKey: DatabaseKey?
  private(set) var disk: SimulatedDisk
  private(set) var programs: [Program] = []
  /// Counts starts, so that nothing of an earlier life reaches a later one.
  private(set) var life = 0
  /// When it was last found to have a session with the server and its subscription.
  private var loggedIn: (life: Int, operations: Int)?
  /// The snapshot that is being looked at.
  private var reading: Connection?
  /// Until this step it is switched off.
  var sleepsUntil = 0
  /// The wipe that it has begun: the mark of it outlives its processes.
  var wipe: Wipe?
  /// A copy of another device that is thrown away at this step.
  var endsAt: Int?
  /// What stands on its screen, as it was when it was read.
  var held: ObjectRecord?
  /// A content that is being written, and what is to come of it.
  struct Writing {
    let writer: BigWriter
    let record: ObjectRecord
    let position: Int
    let reference: BigReference
    var rest: ArraySlice<UInt8>
  }
  var writing: Writing?
  /// Contents that its app has asked for: they end with it, as its connections do.
  var downloads: [SimulatedDownload] = []

  init(
    number: Int, user: String, isReplicationBased: Bool = false, durability: Durability,
    disk: SimulatedDisk, key: DatabaseKey?, model: Package,
    world: World, clock: SimulatedClock, log: DeviceLog
  ) {
    self.number = number
    self.user = user
    self.isReplicationBased = isReplicationBased
    self.durability = durability
    self.disk = disk
    self.model = model
    self.world = world
    self.clock = clock
    self.log = log
    databaseKey = key
    watch = DeviceWatch(number: number, trace: log.trace)
  }

  static let path = "/device.db"

  var store: Store { app.store }
  var session: Session { app.session }
  var isRunning: Bool { !programs.isEmpty }

  private var app: Program {
    guard let app = programs.first else { preconditionFailure("device \(number) is not running") }
    return app
  }

  /// Starts the app, for the first time or again. Throws where the disk fails.
  func start() throws(FerryError) {
    stop()
    life += 1
    let program = try open()
    programs = [program]
    // As the runner does: what cannot be told now is told at the next start.
    do throws(FerryError) { try program.session.tellOwed() } catch {
      log.debug("owed callbacks cannot be made", ("reason", error.description))
    }
    try program.session.tidyContents()
    try logInIfNeeded()
  }

  func stop() {
    held = nil
    writing = nil
    downloads = []
    programs = []
  }

  /// Another program opens the same database beside the app.
  func startExtension() throws(FerryError) {
    if programs.count == 1 { programs.append(try open()) }
  }

  func endExtension() { programs.removeLast(programs.count - 1) }

  private func open() throws(FerryError) -> Program {
    var sizes = ContentSizes()
    sizes.piece = MadeContents.pieceBytes
    sizes.stretch = MadeContents.stretchBytes
    let store = try Store(
      path: SimulatedDevice.path, model: model, world: world,
      durability: durability, key: databaseKey, vfs: disk.vfs, contentSizes: sizes)
    let observers = Observers()
    observers.register(recorder)
    var settings = SessionSettings()
    if isReplicationBased { settings.synchronization = .replicationBased }
    let session = Session(store: store, observers: observers, settings: settings)
    session.setBackground(true)
    return Program(store: store, session: session)
  }

  /// As apps do: the password is asked for again where the device has no session with the server,
  /// and the data where it was refused.
  func logInIfNeeded() throws(FerryError) {
    // Where it was so and nothing was written since, it is so still.
    guard !isRunning || loggedIn?.life != life || loggedIn?.operations != disk.operations else {
      return
    }
    loggedIn = nil
    let facts = try session.facts()
    if !facts.hasRefreshToken, !session.machine.hasCredentials {
      session.login(Credentials(user: user, password: "secret"))
    }
    if !facts.isSubscribed, !facts.isSubscribing { try session.subscribe() }
    if facts.hasRefreshToken, facts.isSubscribed { loggedIn = (life, disk.operations) }
  }

  /// What a backup of the device holds.
  func copy() -> Image { Image(disk: disk.copy(), claims: watch.claims) }

  /// The device goes on from a backup.
  func restore(_ image: Image) {
    stop()
    disk = image.disk.copy()
    forgetBatches()
    watch.forget()
    watch.claims = image.claims
  }

  // What it holds.

  func operations() throws(FerryError) -> [PendingOperation] {
    try sql { (connection) throws(SQLiteError) in
      try OperationTable(self.store, connection).select("ORDER BY sequence", [])
    }
  }

  func forgetBatches() { (batches, completing) = ([:], [:]) }

  func operations(ofBatch batch: Int64) throws(FerryError) -> Set<OperationID> {
    try sql { (connection) throws(SQLiteError) in
      let rows = try connection.rows(
        "SELECT operation FROM ferry_batch_member WHERE batch = ?", .integer(batch))
      return Set(rows.compactMap { $0[0].text.flatMap(OperationID.init) })
    }
  }

  /// The agencies that its saved sets of parameters choose; nil where its model has no parameters.
  func chosenAgencies() throws(FerryError) -> Set<Int64>? {
    guard !model.parameters.isEmpty else { return nil }
    let sets = try store.withSnapshot { transaction throws(FerryError) in
      try ParameterTable(transaction).sets().map(\.set)
    }
    return SimulatedBusiness.agencies(chosenBy: sets.map { $0.value(of: "agency") })
  }

  func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try sql { (connection) throws(SQLiteError) in try Settings.get(name, connection) }
  }

  /// The checkpoint of each group that the app sees; none before its first import.
  func checkpoints() throws(FerryError) -> [String: CheckpointName] {
    try sql { (connection) throws(SQLiteError) in
      var found: [String: CheckpointName] = [:]
      for row in try connection.rows(
        "SELECT grp, era, version FROM ferry_checkpoint WHERE era IS NOT NULL")
      {
        guard let group = row[0].text, let era = row[1].text, let version = row[2].integer else {
          continue
        }
        found[group] = CheckpointName(group: group, era: era, version: version)
      }
      return found
    }
  }

  func visible(_ entity: Entity) throws(FerryError) -> [VisibleRow] {
    try sql { (connection) throws(SQLiteError) in
      try self.store.rows(of: entity).visibleRows(connection, "ORDER BY _id", [])
    }
  }

  func table(_ entity: Entity) throws(FerryError) -> DeviceTable {
    DeviceTable(entity, rows: try visible(entity), images: try images(entity))
  }

  /// The downloaded image of every object by its surrogate key.
  func images(_ entity: Entity) throws(FerryError) -> [Int64: [AttributeValue]] {
    let columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
    let rows = try sql { (connection) throws(SQLiteError) in
      try connection.rows(
        """
        SELECT _id, \(columns) FROM \(quoted(entity.name)) WHERE _hash IS NOT NULL
        UNION ALL SELECT _id, \(columns) FROM \(quoted("ferry_original_\(entity.name)"))
        """)
    }
    var images: [Int64: [AttributeValue]] = [:]
    for row in rows { images[row[0].integer ?? 0] = row.dropFirst().map(SimulatedDevice.value) }
    return images
  }

  /// Every image as it travelled.
  func bodies() throws(FerryError) -> [RowName: [UInt8]] {
    var bodies: [RowName: [UInt8]] = [:]
    for entity in model.entities {
      bodies.merge(try table(entity).bodies) { $1 }
    }
    return bodies
  }

  /// How many log records it keeps for each object.
  func logRecords() throws(FerryError) -> [ObjectNumber: Int] {
    let rows = try sql { (connection) throws(SQLiteError) in
      try connection.rows(
        "SELECT entity, object, count(*) FROM ferry_log_record GROUP BY entity, object")
    }
    var counts: [ObjectNumber: Int] = [:]
    for row in rows {
      let name = ObjectNumber(entity: row[0].text ?? "", number: row[1].integer ?? 0)
      counts[name] = Int(row[2].integer ?? 0)
    }
    return counts
  }

  /// Callbacks that are owed and not made.
  func owed() throws(FerryError) -> Int64 {
    try sql { (connection) throws(SQLiteError) in
      try connection.value("SELECT count(*) FROM ferry_notice")?.integer ?? 0
    }
  }

  /// How many answers the app is still to be told.
  func owedAnswers() throws(FerryError) -> [CallbackRecorder.Owed: Int] {
    let kinds: [String: CallbackRecorder.Told.Kind] = [
      "replaySuccess": .success, "replayFailure": .failure, "replayUnknown": .unknown,
    ]
    let rows = try sql { (connection) throws(SQLiteError) in
      try connection.rows("SELECT kind, entity, count(*) FROM ferry_notice GROUP BY kind, entity")
    }
    var owed: [CallbackRecorder.Owed: Int] = [:]
    for row in rows {
      guard let kind = kinds[row[0].text ?? ""] else { continue }
      owed[CallbackRecorder.Owed(kind: kind, entity: row[1].text ?? "")] = Int(row[2].integer ?? 0)
    }
    return owed
  }

  /// All that `body` reads of the device is of one moment.
  func inOneSnapshot(_ body: () throws -> Void) throws {
    var failure: (any Error)?
    try store.read { connection throws(FerryError) in
      reading = connection
      defer { reading = nil }
      do { try body() } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func sql<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    if let reading { return try store.sql { () throws(SQLiteError) in try body(reading) } }
    return try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in try body(connection) }
    }
  }

  private static func value(_ stored: SQLiteValue) -> AttributeValue {
    switch stored {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}

/// A state of the server that a device shows of one synchronization group.
struct CheckpointName: Hashable {
  let group: String
  let era: String
  let version: Int64
  var text: String { "\(group) \(era) \(version)" }

  init(group: String, era: String, version: Int64) {
    self.group = group
    self.era = era
    self.version = version
  }

  init(_ checkpoint: Checkpoint) {
    self.init(group: checkpoint.group, era: checkpoint.era, version: checkpoint.version)
  }
}

/// An object of a device by its surrogate key.
struct ObjectNumber: Hashable {
  let entity: String
  let number: Int64
  var text: String { "\(entity) object \(number)" }
}
