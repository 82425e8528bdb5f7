import FerryModel
import FerrySQLite

/// The last change of one visible object since the change log was emptied.
///
/// A change of a part makes two entries: one of the part, and an `upsert` of the object at the top
/// of its composite graph. There may also be an entry for a write without an effect: a save of the
/// same values, or an import under a pending change.
public struct ChangeLogEntry: Sendable, Equatable {
  /// The reference's operation types.
  public enum Operation: String, Sendable, Hashable {
    /// It was created or changed.
    case upsert = "U"
    /// The object was deleted, or is no longer on the device.
    case delete = "D"
  }

  /// The position in the log: a later change has a greater number.
  public let number: Int64
  /// Its name in the model.
  public let entity: String
  /// The device's own key of the object, which never changes.
  public let surrogateKey: Int64
  /// What was done last.
  public let operation: Operation
  /// The entity of the object that owns this one; its own entity if it is not a part.
  public let rootEntity: String
  /// Nil if the owner is not on the device.
  public let rootSurrogateKey: Int64?
}

extension FerryDatabase {
  /// Starts to record which objects the app and imports change. Stays on until it is switched off,
  /// also over restarts; each changed object costs a small row.
  public func enableChangeLog() throws(FerryError) {
    try changeLog { connection throws(SQLiteError) in
      try ChangeLogTable(model: store.model).enable(connection)
    }
  }

  /// Stops recording; the recorded entries stay until they are deleted.
  public func disableChangeLog() throws(FerryError) {
    try changeLog { connection throws(SQLiteError) in try ChangeLogTable.disable(connection) }
  }

  /// The recorded entries, ordered by the last change; of one entity or of all.
  ///
  /// For a long log, read some entries and continue with `after` the last number.
  public func getChangeLogs(
    of entity: String? = nil, after number: Int64 = 0, take: Int? = nil
  ) throws(FerryError) -> [ChangeLogEntry] {
    try RowQuery.checkPage(skip: 0, take: take)
    let rows = try store.read { connection throws(SQLiteError) in
      try connection.rows(
        """
        SELECT number, entity, object, operation, root_entity, root_object FROM ferry_change_log
        WHERE number > ?1 AND (?2 IS NULL OR entity = ?2) ORDER BY number LIMIT ?3
        """, .integer(number), .optional(entity), .integer(Int64(take ?? -1)))
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

  /// Deletes the entries up to a number, usually the last one that was read; without a number, all
  /// entries.
  ///
  /// If you read the entries `of` one entity, delete them with the same `of`: otherwise entries of
  /// other entities with smaller numbers are deleted too, read or not.
  public func deleteChangeLogs(
    of entity: String? = nil, through number: Int64 = .max
  ) throws(FerryError) {
    try store.deleteChangeLogs(of: entity, through: number)
  }

  private func changeLog(
    _ change: (Connection) throws(SQLiteError) -> Void
  ) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in try change(connection) }
  }
}
