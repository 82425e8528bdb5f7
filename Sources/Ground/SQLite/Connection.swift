import CSQLite
import CSealedVFS

/// One connection to a SQLite database file. Use it from one thread at a time.
///
/// Statements are prepared once and kept. Text is UTF-8; a text column is read by its bytes, so a
/// zero character survives.
public final class Connection {
  /// What may be done to the file.
  public enum Mode: Sendable {
    case readWriteCreate, readWrite
    /// A read-only connection never creates, repairs or changes the file.
    case readOnly
  }

  /// What a commit survives.
  public enum Synchronous: String, Sendable {
    /// A commit survives a crash of the process.
    case normal = "NORMAL"
    /// A commit survives a crash of the machine.
    case full = "FULL"
  }

  public let path: String
  /// Whether the file is sealed, and this connection has its key.
  public let isSealed: Bool
  private let vfs: String?
  /// Whether a log was beside the file before this connection was opened.
  private let hasFoundLog: Bool
  let handle: OpaquePointer
  private var statements: [StatementText: Statement] = [:]
  /// How often a statement was begun, for tests that count executions.
  public internal(set) var executions: Int = 0
  /// How often a statement was prepared, for tests that count.
  public internal(set) var preparations: Int = 0
  /// How many steps SQLite's machine has made for the statements that are kept, for tests that count
  /// what they look at.
  public var machineSteps: Int {
    var steps = 0
    var next = sqlite3_next_stmt(handle, nil)
    while let statement = next {
      steps += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
      next = sqlite3_next_stmt(handle, statement)
    }
    return steps
  }

  /// How many bodies of `transaction` run, one inside the other.
  private var openBodies: Int = 0
  /// What made SQLite end the transaction that they are in.
  private var undoneBy: SQLiteError?
  /// Keeps what a hook of SQLite points at alive as long as the handle.
  var rowObserver: AnyObject?

  /// Opens the file; `busyTimeoutMilliseconds` is how long to wait for another connection.
  ///
  /// `vfs` names a registered VFS; nil is the system's own. With `sealing` the file is sealed and
  /// kept in that VFS.
  ///
  /// The file is looked at before: one that is sealed with another key or with none, one that is no
  /// database, and one that has lost its pages but not its log is refused and nothing of it is
  /// changed.
  public convenience init(
    path: String, mode: Mode = .readWriteCreate, busyTimeoutMilliseconds: Int32 = 5_000,
    vfs: String? = nil, sealing: Sealing? = nil
  ) throws(SQLiteError) {
    guard let sealing else {
      try self.init(
        opening: path, path: path, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        vfs: vfs, sealing: nil)
      return
    }
    let uri = try sealing.uri(path: path, vfs: Sealing.vfs(over: vfs, path: path))
    defer { ferry_sealed_withdraw(uri.offer) }
    try self.init(
      opening: uri.text, path: path, mode: mode,
      busyTimeoutMilliseconds: busyTimeoutMilliseconds, vfs: vfs, sealing: sealing)
    // The page size of a database that has no page yet; for others it changes nothing.
    try execute("PRAGMA page_size = \(sealing.pageBytes); PRAGMA temp_store = MEMORY")
    reserve(Int32(FERRY_SEAL_RESERVED_BYTES))
  }

