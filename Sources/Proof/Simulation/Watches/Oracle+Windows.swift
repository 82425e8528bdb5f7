import FerryModel
import FerrySQLite

/// The days of visits as the server's store has them.
extension Oracle {
  static func window(_ connection: Connection) throws -> ClosedRange<Int64>? {
    let row = try connection.row("SELECT first_day, last_day FROM border WHERE entity = 'Visit'")
    guard let first = row?[0].integer, let last = row?[1].integer, first <= last else { return nil }
    return first...last
  }
}
