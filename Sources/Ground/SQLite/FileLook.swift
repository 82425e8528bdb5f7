import CSQLite
import CSealedVFS

/// What is at a path and beside it, before SQLite opens it.
///
/// SQLite tidies up as soon as it reads and when it closes: a log or a journal that it does not
/// understand counts as empty and is deleted. The log of a process that was killed may hold everything,
/// so no connection is opened before this has judged. Looking takes no lock and changes nothing.
struct FileLook {
  /// The content of a log or a journal, judged by its first bytes.
  enum Beside: Equatable {
    /// No file, or nothing in it.
    case none
    case plain
    case other
  }

  let path: String
  let file: SealedFile
  /// The first bytes of the file, and how long it is; -1 where there is none.
  let bytes: [UInt8]
  let fileBytes: Int64
  let log: Beside
  let journal: Beside
  /// Whether a log is beside the file, with or without pages.
  let hasLog: Bool
  /// Whether pages are in the log, and in the journal pages that the file had before.
  private let hasFrames: Bool
  private let hasRecords: Bool

  /// Nil where there is no file to look at: a database in memory, or a temporary one.
  static func at(_ path: String, vfs: String?) throws(SQLiteError) -> FileLook? {
    path.isEmpty || path == ":memory:" ? nil : try FileLook(path, vfs: vfs)
  }

  /// The log first: another process that makes the database just now writes its first page before.
  init(_ path: String, vfs: String?) throws(SQLiteError) {
    self.path = path
    let log = try FileLook.peek(path + "-wal", 32, vfs)
    let journal = try FileLook.peek(path + "-journal", 28, vfs)
    let (bytes, fileBytes) = try FileLook.peek(path, SealHeader.bytes, vfs)
    self.bytes = bytes
    self.fileBytes = fileBytes
    file = SealedFile(bytes, fileBytes: fileBytes)
    self.log = FileLook.beside(log.bytes, FileLook.logMagics)
    self.journal = FileLook.beside(journal.bytes, [FileLook.journalMagic])
    // Before its first frame or record a sealed one has an area of as many bytes as the header.
    hasLog = log.fileBytes > 0
    let area = Int64(SealHeader.bytes)
    hasFrames = log.fileBytes > (self.log == .other ? area : 32)
    hasRecords =
      switch self.journal {
      case .none: false
      case .plain: journal.bytes[16..<20].contains { $0 != 0 }
      case .other: journal.fileBytes > area
      }
  }

  /// Whether the database has a page outside its log.
  private var hasPage: Bool {
    switch file {
    case .missing, .unfinished: false
    case .sealed(let header): fileBytes >= Int64(SealHeader.bytes + header.pageBytes)
    case .plain, .damaged, .foreign: true
    }
  }

  /// Throws where SQLite would take what is beside the file for rubbish: a log without its database,
  /// or one of another kind.
  func requireWhole() throws(SQLiteError) {
    if !hasPage, hasFrames { throw cut("-wal") }
    if !hasPage, hasRecords { throw cut("-journal") }
    let isMixed =
      switch file {
      case .plain: log == .other && hasFrames
      case .sealed: log == .plain
      default: false
      }
    guard !isMixed else {
      throw damaged("the log \(path)-wal is not one of this database; nothing was touched")
    }
  }

  /// Throws where a connection without a key may not open the file.
  func requirePlain() throws(SQLiteError) {
    switch file {
    case .sealed: throw Connection.keyMissing(path)
    case .damaged: throw Sealing.refusal(.damaged, path: path)
    case .unfinished where bytes.contains { $0 != 0 }: throw Connection.keyMissing(path)
    case .foreign where log != .plain && journal != .plain:
      throw SQLiteError(code: SQLITE_NOTADB, message: "file is not a database", subject: path)
    // A first page that a crash has torn is made whole by the log or the journal.
    case .foreign, .unfinished, .missing, .plain: break
    }
    try requireWhole()
  }

  /// Throws where the file is not the one that was unlocked.
  func requireSealed(_ sealing: Sealing) throws(SQLiteError) {
    guard case .sealed(let header) = file, header.fileID == sealing.fileID else {
      throw SQLiteError(
        code: SQLITE_CANTOPEN, message: "the file was replaced or removed: open it again",
        subject: path, seal: .refused)
    }
    try requireWhole()
  }

  private func cut(_ end: String) -> SQLiteError {
    damaged(
      "the database has lost its pages, but not \(path)\(end), which holds changes: it was cut, "
        + "moved or removed; nothing was touched")
  }

  private func damaged(_ message: String) -> SQLiteError {
    SQLiteError(code: SQLITE_CORRUPT, message: message, subject: path, seal: .damaged)
  }

  private static let logMagics: [[UInt8]] = [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]
  private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  private static func beside(_ bytes: [UInt8], _ magics: [[UInt8]]) -> Beside {
    guard bytes.contains(where: { $0 != 0 }) else { return .none }
    return magics.contains { bytes.starts(with: $0) } ? .plain : .other
  }

  private static func peek(
    _ path: String, _ count: Int, _ vfs: String?
  ) throws(SQLiteError) -> (bytes: [UInt8], fileBytes: Int64) {
    var bytes = [UInt8](repeating: 0, count: count)
    var fileBytes: Int64 = -1
    let code = ferry_sealed_peek(vfs, path, &bytes, Int32(count), &fileBytes)
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, message: "the file could not be read", subject: path)
    }
    return (bytes, fileBytes)
  }
}
