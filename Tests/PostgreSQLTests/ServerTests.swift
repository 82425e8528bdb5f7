import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import FerryTestTraits
import Testing

@Suite("A server and its role in a database of PostgreSQL")
struct ServerTests {
  @Test(
    "A server that was taken over performs nothing more, and its successor waits for what it began")
  func leader() throws {
    let stage = try ReplayStage()
    let early = stage.connector
    early.lead("store")
    #expect(stage.isDone(early.perform([stage.create(1)])))
    // One of its transactions is still under way.
    try stage.other.execute(
      """
      BEGIN; SELECT pg_advisory_xact_lock_shared(hashtextextended('ferry store', 0));
      """)
    let late = PostgreSQLConnector(
      stage.address, package: stage.package, lockTimeout: .milliseconds(100))
    late.lead("store")
    #expect(throws: ConnectorError.self) { try late.recall([stage.create(1)]) }
    try stage.other.execute("COMMIT")
    #expect(
      try late.recall([stage.create(1)])
        == [.performed(.accepted(key: ObjectKey([.integer(1)])))])
    guard case .notDone(let reason) = early.perform([stage.create(2)]) else {
      Issue.record("two perform for one store")
      return
    }
    #expect(reason.contains("Another server"))
    #expect(stage.isDone(late.perform([stage.create(2)])))
    // Another store's server is another matter.
    let other = PostgreSQLConnector(stage.address, package: stage.package)
    other.lead("another")
    #expect(stage.isDone(other.perform([stage.create(3)])))
    #expect(stage.isDone(late.perform([stage.create(4)])))
  }

  @Test("Where the memory of operations was removed nobody says that one was not performed")
  func removedMemory() throws {
    let stage = try ReplayStage()
    stage.connector.lead("store")
    #expect(stage.isDone(stage.connector.perform([stage.create(1)])))
    try stage.other.execute("DROP SCHEMA ferry CASCADE")
    let next = PostgreSQLConnector(stage.address, package: stage.package)
    next.lead("store")
    let error = #expect(throws: ConnectorError.self) { try next.recall([stage.create(1)]) }
    #expect(error?.isTransient == false)
  }

  @Test("The customer's own rules know whose change it is, and nobody's is left behind")
  func user() throws {
    let stage = try ReplayStage(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text, at timestamptz, price numeric);
      CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.name := current_setting('ferry.user', true); RETURN NEW; END $$;
      CREATE TRIGGER audit BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION audit()
      """)
    #expect(stage.isDone(stage.connector.perform([stage.create(1, user: "ada")])))
    #expect(stage.isDone(stage.connector.perform([stage.create(2)])))
    #expect(
      try stage.other.rows("SELECT name FROM item ORDER BY id").texts == [["ada"], [""]])
  }

  @Test(
    "The customer's own rules know the trace of a change, and none is left behind",
    .reference("adr/BTX-2"))
  func trace() throws {
    let stage = try ReplayStage(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text, at timestamptz, price numeric);
      CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.name := current_setting('ferry.trace', true); RETURN NEW; END $$;
      CREATE TRIGGER audit BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION audit()
      """)
    var traced = stage.create(1)
    traced.traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    #expect(stage.isDone(stage.connector.perform([traced])))
    #expect(stage.isDone(stage.connector.perform([stage.create(2)])))
    #expect(
      try stage.other.rows("SELECT name FROM item ORDER BY id").texts == [
        ["4bf92f3577b34da6a3ce929d0e0e4736"], [""],
      ])
  }

  @Test("A row that a policy hides from the server does not look deleted: nothing is done")
  func hidden() throws {
    let stage = try ReplayStage()
    let role = "hidden_\(stage.address.database)"
    try stage.other.execute(
      """
      CREATE ROLE \(role) LOGIN; INSERT INTO item VALUES (1, 'a');
      ALTER TABLE item ENABLE ROW LEVEL SECURITY;
      CREATE POLICY writes ON item FOR UPDATE USING (true);
      CREATE POLICY sees ON item FOR SELECT USING (name = 'a')
      """)
    for statement in try Preparation(stage.package, stage.other, level: .operations, role: role)
      .statements
    { try stage.other.execute(statement) }
    let address = try PostgreSQLAddress(
      stage.address.text.replacing("user=ferry", with: "user=\(role)"))
    let connector = PostgreSQLConnector(address, package: stage.package)
    let update = ConnectorOperation(
      id: OperationID(String(repeating: "1", count: 32))!, entity: stage.item, kind: .update,
      key: ObjectKey([.integer(1)]), changed: [3: .text("1")], base: [:])
    guard case .notDone(let reason) = connector.perform([update]) else {
      Issue.record("it was answered")
      return
    }
    #expect(reason.contains("row-level security"))
    #expect(try stage.other.value("SELECT price FROM item") == nil)
  }

  @Test("With the rights that ferry prepare grants, and no other, a server does its work")
  func leastRights() throws {
    let stage = try ReplayStage(
      "CREATE TABLE item (id bigserial PRIMARY KEY, name varchar(5), at timestamptz, price numeric)"
    )
    let role = "least_\(stage.address.database)"
    try stage.other.execute(
      "CREATE ROLE \(role) LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC")
    for statement in try Preparation(stage.package, stage.other, role: role).statements {
      try stage.other.execute(statement)
    }
    let address = try PostgreSQLAddress(
      stage.address.text.replacing("user=ferry", with: "user=\(role)"))
    let connector = PostgreSQLConnector(address, package: stage.package)
    connector.lead("store")
    #expect(try connector.mismatches(with: stage.package) == [])
    let cursor = try connector.changes(since: nil).cursor
    #expect(stage.isDone(connector.perform([stage.create(1)])))
    #expect(
      try connector.recall([stage.create(1)])
        == [.performed(.accepted(key: ObjectKey([.integer(1)])))])
    let delete = ConnectorOperation(
      id: OperationID(String(repeating: "1", count: 32))!, entity: stage.item, kind: .delete,
      key: ObjectKey([.integer(1)]), changed: [:], base: [:])
    #expect(stage.isDone(connector.perform([delete])))
    try stage.other.execute("INSERT INTO item (name) VALUES ('x')")
    #expect(
      try connector.changes(since: cursor).hints
        == [.objects(entity: "Item", keys: [ObjectKey([.integer(1)])])])
    #expect(try connector.read(stage.item, keys: [ObjectKey([.integer(1)])]).first?.values != nil)

    try stage.other.execute("REVOKE DELETE ON item FROM \(role)")
    let missing = try connector.mismatches(with: stage.package)
    #expect(missing.map(\.problem).joined().contains("no DELETE on \"public\".\"item\""))
    #expect(missing.map(\.cure).joined().contains("GRANT DELETE ON TABLE"))
    // A grant that is lost is not the user's fault.
    guard case .notDone = connector.perform([delete]) else {
      if case .done(let outcomes, _) = connector.perform([delete]) {
        #expect(
          outcomes == [.accepted(key: ObjectKey([.integer(1)]), isRepeated: true)],
          "performed before")
      }
      return
    }
  }

  @Test("A column that is retyped is known at once, and its new limits are kept")
  func retyped() throws {
    let stage = try ReplayStage()
    #expect(stage.isDone(stage.connector.perform([stage.create(1, [3: .text("1.25")])])))
    try stage.other.execute("ALTER TABLE item ALTER price TYPE numeric(8, 1)")
    #expect(
      stage.refusal(stage.connector.perform([stage.create(2, [3: .text("1.25")])]))?.code == 422)
    try stage.other.execute("ALTER TABLE item RENAME name TO label")
    guard case .notDone(let reason) = stage.connector.perform([stage.create(3)]) else {
      Issue.record("it was performed")
      return
    }
    #expect(reason.contains("no column name"))
    #expect(throws: ConnectorError.self) {
      try stage.connector.read(stage.item, keys: [ObjectKey([.integer(1)])])
    }
  }

  @Test("Keys that the database takes for equal, and an encoding nobody knows, are refused at once")
  func unfitDatabase() throws {
    let stage = try ReplayStage()
    try stage.other.execute(
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE loosely (id text COLLATE loose PRIMARY KEY)
      """)
    let loosely = Entity(
      name: "Loosely", table: "loosely",
      attributes: [Attribute(name: "id", column: "id", type: .string, isNullable: false)],
      key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all")
    let package = Package(
      name: "loose", version: "1.0", entities: [loosely],
      groups: [SynchronizationGroup(name: "all")])
    let found = try PostgreSQLConnector(stage.address, package: package).mismatches(with: package)
    #expect(found.map(\.place) == ["Loosely.id"])

    let name = "\(stage.address.database)_ascii"
    try stage.other.execute(
      "CREATE DATABASE \(name) ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    let address = try Cluster.shared.get().address(name)
    try PostgreSQLConnection(address).execute("CREATE TABLE loosely (id text PRIMARY KEY)")
    let ascii = try PostgreSQLConnector(address, package: package).mismatches(with: package)
    #expect(ascii.map(\.problem).joined().contains("SQL_ASCII"))
  }
}
