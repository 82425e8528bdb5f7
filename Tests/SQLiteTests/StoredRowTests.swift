import FerrySQLite
import Testing

@Suite("Rows that are kept")
struct StoredRowTests {
  private func seen(_ row: StoredRow) -> [SQLiteValue] {
    (0..<row.count).map { index in
      row.withColumn(at: index) { column in
        switch column {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): .blob(Array(bytes))
        }
      }
    }
  }

  @Test("A name and a text end where they end, whatever joins the quotes in them")
  func quotes() throws {
    let connection = try Connection(path: ":memory:")
    for text in [
      "\"\u{301} FROM x --", "'\u{301}", "\u{600}'", "\u{600}\"", "'\u{200D} OR 1", "a''\"\"b",
    ] {
      try connection.execute("CREATE TABLE \(quoted(text)) (\(quoted(text)) TEXT)")
      let statement = try connection.statement(
        "SELECT name, \(quotedText(text)) FROM sqlite_schema WHERE name = \(quotedText(text))")
      #expect(try statement.step())
      var reader = StoredRowReader(statement)
      #expect(seen(reader.read()) == [.text(text), .text(text)])
      statement.reset()
    }
  }

  @Test(
    "Each row has its own values, whichever share a piece of memory, and when the others are gone")
  func own() throws {
    let connection = try Connection(path: ":memory:")
    // Every 40th text is longer than what rows share.
    let statement = try connection.statement(
      """
      WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < 300)
      SELECT n, n * 0.5, CASE WHEN n % 7 > 0 THEN n END,
        CASE n % 40 WHEN 0 THEN printf('%.*c', 20000 + n, 'x') ELSE 'text ' || n END,
        zeroblob(n % 3), ''
      FROM line
      """)
    var reader = StoredRowReader(statement)
    var rows: [StoredRow] = []
    while try statement.step() { rows.append(reader.read()) }
    statement.reset()
    #expect(rows.count == 300)
    let last = try #require(rows.last)
    for (index, row) in rows.enumerated() {
      let n = index + 1
      let text = n % 40 == 0 ? String(repeating: "x", count: 20_000 + n) : "text \(n)"
      #expect(
        seen(row) == [
          .integer(Int64(n)), .real(Double(n) * 0.5), n % 7 > 0 ? .integer(Int64(n)) : .null,
          .text(text), .blob([UInt8](repeating: 0, count: n % 3)), .text(""),
        ])
    }
    rows = []
    #expect(seen(last).first == .integer(300))
  }
}
