import FerrySQLite
import FerryWorld

/// Remembers the ids of messages for seven days, in a file of its own beside the store.
///
/// It is written after what a message says is in the store: a crash between the two makes a repeated
/// message be looked at once more, as one that is in doubt.
actor NoticeLedger {
  private let executor: ThreadExecutor
  private let path: String
  private let world: World
  private var connection: Connection?
  private var lastCleaning: Timestamp?

  static let days: Int64 = 7

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String, world: World) {
    self.path = path
    self.world = world
    executor = ThreadExecutor(name: "ferry-notices")
  }

  private func open() throws(SQLiteError) -> Connection {
    if let connection { return connection }
    let made = try Connection(path: path, mode: .readWriteCreate, busyTimeoutMilliseconds: 10_000)
    try made.configureStore(synchronous: .normal)
    try made.execute(
      """
      CREATE TABLE IF NOT EXISTS notice (
        scope TEXT NOT NULL, id TEXT NOT NULL, day INTEGER NOT NULL, outcome TEXT NOT NULL,
        PRIMARY KEY (scope, id)) WITHOUT ROWID
      """)
    connection = made
    return made
  }

  /// The outcomes of those that are known; `scope`: whose ids they are.
  func known(_ ids: [String], scope: String) throws(SQLiteError) -> [String: String] {
    let connection = try open()
    let oldest = world.clock.now.day - NoticeLedger.days
    var found: [String: String] = [:]
    for id in ids {
      guard
        case .text(let outcome)? = try connection.value(
          "SELECT outcome FROM notice WHERE scope = ? AND id = ? AND day >= ?", .text(scope),
          .text(id), .integer(oldest))
      else { continue }
      found[id] = outcome
    }
    return found
  }

  func note(_ outcomes: [(id: String, outcome: String)], scope: String) throws(SQLiteError) {
    guard !outcomes.isEmpty else { return }
    let connection = try open()
    let day = world.clock.now.day
    try connection.transaction(.immediate) { () throws(SQLiteError) in
      for (id, outcome) in outcomes {
        try connection.run(
          "INSERT OR REPLACE INTO notice (scope, id, day, outcome) VALUES (?, ?, ?, ?)",
          .text(scope), .text(id), .integer(day), .text(outcome))
      }
    }
    try clean(connection)
  }

  private func clean(_ connection: Connection) throws(SQLiteError) {
    let now = world.clock.moment
    if let lastCleaning, now < lastCleaning.advanced(by: .seconds(3_600)) { return }
    lastCleaning = now
    try connection.run(
      "DELETE FROM notice WHERE day < ?", .integer(world.clock.now.day - NoticeLedger.days))
  }
}
