import CSQLite

/// A value as SQLite stores it.
public enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  public var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  public var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  public var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }

  public var isNull: Bool { self == .null }

  /// The value, or null where there is none.
  public static func optional(_ value: Int64?) -> SQLiteValue {
    value.map(SQLiteValue.integer) ?? .null
  }
  public static func optional(_ value: String?) -> SQLiteValue {
    value.map(SQLiteValue.text) ?? .null
  }
  public static func flag(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }
}

/// A column of the row that a statement stands at. Text and bytes are valid until the statement
/// moves.
public enum ColumnView {
  case null
  case integer(Int64)
  case real(Double)
  /// UTF-8, whatever the database's encoding.
  case text(UnsafeBufferPointer<UInt8>)
  case blob(UnsafeBufferPointer<UInt8>)
}

/// A prepared statement of one connection, for one thread at a time.
///
/// Parameters and columns are counted from 0.
public final class Statement {
  let handle: OpaquePointer
  private unowned let connection: Connection
  public let sql: String
  private var isFresh: Bool = true
  /// How many executions its connection had seen when it was last asked for.
  var lastUse: Int = 0
  /// Those that it reads, where it was looked into.
  var tables: Set<String> = []
  /// What is bound without a copy.
  var held: [LargeValue] = []

  /// With `whole` the text must hold one statement; otherwise what follows the first is dropped.
  init(_ connection: Connection, _ sql: String, whole: Bool = false) throws(SQLiteError) {
    var made: OpaquePointer?
    var text = sql
    let (code, rest) = text.withUTF8 { bytes -> (Int32, Bool) in
      var tail: UnsafePointer<CChar>?
      let start = bytes.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
      let code = sqlite3_prepare_v3(
        connection.handle, start, Int32(bytes.count), UInt32(SQLITE_PREPARE_PERSISTENT), &made,
        &tail)
      guard let start, let tail else { return (code, false) }
      let read = UnsafePointer(tail) - start
      return (code, bytes.dropFirst(read).contains { !Statement.blanks.contains($0) })
    }
    guard code == SQLITE_OK else { throw connection.failure(code, sql) }
    guard let made else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "the text has no statement", subject: sql)
    }
    guard !(whole && rest) else {
      sqlite3_finalize(made)
      throw SQLiteError(
        code: SQLITE_MISUSE, message: "the text has more than one statement", subject: sql)
    }
    connection.preparations += 1
    handle = made
    self.connection = connection
    self.sql = sql
  }

  private static let blanks: Set<UInt8> = Set(" \t\r\n;".utf8)

  func finalize() { sqlite3_finalize(handle) }

  /// Gives rows and writes nothing.
  var isReading: Bool { sqlite3_stmt_readonly(handle) != 0 && sqlite3_column_count(handle) > 0 }

  /// How many parameters the text has.
  public var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// Ends reading and unbinds all parameters.
  public func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    if !held.isEmpty { held = [] }
    isFresh = true
  }

  func failure(_ code: Int32) -> SQLiteError { connection.failure(code, sql) }

  /// Binds the parameters from the first on.
  public func bind(_ parameters: [SQLiteValue]) throws(SQLiteError) {
    for (index, value) in parameters.enumerated() { try bind(value, at: index) }
  }

  public func bind(_ value: SQLiteValue, at index: Int) throws(SQLiteError) {
    let position = Int32(index + 1)
    let code: Int32
    switch value {
    case .null: code = sqlite3_bind_null(handle, position)
    case .integer(let number): code = sqlite3_bind_int64(handle, position, number)
    case .real(let number): code = sqlite3_bind_double(handle, position, number)
    case .text(let text):
      var text = text
      code = text.withUTF8 {
        sqlite3_bind_text64(
          handle, position,
          UnsafeRawPointer($0.baseAddress ?? Statement.empty)
            .assumingMemoryBound(to: CChar.self), UInt64($0.count), Statement.transient,
          UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      code = bytes.withUnsafeBytes {
        sqlite3_bind_blob64(
          handle, position, $0.baseAddress ?? UnsafeRawPointer(Statement.empty), UInt64($0.count),
          Statement.transient)
      }
    }
    guard code == SQLITE_OK else { throw connection.failure(code, sql) }
  }

  public func bind(_ number: Int64, at index: Int) throws(SQLiteError) {
    let code = sqlite3_bind_int64(handle, Int32(index + 1), number)
    guard code == SQLITE_OK else { throw connection.failure(code, sql) }
  }

  /// Ends reading and keeps the parameters, to be bound over and stepped again.
  public func rewind() {
    sqlite3_reset(handle)
    isFresh = true
  }

  public func bind(_ number: Double, at index: Int) throws(SQLiteError) {
    let code = sqlite3_bind_double(handle, Int32(index + 1), number)
    guard code == SQLITE_OK else { throw connection.failure(code, sql) }
  }

  /// Binds UTF-8 without copying it: the bytes must stay until the statement was stepped to its end.
  public func bind(borrowed text: UnsafeBufferPointer<UInt8>, at index: Int) throws(SQLiteError) {
    let code = sqlite3_bind_text64(
      handle, Int32(index + 1),
      UnsafeRawPointer(text.baseAddress ?? Statement.empty).assumingMemoryBound(to: CChar.self),
      UInt64(text.count), nil, UInt8(SQLITE_UTF8))
    guard code == SQLITE_OK else { throw connection.failure(code, sql) }
  }

  /// Moves to the next row; false when there is none.
  public func step() throws(SQLiteError) -> Bool {
    if isFresh {
      try connection.checkTransaction()
      connection.executions += 1
      isFresh = false
    }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = connection.failure(code, sql)
      sqlite3_reset(handle)
      isFresh = true
      throw error
    }
  }

  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// The name that the query gives to a column.
  public func columnName(at index: Int) -> String {
    String(cString: sqlite3_column_name(handle, Int32(index)))
  }

  public var row: [SQLiteValue] { (0..<columnCount).map { value(at: $0) } }

  /// A column in the type that this row has there.
  public func value(at index: Int) -> SQLiteValue {
    switch column(at: index) {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): .blob(Array(bytes))
    }
  }

  /// A column as this row has it, read without a copy.
  public func column(at index: Int) -> ColumnView {
    // Asked once for what it is and what it holds. The connection has no mutex and is used by one
    // thread at a time, so SQLite makes no difference between this and a protected value.
    guard let value = sqlite3_column_value(handle, Int32(index)) else { return .null }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      return .text(
        UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
      return .blob(
        UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    default: return .null
    }
  }

  /// Like `value(at:)`, but an empty blob stands for every blob, whose bytes are not read.
  public func glance(at index: Int) -> SQLiteValue {
    sqlite3_column_type(handle, Int32(index)) == SQLITE_BLOB ? .blob([]) : value(at: index)
  }

  /// Whether the column of this row is null.
  public func isNull(at index: Int) -> Bool {
    sqlite3_column_type(handle, Int32(index)) == SQLITE_NULL
  }
  public func integer(at index: Int) -> Int64 { sqlite3_column_int64(handle, Int32(index)) }
  public func double(at index: Int) -> Double { sqlite3_column_double(handle, Int32(index)) }

  /// A column as text, converted by SQLite if it is none; empty for null.
  public func text(at index: Int) -> String {
    withBytes(at: index, isText: true) { String(decoding: $0, as: UTF8.self) }
  }

  public func bytes(at index: Int) -> [UInt8] { withBytes(at: index, isText: false) { Array($0) } }

  /// The bytes of a text or blob column, valid inside `body` only.
  public func withBytes<Result>(
    at index: Int, isText: Bool, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    let column = Int32(index)
    let start: UnsafeRawPointer? =
      isText
      ? UnsafeRawPointer(sqlite3_column_text(handle, column)) : sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return body(
      UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count))
  }

  static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  // Written once here, before anyone can have it, and only read from then on.
  nonisolated(unsafe) private static let empty: UnsafePointer<UInt8> = {
    let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    pointer.initialize(to: 0)
    return UnsafePointer(pointer)
  }()
}
