import FerrySQLite

/// The tables of the server's store; `Documentation` of each is in the design of synchronization.
///
/// A store has the version of the server that last opened it. `tables` are those of version 1 and
/// never change; each step leads from one version to the next, in a transaction of its own.
enum Schema {
  static let version: Int64 = 11
  /// `FErS`.
  static let applicationID: Int64 = 0x4645_7253

  static let tables: String = """
    CREATE TABLE server (
      only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL,
      last_day INTEGER NOT NULL, days INTEGER NOT NULL) STRICT;
    CREATE TABLE package (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, shape TEXT NOT NULL,
      version INTEGER NOT NULL, loaded INTEGER NOT NULL) STRICT;
    CREATE TABLE era (
      number INTEGER PRIMARY KEY, package INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
      first_version INTEGER NOT NULL) STRICT;
    CREATE TABLE entity (
      id INTEGER PRIMARY KEY, package INTEGER NOT NULL, name TEXT NOT NULL,
      UNIQUE (package, name)) STRICT;
    CREATE TABLE partition (
      id INTEGER PRIMARY KEY AUTOINCREMENT, package INTEGER NOT NULL, group_name TEXT NOT NULL,
      rule TEXT NOT NULL, place TEXT NOT NULL, version INTEGER NOT NULL, floor INTEGER NOT NULL,
      sum INTEGER NOT NULL, count INTEGER NOT NULL, left_count INTEGER NOT NULL,
      loaded INTEGER NOT NULL, UNIQUE (package, group_name, rule, place)) STRICT;
    CREATE TABLE row (
      id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, key TEXT NOT NULL, parent_key TEXT,
      partition INTEGER, body BLOB NOT NULL, hash INTEGER NOT NULL, version INTEGER NOT NULL,
      deleted INTEGER NOT NULL, source_position TEXT, UNIQUE (entity, key)) STRICT;
    CREATE INDEX row_parent ON row (entity, parent_key) WHERE parent_key IS NOT NULL;
    CREATE TABLE alternate (
      entity INTEGER NOT NULL, attributes TEXT NOT NULL, text TEXT NOT NULL, row INTEGER NOT NULL,
      PRIMARY KEY (entity, attributes, text, row)) STRICT, WITHOUT ROWID;
    CREATE TABLE member (
      partition INTEGER NOT NULL, version INTEGER NOT NULL, row INTEGER NOT NULL,
      left INTEGER NOT NULL, PRIMARY KEY (partition, version, row)) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX member_row ON member (row, partition);
    CREATE INDEX member_left ON member (partition, version) WHERE left = 1;
    CREATE TABLE operation (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, device TEXT NOT NULL,
      user TEXT NOT NULL, claims TEXT NOT NULL, package INTEGER NOT NULL, chain TEXT NOT NULL,
      position INTEGER NOT NULL, count INTEGER NOT NULL, batch TEXT, entity TEXT NOT NULL,
      kind TEXT NOT NULL, object_key TEXT, group_name TEXT NOT NULL, payload BLOB,
      hash BLOB NOT NULL, state TEXT NOT NULL, may_have_run INTEGER NOT NULL, claimed_by TEXT,
      mark INTEGER, outcome TEXT, answer BLOB, answer_version INTEGER, new_key TEXT,
      day INTEGER NOT NULL, roles TEXT NOT NULL DEFAULT '[]') STRICT;
    CREATE INDEX operation_chain ON operation (chain);
    CREATE INDEX operation_device ON operation (device, user, state);
    CREATE INDEX operation_open ON operation (package, state, sequence)
      WHERE state IN ('stored', 'claimed');
    CREATE INDEX operation_object ON operation (entity, object_key);
    CREATE TABLE device (
      id TEXT NOT NULL, user TEXT NOT NULL, package INTEGER NOT NULL, incarnation TEXT NOT NULL,
      rights_version TEXT NOT NULL, last_day INTEGER NOT NULL,
      PRIMARY KEY (id, user, package)) STRICT, WITHOUT ROWID;
    CREATE TABLE staged (
      entity INTEGER NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL, moment INTEGER NOT NULL,
      PRIMARY KEY (entity, key)) STRICT, WITHOUT ROWID;
    CREATE TABLE rejected (
      package INTEGER NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL, attribute TEXT NOT NULL,
      reason TEXT NOT NULL) STRICT;
    CREATE TABLE staged_rejected (
      entity TEXT NOT NULL, key TEXT NOT NULL, attribute TEXT NOT NULL,
      reason TEXT NOT NULL) STRICT;
    CREATE TABLE seen_day (
      package INTEGER NOT NULL, day INTEGER NOT NULL, version INTEGER NOT NULL,
      PRIMARY KEY (package, day)) STRICT, WITHOUT ROWID;
    CREATE TABLE refresh_token (
      hash BLOB PRIMARY KEY, parent BLOB, user TEXT NOT NULL, device TEXT NOT NULL,
      expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_token_parent ON refresh_token (parent);
    CREATE INDEX refresh_token_user ON refresh_token (user, device);
    """

