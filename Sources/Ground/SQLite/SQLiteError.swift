import CSQLite

/// What SQLite answered when it could not do what was asked.
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The extended result code.
  public let code: Int32
  /// SQLite's own sentence.
  public let message: String
  /// The statement or the file it is about.
  public let subject: String
  /// What is wrong with the key or the seal, when that is the reason.
  public let seal: SealProblem?

  public init(code: Int32, message: String, subject: String, seal: SealProblem? = nil) {
    self.code = code
    self.message = message
    self.subject = subject
    self.seal = seal
  }

  public static let misuse: Int32 = SQLITE_MISUSE
  public static let constraint: Int32 = SQLITE_CONSTRAINT
  /// What a commit says to a foreign key that is judged at the end and is broken.
  public static let brokenForeignKey: SQLiteError = SQLiteError(
    code: SQLITE_CONSTRAINT | 3 << 8, message: "FOREIGN KEY constraint failed", subject: "COMMIT")
  /// SQLITE_IOERR_DATA: something does not open under its key.
  static let damaged = SQLITE_IOERR | (32 << 8)

  public var primaryCode: Int32 { code & 0xFF }
  /// Another connection holds the database.
  public var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
  /// A rule of the schema was broken.
  public var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
  public var isFull: Bool { primaryCode == SQLITE_FULL }
  /// The disk did not read or write what it was asked to: it breaks, or turned read-only.
  public var isOfTheDisk: Bool { primaryCode == SQLITE_IOERR && seal == nil }
  public var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }
  public var isCannotOpen: Bool { primaryCode == SQLITE_CANTOPEN }
  public var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
  public var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT }
  /// The disk, the memory or the rights failed, not the statement.
  public var isOfTheMachine: Bool {
    [
      SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_CORRUPT,
      SQLITE_NOTADB, SQLITE_PERM, SQLITE_PROTOCOL, SQLITE_NOLFS, SQLITE_INTERRUPT,
    ].contains(primaryCode)
  }
  /// A value that the column or SQLite cannot hold.
  public var isValue: Bool {
    primaryCode == SQLITE_MISMATCH || primaryCode == SQLITE_TOOBIG || isConstraint(12)
  }
  public var isForeignKey: Bool { isConstraint(3) }
  public var isCheck: Bool { isConstraint(1) }
  public var isNotNull: Bool { isConstraint(5) }
  /// A primary key, a unique constraint or a row id that is there already.
  public var isUnique: Bool { isConstraint(6) || isConstraint(8) || isConstraint(10) }
  /// A trigger said no with RAISE.
  public var isTrigger: Bool { isConstraint(7) }

  private func isConstraint(_ detail: Int32) -> Bool {
    isConstraint && code >> 8 == detail
  }

  public var description: String { "\(message) (SQLite \(code)) in: \(subject)" }
}
