import CSQLite

/// One value of a table, opened to be read or written in stretches without holding it in memory.
///
/// Valid inside the closure of `withBlob` only. Writing changes no length.
public struct Blob {
  private let handle: OpaquePointer
  private unowned let connection: Connection
  private let subject: String
  public let sizeBytes: Int64

  fileprivate init(_ handle: OpaquePointer, _ connection: Connection, _ subject: String) {
    self.handle = handle
    self.connection = connection
    self.subject = subject
    sizeBytes = Int64(sqlite3_blob_bytes(handle))
  }

  /// At most `count` bytes from `offset` on; empty behind the end.
  public func read(at offset: Int64, upTo count: Int) throws(SQLiteError) -> [UInt8] {
    let size = min(Int64(count), sizeBytes - offset)
    guard offset >= 0, size > 0 else { return [] }
    var code = SQLITE_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, filled in
      code = sqlite3_blob_read(handle, buffer.baseAddress, Int32(size), Int32(offset))
      filled = code == SQLITE_OK ? Int(size) : 0
    }
    guard code == SQLITE_OK else { throw connection.failure(code, subject) }
    return bytes
  }

  /// Writes over what is there; beyond the end is an error.
  public func write(_ bytes: [UInt8], at offset: Int64) throws(SQLiteError) {
    try connection.checkTransaction()
    let code = sqlite3_blob_write(handle, bytes, Int32(bytes.count), Int32(clamping: offset))
    guard code == SQLITE_OK else { throw connection.failure(code, subject) }
  }
}

extension Connection {
  /// Opens the text or blob in a column of the row with this row id; errors where there is none.
  public func withBlob<Result>(
    table: String, column: String, row: Int64, isWriting: Bool = false,
    _ body: (Blob) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try checkTransaction()
    var opened: OpaquePointer?
    let subject = "\(table).\(column)"
    let code = sqlite3_blob_open(handle, "main", table, column, row, isWriting ? 1 : 0, &opened)
    guard code == SQLITE_OK, let opened else {
      sqlite3_blob_close(opened)
      throw failure(code, subject)
    }
    let result: Result
    do { result = try body(Blob(opened, self, subject)) } catch {
      sqlite3_blob_close(opened)
      throw error
    }
    let end = sqlite3_blob_close(opened)
    guard end == SQLITE_OK else { throw failure(end, subject) }
    return result
  }
}
