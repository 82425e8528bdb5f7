import FerryModel
import FerrySQLite

/// One transaction of the database file, or one snapshot of it: the types of the stages work on it.
///
/// It ends with the closure that received it. Its statements throw the client's own error.
package struct Transaction {
  package let store: Store
  package let connection: Connection

  package init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  package var model: Package { store.model }

  /// Runs a statement that gives no rows.
  package func run(_ text: String, _ parameters: SQLiteValue...) throws(FerryError) {
    try sql { connection throws(SQLiteError) in try connection.run(text, parameters) }
  }

  /// All rows of a small result.
  package func rows(
    _ text: String, _ parameters: SQLiteValue...
  ) throws(FerryError) -> [[SQLiteValue]] {
    try sql { connection throws(SQLiteError) in try connection.rows(text, parameters) }
  }

  /// The first row, if there is one.
  package func row(
    _ text: String, _ parameters: SQLiteValue...
  ) throws(FerryError) -> [SQLiteValue]? {
    try sql { connection throws(SQLiteError) in try connection.row(text, parameters) }
  }

  /// The first column of the first row.
  package func value(
    _ text: String, _ parameters: SQLiteValue...
  ) throws(FerryError) -> SQLiteValue? {
    try sql { connection throws(SQLiteError) in try connection.row(text, parameters) }?.first
  }

  package func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try sql { connection throws(SQLiteError) in try Settings.get(name, connection) }
  }

  /// Nil removes the value.
  package func set(_ name: Settings.Name, _ value: String?) throws(FerryError) {
    try sql { connection throws(SQLiteError) in try Settings.set(name, value, connection) }
  }

  /// Calls what throws SQLite's error, and reports that as the store's.
  package func sql<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    do { return try body(connection) } catch { throw Store.failure(error, path: store.path) }
  }
}

extension Store {
  /// The same for a body of statements alone, whose errors are reported as the store's.
  package func write<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    try withTransaction { transaction throws(FerryError) in try transaction.sql(body) }
  }

  /// The same for a body of statements alone, whose errors are reported as the store's.
  package func read<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    try withSnapshot { transaction throws(FerryError) in try transaction.sql(body) }
  }

  /// Runs `body` in one transaction, or in a savepoint of the one this thread has open.
  package func withTransaction<Result>(
    _ body: (Transaction) throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    try write { connection throws(FerryError) in try body(Transaction(self, connection)) }
  }

  /// Runs `body` on one snapshot; inside a transaction of this thread it sees what that changed.
  package func withSnapshot<Result>(
    _ body: (Transaction) throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    try read { connection throws(FerryError) in try body(Transaction(self, connection)) }
  }
}
