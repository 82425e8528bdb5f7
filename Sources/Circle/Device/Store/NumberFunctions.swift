import FerryModel
import FerrySQLite

extension Connection {
  /// What SQL must know of decimals and unbounded integers, which are texts: their order as
  /// `COLLATE ferry_decimal`, and `ferry_sum`, which loses nothing.
  package func addNumberFunctions() throws(SQLiteError) {
    try addCollation("ferry_decimal") { DecimalText.compare($0, $1) }
    try addAggregate("ferry_sum") { total, value in
      guard case .text(let number) = value else { return total ?? .null }
      guard case .text(let sum) = total else { return value }
      return .text(DecimalText.sum(sum, number))
    }
  }
}
