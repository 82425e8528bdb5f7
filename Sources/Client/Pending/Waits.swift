import FerryModel
import FerrySQLite

/// What is submitted and waits for other operations: who it waits for is noted, so that the end of one
/// is looked at by those who waited for it and by nobody else, however many wait.
///
/// A trigger marks them (`Schema`), with all that is replayed as one with them; whoever is marked is
/// sealed, or waits for something else.
extension OperationTable {
  /// Those that may be ready now, in the order of the changes.
  package func marked(_ connection: Connection) throws(SQLiteError) -> [PendingOperation] {
    // Who gives the key is not here: nothing that ends will mark these.
    try connection.run(
      """
      UPDATE ferry_operation SET wanted = 2
      WHERE wanted = 1 AND chain IN (
        SELECT chain FROM ferry_wait JOIN ferry_operation USING (sequence)
        WHERE awaited = 0 AND wanted = 1)
      """)
    return try select("WHERE wanted = 2 ORDER BY sequence", [], connection)
  }

  /// The objects of an entity of which something waits for a create, or as one with it.
  func objects(
    of child: Entity, waitingFor create: PendingOperation, _ connection: Connection
  ) throws(SQLiteError) -> [Int64] {
    // The entity has the most operations of all that is asked for: its index is passed by.
    try connection.rows(
      """
      SELECT object FROM ferry_operation WHERE wanted = 2 AND +entity = ?1
      UNION SELECT object FROM ferry_operation WHERE chain = ?2 AND wanted > 0 AND +entity = ?1
      UNION SELECT object FROM ferry_wait JOIN ferry_operation USING (sequence)
      WHERE awaited = ?3 AND wanted > 0 AND +entity = ?1
      """, .text(child.name), .text(create.chain.text), .integer(create.sequence)
    ).compactMap { $0[0].integer }
  }

  /// The places of the others that an operation which is submitted waits for itself.
  package func noteWait(
    of operation: PendingOperation, for awaited: Set<Int64>, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.run("DELETE FROM ferry_wait WHERE sequence = ?", .integer(operation.sequence))
    for other in awaited.sorted() {
      try connection.run(
        "INSERT INTO ferry_wait (sequence, awaited) VALUES (?, ?)",
        .integer(operation.sequence), .integer(other))
    }
  }
}
