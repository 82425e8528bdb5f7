import FerryPostgreSQL
import Testing

@Suite("A connection to PostgreSQL")
struct ConnectionTests {
  @Test("Values come back as they were sent, null and zero bytes too")
  func values() throws {
    let connection = try PostgreSQLConnection(try Cluster.database())
    let rows = try connection.rows(
      "SELECT $1::text, $2::bytea, $3::text, $4::int8 + 1",
      [.text("Ö 'x' \\ \t"), .bytes([0, 1, 255]), .null, .text("41")])
    #expect(rows.row(0) == ["Ö 'x' \\ \t", "\\x0001ff", nil, "42"])
  }

  @Test("An error tells state, table, column, constraint and the words of a rule")
  func errors() throws {
    let connection = try PostgreSQLConnection(try Cluster.database())
    try connection.execute(
      "CREATE TABLE t (a int CONSTRAINT positive CHECK (a > 0), b int NOT NULL)")
    let check = #expect(throws: PostgreSQLError.self) {
      try connection.rows("INSERT INTO t VALUES (-1, 1)")
    }
    #expect(check?.sqlState == "23514")
    #expect(check?.constraint == "positive")
    let null = #expect(throws: PostgreSQLError.self) {
      try connection.rows("INSERT INTO t VALUES (1, NULL)")
    }
    #expect(null?.schema == "public")
    #expect(null?.table == "t")
    #expect(null?.column == "b")
    #expect(connection.isOpen)
    #expect(try connection.value("SELECT 1") == "1")
  }

  @Test("A pipeline gives answers in order, ends at its first error, and can be used again")
  func pipeline() throws {
    let connection = try PostgreSQLConnection(try Cluster.database())
    let answers = try connection.pipeline(
      (0..<250).map { PostgreSQLConnection.Request("SELECT $1::int4", [.text(String($0))]) })
    #expect(answers.map { $0.text(0, 0) } == (0..<250).map(String.init))
    let error = #expect(throws: PostgreSQLError.self) {
      try connection.pipeline([
        PostgreSQLConnection.Request("SELECT 1"), PostgreSQLConnection.Request("SELECT 1 / 0"),
        PostgreSQLConnection.Request("SELECT 2"),
      ])
    }
    #expect(error?.sqlState == "22012")
    #expect(try connection.value("SELECT 3") == "3")
  }

  @Test("Rows are streamed one by one, COPY gives each line, and an error behind them is told")
  func streams() throws {
    let connection = try PostgreSQLConnection(try Cluster.database())
    var sum = 0
    try connection.stream(
      "SELECT generate_series(1, 1000)", wrap: { $0 }
    ) { rows throws(PostgreSQLError) in sum += Int(rows.text(0, 0) ?? "") ?? 0 }
    #expect(sum == 500_500)
    var lines: [String] = []
    try connection.copyOut(
      "COPY (SELECT i, NULL FROM generate_series(1, 3) AS i) TO STDOUT", wrap: { $0 }
    ) { line throws(PostgreSQLError) in lines.append(String(decoding: line, as: UTF8.self)) }
    #expect(lines == ["1\t\\N\n", "2\t\\N\n", "3\t\\N\n"])
    let error = #expect(throws: PostgreSQLError.self) {
      try connection.stream("SELECT 1 / (5 - i) FROM generate_series(1, 9) AS i", wrap: { $0 }) {
        _ throws(PostgreSQLError) in
      }
    }
    #expect(error?.sqlState == "22012")
    #expect(try connection.value("SELECT 3") == "3")
  }

  @Test("A deadline that is over closes the connection, and says so")
  func deadline() throws {
    let connection = try PostgreSQLConnection(try Cluster.database())
    connection.deadlines.answer = .milliseconds(1)
    let error = #expect(throws: PostgreSQLError.self) { try connection.rows("SELECT pg_sleep(60)") }
    #expect(error?.kind == .deadline)
    #expect(!connection.isOpen)
    let next = #expect(throws: PostgreSQLError.self) { try connection.rows("SELECT 1") }
    #expect(next?.isLost == true)
  }

  @Test("A backend that an administrator ends is a lost connection, not an answer")
  func terminated() throws {
    let address = try Cluster.database()
    let connection = try PostgreSQLConnection(address)
    let backend = try #require(try connection.value("SELECT pg_backend_pid()"))
    let other = try PostgreSQLConnection(address)
    #expect(
      try other.value("SELECT pg_terminate_backend($1::int4)", [.text(backend)]) == "t")
    #expect(throws: PostgreSQLError.self) {
      // The server may say so before or after the statement has reached it.
      while true { _ = try connection.rows("SELECT 1") }
    }
    #expect(!connection.isOpen)
  }

  @Test("An address with a secret is refused, and its error does not repeat it")
  func secrets() throws {
    for text in [
      "postgres:host=db password=geheim", "postgres://ada:geheim@db/shop",
      "postgres:host=db sslpassword=geheim", "postgres:host=db password='geheim",
    ] {
      let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(text) }
      #expect(error?.kind == .address, "\(text)")
      #expect(error?.description.contains("geheim") == false, "\(text)")
    }
    #expect(try PostgreSQLAddress("postgres:shop").database == "shop")
    #expect(try PostgreSQLAddress("postgres://ada@db/shop?sslmode=verify-full").database == "shop")
    #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress("sqlite:shop.db") }
    #expect(try PostgreSQLAddress("postgres:postgresql://ada@db/shop").database == "shop")
    for text in [
      "postgres:postgresql://ada:geheim@db/shop", "postgres:postgres:postgres://ada:geheim@db/shop",
      "postgres:dbname=postgresql://ada:geheim@db/shop", "postgres:postgres://db/s?password=geheim",
    ] {
      let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(text) }
      #expect(error?.kind == .address && error?.description.contains("geheim") == false)
    }
  }

  @Test("A server that is not there is told with where it was sought")
  func nowhere() throws {
    let address = try PostgreSQLAddress("postgres:host=/nowhere/at/all dbname=shop")
    let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection(address) }
    #expect(error?.kind == .connection)
    #expect(error?.message.contains("/nowhere/at/all") == true)
  }

  @Test("Names of tables are read and written in one form, whatever stands in them")
  func names() throws {
    for (text, schema, name) in [
      ("Orders", "public", "Orders"), ("sales.Order", "sales", "Order"),
      ("\"a.b\"", "public", "a.b"), ("Ö.\"say \"\"hi\"\"\"", "Ö", "say \"hi\""),
    ] {
      let parsed = try #require(TableName(text), "\(text)")
      #expect(parsed == TableName(schema: schema, name: name))
      #expect(parsed.description == text)
    }
    #expect(TableName("a.b.c") == nil)
    #expect(TableName("\"a") == nil)
    #expect(TableName("") == nil)
  }
}
