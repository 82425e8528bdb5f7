import CSQLite

/// Bytes collected at one place in memory, which a statement takes without copying them: for values
/// that should not be there twice. Use it from one thread at a time.
public final class LargeValue {
  private let memory: UnsafeMutableRawBufferPointer
  public private(set) var count: Int = 0

  /// Room for so many bytes and no more.
  public init(sizeBytes: Int) {
    memory = .allocate(byteCount: max(1, sizeBytes), alignment: 1)
  }

  deinit { memory.deallocate() }

  /// A programmer's error where there is no room.
  public func append(_ bytes: [UInt8]) {
    precondition(count + bytes.count <= memory.count, "\(memory.count) bytes of room")
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: $0)
    }
    count += bytes.count
  }

  fileprivate func bind(_ statement: OpaquePointer, _ place: Int32, isText: Bool) -> Int32 {
    let start = UnsafeRawPointer(memory.baseAddress)
    guard isText else { return sqlite3_bind_blob64(statement, place, start, UInt64(count), nil) }
    return sqlite3_bind_text64(
      statement, place, start?.assumingMemoryBound(to: CChar.self), UInt64(count), nil,
      UInt8(SQLITE_UTF8))
  }
}

extension Statement {
  /// Binds the bytes as text, which is UTF-8, or as a blob. They stay until the statement is reset.
  public func bind(_ value: LargeValue, isText: Bool, at index: Int) throws(SQLiteError) {
    held.append(value)
    let code = value.bind(handle, Int32(index + 1), isText: isText)
    guard code == SQLITE_OK else { throw failure(code) }
  }
}
