import FerryModel
import FerrySQLite

/// A query as SQLite takes it: a text that is the same whatever the values are, and the values.
struct QueryText {
  var sql: String
  var parameters: [SQLiteValue]
  /// The name and type of each item; nil where the type is not known beforehand.
  var columns: QueryWriter.Columns
}
