import Foundation
import Testing

extension Way {
  /// `ferry prepare` as an administrator calls it.
  @Suite struct PrepareTests {
    private func business(
      _ server: PostgreSQLServer, _ database: String
    ) async throws -> Business {
      try await Business(
        try Place(), database, source: server.address(database),
        partition: "Orders=depot:claim:depot",
        users: [Business.User("ada", #"{"depot":["A"]}"#)])
    }

    private static let schema: String = """
      CREATE TABLE "Orders" ("OrderID" bigint PRIMARY KEY, depot text NOT NULL, city text);
      INSERT INTO "Orders" VALUES (1, 'A', 'Rome'), (2, 'B', 'Oslo')
      """

    private func prepare(
      _ business: Business, _ more: String...
    ) async throws -> (end: ChildProcess.End, out: String, errors: String) {
      let process = try ChildProcess(
        try Programs.path("ferry"), ["prepare", business.model] + more)
      let end = try await process.ended()
      return (end, process.lines.joined(separator: "\n"), process.errorText)
    }

    /// Everything of Ferry in a database, and what a role may do there.
    private func state(
      _ server: PostgreSQLServer, _ database: String, _ role: String
    ) async throws -> String {
      try await server.psql(
        database,
        """
        SELECT c.relname || ' ' || c.relkind::text FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'ferry' ORDER BY 1;
        SELECT tgname || ' on ' || tgrelid::regclass FROM pg_trigger
          WHERE tgname LIKE 'ferry%' ORDER BY 1;
        SELECT table_schema || '.' || table_name || ' ' || privilege_type
          FROM information_schema.role_table_grants WHERE grantee = '\(role)' ORDER BY 1
        """)
    }

    @Test("prepare --operations --role: the tables of operations, the role's rights, and a server")
    func operations() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(Self.schema)
      let business = try await business(server, database)
      let role = "Ö's \"role\" \(database)"
      let quoted = "\"Ö's \"\"role\"\" \(database)\""
      try await server.psql(
        database, "CREATE ROLE \(quoted) LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC")

      let wrong = try await prepare(business, "--operations", "--role", "nobody there")
      #expect(wrong.end == .exit(1))
      #expect(wrong.errors.contains("was not changed") && wrong.errors.contains("nobody there"))
      #expect(try await state(server, database, role.replacing("'", with: "''")) == "")

      for _ in 1...2 {
        let made = try await prepare(business, "--operations", "--role", role)
        #expect(made.end == .exit(0), "\(made.errors)")
        #expect(made.out.contains("is prepared"))
      }
      let state = try await state(server, database, role.replacing("'", with: "''"))
      #expect(state.contains("applied r") && state.contains("leader r"))
      #expect(!state.contains("change") && !state.contains("ferry_row"), "\(state)")
      #expect(state.contains("public.Orders UPDATE") && !state.contains("TRUNCATE"))

      // A server with this role and no other right does its work.
      let address = server.address(database).replacing(
        "user=ferry", with: "user='Ö\\'s \"role\" \(database)'")
      let daemon = try await Daemon.start(business, more: ["--database", address])
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try await ada.update("Orders", "1", #"{"city":"Bern"}"#)
      try await ada.submit("Orders", "1")
      try await until("the role has written") {
        try await server.psql(
          database, #"SELECT city FROM "Orders" WHERE "OrderID" = 1"#) == "Bern"
      }
      #expect(try await server.psql(database, "SELECT count(*) FROM ferry.applied") == "1")
      try await daemon.stopNow()
      #expect(try await prepare(business, "--remove").end == .exit(0))
    }

    @Test("prepare --print changes nothing, and what it prints does the same as prepare itself")
    func printed() async throws {
      let server = try await PostgreSQLServer.shared()
      for level in [["--operations"], []] {
        let database = try await server.database(Self.schema)
        let business = try await business(server, database)
        let role = "printed_\(database)"
        try await server.psql(database, "CREATE ROLE \(role)")
        let process = try ChildProcess(
          try Programs.path("ferry"),
          ["prepare", business.model, "--print", "--role", role] + level)
        #expect(try await process.ended() == .exit(0))
        let statements = process.lines.joined(separator: "\n")
        #expect(try await state(server, database, role) == "")
        #expect(statements.hasPrefix("\\set ON_ERROR_STOP on\nBEGIN;\n"), "\(statements)")
        let script = try business.place.write(statements, to: "script.sql")
        let (end, said) = try await server.run(script, in: database)
        #expect(end == .exit(0), "\(said)")
        let printed = try await state(server, database, role)
        #expect(printed.contains("applied r"))
        #expect(printed.contains("ferry_row on") == level.isEmpty)

        #expect(try await prepare(business, "--remove").end == .exit(0))
        try await server.psql(
          database, "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM \(role)")
        let made = try ChildProcess(
          try Programs.path("ferry"), ["prepare", business.model, "--role", role] + level)
        #expect(try await made.ended() == .exit(0))
        #expect(try await state(server, database, role) == printed)
      }
    }

    /// Names of columns and tables with which their owner wants more than the table; 63 bytes at most.
    private static let hostile = [
      "k$ferry$;rollback;alter role ROLE superuser;select $ferry$",
      "k$ferry$ $ferry1$;rollback;alter role ROLE superuser;--",
      "k$ferry1$ $ferry$;rollback;\\! touch FILE",
      "k';rollback;alter role ROLE superuser;select '", "k\";rollback;alter role ROLE superuser;--",
      "k\\';alter role ROLE superuser;--", "k);alter role ROLE superuser;--",
      "k$$;alter role ROLE--$$",
      "k:ROLE :'ROLE' :\"ROLE\"", "k\\! touch FILE", "k`touch FILE`", "k/*", "k--", "$ferry",
      "ferry$",
    ]

    @Test("What prepare --print prints of hostile names gives their owner nothing, and works")
    func hostileNames() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("SELECT 1")
      let place = try Place()
      let role = "m\(getpid())"
      // A short name: with it the others have at most 63 bytes.
      let marker = "/tmp/f\(getpid())"
      let names = Self.hostile.map {
        $0.replacing("ROLE", with: role).replacing("FILE", with: marker)
      }
      var sql =
        "CREATE ROLE \(role) LOGIN; GRANT CREATE ON SCHEMA public TO \(role); SET ROLE \(role);"
      for (number, name) in names.enumerated() {
        #expect(name.utf8.count <= 63, "\(name)")
        let quoted = name.replacing("\"", with: "\"\"")
        sql +=
          "CREATE TABLE \"t\(number) \(quoted.prefix(40))\" (\"\(quoted)\" int PRIMARY KEY, a text);"
      }
      try await server.psql(database, sql)
      let facts = """
        SELECT rolname, rolsuper, rolcreaterole FROM pg_roles WHERE rolname = '\(role)';
        SELECT relname, relowner FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1
        """
      let before = try await server.psql(database, facts)
      let made = try ChildProcess(
        try Programs.path("ferry"),
        ["new", "--from", server.address(database), "--out", place.file("model.json")])
      #expect(try await made.ended() == .exit(0), "\(made.errorText)")
      let process = try ChildProcess(
        try Programs.path("ferry"),
        ["prepare", place.file("model.json"), "--database", server.address(database), "--print"])
      #expect(try await process.ended() == .exit(0), "\(process.errorText)")
      let script = try place.write(process.lines.joined(separator: "\n"), to: "script.sql")
      let (end, said) = try await server.run(script, in: database)
      #expect(end == .exit(0), "\(said)")
      #expect(try await server.psql(database, facts) == before)
      #expect(!FileManager.default.fileExists(atPath: marker))
      let triggers = try await server.psql(
        database,
        """
        SELECT count(*) FROM pg_trigger WHERE tgname = 'ferry_row'
        """)
      #expect(triggers == String(names.count))
      // A trigger with the name in it does its work.
      let quoted = names[0].replacing("\"", with: "\"\"")
      try await server.psql(
        database, "INSERT INTO \"t0 \(quoted.prefix(40))\" VALUES (1, 'x')")
      #expect(try await server.psql(database, "SELECT new_key FROM ferry.change") == "{1}")
    }

    @Test("A script is not printed where a name could steer the terminal, and prepare still works")
    func controlName() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(
        "CREATE TABLE t (\"k\u{1B}[2J\" int PRIMARY KEY, depot text NOT NULL)")
      let place = try Place()
      let made = try ChildProcess(
        try Programs.path("ferry"),
        ["new", "--from", server.address(database), "--out", place.file("model.json")])
      #expect(try await made.ended() == .exit(0), "\(made.errorText)")
      #expect(!(made.lines.joined() + made.errorText).contains("\u{1B}"))
      let words = ["prepare", place.file("model.json"), "--database", server.address(database)]
      let printed = try ChildProcess(try Programs.path("ferry"), words + ["--print"])
      #expect(try await printed.ended() == .exit(1))
      #expect(printed.errorText.contains("has a control character"), "\(printed.errorText)")
      #expect(printed.lines.isEmpty)
      let done = try ChildProcess(try Programs.path("ferry"), words)
      #expect(try await done.ended() == .exit(0), "\(done.errorText)")
    }

    @Test(
      "prepare without the rights, a database or a known option: an exit code and a cure")
    func mistakes() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(Self.schema)
      let business = try await business(server, database)
      let role = "stranger_\(database)"
      try await server.psql(database, "CREATE ROLE \(role) LOGIN")
      let stranger = server.address(database).replacing("user=ferry", with: "user=\(role)")
      let refused = try await prepare(business, "--database", stranger)
      #expect(refused.end == .exit(1))
      #expect(refused.errors.contains("owner of the tables"), "\(refused.errors)")
      let unknown = try await prepare(business, "--database", "postgres:dbname='")
      #expect(unknown.end != .exit(0))
      #expect(!unknown.errors.isEmpty)
      let away = try await prepare(business, "--database", "postgres:host=/nowhere dbname=x")
      #expect(away.end == .exit(1))
      #expect(away.errors.contains("was not changed"), "\(away.errors)")
      #expect(try await prepare(business, "--rle", "x").end == .exit(2))
      #expect(try await state(server, database, role) == "")
    }

    @Test("Options that do nothing together are refused, and so is a model that does not fit")
    func misfits() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(Self.schema)
      let business = try await business(server, database)
      #expect(try await prepare(business).end == .exit(0))
      let before = try await state(server, database, "nobody")
      #expect(!before.isEmpty)
      for more in [["--remove", "--operations"], ["--role", "x", "--remove"]] {
        let process = try ChildProcess(
          try Programs.path("ferry"), ["prepare", business.model] + more)
        #expect(try await process.ended() == .exit(2))
        #expect(process.errorText.contains("exclude each other"), "\(process.errorText)")
      }
      // A model of PostgreSQL and a file of SQLite, and a column that is missing.
      let file = business.place.file("empty.db")
      try Data().write(to: URL(filePath: file))
      let sqlite = try await prepare(business, "--database", "sqlite:\(file)")
      #expect(sqlite.end == .exit(1), "\(sqlite.out)")
      #expect(sqlite.errors.contains("the database has no table"), "\(sqlite.errors)")
      #expect(try Data(contentsOf: URL(filePath: file)).isEmpty)
      let role = try await prepare(business, "--database", "sqlite:\(file)", "--role", "x")
      #expect(role.end == .exit(2) && role.errors.contains("is for PostgreSQL"))
      try await server.psql(database, #"ALTER TABLE "Orders" RENAME city TO town"#)
      let column = try await prepare(business)
      #expect(column.end == .exit(1) && column.errors.contains("city"), "\(column.errors)")
      #expect(try await state(server, database, "nobody") == before)
      #expect(try await prepare(business, "--remove").end == .exit(0))
      #expect(try await state(server, database, "nobody") == "")
    }

    @Test("--remove is refused while a server serves the database, and done when it has stopped")
    func served() async throws {
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database(Self.schema)
      for business in [
        try await business(server, database), try await Business.flights(bookings: 10),
      ] {
        let daemon = try await Daemon.start(business)
        try await daemon.ready()
        #expect(try await prepare(business).end == .exit(0))
        let refused = try await prepare(business, "--remove")
        #expect(refused.end == .exit(1), "\(refused.out)")
        #expect(refused.errors.contains("Stop ferryd first"), "\(refused.errors)")
        #expect(try await prepare(business, "--remove", "--print").end == .exit(0))
        #expect(try await daemon.stopInOrder() == .exit(0))
        let removed = try await prepare(business, "--remove")
        #expect(removed.end == .exit(0), "\(removed.errors)")
      }
    }
  }
}
