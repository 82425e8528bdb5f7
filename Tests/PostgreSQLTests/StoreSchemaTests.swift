import FerryModel
import FerryPostgreSQL
import FerryWorld
import Testing

@testable import FerryPostgreSQLStore
@testable import FerryServer
@testable import FerryStoreConformance

@Suite("The schema of a store in PostgreSQL has steps")
struct StoreSchemaTests {
  private let database: StoreDatabase
  private let other: PostgreSQLConnection

  init() throws {
    database = try StoreDatabase()
    other = try PostgreSQLConnection(database.address)
  }

  /// A store as the server of a version left it, with what its devices and users had.
  private func make(_ version: Int64) throws {
    let line = Line(database.address, application: "test")
    try other.execute(Schema.tables)
    try other.execute(
      """
      INSERT INTO ferry_store.server (id, schema_version, last_day, days) VALUES ('s', 1, 20000, 7);
      INSERT INTO ferry_store.package (name, shape, loaded, removals, term, token)
        VALUES ('\(StoreSuite.package.id)', '\(StoreSuite.package.shape)', true, 0, 3, 4),
          ('other', '', true, 0, 0, 0);
      INSERT INTO ferry_store.lease VALUES (1, 3, 4, '', '-infinity');
      INSERT INTO ferry_store.number VALUES (1, 41);
      INSERT INTO ferry_store.session VALUES ('x', 'ada', 'phone', 0, 1, 1, '', NULL);
      INSERT INTO ferry_store.registered_device (package, user_name, device, incarnation, model,
        hardware, system, library, first_seen, last_seen, pending, cursors, state, reason, receipt,
        with_pending)
      SELECT p, u, 'phone', 'i', 'm' || p, 'h', 's', 'l', 1, 10 * p, 2, '[]',
        CASE WHEN u = 'ada' AND p = 1 THEN 'locked' ELSE 'active' END, '', NULL, false
      FROM unnest(ARRAY[1, 2]) AS p, unnest(ARRAY['ada', 'ben']) AS u;
      """)
    for step in 1..<version {
      try Schema.begin(line)
      try Schema.climb(line, from: step)
      try line.commit()
    }
  }

  private func version() throws -> String? {
    try other.value("SELECT schema_version FROM ferry_store.server")
  }

  @Test(
    "A store of each version before opens: sessions, clock and devices are there, a lock stays",
    arguments: 1..<Schema.version)
  func steps(_ from: Int64) throws {
    try make(from)
    #expect(try version() == String(from))
    let store = try database.open(StoreSuite.package)
    #expect(try version() == String(Schema.version))
    #expect(store.server == "s")
    // Its start has opened an era.
    #expect(try store.clock() == 42)
    #expect(try store.hasSession(user: "ada", device: "phone"))
    let devices = try store.registeredDevices()
    #expect(
      devices.map { "\($0.user) \($0.state) \($0.model)" } == ["ada locked m1", "ben active m2"])
    #expect(devices.allSatisfy { $0.parameters == "[]" && $0.pending == 2 })
    var ben = devices[1]
    (ben.model, ben.logLevel) = ("newer", "debug")
    try store.keep(ben)
    #expect(try store.registeredDevice(ben.owner)?.logLevel == "debug")
    #expect(try store.registeredDevice(Owner(device: "phone", user: "ben"))?.model == "newer")
    #expect(try store.registeredDevices().count == 2)
  }

  /// A column that a step adds, what takes it away, and what the step says.
  private static func obstacle(_ table: String, _ column: String) -> (String, String, String) {
    (
      "ALTER TABLE ferry_store.\(table) ADD COLUMN \(column) text",
      "ALTER TABLE ferry_store.\(table) DROP COLUMN \(column)",
      "column \"\(column)\" of relation \"\(table)\" already exists"
    )
  }

  @Test(
    "A step that fails changes nothing, and is done when it can be", arguments: 1..<Schema.version)
  func failing(_ from: Int64) throws {
    try make(from)
    // Somebody else's view on a table that a step changes, or a column of a name that it gives.
    let (obstacle, removal, reason) =
      from < 3
      ? (
        "CREATE VIEW ferry_store.obstacle AS SELECT package FROM ferry_store.registered_device",
        "DROP VIEW ferry_store.obstacle", "cannot drop column package"
      )
      : from == 3
        ? StoreSchemaTests.obstacle("server", "session_changes")
        : from == 4
          ? StoreSchemaTests.obstacle("token_user", "packages")
          : from == 5
            ? StoreSchemaTests.obstacle("registered_device", "application")
            : from == 6
              ? (
                "CREATE TABLE ferry_store.unknown_outcome (operation text)",
                "DROP TABLE ferry_store.unknown_outcome",
                "relation \"unknown_outcome\" already exists"
              )
              : from == 7
                ? StoreSchemaTests.obstacle("operation", "sent_at")
                : from == 8
                  ? (
                    "CREATE TABLE ferry_store.correction (operation text)",
                    "DROP TABLE ferry_store.correction", "relation \"correction\" already exists"
                  )
                  : from == 9
                    ? StoreSchemaTests.obstacle("registered_device", "log_level")
                    : (
                      "CREATE TABLE ferry_store.border (entity text)",
                      "DROP TABLE ferry_store.border", "relation \"border\" already exists"
                    )
    try other.execute(obstacle)
    let before = try other.value(
      "SELECT json_agg(d ORDER BY d::text)::text FROM ferry_store.registered_device AS d")
    let error = #expect(throws: ServerError.self) { _ = try database.open(StoreSuite.package) }
    let text = error?.message ?? ""
    #expect(text.contains(reason), "\(text)")
    #expect(try version() == String(from))
    let after = try other.value(
      "SELECT json_agg(d ORDER BY d::text)::text FROM ferry_store.registered_device AS d")
    #expect(before == after)
    try other.execute(removal)
    #expect(try database.open(StoreSuite.package).clock() == 42)
  }
}
