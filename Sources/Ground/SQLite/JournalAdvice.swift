/// What to tell the owner of a business database whose readers keep its writers waiting.
public struct JournalAdvice: Sendable, Equatable {
  /// A clause without a full stop.
  public let what: String
  /// A sentence with the line to type.
  public let cure: String

  /// Nil where the database has a write-ahead log.
  public init?(_ connection: Connection) throws(SQLiteError) {
    guard let mode = try connection.value("PRAGMA journal_mode")?.text, mode.lowercased() != "wal"
    else { return nil }
    what =
      "its journal mode is \(mode): while Ferry reads it, other programs cannot write to it"
    cure = "Type once: sqlite3 '\(connection.path)' \"PRAGMA journal_mode=wal\"."
  }

  /// Opens the file read-only for the question.
  public static func of(path: String) throws(SQLiteError) -> JournalAdvice? {
    try JournalAdvice(Connection(path: path, mode: .readOnly))
  }
}
