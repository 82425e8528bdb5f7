import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The connection that performs, one group per transaction or several, each in a savepoint.
final class Writer {
  let connection: PostgreSQLConnection
  private let settings: PostgreSQLConnector.Settings
  private(set) var tables: EntityTables
  private let capture: Capture
  let attempts: SQLAttempts
  private let leadership: Leadership?
  /// Where one is there a savepoint cannot show whether a group is whole: each commits alone.
  private var hasDeferrableRules: Bool = true
  /// How long a statement waits for a row that others have locked.
  var lockMilliseconds: Int
  /// Since the run began: transactions that were committed, and whether others were in the way.
  var committed: [String] { capture.run }
  private(set) var hasConflicted: Bool = false
  /// Since the transaction began: the groups that were begun, which give the savepoints their names.
  var groupsBegun: Int = 0
  /// Who is set as the one who does it, and under which trace; nil where that has to be set.
  private var named: Names?
  /// The tables whose changes changed no other rows when the transaction began, by oid.
  private(set) var quiet: Set<String> = []

  private struct Names: Equatable {
    let user: String
    let trace: String

    init(_ group: [ConnectorOperation]) {
      user = group[0].user ?? ""
      trace = group.lazy.compactMap(\.traceID).first ?? ""
    }
  }

  init(
    _ connection: PostgreSQLConnection, _ settings: PostgreSQLConnector.Settings,
    _ attempts: SQLAttempts, _ leadership: Leadership?, _ own: OwnTransactions
  ) throws(PostgreSQLError) {
    self.settings = settings
    self.attempts = attempts
    self.leadership = leadership
    self.connection = connection
    lockMilliseconds = settings.lockMilliseconds
    tables = EntityTables(settings.package)
    capture = try Capture(connection, own)
    try readTables()
  }

  /// Reads anew how the tables are. In no transaction.
  func readTables() throws(PostgreSQLError) {
    connection.forgetPrepared()
    try connection.execute("BEGIN READ ONLY; \(CatalogueReader.settings)")
    try tables.read(connection)
    hasDeferrableRules =
      try connection.value(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE condeferrable)") == "t"
    try connection.execute("COMMIT")
  }

  func beginRun() {
    hasConflicted = false
    capture.beginRun()
  }

  /// Forgets own transactions whose entries are behind the snapshot.
  func keepOwn(notSeenBy snapshot: String) { capture.keep(notSeenBy: snapshot) }

  /// Whether the transaction is this connection's own.
  func isOwn(_ transaction: String) -> Bool { capture.isOwn(transaction) }

  /// Whether others' changes are noted by triggers.
  var isPrepared: Bool {
    get { capture.isPrepared }
    set { capture.isPrepared = newValue }
  }

  /// Whether the table of operations is kept.
  var remembersOperations: Bool { settings.remembersOperations }
  /// Whether several groups may share a transaction.
  var takesGroups: Bool { remembersOperations && !hasDeferrableRules }

  /// Subtransactions of one transaction; over 64 of them slow the whole cluster.
  static let groupsInTransaction: Int = 60

