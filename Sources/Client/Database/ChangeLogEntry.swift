import FerryModel
import FerrySQLite

/// What became last of one visible object since the change log was emptied (facts/1.11).
///
/// A change of a part is noted twice: of the part, and as `upsert` of the object at the top of its
/// composite graph. What is written as it was (a save of the same values, an import beneath a pending
/// change) may be noted too.
public struct ChangeLogEntry: Sendable, Equatable {
  /// The reference's operation types.
  public enum Operation: String, Sendable, Hashable {
    /// It was created or changed.
    case upsert = "U"
    /// It is gone.
    case delete = "D"
  }

  /// Place in the log: a later change has a greater one.
  public let number: Int64
  public let entity: String
  public let surrogateKey: Int64
  public let operation: Operation
  /// The entity of the object that owns this one; its own where it is no part of another.
  public let rootEntity: String
  /// Nil where the owner is not on the device.
  public let rootSurrogateKey: Int64?
}

extension Database {
  /// Begins to note which objects change, by the app and by imports (facts/1.11). Stays on until it
  /// is switched off, also over restarts; costs a small row for each object that changes.
  public func enableChangeLog() throws(FerryError) {
    try changeLog { connection throws(SQLiteError) in
      try ChangeLogTable(model: store.model).enable(connection)
    }
  }

  /// Ends it; what was noted stays until it is deleted.
  public func disableChangeLog() throws(FerryError) {
    try changeLog { connection throws(SQLiteError) in try ChangeLogTable.disable(connection) }
  }

  /// What was noted, in the order of the last changes; of one entity or of all.
  ///
  /// For a result that is too long to hold, take some and go on `after` the last number.
  public func getChangeLogs(
    of entity: String? = nil, after number: Int64 = 0, take: Int? = nil
  ) throws(FerryError) -> [ChangeLogEntry] {
    try Store.checkPage(skip: 0, take: take)
    let rows = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows(
          """
          SELECT number, entity, object, operation, root_entity, root_object FROM ferry_change_log
          WHERE number > ?1 AND (?2 IS NULL OR entity = ?2) ORDER BY number LIMIT ?3
          """, .integer(number), .optional(entity), .integer(Int64(take ?? -1)))
      }
    }
    return rows.compactMap { row in
      guard let number = row[0].integer, let entity = row[1].text, let object = row[2].integer,
        let operation = ChangeLogEntry.Operation(rawValue: row[3].text ?? ""),
        let root = row[4].text
      else { return nil }
      return ChangeLogEntry(
        number: number, entity: entity, surrogateKey: object, operation: operation,
        rootEntity: root, rootSurrogateKey: row[5].integer)
    }
  }

  /// Forgets what was noted up to a number, the last one that was read; without one, everything.
  ///
  /// Who read the entries `of` one entity forgets those: entries of other entities have numbers
  /// between them, and without `of` they go too, read or not.
  public func deleteChangeLogs(
    of entity: String? = nil, through number: Int64 = .max
  ) throws(FerryError) {
    try store.deleteChangeLogs(of: entity, through: number)
  }

  private func changeLog(
    _ change: (Connection) throws(SQLiteError) -> Void
  ) throws(FerryError) {
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in try change(connection) }
    }
  }
}
