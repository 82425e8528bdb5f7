import FerryCrypto
import FerryPostgreSQL
import FerryServer
import FerryWorld

/// The tables of the server's store in PostgreSQL, in a schema of their own.
///
/// `tables` are those of version 1 and never change; each step leads from one version to the next, all
/// of them in one transaction. A schema that a newer server has is not touched.
enum Schema {
  static let version: Int64 = 11
  /// What a fence raises.
  static let termIsOver: String = "FY001"
  static let clockDiffers: String = "FY002"

  /// The table that says: this copy of a store was left, and the server uses the one in its folder.
  static let undone: String = "ferry_store.undone"

  static func isUndone(_ line: Line) throws(StoreError) -> Bool {
    try line.rows("SELECT pg_catalog.to_regclass('\(undone)')").text(0, 0) != nil
  }

  /// Makes the schema where it is missing, and leads it to this server's version.
  static func prepare(_ line: Line, _ world: World, store: String) throws(ServerError) {
    do {
      try begin(line)
      let known = try version(line)
      if let known, known > version { throw newer(known, store) }
      if known != nil, try isUndone(line) {
        throw ServerError(
          .movedStore,
          "the move to the store \(store) was undone: the server uses the store in its folder again",
          hint: "Start ferryd without --store. To move the store again: ferry move. To remove this "
            + "copy: DROP SCHEMA ferry_store CASCADE.")
      }
      if known == nil { try make(line, world) }
      for step in (known ?? 1)..<max(known ?? 1, version) { try climb(line, from: step) }
      try line.commit()
    } catch let error as ServerError {
      line.rollBack()
      throw error
    } catch let error as StoreError {
      line.rollBack()
      throw ServerError(error, store: store)
    } catch {
      throw ServerError(StoreError(.other, "\(error)"), store: store)
    }
  }

  /// Begins the transaction in which a schema is made or changed; one at a time in a database.
  static func begin(_ line: Line) throws(StoreError) {
    _ = try line.begin(
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      [
        PostgreSQLConnection.Request(
          "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('ferry_store', 0))"
        )
      ])
  }

  static func newer(_ known: Int64, _ store: String) -> ServerError {
    ServerError(
      .newerStore, "the store \(store) has version \(known); this server supports up to \(version)",
      hint: "Start the newer server, or restore a backup made before it.")
  }

  /// Makes a new one of this version, in the open transaction.
  static func makeNewest(_ line: Line, _ world: World) throws(StoreError) {
    try make(line, world)
    for step in 1..<version { try climb(line, from: step) }
  }

  /// nil where there is no store yet.
  static func version(_ line: Line) throws(StoreError) -> Int64? {
    let found = try line.rows("SELECT pg_catalog.to_regclass('ferry_store.server')")
    guard found.count > 0, found.text(0, 0) != nil else { return nil }
    let rows = try line.rows("SELECT schema_version FROM ferry_store.server")
    guard rows.count > 0, let version = rows.integer(0, 0) else {
      throw StoreError.damaged("the schema ferry_store has no version")
    }
    return version
  }

  private static func make(_ line: Line, _ world: World) throws(StoreError) {
    try line.use { connection throws(PostgreSQLError) in try connection.execute(tables) }
    _ = try line.rows(
      """
      INSERT INTO ferry_store.server (id, schema_version, last_day, days)
      VALUES ($1, 1, extract(epoch FROM clock_timestamp())::int8 / 86400, 0)
      """, [.text(hexadecimal(world.chance.bytes(16)))])
  }

  /// From `version` to the next.
  static func climb(_ line: Line, from version: Int64) throws(StoreError) {
    let statements: String
    switch version {
    case 1: statements = registrations
    case 2: statements = packages
    case 3: statements = sessionChanges
    case 4: statements = userPackages
    case 5: statements = connections
    case 6: statements = unknownOutcomes
    case 7: statements = sendingTimes
    case 8: statements = corrections
    case 9: statements = desk
    case 10: statements = borders
    default: throw StoreError.damaged("there is no migration from version \(version) of the store")
    }
    try line.use { connection throws(PostgreSQLError) in try connection.execute(statements) }
    _ = try line.rows(
      "UPDATE ferry_store.server SET schema_version = $1", [.integer(version + 1)])
  }

  /// Version 8: when an operation was first handed to the business system, which may know its request
  /// for some time only; and the mapping that was deployed with a model.
  private static let sendingTimes: String = """
    ALTER TABLE ferry_store.operation ADD COLUMN sent_at int8;
    ALTER TABLE ferry_store.deployed ADD COLUMN mapping text;
    """