  func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    do throws(PostgreSQLError) {
      guard try begin(groups) else { return [.notDone(reason: Leadership.lost)] }
    } catch {
      rollBack()
      return [failed(error)]
    }
    let rows = TransactionRows(capture, tables, connection)
    let taken = groups.prefix(Writer.groupsInTransaction)
    var blocks = GroupBlocks()
    let run = SQLSavepoints(taken, while: { blocks.holdsResults || goesOn() }) { group in
      if let result = blocks.next(taken, self, rows) {
        return SQLSavepoints.End(result: result, isEffective: true, isTransactionOpen: true)
      }
      guard connection.isInTransaction else { return Writer.ended }
      let (result, isEffective) = inSavepoint(group, rows)
      return SQLSavepoints.End(
        result: result, isEffective: isEffective, isTransactionOpen: connection.isInTransaction)
    }
    if run.isTransactionOpen {
      guard !run.effective.isEmpty else {
        rollBack()
        return run.results
      }
      do throws(PostgreSQLError) {
        try rows.finish()
        return commit(run, rows.images)
      } catch {
        rollBack()
        if run.results.count == 1 { return [failed(error)] }
      }
    }
    // Nothing of any group is there, for the end of one failed: the others are done without it.
    guard !connection.isOpen || run.results.count == 1 else {
      return perform(Array(groups.prefix(1)), while: { false })
    }
    connection.close()
    let last = run.results.last
    return run.results.map { _ in Writer.undone(last) }
  }

  private static func undone(_ result: PerformResult?) -> PerformResult {
    if case .notDone? = result, let result { return result }
    return ended.result
  }

  private static var ended: SQLSavepoints.End {
    SQLSavepoints.End(
      result: .notDone(reason: "The business database ended the transaction."),
      isEffective: false, isTransactionOpen: false)
  }

  /// False where another server performs for the store now; nothing is open then.
  private func begin(_ groups: [[ConnectorOperation]]) throws(PostgreSQLError) -> Bool {
    (groupsBegun, named) = (0, nil)
    let entities = groups.prefix(Writer.groupsInTransaction).flatMap { $0.map(\.entity) }
    // Twice only where a table was changed since it was read.
    for isLast in [false, true] {
      var requests = [PostgreSQLConnection.Request("BEGIN"), configuring]
      let isNoted = capture.isPrepared
      if isNoted {
        requests.append(PostgreSQLConnection.Request("SELECT pg_catalog.pg_current_xact_id()"))
      }
      requests.append(tables.shapeRequest(entities))
      if let leadership { requests += leadership.requests }
      let answers = try connection.pipeline(requests)
      if let leadership,
        answers.last.flatMap({ $0.count == 1 ? $0.text(0, 0) : nil }) != leadership.term
      {
        rollBack()
        return false
      }
      capture.begin(isNoted ? answers[2].text(0, 0) : nil)
      let shapes = answers[isNoted ? 3 : 2]
      quiet = EntityTables.quiet(shapes)
      if isLast || tables.areCurrent(entities, shapes) { break }
      rollBack()
      try readTables()
    }
    return true
  }

  /// How values look, and how long things may take, until the transaction ends.
  private var configuring: PostgreSQLConnection.Request {
    let timeouts = settings.deadlines.answer / .milliseconds(1)
    let values = [
      ("datestyle", "ISO"), ("intervalstyle", "postgres"), ("bytea_output", "hex"),
      ("extra_float_digits", "1"), ("row_security", "on"), ("lock_timeout", "\(lockMilliseconds)"),
      ("statement_timeout", "\(Int64(timeouts / 2))"),
      ("idle_in_transaction_session_timeout", "\(Int64(timeouts))"),
    ]
    let calls = values.map { "pg_catalog.set_config('\($0.0)', '\($0.1)', true)" }
    return PostgreSQLConnection.Request("SELECT " + calls.joined(separator: ", "))
  }

  private func rollBack() {
    connection.dropHeld()
    guard connection.isInTransaction else { return }
    do { try connection.execute("ROLLBACK") } catch { connection.close() }
  }

  /// Once COMMIT was sent only its answer tells: where none comes the outcome is unknown.
  private func commit(_ run: SQLSavepoints, _ images: [[RowImage]]) -> [PerformResult] {
    var results = run.results
    for (place, images) in zip(run.effective, images) {
      if case .done(let outcomes, _) = results[place] {
        results[place] = .done(outcomes, touched: images)
      }
    }
    do throws(PostgreSQLError) {
      let answer = try connection.rows("COMMIT")
      guard answer.command == "COMMIT" else {
        return results.map { _ in
          .notDone(reason: "The business database rolled the transaction back.")
        }
      }
      capture.committed()
      return results
    } catch {
      let reason = ConnectorError(error, settings.address).description
      guard connection.isOpen, !error.isLost else {
        connection.close()
        return results.indices.map {
          run.effective.contains($0) ? .unknown(reason: reason) : results[$0]
        }
      }
      rollBack()
      guard SQLVerdict(error) == .refused else {
        return results.map { _ in .notDone(reason: reason) }
      }
      // A rule that speaks at the commit: it is about the group that is there alone. From here on
      // each group is.
      hasDeferrableRules = true
      if run.effective.count == 1, case .done(let outcomes, _) = results[run.effective[0]] {
        let constraint = error.constraint.isEmpty ? nil : error.constraint
        results[run.effective[0]] = .refused(
          Refusal(code: 412, message: error.message, constraint: constraint),
          at: outcomes.count - 1, of: outcomes.count)
        return results
      }
      return results.map { _ in .notDone(reason: reason) }
    }
  }

  private func inSavepoint(
    _ group: [ConnectorOperation], _ rows: TransactionRows
  ) -> (result: PerformResult, isEffective: Bool) {
    groupsBegun += 1
    // Almost always all of them are new.
    return inSavepoint(group, rows, isCareful: false)
  }

  /// Where one is known the group begins again, and asks first.
  private func inSavepoint(
    _ group: [ConnectorOperation], _ rows: TransactionRows, isCareful: Bool
  ) -> (result: PerformResult, isEffective: Bool) {
    let work = GroupWork(self, isCareful: isCareful)
    openSavepoint(group)
    var failure: (reason: Interruption, operation: ConnectorOperation, index: Int)
    do throws(SQLGroupInterruption<Interruption>) {
      let outcomes = try work.performAll(group)
      guard let broken = settle() else {
        do throws(PostgreSQLError) { try close(group, work, rows) } catch {
          // It is not the operation that was refused here.
          let failure = Interruption.failed(ConnectorError(error, settings.address))
          return (ended(failure, group[0], at: group.count - 1, of: group), false)
        }
        return (.done(outcomes, touched: []), true)
      }
      failure = (.database(broken), work.last ?? group[group.count - 1], group.count - 1)
    } catch { failure = (error.reason, error.operation, error.index) }
    if !isCareful {
      failure.reason = sent(failure.reason)
      if case .database(let cause) = failure.reason, AppliedOperations.isKnown(cause), undo() {
        return inSavepoint(group, rows, isCareful: true)
      }
    }
    return (ended(failure.reason, failure.operation, at: failure.index, of: group), false)
  }

  /// Rules that wait for the commit speak now, while it is known whom they are about.
  private func settle() -> PostgreSQLError? {
    guard hasDeferrableRules else { return nil }
    do throws(PostgreSQLError) {
      try connection.pipeline([PostgreSQLConnection.Request("SET CONSTRAINTS ALL IMMEDIATE")])
      return nil
    } catch { return error }
  }

  /// The group went through: its rows are read as it left them, and its savepoint is released.
  private func close(
    _ group: [ConnectorOperation], _ work: GroupWork, _ rows: TransactionRows
  ) throws(PostgreSQLError) {
    if tables.areQuiet(group.lazy.map(\.entity), quiet),
      work.touched.rows.count <= RowReading.rowsInPipeline
    {
      rows.readLater([work.touched])
    } else {
      try rows.read(work.touched)
    }
    connection.hold([PostgreSQLConnection.Request("RELEASE \(savepoint)")])
    attempts.forget(group.map(\.id))
  }

  /// A group was stopped before its claims were sent: whether it is known comes first.
  private func sent(_ reason: Interruption) -> Interruption {
    guard connection.isOpen, connection.holdsRequests else { return reason }
    do throws(PostgreSQLError) { try connection.sendHeld() } catch { return .database(error) }
    return reason
  }

  /// Two in turn: where the end of a group fails with the beginning of the next one, the next one's
  /// is not there, and going back to it fails as well.
  var savepoint: String { "ferry_group_\(groupsBegun % 2)" }

  /// Begins a group with its first statement.
  func openSavepoint(_ group: [ConnectorOperation]) {
    connection.hold([PostgreSQLConnection.Request("SAVEPOINT \(savepoint)")])
    let names = Names(group)
    guard names != named else { return }
    named = names
    // For the customer's own triggers, policies and columns of who did it, and under which trace.
    connection.hold([
      PostgreSQLConnection.Request(
        """
        SELECT pg_catalog.set_config('ferry.user', $1, true), \
        pg_catalog.set_config('ferry.trace', $2, true)
        """, [.text(names.user), .text(names.trace)])
    ])
  }

  /// Undoes what the group did; false where the transaction is over, and all of it undone.
  func undo() -> Bool { undo(to: savepoint) }

  /// The same of all that was done since a savepoint.
  func undo(to savepoint: String) -> Bool {
    connection.dropHeld()
    named = nil
    guard connection.isOpen, connection.isInTransaction else { return false }
    do throws(PostgreSQLError) {
      try connection.execute("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
      return true
    } catch {
      rollBack()
      return false
    }
  }

  /// What is told of a group that did not go through; what it did is undone.
  private func ended(
    _ interruption: Interruption, _ operation: ConnectorOperation, at index: Int,
    of group: [ConnectorOperation]
  ) -> PerformResult {
    _ = undo()
    switch interruption {
    case .refused(let refusal):
      attempts.forget(group.map(\.id))
      return PerformResult.refused(refusal, at: index, of: group.count)
    case .failed(let error): return .notDone(reason: error.description)
    case .database(let error):
      if SQLVerdict(error) == .conflict { hasConflicted = true }
      guard connection.isOpen, connection.isInTransaction else { return failed(error) }
      if let refusal = refusal(error, operation) {
        attempts.forget(group.map(\.id))
        return PerformResult.refused(refusal, at: index, of: group.count)
      }
      return failed(error)
    }
  }

  /// Nil where the same is to be tried again.
  private func refusal(_ error: PostgreSQLError, _ operation: ConnectorOperation) -> Refusal? {
    let table = try? tables.table(of: operation.entity)
    switch SQLVerdict(error) {
    case .refused: return Explanation(operation, table, connection).refusal(error)
    case .forbidden where error.isRaised:
      return Explanation(operation, table, connection).refusal(error)
    case .forbidden:
      guard isGranted(operation, table) else { return nil }
      return Refusal(
        code: 403,
        message: "The business database does not allow this change of \(operation.entity.name).")
    case .notDone, .conflict, .odd:
      return SQLVerdict(error).refusal(
        of: operation, "\(error.message) (SQLSTATE \(error.sqlState))", attempts)
    }
  }

  /// Whether the right to the table is there: then it was the row that was refused.
  private func isGranted(_ operation: ConnectorOperation, _ table: EntityTable?) -> Bool {
    guard let table else { return false }
    let right =
      switch operation.kind {
      case .create: "INSERT"
      case .update: "UPDATE"
      case .delete: "DELETE"
      }
    let answer = try? connection.value(
      "SELECT pg_catalog.has_table_privilege($1::pg_catalog.oid, $2)",
      [.text(table.schema.oid), .text(right)])
    return answer == "t"
  }

  private func failed(_ error: PostgreSQLError) -> PerformResult {
    // A schema that changed is read again with the next connection.
    if error.stateClass == "42" { connection.close() }
    return .notDone(reason: ConnectorError(error, settings.address).description)
  }
}
