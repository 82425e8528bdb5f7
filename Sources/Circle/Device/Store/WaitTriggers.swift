import FerrySQLite

/// The index of what operations refer to, and the triggers by which what is submitted and waits is
/// looked at again.
///
/// An operation that ends or changes may be what another one waits for: a change of the same object
/// or key, a create, the end of a reference, or what was refused and is replayed as one with it. Only
/// those are marked, whatever else waits.
enum WaitTriggers {
  static let statements: [String] = [
    """
    CREATE TABLE IF NOT EXISTS ferry_reference (
      entity TEXT NOT NULL, key TEXT NOT NULL, ends INTEGER NOT NULL, sequence INTEGER NOT NULL,
      PRIMARY KEY (entity, key, ends, sequence)) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS ferry_reference_sequence ON ferry_reference (sequence)",
    """
    CREATE TRIGGER IF NOT EXISTS ferry_reference_end AFTER DELETE ON ferry_operation
    BEGIN
      UPDATE ferry_operation SET wanted = 2
      WHERE wanted = 1 AND EXISTS (SELECT 1 FROM ferry_operation WHERE wanted > 0)
        AND sequence IN (\(waiters(unlessItHad: "0")));
      DELETE FROM ferry_reference WHERE sequence = old.sequence;
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS ferry_reference_change
    AFTER UPDATE OF object, kind, key, changed, base, chain, state, root_object ON ferry_operation
    WHEN ((new.object, new.kind, new.key, new.changed, new.base)
      IS NOT (old.object, old.kind, old.key, old.changed, old.base)
      OR old.state = 'replayFailed' AND new.state <> old.state
      OR \(holds) AND (new.chain, new.root_object) IS NOT (old.chain, old.root_object))
      AND EXISTS (SELECT 1 FROM ferry_operation WHERE wanted > 0)
    BEGIN
      UPDATE ferry_operation SET wanted = 2 WHERE wanted = 1 AND sequence IN (
        SELECT new.sequence UNION ALL
        \(waiters(
          unlessItHad: "(old.object, old.kind, old.key) IS (new.object, new.kind, new.key)")));
    END
    """,
  ]

  /// What is replayed as one with `old` waits with it, or for the app.
  private static let holds = "(old.state = 'replayFailed' OR old.wanted > 0)"

  /// Who may wait for `old`. What waits for the object itself does so also while it is edited.
  private static func waiters(unlessItHad same: String) -> String {
    """
    SELECT sequence FROM ferry_operation
      WHERE NOT \(same) AND entity = old.entity AND object = old.object
    UNION ALL SELECT sequence FROM ferry_operation
      WHERE NOT \(same) AND entity = old.entity AND key = old.key
    UNION ALL SELECT sequence FROM ferry_reference
      WHERE NOT \(same) AND old.kind = 'create' AND entity = old.entity AND key = old.key
      AND ends = 0
    UNION ALL SELECT waiting.sequence FROM ferry_reference AS ended
      JOIN ferry_operation AS waiting ON waiting.entity = ended.entity AND waiting.key = ended.key
      WHERE ended.sequence = old.sequence AND ended.ends = 1 AND waiting.kind = 'delete'
    UNION ALL SELECT sequence FROM ferry_operation
      WHERE \(holds) AND chain = old.chain
    UNION ALL SELECT sequence FROM ferry_operation
      WHERE \(holds) AND root_entity = old.root_entity
      AND root_object = old.root_object
    """
  }

  /// Of what is pending nothing is noted yet: an older version noted none, and another model has
  /// other relationships; and what waits is looked at again. `areNoted` is false until all of it was.
  static func forgetReferences(_ connection: Connection) throws(SQLiteError) {
    try connection.execute(
      """
      DELETE FROM ferry_reference;
      INSERT INTO ferry_reference VALUES ('', '', 0, 0);
      UPDATE ferry_operation SET wanted = 2 WHERE wanted = 1
      """)
  }

  static func areNoted(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value("SELECT 1 FROM ferry_reference WHERE entity = '' LIMIT 1") == nil
  }
}