  /// Version 11: which days devices have of an entity with a window.
  private static let borders: String = """
    CREATE TABLE ferry_store.border (
      package int8 NOT NULL, entity text COLLATE "C" NOT NULL, attribute text COLLATE "C" NOT NULL,
      position int8 NOT NULL, first_day int8 NOT NULL, last_day int8 NOT NULL,
      PRIMARY KEY (package, entity));
    """

  /// Version 10: how much a device logs. What a user did is found by `operation_device`.
  private static let desk: String = """
    ALTER TABLE ferry_store.registered_device ADD COLUMN log_level text;
    """

  /// Version 9: what operators want done with refused operations.
  private static let corrections: String = """
    CREATE TABLE ferry_store.correction (
      id text PRIMARY KEY, package int8 NOT NULL, operation text NOT NULL,
      user_name text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL, verb text NOT NULL,
      changed text NOT NULL, seen text NOT NULL, message text NOT NULL, made_by text NOT NULL,
      reason text NOT NULL, made int8 NOT NULL, state text NOT NULL, detail text NOT NULL,
      became text, ended int8);
    CREATE UNIQUE INDEX correction_of_operation ON ferry_store.correction (operation)
      WHERE state = 'open';
    CREATE INDEX correction_operation ON ferry_store.correction (operation);
    CREATE INDEX correction_owner ON ferry_store.correction (user_name, device)
      WHERE state = 'open';
    CREATE INDEX operation_refused ON ferry_store.operation (package, sequence)
      WHERE outcome = 'replayFailed' AND payload IS NOT NULL;
    """

  /// Version 7: what an operator sees of operations whose outcome nobody knows.
  private static let unknownOutcomes: String = """
    CREATE TABLE ferry_store.unknown_outcome (
      operation text COLLATE "C" PRIMARY KEY, package int8 NOT NULL, reason text NOT NULL,
      candidates text NOT NULL);
    """

  /// Version 6: a device may be the connection of an application, for which payloads wait.
  private static let connections: String = """
    ALTER TABLE ferry_store.registered_device ADD COLUMN application text COLLATE "C";
    ALTER TABLE ferry_store.registered_device ADD COLUMN registered int8 NOT NULL DEFAULT 0;
    ALTER TABLE ferry_store.registered_device ADD COLUMN changes int8 NOT NULL DEFAULT 0;
    ALTER TABLE ferry_store.registered_device ADD COLUMN properties text NOT NULL DEFAULT '{}';
    ALTER TABLE ferry_store.registered_device ADD COLUMN proof text;
    CREATE UNIQUE INDEX registered_connection ON ferry_store.registered_device (device)
      WHERE application IS NOT NULL;
    CREATE TABLE ferry_store.payload (
      number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      user_name text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL,
      moment int8 NOT NULL, content text NOT NULL);
    CREATE INDEX payload_owner ON ferry_store.payload (user_name, device, number);
    """

  /// Version 5: users of issuers may have some packages only; NULL stands for all.
  private static let userPackages: String = """
    ALTER TABLE ferry_store.token_user ADD COLUMN packages text;
    """

  /// Version 4: nodes remember open sessions, and see here that one may have ended.
  private static let sessionChanges: String = """
    ALTER TABLE ferry_store.server ADD COLUMN session_changes int8 NOT NULL DEFAULT 0;
    """

  /// Version 3: several packages are served side by side, and may be deployed while servers run. A
  /// device is known to the server once. Of one that was known to several packages the row with a
  /// lock or a wipe stays, or the newest.
  private static let packages: String = """
    DELETE FROM ferry_store.registered_device AS d USING ferry_store.registered_device AS o
    WHERE o.user_name = d.user_name AND o.device = d.device AND o.package <> d.package
      AND (o.state <> 'active', o.last_seen, o.package)
        > (d.state <> 'active', d.last_seen, d.package);
    ALTER TABLE ferry_store.registered_device DROP COLUMN package;
    ALTER TABLE ferry_store.registered_device ADD PRIMARY KEY (user_name, device);
    CREATE TABLE ferry_store.deployed (
      package text COLLATE "C" PRIMARY KEY, model text NOT NULL, database text NOT NULL);
    """

  /// Version 2: how a device was registered, and what it asks for.
  private static let registrations: String = """
    ALTER TABLE ferry_store.registered_device ADD COLUMN template text;
    ALTER TABLE ferry_store.registered_device ADD COLUMN subscription text;
    ALTER TABLE ferry_store.registered_device ADD COLUMN parameters text NOT NULL DEFAULT '[]';
    """