  /// `name` is what SQLite is given: the path, or a URI that begins with `file:`.
  init(
    opening name: String, path: String, mode: Mode, busyTimeoutMilliseconds: Int32, vfs: String?,
    sealing: Sealing?
  ) throws(SQLiteError) {
    let look = try FileLook.at(path, vfs: vfs)
    if let sealing {
      try look?.requireSealed(sealing)
    } else {
      try look?.requirePlain()
    }
    var access =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    if name != path { access |= SQLITE_OPEN_URI }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: message, subject: path)
    }
    self.path = path
    self.vfs = vfs
    isSealed = sealing != nil
    hasFoundLog = look?.hasLog ?? false
    handle = opened
    sqlite3_busy_timeout(opened, busyTimeoutMilliseconds)
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Write-ahead log, the durability asked for, foreign keys enforced, no secure delete: the
  /// settings of Ferry's own stores.
  ///
  /// The file and its log are for their owner alone from here on.
  public func configureStore(synchronous: Synchronous) throws(SQLiteError) {
    // SQLite gives its log the mode of the database.
    PlainFile.keepToOwner(path)
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = \(synchronous.rawValue)")
    try execute("PRAGMA secure_delete = OFF")
    try execute("PRAGMA temp_store = MEMORY")
    // One commit in a hundred would wait for the log to be copied into the file; so it is one in
    // some hundreds.
    try execute("PRAGMA wal_autocheckpoint = 2000")
  }

  /// Sets how long a statement waits while another connection has the lock.
  public func wait(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// From here on closing the connection writes nothing of the log into the file.
  public func leavesLog() { ferry_leave_log(UnsafeMutableRawPointer(handle), 1) }

  /// The same, until `leaves` is false, for a log that was there before this connection was opened:
  /// until it is known whose database it is.
  public func leavesFoundLog(_ leaves: Bool = true) {
    guard hasFoundLog else { return }
    ferry_leave_log(UnsafeMutableRawPointer(handle), leaves ? 1 : 0)
  }

  /// Runs one or more statements without parameters; rows are dropped.
  public func execute(_ sql: String) throws(SQLiteError) {
    try checkTransaction()
    executions += 1
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code, sql) }
  }

  /// A statement for this text, prepared the first time and reset; parameters are unbound.
  ///
  /// Do not ask for the same text again while its rows are being read.
  public func statement(_ sql: String) throws(SQLiteError) -> Statement {
    if let known = kept(sql) { return known }
    let made = try Statement(self, sql)
    keep(made, as: sql)
    return made
  }

  /// The statement that was prepared for this text before, reset.
  func kept(_ sql: String) -> Statement? {
    guard let known = statements[StatementText(sql)] else { return nil }
    known.reset()
    known.lastUse = executions
    return known
  }

  func keep(_ statement: Statement, as place: String) {
    statement.lastUse = executions
    statements[StatementText(place)] = statement
  }

  /// Forgets the statements that were used longest ago, where more than `limit` are kept: texts
  /// that somebody writes anew each time must not fill the memory. None may be in use.
  public func forgetStatements(beyond limit: Int) {
    guard statements.count > limit else { return }
    let oldest = statements.sorted { $0.value.lastUse < $1.value.lastUse }
    for (place, statement) in oldest.prefix(statements.count - limit / 2) {
      statements[place] = nil
      statement.finalize()
    }
  }

  /// Runs a statement that gives no rows.
  public func run(_ sql: String, _ parameters: SQLiteValue...) throws(SQLiteError) {
    try run(sql, parameters)
  }

  public func run(_ sql: String, _ parameters: [SQLiteValue]) throws(SQLiteError) {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(parameters)
    while try statement.step() {}
  }

  /// All rows of a small result.
  public func rows(
    _ sql: String, _ parameters: SQLiteValue...
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    try rows(sql, parameters)
  }

  public func rows(
    _ sql: String, _ parameters: [SQLiteValue]
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(parameters)
    var rows: [[SQLiteValue]] = []
    while try statement.step() { rows.append(statement.row) }
    return rows
  }

  /// The first row, if there is one.
  public func row(_ sql: String, _ parameters: SQLiteValue...) throws(SQLiteError) -> [SQLiteValue]?
  {
    try row(sql, parameters)
  }

  public func row(_ sql: String, _ parameters: [SQLiteValue]) throws(SQLiteError) -> [SQLiteValue]?
  {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(parameters)
    return try statement.step() ? statement.row : nil
  }

  /// The first column of the first row.
  public func value(_ sql: String, _ parameters: SQLiteValue...) throws(SQLiteError) -> SQLiteValue?
  {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(parameters)
    return try statement.step() ? statement.value(at: 0) : nil
  }

  public var changes: Int { Int(sqlite3_changes64(handle)) }
  /// Rows that this connection has inserted, changed and deleted since it was opened.
  public var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }
  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Whether SQLite has undone the whole transaction whose body still runs: it does so by itself
  /// where the disk is full or breaks, or the memory ends. Every statement of that body fails then
  /// with the same error, since each would be a transaction of its own.
  public var isTransactionUndone: Bool { openBodies > 0 && !isInTransaction }

  func checkTransaction() throws(SQLiteError) { if isTransactionUndone { throw undone } }

  private var undone: SQLiteError {
    guard let cause = undoneBy else {
      return SQLiteError(
        code: SQLITE_MISUSE, message: "the transaction was ended inside its own body",
        subject: path)
    }
    return SQLiteError(
      code: cause.code, message: "\(cause.message); the whole transaction was undone with it",
      subject: cause.subject, seal: cause.seal)
  }

  /// Whether a commit would fail now because a foreign key that is judged at the end is broken.
  public var hasBrokenForeignKeys: Bool {
    var count: Int32 = 0
    var highest: Int32 = 0
    let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return code == SQLITE_OK && count != 0
  }

  /// Whether the file was renamed or removed since it was opened: what is written now is lost.
  public var hasMoved: Bool {
    var moved: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// SQLite's number of the schema: another one after each statement, of any process, that changes
  /// a table's shape. Reading it does not count among the executions.
  public func schemaNumber() throws(SQLiteError) -> Int64 {
    let counted = (executions, preparations)
    defer { (executions, preparations) = counted }
    return try value("PRAGMA schema_version")?.integer ?? 0
  }

  /// When a transaction takes the lock of the writer.
  public enum TransactionKind: Sendable {
    case deferred, immediate

    var begin: String {
      switch self {
      case .deferred: "BEGIN DEFERRED"
      case .immediate: "BEGIN IMMEDIATE"
      }
    }
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws. Inside
  /// another transaction it is a savepoint.
  ///
  /// Where SQLite undid the whole by itself in between (`isTransactionUndone`), its error is thrown
  /// again at the end, whether `body` let it through or not, by the transactions around it too.
  public func transaction<Result, Failure: Error>(
    _ kind: TransactionKind = .immediate, wrap: (SQLiteError) -> Failure,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let nested = isInTransaction
    if isTransactionUndone { throw wrap(undone) }
    do { try run(nested ? "SAVEPOINT ferry" : kind.begin) } catch {
      throw wrap(error)
    }
    openBodies += 1
    defer { leaveBody() }
    let result: Result
    do {
      result = try body()
    } catch {
      rollBack(nested: nested)
      throw error
    }
    if isTransactionUndone { throw wrap(undone) }
    do {
      try run(nested ? "RELEASE ferry" : "COMMIT")
    } catch {
      rollBack(nested: nested)
      throw wrap(error)
    }
    return result
  }

  public func transaction<Result>(
    _ kind: TransactionKind = .immediate, _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try transaction(kind, wrap: { $0 }, body)
  }

  private func leaveBody() {
    openBodies -= 1
    if openBodies == 0 { undoneBy = nil }
  }

  private func rollBack(nested: Bool) {
    guard isInTransaction else { return }
    sqlite3_exec(handle, nested ? "ROLLBACK TO ferry; RELEASE ferry" : "ROLLBACK", nil, nil, nil)
  }

  func failure(_ code: Int32, _ subject: String) -> SQLiteError {
    let plain = SQLiteError(
      code: code, message: String(cString: sqlite3_errmsg(handle)), subject: subject)
    let error = isSealed ? sealedFailure(plain) : unsealedFailure(plain, path: path, vfs: vfs)
    // What cannot be read here may be read elsewhere, or once the file is whole again.
    if error.isNotADatabase || error.isCorrupt || error.seal == .damaged { leavesLog() }
    if isTransactionUndone, undoneBy == nil { undoneBy = error }
    return error
  }
}

/// A name as SQL takes it, whatever it holds.
public func quoted(_ name: String) -> String { inQuotes(name, "\"") }

/// A text as SQL takes it, whatever it holds, for the places where nothing can be bound.
public func quotedText(_ text: String) -> String { inQuotes(text, "'") }

/// Byte by byte: a quote before a combining mark is no `Character` of its own, and ends the text
/// all the same.
private func inQuotes(_ text: String, _ quote: Unicode.Scalar) -> String {
  let mark = UInt8(ascii: quote)
  guard text.utf8.contains(mark) else { return "\(quote)\(text)\(quote)" }
  let doubled = text.utf8.flatMap { $0 == mark ? [$0, $0] : [$0] }
  return String(decoding: [mark] + doubled + [mark], as: UTF8.self)
}
