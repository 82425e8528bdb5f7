import CSQLite
import CSealedVFS
import FerryCrypto

/// A sealed database that has been unlocked: its data key, for as many connections as are wanted.
///
/// Unlocking may take a good part of a second (a passphrase is derived slowly); connections made
/// with a `Sealing` take none. May be used from every thread.
public struct Sealing: Sendable {
  let dataKey: SealingKey
  let fileID: [UInt8]
  let pageBytes: Int

  init(_ header: SealHeader, _ dataKey: SealingKey) {
    self.dataKey = dataKey
    fileID = header.fileID
    pageBytes = header.pageBytes
  }

  /// Unlocks the database at `path`, and begins one with a new data key when there is none and
  /// `mode` may create.
  ///
  /// Throws with `seal` `.wrongKey`, `.notSealed`, `.damaged` or `.foreign`; nothing has been touched
  /// then. `vfs` names the VFS that keeps the file; nil is the system's own.
  public init(
    path: String, key: DatabaseKey, mode: Connection.Mode = .readWriteCreate,
    vfs: String? = nil
  ) throws(SQLiteError) {
    guard !path.isEmpty, path != ":memory:" else {
      throw SQLiteError(
        code: SQLITE_MISUSE, message: "a database in memory has no file to seal", subject: path,
        seal: .refused)
    }
    for attempt in 0... {
      let look = try FileLook(path, vfs: vfs)
      switch look.file {
      case .sealed(let header):
        self = Sealing(header, try Sealing.unlock(header, key, path: path))
        if mode != .readOnly { try KeyChange(path: path, vfs: vfs).sweep(self) }
        return
      case .missing where mode != .readWriteCreate:
        try look.requireWhole()
        throw SQLiteError(
          code: SQLITE_CANTOPEN, message: "there is no database", subject: path)
      case .missing, .unfinished:
        // A new header would be the end of a log that is still there.
        try look.requireWhole()
        if let begun = try Sealing.begin(
          path: path, key: key, seen: look.bytes, fileBytes: look.fileBytes, vfs: vfs)
        {
          self = begun
          return
        }
        guard attempt < 5_000 else {
          throw SQLiteError(
            code: SQLITE_BUSY,
            message: "another process is creating the database and does not finish",
            subject: path)
        }
        sqlite3_sleep(1)
      case .plain, .damaged, .foreign: throw Sealing.refusal(look.file, path: path)
      }
    }
    preconditionFailure("the attempts are bounded")
  }

  /// Begins a database where `look` has seen none; nil when somebody else was there since.
  static func begin(
    path: String, key: DatabaseKey, seen: [UInt8], fileBytes: Int64, vfs: String?
  ) throws(SQLiteError) -> Sealing? {
    let made = try make(key, pageBytes: 4096, path: path)
    let code = ferry_sealed_begin(vfs, path, seen, fileBytes, made.header.encoded)
    if code & 0xFF == SQLITE_BUSY { return nil }
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, message: "the database could not be created", subject: path)
    }
    return Sealing(made.header, made.dataKey)
  }

  static func unlock(
    _ header: SealHeader, _ key: DatabaseKey, path: String
  ) throws(SQLiteError)
    -> SealingKey
  {
    guard header.version == SealHeader.version else {
      throw SQLiteError(
        code: SQLITE_NOTADB,
        message: "the database is sealed in form \(header.version), which is newer than this app",
        subject: path, seal: .foreign)
    }
    do {
      if let key = try header.dataKey(key) { return key }
    } catch {
      throw SQLiteError(
        code: SQLITE_NOTADB, message: error.description, subject: path, seal: .damaged)
    }
    throw SQLiteError(
      code: SQLITE_NOTADB, message: "the key does not open the database; nothing was touched",
      subject: path, seal: .wrongKey)
  }

  static func make(
    _ key: DatabaseKey, pageBytes: Int, path: String
  ) throws(SQLiteError) -> (
    header: SealHeader, dataKey: SealingKey
  ) {
    do { return try SealHeader.make(key, pageBytes: pageBytes) } catch {
      throw SQLiteError(code: SQLITE_ERROR, message: error.description, subject: path)
    }
  }

  static func refusal(_ file: SealedFile, path: String) -> SQLiteError {
    let (message, problem): (String, SealProblem) =
      switch file {
      case .plain:
        ("the database is not sealed: seal it first, a key set now would come too late", .notSealed)
      case .damaged:
        ("the header of the sealed database was changed or damaged; restore a copy", .damaged)
      default: ("the file is neither a sealed nor a plain database", .foreign)
      }
    return SQLiteError(code: SQLITE_NOTADB, message: message, subject: path, seal: problem)
  }
}

extension Sealing {
  /// The name of the sealing VFS that keeps its files in `base`.
  static func vfs(over base: String?, path: String) throws(SQLiteError) -> String {
    let name = base.map { "ferry-sealed-over-" + $0 } ?? "ferry-sealed"
    let code = ferry_sealed_register(name, base)
    guard code == SQLITE_OK else {
      throw SQLiteError(
        code: code, message: "there is no VFS \(base ?? "of the system") to seal", subject: path)
    }
    return name
  }

  /// A URI that opens `path` with this key, once. Withdraw the offer when it was not used.
  func uri(path: String, vfs: String) throws(SQLiteError) -> (text: String, offer: Int64) {
    let context = SealingContext(dataKey)
    let cipher = ferry_cipher(
      context: Unmanaged.passRetained(context).toOpaque(),
      seal: { context, nonce, associated, associatedBytes, bytes, length, tag in
        SealingContext.with(context) {
          $0.seal(
            UnsafeMutableRawBufferPointer(start: bytes, count: length),
            nonce: UnsafeRawBufferPointer(start: nonce, count: SealingKey.nonceBytes),
            associated: UnsafeRawBufferPointer(start: associated, count: associatedBytes),
            tag: UnsafeMutableRawBufferPointer(start: tag, count: SealingKey.tagBytes))
        }
      },
      open: { context, nonce, associated, associatedBytes, bytes, length, tag in
        SealingContext.with(context) {
          $0.open(
            UnsafeMutableRawBufferPointer(start: bytes, count: length),
            nonce: UnsafeRawBufferPointer(start: nonce, count: SealingKey.nonceBytes),
            associated: UnsafeRawBufferPointer(start: associated, count: associatedBytes),
            tag: UnsafeRawBufferPointer(start: tag, count: SealingKey.tagBytes))
        }
      },
      release: { context in
        if let context { Unmanaged<SealingContext>.fromOpaque(context).release() }
      })
    let offer = ferry_sealed_offer(cipher, fileID, UInt32(pageBytes))
    guard offer > 0 else {
      throw SQLiteError(code: SQLITE_NOMEM, message: "out of memory", subject: path)
    }
    return (Sealing.uri(path: path, vfs: vfs) + "&seal=\(offer)", offer)
  }

  static func uri(path: String, vfs: String) -> String {
    "file:\(percentEncoded(path))?vfs=\(percentEncoded(vfs))"
  }

  private static func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "%" + hexadecimal([byte])
      }
    }
    return encoded
  }
}

extension SealingContext {
  fileprivate static func with(
    _ context: UnsafeMutableRawPointer?, _ body: (SealingContext) -> Bool
  ) -> Int32 {
    guard let context else { return 1 }
    return body(Unmanaged<SealingContext>.fromOpaque(context).takeUnretainedValue()) ? 0 : 1
  }
}
