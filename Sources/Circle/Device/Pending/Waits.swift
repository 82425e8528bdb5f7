import FerryModel
import FerrySQLite

/// What is submitted and waits is looked at again when something ends or changes that it may wait
/// for. Triggers mark whom to look at (`Schema`); nobody but `Dependencies` says who waits.
extension OperationTable {
  /// Those to look at now, in the order of the changes.
  package func marked() throws(SQLiteError) -> [PendingOperation] {
    try select("WHERE wanted = 2 ORDER BY sequence", [])
  }

  func hasMarked() throws(SQLiteError) -> Bool {
    try connection.value("SELECT 1 FROM ferry_operation WHERE wanted = 2 LIMIT 1") != nil
  }

  /// These are looked at again.
  func mark(_ operations: [PendingOperation]) throws(SQLiteError) {
    for operation in operations {
      try connection.run(
        "UPDATE ferry_operation SET wanted = 2 WHERE sequence = ? AND wanted = 1",
        .integer(operation.sequence))
    }
  }

  /// The image under an object's changes is another one: a delete may wait for what they end, or no
  /// longer.
  func markWaiters(for entity: Entity, _ object: Int64) throws(SQLiteError) {
    try connection.run(
      """
      UPDATE ferry_operation SET wanted = 2
      WHERE wanted = 1 AND EXISTS (SELECT 1 FROM ferry_operation WHERE wanted > 0)
        AND sequence IN (
          SELECT waiting.sequence FROM ferry_operation AS changed
          JOIN ferry_reference AS ended ON ended.sequence = changed.sequence AND ended.ends = 1
          JOIN ferry_operation AS waiting ON waiting.entity = ended.entity
            AND waiting.key = ended.key AND waiting.kind = 'delete'
          WHERE changed.entity = ?1 AND changed.object = ?2
          UNION ALL SELECT sequence FROM ferry_operation WHERE entity = ?1 AND object = ?2)
      """, .text(entity.name), .integer(object))
  }

  /// The objects of an entity of which something waits for a create, or as one with it.
  func objects(
    of child: Entity, waitingFor create: PendingOperation
  ) throws(SQLiteError) -> [Int64] {
    // The entity has the most operations of all that is asked for: its index is passed by.
    try connection.rows(
      """
      SELECT object FROM ferry_operation WHERE wanted = 2 AND +entity = ?1
      UNION SELECT object FROM ferry_operation WHERE chain = ?2 AND wanted > 0 AND +entity = ?1
      UNION SELECT object FROM ferry_operation WHERE wanted > 0 AND +entity = ?1 AND sequence IN (
        SELECT sequence FROM ferry_reference WHERE entity = ?3 AND key = ?4 AND ends = 0)
      """, .text(child.name), .text(create.chain.text), .text(create.entity), .text(create.key.text)
    ).compactMap { $0[0].integer }
  }
}
