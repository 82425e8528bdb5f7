import FerryModel
import FerrySQLite

extension Store {
  /// Empties every table but the settings, so that everything is downloaded anew. With
  /// `keepsClientOnly` what only this device has stays.
  package func cleanAllData(keepsClientOnly: Bool = false) throws(FerryError) {
    try write { connection throws(SQLiteError) in
      if keepsClientOnly {
        try KeptValues(store: self).keep(connection)
        try LocalReferences(model: self.model, connection: connection).forgetAll()
      } else {
        try connection.execute("DELETE FROM ferry_kept")
      }
      let entities = self.model.entities.filter { !(keepsClientOnly && $0.isClientOnly) }
      let tables =
        entities.flatMap { [Schema.table($0), Schema.original($0)] } + Schema.workTables
        + (keepsClientOnly ? [] : BigValueTables.names)
      for table in tables { try connection.execute("DELETE FROM \(table)") }
      // Last: the deletions themselves are no changes that the app would want to hear of.
      try connection.execute("DELETE FROM ferry_change_log")
      for id in self.answers.awaited {
        self.ended(AnsweredOperation(id: id, outcome: .cancelled))
      }
    }
  }

  /// Gives free pages back to the file system; needs as much space again while it works.
  package func vacuum() throws(FerryError) {
    try writer.withConnection(closed: Store.closed(path)) { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      }
    }
  }
}