  static let tables: String = """
    CREATE SCHEMA IF NOT EXISTS ferry_store;
    CREATE TABLE ferry_store.server (
      only_one bool PRIMARY KEY DEFAULT true CHECK (only_one), id text NOT NULL,
      schema_version int8 NOT NULL, last_day int8 NOT NULL, days int8 NOT NULL);
    CREATE TABLE ferry_store.secret (name text PRIMARY KEY, bytes bytea NOT NULL);
    CREATE TABLE ferry_store.package (
      id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
      shape text NOT NULL, loaded bool NOT NULL, removals int8 NOT NULL, term int8 NOT NULL,
      token int8 NOT NULL);
    CREATE TABLE ferry_store.lease (
      package int8 PRIMARY KEY, term int8 NOT NULL, token int8 NOT NULL, holder text NOT NULL,
      until timestamptz NOT NULL);
    CREATE TABLE ferry_store.number (
      package int8 NOT NULL, version int8 NOT NULL, PRIMARY KEY (package, version));
    CREATE TABLE ferry_store.era (
      number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, package int8 NOT NULL,
      id text NOT NULL UNIQUE, first_version int8 NOT NULL, term int8 NOT NULL);
    CREATE INDEX era_package ON ferry_store.era (package, number);
    CREATE TABLE ferry_store.entity (
      id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, package int8 NOT NULL,
      name text COLLATE "C" NOT NULL, UNIQUE (package, name));
    CREATE SEQUENCE ferry_store.partition_id;
    CREATE TABLE ferry_store.partition (
      id int8 PRIMARY KEY DEFAULT nextval('ferry_store.partition_id'), package int8 NOT NULL,
      group_name text COLLATE "C" NOT NULL, rule text COLLATE "C" NOT NULL,
      place text COLLATE "C" NOT NULL, version int8 NOT NULL, floor int8 NOT NULL,
      sum int8 NOT NULL, count int8 NOT NULL, left_count int8 NOT NULL, asked_by text COLLATE "C",
      asked_day int8 NOT NULL, UNIQUE (package, group_name, rule, place)) WITH (fillfactor = 80);
    CREATE INDEX partition_version ON ferry_store.partition (package, version);
    CREATE INDEX partition_asked ON ferry_store.partition (package, asked_by, asked_day)
      WHERE asked_by IS NOT NULL AND count = 0;
    CREATE SEQUENCE ferry_store.row_id INCREMENT BY 1000;
    CREATE TABLE ferry_store.row (
      id int8 PRIMARY KEY, entity int8 NOT NULL, key text COLLATE "C" NOT NULL,
      parent_key text COLLATE "C", partition int8, body text COLLATE "C" NOT NULL,
      hash int8 NOT NULL, version int8 NOT NULL, deleted bool NOT NULL, UNIQUE (entity, key));
    CREATE INDEX row_parent ON ferry_store.row (entity, parent_key) WHERE parent_key IS NOT NULL;
    CREATE INDEX row_deleted ON ferry_store.row (entity, version) WHERE deleted;
    CREATE TABLE ferry_store.alternate (
      entity int8 NOT NULL, attributes text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
      row int8 NOT NULL, PRIMARY KEY (entity, attributes, text, row));
    CREATE TABLE ferry_store.member (
      partition int8 NOT NULL, version int8 NOT NULL, row int8 NOT NULL, has_left bool NOT NULL,
      PRIMARY KEY (partition, version, row), UNIQUE (row, partition));
    CREATE INDEX member_left ON ferry_store.member (partition, version) WHERE has_left;
    CREATE TABLE ferry_store.operation (
      sequence int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,
      device text COLLATE "C" NOT NULL, user_name text COLLATE "C" NOT NULL,
      roles text NOT NULL, claims text NOT NULL, package int8 NOT NULL, chain text NOT NULL,
      position int8 NOT NULL, count int8 NOT NULL, entity text COLLATE "C" NOT NULL,
      kind text NOT NULL, object_key text COLLATE "C", group_name text COLLATE "C" NOT NULL,
      payload bytea, hash bytea NOT NULL, state text NOT NULL, may_have_run bool NOT NULL,
      claimed_by text, mark int8, outcome text, answer bytea, answer_version int8,
      new_key text COLLATE "C", day int8 NOT NULL, named_in text,
      touched xid8 NOT NULL DEFAULT pg_current_xact_id());
    CREATE INDEX operation_chain ON ferry_store.operation (chain);
    CREATE INDEX operation_device ON ferry_store.operation (user_name, device, state);
    CREATE INDEX operation_open ON ferry_store.operation (package, sequence)
      WHERE state IN ('stored', 'claimed');
    CREATE INDEX operation_touched ON ferry_store.operation (package, touched)
      WHERE state = 'stored';
    CREATE INDEX operation_answered ON ferry_store.operation (package, answer_version)
      WHERE answer_version IS NOT NULL;
    CREATE INDEX operation_unknown ON ferry_store.operation (package)
      WHERE outcome = 'unknown' AND payload IS NOT NULL;
    CREATE INDEX operation_object ON ferry_store.operation (package, entity, object_key);
    CREATE INDEX operation_day ON ferry_store.operation (day) WHERE state = 'confirmed';
    CREATE TABLE ferry_store.device (
      id text COLLATE "C" NOT NULL, user_name text COLLATE "C" NOT NULL, package int8 NOT NULL,
      incarnation text NOT NULL, rights_version text NOT NULL, last_day int8 NOT NULL,
      PRIMARY KEY (user_name, id, package));
    CREATE TABLE ferry_store.staged (
      package int8 NOT NULL, entity int8 NOT NULL, key text COLLATE "C" NOT NULL,
      body text COLLATE "C" NOT NULL, moment int8 NOT NULL, PRIMARY KEY (entity, key));
    CREATE TABLE ferry_store.rejected (
      package int8 NOT NULL, entity text NOT NULL, key text NOT NULL, attribute text NOT NULL,
      reason text NOT NULL);
    CREATE INDEX rejected_key ON ferry_store.rejected (package, entity);
    CREATE TABLE ferry_store.staged_rejected (
      package int8 NOT NULL, entity text NOT NULL, key text NOT NULL, attribute text NOT NULL,
      reason text NOT NULL);
    CREATE TABLE ferry_store.seen_day (
      package int8 NOT NULL, day int8 NOT NULL, version int8 NOT NULL, PRIMARY KEY (package, day));
    CREATE TABLE ferry_store.session (
      id text COLLATE "C" PRIMARY KEY, user_name text COLLATE "C" NOT NULL,
      device text COLLATE "C" NOT NULL, used int8 NOT NULL, begun int8 NOT NULL,
      renewed int8 NOT NULL, stamp text NOT NULL, ended text);
    CREATE INDEX session_owner ON ferry_store.session (user_name, device);
    CREATE INDEX session_begun ON ferry_store.session (begun);
    CREATE TABLE ferry_store.token_user (
      user_name text COLLATE "C" PRIMARY KEY, roles text NOT NULL, claims text NOT NULL,
      issued int8 NOT NULL);
    CREATE TABLE ferry_store.registered_device (
      package int8 NOT NULL, user_name text COLLATE "C" NOT NULL,
      device text COLLATE "C" NOT NULL, incarnation text NOT NULL, model text NOT NULL,
      hardware text NOT NULL, system text NOT NULL, library text NOT NULL,
      first_seen int8 NOT NULL, last_seen int8 NOT NULL, pending int8, cursors text NOT NULL,
      state text NOT NULL, reason text NOT NULL, receipt text, with_pending boolean NOT NULL,
      PRIMARY KEY (package, user_name, device));
    CREATE TABLE ferry_store.personalization (
      package int8 NOT NULL, user_name text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
      value text NOT NULL, PRIMARY KEY (package, user_name, name));
    CREATE TABLE ferry_store.report (
      number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,
      package int8 NOT NULL, device text COLLATE "C" NOT NULL, user_name text COLLATE "C" NOT NULL,
      level text NOT NULL, record text NOT NULL, day int8 NOT NULL);
    CREATE INDEX report_device ON ferry_store.report (user_name, device, number);
    CREATE INDEX report_user ON ferry_store.report (user_name, number);
    CREATE INDEX report_day ON ferry_store.report (day);
    CREATE TABLE ferry_store.content (
      id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, package int8 NOT NULL,
      user_name text COLLATE "C" NOT NULL, reference text NOT NULL, stored int8 NOT NULL,
      state text NOT NULL, day int8 NOT NULL, UNIQUE (package, user_name, reference));
    CREATE TABLE ferry_store.content_piece (
      content int8 NOT NULL, start int8 NOT NULL, bytes bytea NOT NULL,
      PRIMARY KEY (content, start));
    CREATE TABLE ferry_store.source_cursor (package int8 PRIMARY KEY, text text NOT NULL);
    CREATE FUNCTION ferry_store.fence(
      which int8, wanted_term int8, wanted_token int8, known_clock int8)
    RETURNS void LANGUAGE plpgsql AS $fence$
    DECLARE
      clock int8;
    BEGIN
      PERFORM 1 FROM ferry_store.package AS p
      WHERE p.id = which AND p.term = wanted_term AND p.token = wanted_token FOR UPDATE;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the term % of package % is over', wanted_term, which
          USING ERRCODE = 'FY001';
      END IF;
      IF known_clock IS NOT NULL THEN
        SELECT coalesce(max(version), 0) INTO clock FROM ferry_store.number WHERE package = which;
        IF clock <> known_clock THEN
          RAISE EXCEPTION 'the clock of package % is %, not %', which, clock, known_clock
            USING ERRCODE = 'FY002';
        END IF;
      END IF;
    END $fence$;
    """
}
