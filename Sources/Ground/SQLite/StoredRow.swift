import CSQLite

/// All columns of one row, copied: what a result of many rows is kept as until somebody asks for a
/// value.
///
/// Rows that are read together share their memory, some ten thousand bytes at most: one that is kept
/// keeps its neighbours.
///
/// `@unchecked Sendable`: its memory is written by the reader, before anyone can have the rows in
/// it, and only read from then on.
public struct StoredRow: @unchecked Sendable {
  /// The header is the number of columns. Of each row: a word for each column, the number, or place
  /// and length of a text; then a byte for the kind of each; then the bytes of all texts and blobs.
  @usableFromInline typealias Memory = ManagedBuffer<Int, UInt64>

  @usableFromInline let memory: Memory
  /// The row's first word.
  @usableFromInline let start: Int

  @usableFromInline enum Kind: UInt8 {
    case null, integer, real, text, blob
  }

  fileprivate init(_ memory: Memory, _ start: Int) {
    self.memory = memory
    self.start = start
  }

  /// How many columns it has.
  public var count: Int { memory.header }

  /// One column; text and bytes are valid inside `body` only.
  @inlinable
  public func withColumn<Result>(at index: Int, _ body: (ColumnView) -> Result) -> Result {
    memory.withUnsafeMutablePointers { header, words in
      precondition(index >= 0 && index < header.pointee, "column \(index) of \(header.pointee)")
      let row = words + start
      let kinds = UnsafeRawPointer(row + header.pointee)
      let word = row[index]
      switch Kind(rawValue: kinds.load(fromByteOffset: index, as: UInt8.self)) {
      case .integer: return body(.integer(Int64(bitPattern: word)))
      case .real: return body(.real(Double(bitPattern: word)))
      case .text: return body(.text(StoredRow.bytes(word, kinds)))
      case .blob: return body(.blob(StoredRow.bytes(word, kinds)))
      default: return body(.null)
      }
    }
  }

  @usableFromInline
  static func bytes(_ word: UInt64, _ kinds: UnsafeRawPointer) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: (kinds + Int(word >> 32)).assumingMemoryBound(to: UInt8.self),
      count: Int(word & 0xFFFF_FFFF))
  }
}

/// Copies the rows of a statement, one after the other.
public struct StoredRowReader {
  private let statement: Statement
  private let columnCount: Int
  private var memory: StoredRow.Memory?
  private var capacity: Int = 0
  private var used: Int = 0

  /// Words of a memory that several rows share.
  private static let sharedWords = 2_048

  private struct Cell {
    var kind: StoredRow.Kind
    /// The number as it is, or how many bytes.
    var word: UInt64
    var start: UnsafeRawPointer?
  }

  public init(_ statement: Statement) {
    self.statement = statement
    columnCount = statement.columnCount
  }

  /// A copy of the row that the statement stands at.
  public mutating func read() -> StoredRow {
    let (handle, count) = (statement.handle, columnCount)
    return withUnsafeTemporaryAllocation(of: Cell.self, capacity: count) { cells in
      var byteCount = 0
      for index in 0..<count {
        let cell = StoredRowReader.cell(sqlite3_column_value(handle, Int32(index)))
        if cell.start != nil { byteCount += Int(cell.word) }
        cells.initializeElement(at: index, to: cell)
      }
      let memory = room(for: count + (count + 7) / 8 + (byteCount + 7) / 8)
      let start = used
      memory.withUnsafeMutablePointerToElements { elements in
        let words = elements + start
        let kinds = UnsafeMutableRawPointer(words + count)
        var place = (count + 7) / 8 * 8
        for index in 0..<count {
          let cell = cells[index]
          kinds.storeBytes(of: cell.kind.rawValue, toByteOffset: index, as: UInt8.self)
          if let start = cell.start {
            (words + index).initialize(to: UInt64(place) << 32 | cell.word)
            (kinds + place).copyMemory(from: start, byteCount: Int(cell.word))
            place += Int(cell.word)
          } else {
            (words + index).initialize(to: cell.word)
          }
        }
      }
      used += count + (count + 7) / 8 + (byteCount + 7) / 8
      return StoredRow(memory, start)
    }
  }

  /// Memory with that many words left. The first row has one of its own: most reads end with it.
  private mutating func room(for words: Int) -> StoredRow.Memory {
    if let memory, used + words <= capacity { return memory }
    capacity = max(words, min(StoredRowReader.sharedWords, 4 * capacity))
    let made = StoredRow.Memory.create(minimumCapacity: capacity) { _ in columnCount }
    memory = made
    used = 0
    return made
  }

  /// Not for two threads: the connection has no mutex, so SQLite makes no difference between an
  /// unprotected value and another.
  private static func cell(_ value: OpaquePointer?) -> Cell {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER:
      Cell(kind: .integer, word: UInt64(bitPattern: sqlite3_value_int64(value)), start: nil)
    case SQLITE_FLOAT:
      Cell(kind: .real, word: sqlite3_value_double(value).bitPattern, start: nil)
    case SQLITE_TEXT:
      Cell(
        kind: .text, word: UInt64(sqlite3_value_bytes(value)),
        start: UnsafeRawPointer(sqlite3_value_text(value)))
    case SQLITE_BLOB:
      Cell(
        kind: .blob, word: UInt64(sqlite3_value_bytes(value)), start: sqlite3_value_blob(value))
    default: Cell(kind: .null, word: 0, start: nil)
    }
  }
}
