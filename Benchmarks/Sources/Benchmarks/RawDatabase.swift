import CRawSQLite

/// SQLite without a line of ours between: what the limits are taken with.
final class RawDatabase {
  let handle: OpaquePointer

  init(_ path: String) throws {
    var made: OpaquePointer?
    let code = sqlite3_open_v2(
      path, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let made else { throw Trouble("\(path) cannot be opened: \(code)") }
    handle = made
    sqlite3_busy_timeout(handle, 10_000)
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func prepare(_ sql: String) throws -> RawStatement { try RawStatement(self, sql) }

  /// All rows as texts; nil is null.
  func texts(_ sql: String) throws -> [[String?]] {
    let statement = try prepare(sql)
    var rows: [[String?]] = []
    while try statement.step() {
      rows.append(
        (0..<statement.columnCount).map { column in
          sqlite3_column_text(statement.handle, Int32(column)).map { String(cString: $0) }
        })
    }
    return rows
  }

  func number(_ sql: String) throws -> Int {
    Int(try texts(sql).first?.first.flatMap { $0 } ?? "0") ?? 0
  }

  func failure(_ sql: String) -> Trouble {
    Trouble("\(String(cString: sqlite3_errmsg(handle))) in \(sql)")
  }
}

/// A prepared statement; texts that are bound must live until it was stepped.
final class RawStatement {
  let handle: OpaquePointer
  private let database: RawDatabase
  private let sql: String

  init(_ database: RawDatabase, _ sql: String) throws {
    var made: OpaquePointer?
    guard sqlite3_prepare_v2(database.handle, sql, -1, &made, nil) == SQLITE_OK, let made else {
      throw database.failure(sql)
    }
    handle = made
    self.database = database
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  var columnCount: Int { Int(sqlite3_column_count(handle)) }

  func bind(_ number: Int64, _ place: Int32) { sqlite3_bind_int64(handle, place, number) }
  func bind(_ number: Double, _ place: Int32) { sqlite3_bind_double(handle, place, number) }
  func bind(_ text: StaticText, _ place: Int32) {
    sqlite3_bind_text(handle, place, text.start, text.count, nil)
  }
  /// A value as another database has it.
  func bind(copyOf value: OpaquePointer?, _ place: Int32) {
    sqlite3_bind_value(handle, place, value)
  }

  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.failure(sql)
    }
  }

  /// Steps to the end and makes it ready again.
  func run() throws {
    while try step() {}
    sqlite3_reset(handle)
  }
}

/// A text that stays at its place in memory to the end of the program.
struct StaticText {
  let start: UnsafePointer<CChar>
  let count: Int32

  init(_ text: String) {
    let bytes = Array(text.utf8)
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { memory[index] = CChar(bitPattern: byte) }
    memory[bytes.count] = 0
    start = UnsafePointer(memory)
    count = Int32(bytes.count)
  }
}

/// Why something could not be measured.
struct Trouble: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
