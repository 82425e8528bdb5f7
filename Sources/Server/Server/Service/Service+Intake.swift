import FerryConnector
import FerryModel

/// The calls about what comes from the business system.
extension Service {
  /// What no device gets; on a node that follows, as it was when it was last asked for.
  var rejectedRows: RejectedRows { intake.rejectedRows }

  /// Call it before the business system is asked. A load that was not ended is forgotten. `connection`:
  /// the one that is read; nil: all of them. `entities`: the names of those that are read; nil: all.
  package func beginLoad(
    of connection: Int? = nil, only entities: [String]? = nil
  ) throws(ServerError) -> LoadTicket {
    defer { handOut() }
    return try intake.beginLoad(of: connection, only: entities)
  }

  /// Takes rows as the load brings them.
  package func stage(_ ticket: LoadTicket, _ entity: Entity, _ rows: [RowImage]) throws(ServerError)
  {
    defer { handOut() }
    try intake.stage(ticket, entity, rows)
  }

  /// Takes a batch that was encoded already; in a first load one numbered transaction.
  func take(_ ticket: LoadTicket, _ batch: LoadBatch) throws(ServerError) {
    defer { handOut() }
    try intake.take(ticket, batch)
  }

  /// Keeps why a row of the business system is not in the cache.
  package func stage(_ ticket: LoadTicket, rejected row: RejectedRow) throws(ServerError) {
    defer { handOut() }
    try intake.stage(ticket, rejected: row)
  }

  /// The load broke. Of a first load rows stay in the cache, where nobody sees them; the next one
  /// compares with them. Of another one nothing is applied.
  package func abandonLoad(_ ticket: LoadTicket) { intake.abandonLoad(ticket) }

  /// The load ended properly: applies what differs. Call it until it says `.done`.
  ///
  /// `coverage`: what it has read; nil: every row, as at one moment. A first load reads every row.
  package func endLoad(
    _ ticket: LoadTicket, _ coverage: LoadCoverage? = nil
  ) throws(ServerError) -> LoadStep {
    defer { handOut() }
    return try intake.endLoad(ticket, coverage, unwritten: operations.unwritten)
  }

  /// Objects that must be read again and that nobody is changing at present; nil when there are
  /// none. Ask after each load and after each replay.
  package func nextReadBack(of connection: Int? = nil) throws(ServerError) -> ReadBackTask? {
    defer { handOut() }
    return try intake.nextReadBack(of: connection)
  }

  /// Applies what was read. Objects that were touched meanwhile are asked for once more.
  package func finish(_ task: ReadBackTask, _ rows: [RowImage]) throws(ServerError) {
    defer { handOut() }
    try exchanges.finish(task, rows)
  }

  /// The business system could not be asked; the objects stay to be read.
  package func abandon(_ task: ReadBackTask) { intake.abandon(task) }

  /// A comparison of all rows of a connection in slices begins.
  func beginComparison(of connection: Int = 0) throws(ServerError) {
    defer { handOut() }
    try intake.beginComparison(of: connection)
  }

  /// Notes what differs to be read again, and gives how much that is; nil where it is more than is
  /// read one by one.
  func compare(_ batch: LoadBatch) throws(ServerError) -> Int? {
    defer { handOut() }
    return try intake.compare(batch)
  }

  /// Every slice was read. Gives how many rows are read again; nil as above.
  func finishComparison() throws(ServerError) -> Int? {
    defer { handOut() }
    return try intake.finishComparison()
  }

  func endComparison() { intake.endComparison() }

  /// Where to begin to ask the business system; nil where nothing is known and a load must come
  /// first.
  package func sourceCursor(of connection: Int = 0) throws(ServerError) -> String? {
    defer { handOut() }
    return try intake.sourceCursor(of: connection)
  }

  /// Notes what the business system hints at: objects are read by `nextReadBack`, and rows that it
  /// gave are written as of the beginning of `look`. Gives whether a load must begin from now on.
  package func take(
    _ changes: BusinessChanges, of look: Int64? = nil, from connection: Int = 0
  ) throws(ServerError) -> Bool {
    defer { handOut() }
    return try intake.take(
      changes, of: look, from: connection, unwritten: operations.unwritten)
  }

  /// A look for changes of others begins. Call it before the business system is asked.
  ///
  /// `forRows`: its answer may hold rows (`ChangeHint.rows`).
  package func beginLook(forRows: Bool = false, of connection: Int = 0) -> Int64 {
    defer { handOut() }
    return intake.beginLook(
      performing: operations.performing(of: connection), forRows: forRows, of: connection)
  }

  /// The look has ended, and what it found is taken; `needsLoad`: a load begins for it.
  package func endLook(_ look: Int64, needsLoad: Bool, of connection: Int = 0) {
    defer { handOut() }
    intake.endLook(
      look, needsLoad: needsLoad, of: connection, unwritten: operations.unwritten)
  }

  /// The looks that a question of now is about, and whether the cache holds what it is about.
  var looksNeeded: NeededLooks { intake.looksNeeded }
  func isCurrent(_ needed: NeededLooks) -> Bool { intake.isCurrent(needed) }

  /// The business system could not be asked.
  package func failLook(_ look: Int64, of connection: Int = 0) {
    defer { handOut() }
    intake.failLook(look, of: connection)
  }
}
