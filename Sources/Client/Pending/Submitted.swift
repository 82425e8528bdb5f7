import FerryModel
import FerrySQLite

extension Store {
  /// The operations of an object, and of what it owns, that were submitted and are not answered.
  package func submitted(_ entity: Entity, _ object: Int64) throws(FerryError) -> Set<OperationID> {
    let rows = try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.rows(
          """
          SELECT id FROM ferry_operation
          WHERE ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
          AND (state = 'submitted' OR wanted > 0)
          """, .text(entity.name), .integer(object))
      }
    }
    return Set(rows.compactMap { $0[0].text.flatMap { OperationID($0) } })
  }
}
