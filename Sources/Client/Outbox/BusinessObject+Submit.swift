import FerryModel
import FerrySQLite

extension BusinessObject {
  /// Sends what is pending of this object as soon as there is a connection (sync/P2), together with
  /// what is replayed as one with it: the rest of its transaction, and of its composite graph.
  ///
  /// From here on the change is fixed: an edit becomes a second operation behind it. On an object
  /// that is not pending nothing happens (sync/P4).
  public mutating func submitPending() throws(FerryError) {
    guard let object = record.object else {
      throw FerryError(
        .invalidChange, "a new \(Self.entity.name) was not saved",
        hint: "Call create or save first.", entity: Self.entity.name)
    }
    guard try record.store.submit(Self.entity, object) else { return }
    let store = record.store
    let read = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) -> Record? in
        if let row = try store.rows(of: Self.entity).visible(connection, object: object) {
          return Record(Self.entity, store: store, row: row)
        }
        return try store.hidden(Self.entity, object, connection)
      }
    }
    if let read { record = read }
  }
}

extension Store {
  /// Submits everything that is pending of one entity (sync/P3).
  package func submitAll(_ entity: Entity) throws(FerryError) {
    try submit(entity, try pendingObjects(entity))
  }

  package func cancelAll(_ entity: Entity) throws(FerryError) {
    for object in try pendingObjects(entity) { _ = try cancel(entity, object) }
  }

  private func pendingObjects(_ entity: Entity) throws(FerryError) -> [Int64] {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.rows(
          """
          SELECT object FROM ferry_operation WHERE entity = ? AND state <> 'withdrawn'
          GROUP BY object ORDER BY min(sequence)
          """, .text(entity.name)
        ).compactMap { $0[0].integer }
      }
    }
  }
}
