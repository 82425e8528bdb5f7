import FerrySQLite

/// Something an app does to a database, with the moments at which it may believe that it is done.
struct Workload: Sendable {
  struct Session {
    let vfs: String
    let mode: CrashMatrix.Mode
    /// Opens the database, in the mode of the matrix.
    let open: (DatabaseKey?) throws -> Connection
    /// The app was told that everything so far is saved.
    let told: (Connection) throws -> Void
  }

  let name: String
  var startsPlain = false
  /// The keys that may open what is left; nil is none.
  var keys: [DatabaseKey?] = [CrashMatrix.key]
  /// What is there before faults begin; nil for an empty disk.
  var before: (@Sendable (Connection) throws -> Void)?
  let run: @Sendable (Session) throws -> Void

  static let all: [Workload] = [
    bulkInsert, smallTransactions, vacuum, checkpoint, largeRollback, keyChange, sealing, unsealing,
  ]

  /// Rows that are there before faults begin.
  private static func filled(_ rows: Int) -> @Sendable (Connection) throws -> Void {
    { try $0.fill(1...rows) }
  }

  static let bulkInsert = Workload(name: "bulk insert into a new database") { session in
    let connection = try session.open(CrashMatrix.key)
    try connection.execute("CREATE TABLE visit (id INTEGER PRIMARY KEY, note TEXT, place TEXT)")
    try session.told(connection)
    try connection.fill(1...400)
    try session.told(connection)
    try connection.execute("CREATE INDEX by_note ON visit (note)")
    try session.told(connection)
  }

  static let smallTransactions = Workload(name: "many small transactions", before: filled(20)) {
    session in
    let connection = try session.open(CrashMatrix.key)
    for row in 1...30 {
      if row % 4 == 0 {
        try connection.execute("DELETE FROM visit WHERE id = \(row / 2)")
      } else {
        try connection.execute("INSERT INTO visit VALUES (\(100 + row), 'small \(row)', 'here')")
      }
      try session.told(connection)
    }
  }

  static let vacuum = Workload(name: "VACUUM", before: filled(300)) { session in
    let connection = try session.open(CrashMatrix.key)
    try connection.execute("DELETE FROM visit WHERE id % 3 > 0")
    try session.told(connection)
    try connection.execute("VACUUM")
    try session.told(connection)
    try connection.execute("INSERT INTO visit VALUES (1000, 'after', 'there')")
    try session.told(connection)
  }

  static let checkpoint = Workload(name: "checkpoints", before: filled(160)) { session in
    let connection = try session.open(CrashMatrix.key)
    for (round, kind) in [
      "PASSIVE", "FULL", "RESTART", "TRUNCATE", "PASSIVE", "TRUNCATE", "RESTART", "FULL",
    ].enumerated() {
      try connection.execute("UPDATE visit SET note = 'round \(round)' WHERE id % 3 = \(round % 3)")
      try session.told(connection)
      try connection.execute("PRAGMA wal_checkpoint(\(kind))")
      try session.told(connection)
    }
  }

  static let largeRollback = Workload(name: "rollback of a large transaction", before: filled(300))
  {
    session in
    let connection = try session.open(CrashMatrix.key)
    try connection.execute("INSERT INTO visit VALUES (998, 'before', 'there')")
    try session.told(connection)
    // A reader with an older snapshot keeps a log from beginning anew.
    let reader = session.mode == .log ? try session.open(CrashMatrix.key) : nil
    try reader?.execute("BEGIN; SELECT count(*) FROM visit")
    try connection.execute("INSERT INTO visit VALUES (999, 'before', 'there')")
    try session.told(connection)
    try connection.execute("BEGIN; UPDATE visit SET note = note || ' changed'; SAVEPOINT inner")
    try connection.execute("DELETE FROM visit WHERE id > 20; ROLLBACK TO inner; ROLLBACK")
    try session.told(connection)
    // In a log, what was spilled stays behind the end, is synced now, and is written over later.
    try connection.execute("PRAGMA wal_checkpoint(PASSIVE); UPDATE visit SET note = 'all'")
    try session.told(connection)
    try reader?.execute("COMMIT")
    try connection.execute("INSERT INTO visit VALUES (1000, 'after', 'there')")
    try session.told(connection)
    try connection.execute("BEGIN; UPDATE visit SET place = note; ROLLBACK")
    try session.told(connection)
  }

  static let keyChange = Workload(
    name: "change of the key", keys: [CrashMatrix.key, CrashMatrix.other], before: filled(260)
  ) { session in
    try Connection.changeKey(
      path: CrashMatrix.path, from: CrashMatrix.key, to: CrashMatrix.other, vfs: session.vfs)
    let connection = try session.open(CrashMatrix.other)
    try session.told(connection)
    try connection.execute("INSERT INTO visit VALUES (1000, 'after', 'there')")
    try session.told(connection)
  }

  static let sealing = Workload(
    name: "sealing a plain database", startsPlain: true, keys: [CrashMatrix.key, nil],
    before: filled(260)
  ) { session in
    try Connection.seal(path: CrashMatrix.path, key: CrashMatrix.key, vfs: session.vfs)
    try session.told(session.open(CrashMatrix.key))
  }

  static let unsealing = Workload(
    name: "unsealing", keys: [CrashMatrix.key, nil], before: filled(260)
  ) { session in
    try Connection.unseal(path: CrashMatrix.path, key: CrashMatrix.key, vfs: session.vfs)
    try session.told(session.open(nil))
  }
}
