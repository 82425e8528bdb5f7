import CPostgreSQL

/// A parameter of a statement, in the form in which it travels.
package enum PostgreSQLValue: Sendable, Hashable {
  case null
  /// The text form of any type.
  case text(String)
  /// The binary form; for bytea the bytes themselves.
  case bytes([UInt8])
}

/// The rows of an answer, held as libpq has them.
///
/// Places are counted from 0; one that is not there is a programmer's error.
package final class PostgreSQLRows {
  private let result: OpaquePointer
  package let count: Int
  package let columnCount: Int

  /// Takes the result over.
  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    columnCount = Int(PQnfields(result))
  }

  deinit { PQclear(result) }

  /// How many rows the statement changed or gave; 0 where it does not count.
  package var affected: Int {
    guard let text = PQcmdTuples(result) else { return 0 }
    return Int(String(cString: text)) ?? 0
  }

  /// What the server says it did, `INSERT 0 1` or `ROLLBACK`.
  package var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

  /// Whether there is a null.
  package func isNull(_ row: Int, _ column: Int) -> Bool {
    check(row, column)
    return PQgetisnull(result, CInt(row), CInt(column)) == 1
  }

  /// The text form; nil for null.
  package func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes as they came, given to `body` while they last; nil for null.
  package func bytes<Answer>(
    _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Answer
  ) -> Answer? {
    guard !isNull(row, column) else { return nil }
    let length = Int(PQgetlength(result, CInt(row), CInt(column)))
    return body(
      UnsafeRawBufferPointer(start: PQgetvalue(result, CInt(row), CInt(column)), count: length))
  }

  /// All values of a row in their text form.
  package func row(_ row: Int) -> [String?] { (0..<columnCount).map { text(row, $0) } }

  /// All rows in their text form.
  package var texts: [[String?]] { (0..<count).map(row) }

  private func check(_ row: Int, _ column: Int) {
    precondition(
      (0..<count).contains(row) && (0..<columnCount).contains(column),
      "row \(row), column \(column) of \(count) rows and \(columnCount) columns")
  }
}
