import FerryCrypto
import FerryFaultVFS
import FerrySQLite

/// Runs a workload on a disk that remembers every operation, lets a crash come at each of them, and
/// checks what is left; and runs it again for each operation with that operation failing.
struct CrashMatrix {
  enum Mode: String, CaseIterable, Sendable {
    case log = "WAL"
    case delete = "DELETE"
    case persist = "PERSIST"

    /// What makes a commit survive the loss of power. In rollback mode the end of the journal must
    /// be synced too.
    var synchronous: String { self == .log ? "FULL" : "EXTRA" }
  }

  struct Report: Sendable {
    let workload: String
    let mode: Mode
    /// Operations at which a fault was tried.
    var points = 0
    var crashes = 0
    var failures: [String] = []
    var kinds: [FaultDisk.Operation: Int] = [:]

    mutating func add(_ other: Report) {
      points += other.points
      crashes += other.crashes
      failures += other.failures
      kinds.merge(other.kinds) { $0 + $1 }
    }

    var line: String {
      let kinds = FaultDisk.Operation.allCases.map { "\($0) \(self.kinds[$0] ?? 0)" }
      return
        "\(workload), \(mode.rawValue): \(points) fault points (\(kinds.joined(separator: ", ")))"
        + ", \(crashes) crashes and errors, \(failures.count) failures"
    }
  }

  /// What may be told to have happened, at the operation count at which it was told.
  private struct Promise {
    let operations: Int
    let state: String
  }

  static let path = "/a.db"
  static let key = DatabaseKey.fixed(1)
  static let other = DatabaseKey.fixed(2)

  let workload: Workload
  let mode: Mode
  var lies = false

  /// A crash at every operation, of the process and of the machine, with every seed.
  func crashes(seeds: Range<UInt64>) async throws -> Report {
    var report = Report(workload: workload.name, mode: mode)
    let disk = FaultDisk()
    let start = try prepare(disk)
    if lies { disk.lieAboutSyncs() }
    var promises = [start]
    try workload.run(session(disk) { promises.append($0) })
    for number in start.operations...disk.operations {
      report.points += 1
      // There are few threads for all tests.
      await Task.yield()
      if let kind = disk.operation(number) { report.kinds[kind, default: 0] += 1 }
      let allowed = CrashMatrix.allowed(promises, at: number)
      let some = seeds.map { (FaultDisk.Crash.forgetSome, $0) }
      for (crash, seed) in [(.kill, 1), (.forgetAll, 1)] + some {
        report.crashes += 1
        let left = disk.survivors(at: number, crash, seed: seed &+ UInt64(number) &* 1_000)
        if let failure = check(left, allowed) {
          report.failures.append("operation \(number), \(crash), seed \(seed): \(failure)")
        }
      }
    }
    return report
  }

  /// Every operation fails once, or it and all that follow.
  func errors() async throws -> Report {
    var report = Report(workload: workload.name, mode: mode)
    let base = FaultDisk()
    let start = try prepare(base)
    func begin() -> FaultDisk { base.survivors(at: base.operations, .kill, seed: 0) }
    let whole = begin()
    var promises = [start.state]
    try workload.run(session(whole) { promises.append($0.state) })
    for number in 0..<whole.operations {
      report.points += 1
      // There are few threads for all tests.
      await Task.yield()
      if let kind = whole.operation(number) { report.kinds[kind, default: 0] += 1 }
      // SQLITE_IOERR once, or SQLITE_FULL from then on.
      for (code, times) in [(Int32(10), 1), (13, nil)] as [(Int32, Int?)] {
        report.crashes += 1
        let disk = begin()
        var told = 0
        disk.fail(at: number, code: code, times: times)
        // The app is told of the failure and ends.
        try? workload.run(session(disk) { _ in told += 1 })
        disk.fail(at: .max, code: 0, times: 0)
        let allowed = Array(promises.dropFirst(told).prefix(2))
        if let failure = check(disk, allowed) {
          report.failures.append("operation \(number) fails with \(code): \(failure)")
        }
      }
    }
    return report
  }

  private func prepare(_ disk: FaultDisk) throws -> Promise {
    var state = ""
    if let before = workload.before {
      let connection = try open(disk, workload.startsPlain ? nil : CrashMatrix.key)
      try before(connection)
      state = try CrashMatrix.state(connection)
    }
    return Promise(operations: disk.operations, state: state)
  }

  private func session(_ disk: FaultDisk, _ told: @escaping (Promise) -> Void) -> Workload.Session {
    Workload.Session(
      vfs: disk.vfs, mode: mode, open: { key in try open(disk, key) },
      told: { connection in
        let state = try CrashMatrix.state(connection)
        told(Promise(operations: disk.operations, state: state))
      })
  }

  private func open(_ disk: FaultDisk, _ key: DatabaseKey?) throws -> Connection {
    let connection =
      if let key {
        try Connection(path: CrashMatrix.path, key: key, vfs: disk.vfs)
      } else {
        try Connection(path: CrashMatrix.path, vfs: disk.vfs)
      }
    try connection.execute(
      "PRAGMA cache_size = 8; PRAGMA journal_mode = \(mode.rawValue); "
        + "PRAGMA synchronous = \(mode.synchronous)")
    return connection
  }

  /// The last promise, or the one that was about to be made.
  private static func allowed(_ promises: [Promise], at number: Int) -> [String] {
    let last = promises.lastIndex { $0.operations <= number } ?? 0
    return promises[last...].prefix(2).map(\.state)
  }

  /// What is in the database, as text; "" when there is nothing yet.
  static func state(_ connection: Connection) throws -> String {
    guard try connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'visit'") != nil else {
      return ""
    }
    let text = try connection.value(
      "SELECT group_concat(id || ' ' || note || ' ' || place) FROM (SELECT * FROM visit ORDER BY id)"
    )
    let digest = SHA256Digest.hash(Array((text?.text ?? "").utf8))
    return "\(try connection.count()) rows \(hexadecimal(digest.prefix(6)))"
  }

  /// nil when the database opens, is sound, holds what was promised and goes on.
  private func check(_ disk: FaultDisk, _ allowed: [String]) -> String? {
    do {
      guard let connection = try reopen(disk) else { return "it opens with neither key" }
      let sound = try connection.rows("PRAGMA integrity_check")
      guard sound == [[.text("ok")]] else { return "integrity_check: \(sound)" }
      let state = try CrashMatrix.state(connection)
      guard allowed.contains(state) else { return "it holds \(state), promised was \(allowed)" }
      try connection.fill(9_000...9_001)
      guard try connection.isSound() else { return "it is not sound after another write" }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func reopen(_ disk: FaultDisk) throws -> Connection? {
    for key in workload.keys {
      do {
        let connection = try open(disk, key)
        let left = disk.paths.contains {
          $0.hasSuffix("-sealing") && disk.bytes($0)?.isEmpty == false
        }
        if key != nil && left {
          struct LeftOver: Error {}
          throw LeftOver()
        }
        return connection
      } catch let error as SQLiteError {
        guard [.wrongKey, .notSealed, .keyMissing].contains(error.seal) else { throw error }
      }
    }
    return nil
  }
}

extension DatabaseKey {
  /// A key of 32 equal bytes.
  static func fixed(_ byte: UInt8) -> DatabaseKey {
    guard let key = try? DatabaseKey(bytes: [UInt8](repeating: byte, count: 32)) else {
      preconditionFailure("32 bytes are a key")
    }
    return key
  }
}
