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

  @Test("Statements are kept by their bytes: one that reads like another is not taken for it")
  func bytes() throws {
    let connection = try Connection(path: ":memory:")
    let long = String(repeating: "x", count: 300)
    // A composed letter and a letter with its mark; texts that differ in one place of many.
    for value in ["\u{E9}", "e\u{301}"]
      + (0..<40).map({ long + "\($0 % 10)" + long + "\($0 / 10)" })
    {
      let text = "SELECT \(quotedText(value)), length(\(quotedText(value)))"
      for _ in 0..<2 {
        let row = try connection.row(text)
        #expect(row?.first?.text.map { Array($0.utf8) } == Array(value.utf8))
      }
    }
    #expect(connection.preparations == 42)
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