  /// From `version` to the next.
  static func step(from version: Int64, _ writer: Connection) throws(SQLiteError) {
    switch version {
    case 1:
      // Servers of version 1 added these to stores that were made before them, each by itself.
      try writer.execute(Schema.additions)
      let roles = try writer.value(
        "SELECT count(*) FROM pragma_table_info('operation') WHERE name = 'roles'")?.integer
      if roles == 0 {
        try writer.execute("ALTER TABLE operation ADD COLUMN roles TEXT NOT NULL DEFAULT '[]'")
      }
      try writer.execute(Schema.bounds)
    case 2: try writer.execute(Schema.sessions)
    case 3: try writer.execute(Schema.packages)
    case 4: try writer.execute(Schema.registrations)
    case 5: try writer.execute(Schema.userPackages)
    case 6: try writer.execute(Schema.connections)
    case 7: try writer.execute(Schema.sendingTimes)
    case 8: try writer.execute(Schema.corrections)
    case 9: try writer.execute(Schema.desk)
    case 10: try writer.execute(Schema.borders)
    default:
      throw SQLiteError(
        code: 11, message: "there is no migration from version \(version) of the store", subject: ""
      )
    }
    try writer.execute("PRAGMA user_version = \(version + 1)")
  }

  /// Version 2: who asked for a partition and when, so that what nobody asks for can go.
  private static let bounds: String = """
    ALTER TABLE partition ADD COLUMN asked_day INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE partition ADD COLUMN asked_by TEXT;
    UPDATE partition SET asked_day = (SELECT days FROM server);
    CREATE INDEX partition_asked ON partition (package, asked_by, asked_day)
      WHERE asked_by IS NOT NULL AND count = 0;
    CREATE INDEX device_user ON device (user, last_day);
    CREATE INDEX report_user ON report (user, number);
    """

  /// Version 3: a session is one row for all its tokens; users of issuers; the register of devices.
  ///
  /// A token of before is 32 random bytes, of which the hash was kept. Its session has the hash as its
  /// name, and the token counts as number 0.
  private static let sessions: String = """
    CREATE TABLE session (
      id TEXT NOT NULL PRIMARY KEY, user TEXT NOT NULL, device TEXT NOT NULL,
      used INTEGER NOT NULL, begun INTEGER NOT NULL, renewed INTEGER NOT NULL,
      stamp TEXT NOT NULL, ended TEXT) STRICT, WITHOUT ROWID;
    CREATE INDEX session_owner ON session (user, device);
    CREATE INDEX session_begun ON session (begun);
    INSERT INTO session (id, user, device, used, begun, renewed, stamp, ended)
      SELECT lower(hex(hash)), user, device, 0, expires - 5184000000, expires - 5184000000, '', NULL
      FROM refresh_token;
    DROP TABLE refresh_token;
    CREATE TABLE token_user (
      user TEXT NOT NULL PRIMARY KEY, roles TEXT NOT NULL, claims TEXT NOT NULL,
      issued INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE registered_device (
      package INTEGER NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL,
      incarnation TEXT NOT NULL, model TEXT NOT NULL, hardware TEXT NOT NULL,
      system TEXT NOT NULL, library TEXT NOT NULL, first_seen INTEGER NOT NULL,
      last_seen INTEGER NOT NULL, pending INTEGER, cursors TEXT NOT NULL, state TEXT NOT NULL,
      reason TEXT NOT NULL, receipt TEXT, with_pending INTEGER NOT NULL,
      PRIMARY KEY (package, user, device)) STRICT, WITHOUT ROWID;
    """

  /// Version 4: several packages are served side by side. A device is known to the server, once; what
  /// a load found and could not take is of its package.
  private static let packages: String = """
    DROP TABLE staged_rejected;
    CREATE TABLE staged_rejected (
      package INTEGER NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL, attribute TEXT NOT NULL,
      reason TEXT NOT NULL) STRICT;
    CREATE TABLE device_of_server (
      user TEXT NOT NULL, device TEXT NOT NULL, incarnation TEXT NOT NULL, model TEXT NOT NULL,
      hardware TEXT NOT NULL, system TEXT NOT NULL, library TEXT NOT NULL,
      first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, pending INTEGER,
      cursors TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, receipt TEXT,
      with_pending INTEGER NOT NULL, PRIMARY KEY (user, device)) STRICT, WITHOUT ROWID;
    INSERT OR REPLACE INTO device_of_server
      SELECT user, device, incarnation, model, hardware, system, library, first_seen, last_seen,
        pending, cursors, state, reason, receipt, with_pending
      FROM registered_device ORDER BY state <> 'active', last_seen;
    DROP TABLE registered_device;
    ALTER TABLE device_of_server RENAME TO registered_device;
    """

