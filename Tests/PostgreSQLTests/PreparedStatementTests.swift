import Testing

@testable import FerryPostgreSQL

@Suite("Statements that come again are prepared")
struct PreparedStatementTests {
  private static func connection() throws -> PostgreSQLConnection {
    try PostgreSQLConnection(try Cluster.database())
  }

  private static func names(_ connection: PostgreSQLConnection) throws -> Int {
    let count = try connection.value("SELECT count(*) FROM pg_prepared_statements")
    return Int(count ?? "") ?? -1
  }

  @Test("A text that comes once is not prepared, one that comes again is, in one trip each time")
  func again() throws {
    let connection = try Self.connection()
    let before = connection.trips
    for number in 1...5 {
      #expect(try connection.value("SELECT $1::int4 + 1", [.text("\(number)")]) == "\(number + 1)")
      #expect(connection.preparedStatements == (number == 1 ? 0 : 1))
    }
    #expect(connection.trips == before + 5)
    #expect(try Self.names(connection) == 1)
    let rows = try connection.pipeline(
      (0..<4).map { PostgreSQLConnection.Request("SELECT $1::text || 'x'", [.text("\($0)")]) })
    #expect(rows.map { $0.text(0, 0) } == ["0x", "1x", "2x", "3x"])
    #expect(try Self.names(connection) == 3, "the question itself came twice")
  }

  @Test("The server keeps no more than 250 of them, and each is answered all the same")
  func bounded() throws {
    let connection = try Self.connection()
    for number in 0..<600 {
      for _ in 0..<2 { #expect(try connection.value("SELECT \(number)") == "\(number)") }
      #expect(connection.preparedStatements <= PreparedStatements.most)
    }
    #expect(try Self.names(connection) <= PreparedStatements.most)
    // Texts that never come again are not kept here either.
    for number in 0..<2_500 { _ = try connection.value("SELECT \(number) AS once") }
    #expect(connection.preparedStatements <= PreparedStatements.most)
  }

  @Test(
    "A column of another type: outside a transaction nobody notices, inside the next try is right")
  func otherColumn() throws {
    let connection = try Self.connection()
    let other = try PostgreSQLConnection(connection.address)
    try other.execute("CREATE TABLE t (a int4, b text); INSERT INTO t VALUES (1, 'x')")
    let sql = "SELECT a, b FROM t WHERE a = $1"
    for _ in 0..<3 { #expect(try connection.rows(sql, [.text("1")]).texts == [["1", "x"]]) }
    try other.execute("ALTER TABLE t ALTER a TYPE text")
    #expect(try connection.rows(sql, [.text("1")]).texts == [["1", "x"]])
    for _ in 0..<3 { _ = try connection.rows(sql, [.text("1")]) }
    try other.execute("ALTER TABLE t ALTER b TYPE int4 USING 7")
    try connection.execute("BEGIN")
    let error = #expect(throws: PostgreSQLError.self) {
      try connection.rows(sql, [.text("1")])
    }
    #expect(error?.sqlState == "0A000")
    try connection.execute("ROLLBACK; BEGIN")
    #expect(try connection.rows(sql, [.text("1")]).texts == [["1", "7"]])
    try connection.execute("COMMIT")
  }

  @Test("Where the line forgets what was prepared, statements are sent whole from then on")
  func pooled() throws {
    let connection = try Self.connection()
    for _ in 0..<3 { #expect(try connection.value("SELECT 1") == "1") }
    try connection.execute("DEALLOCATE ALL")
    for _ in 0..<5 { #expect(try connection.value("SELECT 1") == "1") }
    #expect(try Self.names(connection) == 0)
    #expect(connection.preparedStatements == 0)
  }

  @Test("One that fails is not taken for prepared, nor are those behind it")
  func failure() throws {
    let connection = try Self.connection()
    let requests = ["SELECT 1 / $1::int4", "SELECT 2"].map {
      PostgreSQLConnection.Request($0, $0.contains("$") ? [.text("0")] : [])
    }
    for _ in 0..<4 {
      let error = #expect(throws: PostgreSQLError.self) { try connection.pipeline(requests) }
      #expect(error?.sqlState == "22012")
    }
    #expect(try connection.value("SELECT 2") == "2")
    for _ in 0..<3 {
      #expect(throws: PostgreSQLError.self) { try connection.rows("SELECT nothing FROM nowhere") }
    }
    #expect(try connection.value("SELECT 2") == "2")
  }

  @Test("What is held goes ahead of the next statement in one trip, and its error is told there")
  func held() throws {
    let connection = try Self.connection()
    try connection.execute("CREATE TABLE t (a int4 PRIMARY KEY)")
    let insert = PostgreSQLConnection.Request("INSERT INTO t VALUES ($1)", [.text("1")])
    let before = connection.trips
    connection.hold([PostgreSQLConnection.Request("BEGIN"), insert])
    #expect(connection.holdsRequests)
    #expect(try connection.value("SELECT count(*) FROM t") == "1")
    #expect(connection.trips == before + 1)
    #expect(!connection.holdsRequests)
    connection.hold([insert])
    let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1") }
    #expect(error?.sqlState == "23505" && error?.table == "t")
    try connection.execute("ROLLBACK")
    connection.hold([insert])
    connection.dropHeld()
    #expect(try connection.value("SELECT count(*) FROM t") == "0")
    connection.hold([insert])
    var lines: [String] = []
    try connection.copyOut("COPY t TO STDOUT", wrap: { $0 }) {
      line throws(PostgreSQLError) in lines.append(String(decoding: line, as: UTF8.self))
    }
    #expect(lines == ["1\n"])
  }

  @Test("Where what is held fails, those before it are answered, and those behind it are not")
  func heldFailure() throws {
    let connection = try Self.connection()
    let requests = ["SELECT 1", "SELECT 2", "SELECT 1 / 0", "SELECT 3"].map {
      PostgreSQLConnection.Request($0)
    }
    var answers: [[String?]] = []
    connection.hold([requests[0]]) { answers.append($0.map { $0.text(0, 0) }) }
    connection.hold([requests[1], requests[2]]) { answers.append($0.map { $0.text(0, 0) }) }
    connection.hold([requests[3]]) { answers.append($0.map { $0.text(0, 0) }) }
    let error = #expect(throws: PostgreSQLError.self) { try connection.sendHeld() }
    #expect(error?.sqlState == "22012")
    #expect(answers == [["1"]])
  }
}
