import FerryModel
import FerrySQLite
import FerryWire

extension Store {
  /// Fixes the bytes of what is pending of an object and of everything that is replayed with it, or
  /// remembers the wish where something must be answered first (sync/P2).
  ///
  /// Returns what it submitted of the object and of what it owns, nothing where together that left
  /// nothing to send; nil when nothing is pending (sync/P4).
  package func submit(
    _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Set<OperationID>? {
    let found = try write { connection throws(FerryError) in
      try self.submit(entity, object, connection)
    }
    if found != nil { bell.ring() }
    return found
  }

  private func submit(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(FerryError) -> Set<OperationID>? {
    let own = ObjectReference(entity.name, object)
    let seeds = try sql { () throws(SQLiteError) in try self.unsealed(own, connection) }
    guard !seeds.isEmpty else { return nil }
    let members = try sql { () throws(SQLiteError) in try self.chain(of: seeds, connection) }
    try seal(members, connection)
    let places = Set(
      members.filter { $0.root == own || ObjectReference($0.entity, $0.object) == own }
        .map(\.sequence))
    let submitted = try sql { () throws(SQLiteError) in
      try self.submitted(entity, object, connection)
    }
    return Set(submitted.filter { places.contains($0.sequence) }.map(\.id))
  }

  /// What waits of the object itself, else of what it owns.
  func unsealed(
    _ object: ObjectReference, _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    let own = try operations.select(
      "WHERE entity = ? AND object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
    guard own.isEmpty, model.entity(named: object.entity)?.ownsChildren == true else { return own }
    return try operations.select(
      "WHERE root_entity = ? AND root_object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
  }

  /// Everything that waits and is replayed with these: the rest of their transactions, the rest of
  /// their composite graphs, and so on. In the order of the changes.
  ///
  /// `test` says what is asked for of what waits.
  func chain(
    of seeds: [PendingOperation], where test: String = OperationTable.isUnsealed,
    _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    var members: [Int64: PendingOperation] = [:]
    var chains: Set<OperationID> = []
    var roots: Set<ObjectReference> = []
    var queue = seeds
    while let next = queue.popLast() {
      guard members.updateValue(next, forKey: next.sequence) == nil else { continue }
      if chains.insert(next.chain).inserted {
        queue += try operations.select(
          "WHERE chain = ? AND \(test)", [.text(next.chain.text)], connection)
      }
      if roots.insert(next.root).inserted {
        queue += try operations.select(
          "WHERE root_entity = ? AND root_object = ? AND \(test)",
          [.text(next.root.entity), .integer(next.root.object)], connection)
      }
    }
    return members.values.sorted { $0.sequence < $1.sequence }
  }

  /// The operations to send now, in order, as many as go into one message; they count as sent. The
  /// next exchange takes the rest.
  package func outgoing(_ connection: Connection) throws(SQLiteError) -> Replay? {
    try outgoing(where: "?1 IS NULL", .null, connection)?.message
  }

  /// The same of those that a test of one parameter, `?1`, chooses.
  func outgoing(
    where test: String, _ parameter: SQLiteValue, _ connection: Connection
  ) throws(SQLiteError) -> (message: Replay, ids: [OperationID])? {
    let waiting = try connection.rows(
      """
      SELECT id, payload, may_have_run FROM ferry_operation
      WHERE \(Store.isOutgoing) AND \(test) ORDER BY sequence
      LIMIT \(WireLimits.operationsInFlight)
      """, parameter)
    guard !waiting.isEmpty else { return nil }
    var bytes = 0
    let rows = waiting.prefix { row in
      bytes += row[1].blob?.count ?? 0
      return bytes <= WireLimits.replayBytes
    }
    for row in rows {
      try connection.run("UPDATE ferry_operation SET sent = 1 WHERE id = ?", row[0])
    }
    let message = Replay(
      operations: rows.compactMap { $0[1].blob },
      mayHaveRun: rows.filter { $0[2].integer == 1 }.compactMap { OperationID($0[0].text ?? "") })
    return (message, rows.compactMap { OperationID($0[0].text ?? "") })
  }

  /// What is submitted and not acknowledged; and what was cancelled so, if others of its chain are
  /// there: the server performs a chain when it has all of it.
  static let isOutgoing = """
    acknowledged = 0 AND state IN ('submitted', 'withdrawn') AND (state = 'submitted' OR EXISTS (
      SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
        AND other.sequence <> ferry_operation.sequence))
    """

  /// Whether anything waits to be sent. Two questions: an "or" of both would look at everything.
  package func hasOutgoing(_ connection: Connection) throws(SQLiteError) -> Bool {
    let again = try connection.value(
      "SELECT 1 FROM ferry_operation WHERE wanted = 2 LIMIT 1")
    if again != nil { return true }
    return try connection.value(
      "SELECT 1 FROM ferry_operation WHERE \(Store.isOutgoing) LIMIT 1") != nil
  }

  /// Whether anything was sent, or may have been, and is not answered.
  package func hasUnanswered(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value(
      """
      SELECT 1 FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 LIMIT 1
      """) != nil
  }

  /// Operations that were sent, or may have been, and are not answered.
  package func unanswered(_ connection: Connection) throws(SQLiteError) -> [OperationID] {
    try connection.rows(
      """
      SELECT id FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 ORDER BY sequence LIMIT \(WireLimits.operationsInFlight)
      """
    ).compactMap { OperationID($0[0].text ?? "") }
  }

  /// The server has these.
  package func acknowledge(_ ids: [OperationID], _ connection: Connection) throws(SQLiteError) {
    for id in ids {
      try connection.run(
        "UPDATE ferry_operation SET acknowledged = 1, may_have_run = 0 WHERE id = ?", .text(id.text)
      )
    }
  }

  /// Only with the planted bug `cancelHalf`.
  func forgetSending(_ connection: Connection) throws(SQLiteError) {
    try connection.run("UPDATE ferry_operation SET sent = 0 WHERE state = 'submitted'")
  }

  /// Another server is asked from now on, which knows of no operation what became of it before.
  func mayHaveRun(_ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1 WHERE sent = 1")
  }

  /// The server does not know an operation that was sent: it is sent again. If the server had
  /// acknowledged it, it was restored from an older state and must look before it performs. A
  /// withdrawn one is let go, unless others of its chain need it; should it have been done, the next
  /// import shows it.
  package func neverSeen(_ id: OperationID, _ connection: Connection) throws(SQLiteError) {
    let withdrawn = try operations.select(
      """
      WHERE id = ? AND state = 'withdrawn' AND NOT EXISTS (
        SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
          AND other.sequence <> ferry_operation.sequence)
      """, [.text(id.text)], connection)
    for operation in withdrawn {
      try letGo(operation, connection)
      if let entity = model.entity(named: operation.entity) {
        try forgetKey(of: operation, entity, connection)
      }
    }
    try connection.run(
      """
      UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1
      WHERE id = ? AND acknowledged = 1
      """, .text(id.text))
    try uploadAgain(id, connection)
  }
}
