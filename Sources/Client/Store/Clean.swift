import FerryModel
import FerrySQLite

extension Store {
  /// Empties every table but the settings, so that everything is downloaded anew.
  package func cleanAllData() throws(FerryError) {
    try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        let tables =
          self.model.entities.flatMap { [Schema.table($0), Schema.original($0)] }
          + Schema.workTables
        for table in tables { try connection.execute("DELETE FROM \(table)") }
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
