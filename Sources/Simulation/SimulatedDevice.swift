import Ferry
import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Synchronization

/// A device of the simulation: the very store and session that ship, over a file in a folder.
final class SimulatedDevice {
  let number: Int
  let user: String
  let agencies: [Int64]
  let path: String
  private let world: World
  private let databaseKey: DatabaseKey?
  private(set) var store: Store
  private(set) var session: Session
  /// Counts starts, so that nothing of an earlier life reaches a later one.
  private(set) var life = 0
  let callbacks: CallbackCounter

  init(
    number: Int, user: String, agencies: [Int64], path: String, key: DatabaseKey?, world: World
  )
    throws
  {
    self.number = number
    self.user = user
    self.agencies = agencies
    self.path = path
    self.world = world
    databaseKey = key
    callbacks = CallbackCounter()
    (store, session) = try SimulatedDevice.open(path, key, world, callbacks)
    try loginIfNeeded()
    try session.subscribe()
  }

  private static func open(
    _ path: String, _ key: DatabaseKey?, _ world: World, _ callbacks: CallbackCounter
  ) throws
    -> (Store, Session)
  {
    let store = try Store(
      path: path, model: SimulatedBusiness.package, world: world, durability: .application, key: key
    )
    let observers = Observers()
    observers.register(callbacks)
    let session = Session(store: store, observers: observers, settings: SessionSettings())
    session.setBackground(true)
    try session.tellOwed()
    return (store, session)
  }

  func restart() throws {
    life += 1
    (store, session) = try SimulatedDevice.open(path, databaseKey, world, callbacks)
    try loginIfNeeded()
    try session.subscribe()
  }

  /// The password is asked for again where the app ended before the server had answered.
  private func loginIfNeeded() throws {
    guard try !session.facts().hasRefreshToken else { return }
    session.login(Credentials(user: user, password: "secret"))
  }

  func records(_ entity: Entity) throws -> [Record] {
    try store.records(entity, "ORDER BY _id", [])
  }

  func operations() throws -> [PendingOperation] {
    try sql { (connection) throws(SQLiteError) in
      try self.store.operations.select("ORDER BY sequence", [], connection)
    }
  }

  /// The checkpoint that the app sees; nil before the first import.
  func checkpoint() throws -> Int64? {
    try sql { (connection) throws(SQLiteError) in
      try connection.value("SELECT version FROM ferry_checkpoint WHERE era IS NOT NULL")?.integer
    }
  }

  /// The downloaded image of every object, as it travels.
  func images(_ entity: Entity) throws -> [Key: [UInt8]] {
    let columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
    let rows = try sql { (connection) throws(SQLiteError) in
      try connection.rows(
        """
        SELECT \(columns) FROM \(quoted(entity.name)) WHERE _hash IS NOT NULL
        UNION ALL SELECT \(columns) FROM \(quoted("ferry_original_\(entity.name)"))
        """)
    }
    var images: [Key: [UInt8]] = [:]
    for row in rows {
      let values = row.map(SimulatedDevice.value)
      images[entity.key(of: values)] = RowCoder.encode(values)
    }
    return images
  }

  /// Everything that must be the same after a restart.
  func state() throws -> String {
    var lines = try SimulatedBusiness.package.entities.flatMap { entity in
      try records(entity).map {
        "\(entity.name) \($0.values.map(\.shown)) \($0.pending.rawValue) \($0.failed)"
      }
    }
    lines += try operations().map { operation in
      let values = { (values: [Int: Value]) in
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.shown)" }
      }
      return "\(operation.sequence) \(operation.id) \(operation.kind) \(operation.key) "
        + "\(operation.state) \(operation.isWanted) \(values(operation.changed)) "
        + "\(values(operation.base))"
    }
    return lines.joined(separator: "\n")
  }

  private func sql<Result>(_ body: (Connection) throws(SQLiteError) -> Result) throws -> Result {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in try body(connection) }
    }
  }

  private static func value(_ stored: SQLiteValue) -> Value {
    switch stored {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}

/// Counts what the app was told.
final class CallbackCounter: CallbackHandler {
  private let counts = Mutex<[String: Int]>([:])

  func count(of name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
  private func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

  func onImportSuccess(group: String) { add("import") }
  func onReplaySuccess(_ object: ReplayedObject) { add("success") }
  func onReplayFailure(_ object: ReplayedObject) { add("failure") }
  func onReplayUnknown(_ object: ReplayedObject) { add("unknown") }
}
