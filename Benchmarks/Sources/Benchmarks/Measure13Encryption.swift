import FerrySQLite

extension Measure {
  /// A sealed database against a plain one: the same statements, through the same type of connection.
  static let encryption = Measure(number: 13, name: "encryption at rest") { setting in
    var times: [SealedRun: (plain: [Double], sealed: [Double])] = [:]
    for round in setting.eachRound() {
      let paths = ["plain", "sealed"].map { setting.path("\($0)-\(round).db") }
      let plain = try SealedRun.prepare(Connection(path: paths[0]))
      let sealed = try SealedRun.prepare(Connection(path: paths[1], key: DatabaseKey.random()))
      for run in SealedRun.allCases {
        for turn in 0..<run.turns {
          // Side by side and by turns: what else the machine does hits both.
          if (round + turn) % 2 == 0 {
            times[run, default: ([], [])].plain.append(try run.take(plain, turn, setting))
            times[run, default: ([], [])].sealed.append(try run.take(sealed, turn, setting))
          } else {
            times[run, default: ([], [])].sealed.append(try run.take(sealed, turn, setting))
            times[run, default: ([], [])].plain.append(try run.take(plain, turn, setting))
          }
        }
      }
      for path in paths { setting.remove(path) }
    }
    return SealedRun.allCases.map { run in
      Figure(
        13, run.rawValue, n: run.count(setting), unit: "seconds",
        ours: median(times[run]?.sealed ?? []), limit: median(times[run]?.plain ?? []),
        of: "the same, not sealed", aim: run.aim.map { .ratioAtMost($0) } ?? .none)
    }
  }
}

/// What is done to both databases.
private enum SealedRun: String, CaseIterable {
  case insert = "sealed insert, one transaction and its checkpoint"
  case scan = "sealed full scan, cache of 2 MB"
  case reads = "sealed random reads by key, cache of 2 MB"
  case transactions = "sealed one-row transactions"

  func count(_ setting: Setting) -> Int {
    switch self {
    case .insert, .scan: setting.n(1_000_000, quick: 10_000)
    case .reads: setting.n(200_000, quick: 2_000)
    case .transactions: setting.n(5_000, quick: 50)
    }
  }

  /// What was promised for the first two.
  var aim: Double? {
    switch self {
    case .insert: 1.2
    case .scan: 1.3
    case .reads, .transactions: nil
    }
  }

  /// How often it is done to a database of a round.
  var turns: Int { self == .insert ? 1 : 5 }

  static func prepare(_ connection: Connection) throws -> Connection {
    try connection.configureStore(synchronous: .normal)
    try connection.execute(
      """
      PRAGMA cache_size = -2000;
      CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, x REAL, y REAL,
        name TEXT, city TEXT, note TEXT, code TEXT)
      """)
    return connection
  }

  /// Seconds of one turn.
  func take(_ connection: Connection, _ turn: Int, _ setting: Setting) throws -> Double {
    let count = count(setting)
    let first = Int64(SealedRun.insert.count(setting))
    return try seconds {
      switch self {
      case .insert:
        try SealedRun.insert(connection, 1...Int64(count))
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      case .scan:
        let row = try connection.row("SELECT sum(a + b), total(x), sum(length(note)) FROM item")
        precondition(row?.count == 3, "the scan gives one row")
      case .reads:
        let statement = try connection.statement("SELECT name, x FROM item WHERE id = ?")
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<count {
          state ^= state << 13
          state ^= state >> 7
          state ^= state << 17
          statement.reset()
          try statement.bind(Int64(state % UInt64(first)) + 1, at: 0)
          _ = try statement.step()
        }
        statement.reset()
      case .transactions:
        let next = first + Int64(turn * count) + 1
        for id in next..<(next + Int64(count)) { try SealedRun.insert(connection, id...id) }
      }
    }
  }

  private static func insert(_ connection: Connection, _ ids: ClosedRange<Int64>) throws {
    try connection.transaction { () throws(SQLiteError) in
      let statement = try connection.statement("INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?)")
      for id in ids {
        statement.reset()
        try statement.bind(id, at: 0)
        try statement.bind(id &* 31 % 1_000, at: 1)
        try statement.bind(id &* 17 % 50_000, at: 2)
        try statement.bind(id % 7, at: 3)
        try statement.bind(.real(Double(id) * 0.25), at: 4)
        try statement.bind(.real(Double(id % 360)), at: 5)
        try statement.bind(.text("Alfreds Futterkiste"), at: 6)
        try statement.bind(.text("Berlin"), at: 7)
        try statement.bind(.text("a note of about forty letters, or so"), at: 8)
        try statement.bind(.text("A-17"), at: 9)
        _ = try statement.step()
      }
      statement.reset()
    }
  }
}