  /// Version 5: how a device was registered, and what it asks for.
  private static let registrations: String = """
    ALTER TABLE registered_device ADD COLUMN template TEXT;
    ALTER TABLE registered_device ADD COLUMN subscription TEXT;
    ALTER TABLE registered_device ADD COLUMN parameters TEXT NOT NULL DEFAULT '[]';
    """

  /// Version 6: users of issuers may have some packages only; NULL stands for all.
  private static let userPackages: String = """
    ALTER TABLE token_user ADD COLUMN packages TEXT;
    """

  /// Version 7: a device may be the connection of an application, for which payloads wait.
  private static let connections: String = """
    ALTER TABLE registered_device ADD COLUMN application TEXT;
    ALTER TABLE registered_device ADD COLUMN registered INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE registered_device ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE registered_device ADD COLUMN properties TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE registered_device ADD COLUMN proof TEXT;
    CREATE UNIQUE INDEX registered_connection ON registered_device (device)
      WHERE application IS NOT NULL;
    CREATE TABLE payload (
      number INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, device TEXT NOT NULL,
      moment INTEGER NOT NULL, content TEXT NOT NULL) STRICT;
    CREATE INDEX payload_owner ON payload (user, device, number);
    """

  /// Version 8: when an operation was first handed to the business system, which may know its request
  /// for some time only.
  private static let sendingTimes: String = """
    ALTER TABLE operation ADD COLUMN sent_at INTEGER;
    """

  /// Version 9: what operators want done with refused operations.
  private static let corrections: String = """
    CREATE TABLE correction (
      id TEXT NOT NULL PRIMARY KEY, package INTEGER NOT NULL, operation TEXT NOT NULL,
      user TEXT NOT NULL, device TEXT NOT NULL, verb TEXT NOT NULL, changed TEXT NOT NULL,
      seen TEXT NOT NULL, message TEXT NOT NULL, made_by TEXT NOT NULL, reason TEXT NOT NULL,
      made INTEGER NOT NULL, state TEXT NOT NULL, detail TEXT NOT NULL, became TEXT,
      ended INTEGER) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX correction_of_operation ON correction (operation) WHERE state = 'open';
    CREATE INDEX correction_operation ON correction (operation);
    CREATE INDEX correction_owner ON correction (user, device) WHERE state = 'open';
    CREATE INDEX operation_refused ON operation (package, sequence)
      WHERE outcome = 'replayFailed' AND payload IS NOT NULL;
    CREATE INDEX operation_unknown ON operation (package, sequence)
      WHERE outcome = 'unknown' AND payload IS NOT NULL;
    """

  /// Version 10: how much a device logs; and what a user did, found among the operations of all. The
  /// user comes first: with the package first SQLite would take this index for lists without a user.
  private static let desk: String = """
    ALTER TABLE registered_device ADD COLUMN log_level TEXT;
    CREATE INDEX operation_user ON operation (user, package, sequence);
    """

  /// Version 11: which days devices have of an entity with a window.
  private static let borders: String = """
    CREATE TABLE border (
      package INTEGER NOT NULL, entity TEXT NOT NULL, attribute TEXT NOT NULL,
      position INTEGER NOT NULL, first_day INTEGER NOT NULL, last_day INTEGER NOT NULL,
      PRIMARY KEY (package, entity)) STRICT, WITHOUT ROWID;
    """

  private static let additions: String = """
    CREATE TABLE IF NOT EXISTS personalization (
      package INTEGER NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
      PRIMARY KEY (package, user, name)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS report (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, package INTEGER NOT NULL,
      device TEXT NOT NULL, user TEXT NOT NULL, level TEXT NOT NULL, record TEXT NOT NULL,
      day INTEGER NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS report_device ON report (device, user, number);
    CREATE INDEX IF NOT EXISTS report_day ON report (day);
    CREATE TABLE IF NOT EXISTS content (
      id INTEGER PRIMARY KEY AUTOINCREMENT, package INTEGER NOT NULL, user TEXT NOT NULL,
      reference TEXT NOT NULL, stored INTEGER NOT NULL, state TEXT NOT NULL, day INTEGER NOT NULL,
      UNIQUE (package, user, reference)) STRICT;
    CREATE TABLE IF NOT EXISTS content_piece (
      content INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (content, start)) STRICT;
    CREATE TABLE IF NOT EXISTS unknown_outcome (
      operation TEXT PRIMARY KEY, package INTEGER NOT NULL, reason TEXT NOT NULL,
      candidates TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS source_cursor (
      package INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    """
}
