import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The connection that performs, one group per transaction or several, each in a savepoint.
final class Writer {
  let connection: PostgreSQLConnection
  private let settings: PostgreSQLConnector.Settings
  private(set) var tables: EntityTables
  private let capture: Capture
  private let attempts: SQLAttempts
  private let leadership: Leadership?
  /// Where one is there a savepoint cannot show whether a group is whole: each commits alone.
  private var hasDeferrableRules: Bool = true
  /// How long a statement waits for a row that others have locked.
  var lockMilliseconds: Int
  /// Since the run began: transactions that were committed, and whether others were in the way.
  var committed: [String] { capture.run }
  private(set) var hasConflicted: Bool = false
  /// Whether the savepoint of a group that is done is released with the next statements, or by COMMIT.
  private var owesRelease: Bool = false

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

  /// Whether several groups may share a transaction.
  var takesGroups: Bool { settings.remembersOperations && !hasDeferrableRules }

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
    let run = SQLSavepoints(groups.prefix(Writer.groupsInTransaction), while: goesOn) { group in
      let (result, isEffective) = inSavepoint(group)
      return SQLSavepoints.End(
        result: result, isEffective: isEffective, isTransactionOpen: connection.isInTransaction)
    }
    guard run.isTransactionOpen else {
      // Nothing of any group is there.
      connection.close()
      let last = run.results.last
      return run.results.map { _ in Writer.undone(last) }
    }
    guard let last = run.effective.last else {
      rollBack()
      return run.results
    }
    return commit(run.results, lastEffective: last, effective: Set(run.effective))
  }

  private static func undone(_ result: PerformResult?) -> PerformResult {
    if case .notDone? = result, let result { return result }
    return .notDone(reason: "The business database ended the transaction.")
  }

  /// False where another server performs for the store now; nothing is open then.
  private func begin(_ groups: [[ConnectorOperation]]) throws(PostgreSQLError) -> Bool {
    owesRelease = false
    let timeouts = settings.deadlines.answer / .milliseconds(1)
    let entities = groups.prefix(Writer.groupsInTransaction).flatMap { $0.map(\.entity) }
    // Twice only where a table was changed since it was read.
    for isLast in [false, true] {
      try connection.execute(
        """
        BEGIN; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; \
        SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; \
        SET LOCAL row_security = on; SET LOCAL lock_timeout = \(lockMilliseconds); \
        SET LOCAL statement_timeout = \(Int64(timeouts / 2)); \
        SET LOCAL idle_in_transaction_session_timeout = \(Int64(timeouts))
        """)
      var requests = [tables.shapeRequest(entities)]
      if capture.isPrepared {
        requests.append(
          PostgreSQLConnection.Request("SELECT pg_catalog.pg_current_xact_id()"))
      }
      if let leadership { requests += leadership.requests }
      let answers = try connection.pipeline(requests)
      if let leadership,
        answers.last.flatMap({ $0.count == 1 ? $0.text(0, 0) : nil })
          != leadership.term
      {
        rollBack()
        return false
      }
      capture.begin(capture.isPrepared ? answers[1].text(0, 0) : nil)
      if isLast || tables.areCurrent(entities, answers[0]) { break }
      rollBack()
      try readTables()
    }
    return true
  }

  private func rollBack() {
    guard connection.isInTransaction else { return }
    do { try connection.execute("ROLLBACK") } catch { connection.close() }
  }

  /// Once COMMIT was sent only its answer tells: where none comes the outcome is unknown.
  private func commit(
    _ results: [PerformResult], lastEffective: Int, effective: Set<Int>
  ) -> [PerformResult] {
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
          effective.contains($0) ? .unknown(reason: reason) : results[$0]
        }
      }
      rollBack()
      // A rule that speaks at the commit: it is about the group that is there alone.
      if effective.count == 1, SQLVerdict(error) == .refused,
        case .done(let outcomes, _) = results[lastEffective]
      {
        var answers = results
        let constraint = error.constraint.isEmpty ? nil : error.constraint
        answers[lastEffective] = .refused(
          Refusal(code: 412, message: error.message, constraint: constraint),
          at: outcomes.count - 1, of: outcomes.count)
        return answers
      }
      return results.map { _ in .notDone(reason: reason) }
    }
  }

  private func inSavepoint(
    _ group: [ConnectorOperation]
  ) -> (result: PerformResult, isEffective: Bool) {
    let work: GroupWork
    do throws(PostgreSQLError) { work = GroupWork(self, claimed: try openSavepoint(group)) } catch {
      return (ended(.database(error), group[0], at: 0, of: group), false)
    }
    let outcomes: [OperationOutcome]
    do throws(SQLGroupInterruption<Interruption>) { outcomes = try work.performAll(group) } catch {
      return (ended(error.reason, error.operation, at: error.index, of: group), false)
    }
    do throws(PostgreSQLError) {
      // Rules that wait for the commit speak now, while it is known whom they are about.
      try connection.pipeline(
        work.finished + [PostgreSQLConnection.Request("SET CONSTRAINTS ALL IMMEDIATE")])
    } catch {
      let last = work.last ?? group[group.count - 1]
      return (ended(.database(error), last, at: group.count - 1, of: group), false)
    }
    do throws(PostgreSQLError) {
      let images = try work.touched.images(capture, tables, connection)
      owesRelease = true
      attempts.forget(group.map(\.id))
      return (.done(outcomes, touched: images), true)
    } catch {
      // It is not the operation that was refused here.
      let failure = ConnectorError(error, settings.address)
      return (ended(.failed(failure), group[0], at: group.count - 1, of: group), false)
    }
  }

  /// Begins a group, and notes its first operation in the table of operations: gives what that said.
  private func openSavepoint(
    _ group: [ConnectorOperation]
  ) throws(PostgreSQLError) -> PostgreSQLRows? {
    var requests = [
      PostgreSQLConnection.Request("SAVEPOINT ferry_group"),
      // For the customer's own triggers, policies and columns of who did it, and under which trace.
      PostgreSQLConnection.Request(
        """
        SELECT pg_catalog.set_config('ferry.user', $1, true), \
        pg_catalog.set_config('ferry.trace', $2, true)
        """,
        [.text(group[0].user ?? ""), .text(group.lazy.compactMap(\.traceID).first ?? "")]),
    ]
    if owesRelease { requests.insert(PostgreSQLConnection.Request("RELEASE ferry_group"), at: 0) }
    guard settings.remembersOperations else {
      try connection.pipeline(requests)
      owesRelease = false
      return nil
    }
    requests.append(AppliedOperations.claiming(group[0]))
    let answers = try connection.pipeline(requests)
    owesRelease = false
    return answers.last
  }

  /// What is told of a group that did not go through; what it did is undone.
  private func ended(
    _ interruption: Interruption, _ operation: ConnectorOperation, at index: Int,
    of group: [ConnectorOperation]
  ) -> PerformResult {
    if connection.isOpen, connection.isInTransaction {
      do throws(PostgreSQLError) {
        try connection.execute("ROLLBACK TO ferry_group; RELEASE ferry_group")
      } catch { connection.close() }
    }
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

  /// A group while it is performed, and the rows that it changed.
  private final class GroupWork: SQLGroupWork {
    private let writer: Writer
    var touched = SQLTouchedRows<EntityTable>()
    /// The one that was performed last.
    private(set) var last: ConnectorOperation?
    /// What claimed operations came to, to be noted with the last statements of the group.
    private(set) var finished: [PostgreSQLConnection.Request] = []
    /// The first operation was claimed when the group was begun.
    private var claimed: PostgreSQLRows?

    init(_ writer: Writer, claimed: PostgreSQLRows?) {
      self.writer = writer
      self.claimed = claimed
    }

    var remembersOperations: Bool { writer.settings.remembersOperations }
    private var connection: PostgreSQLConnection { writer.connection }

    func claim(_ operation: ConnectorOperation) throws(Interruption) -> OperationClaim {
      defer { claimed = nil }
      do { return try AppliedOperations.claim(operation, claimed: claimed, connection) } catch {
        throw .database(error)
      }
    }

    func finish(_ operation: ConnectorOperation, key: ObjectKey) throws(Interruption) {
      finished.append(AppliedOperations.finishing(operation, key: key))
    }

    func work(_ operation: ConnectorOperation) throws(Interruption) -> ObjectKey {
      last = operation
      guard !operation.entity.isOperation else {
        return try StatementWork(operation, connection).perform()
      }
      let table = try table(of: operation.entity)
      let key = try SQLOperationWork(
        operation, PostgreSQLDialect(operation, table, writer.tables, connection)
      ).perform()
      touched.note(table.entity, table, key)
      return key
    }

    func touch(_ operation: ConnectorOperation, _ key: ObjectKey) throws(Interruption) {
      last = operation
      touched.note(operation.entity, try table(of: operation.entity), key)
    }

    private func table(of entity: Entity) throws(Interruption) -> EntityTable {
      do { return try writer.tables.table(of: entity) } catch { throw .failed(error) }
    }
  }
}
