import FerryModel
import FerrySQLite

extension Store {
  /// Inserts a row as if it had been downloaded, for previews; `objectExists` if its key is there.
  package func insertSample(_ values: [AttributeValue], of entity: Entity) throws(FerryError) {
    try withTransaction { transaction throws(FerryError) in
      let isNew = try transaction.sql { connection throws(SQLiteError) in
        try self.rows(of: entity).insertDownloaded(
          connection, object: nil, values: values, partition: 0, hash: 0)
      }
      guard !isNew else { return }
      throw FerryError(
        .objectExists, "two sample rows of \(entity.name) have the key \(entity.key(of: values))",
        hint: "Give each a key of its own.", entity: entity.name)
    }
  }
}
