import FerryConnector
import FerryMariaDB
import FerryModel

/// The connection that performs: groups in one transaction, each in a savepoint.
final class Writer {
  let connection: MariaDBConnection
  let settings: MariaDBConnector.Settings
  private(set) var tables: SQLTables<EntityTable, String>
  private let attempts: SQLAttempts
  private let leadership: Leadership?
  let capture: Capture

  init(
    _ connection: MariaDBConnection, _ settings: MariaDBConnector.Settings,
    _ attempts: SQLAttempts, _ leadership: Leadership?
  ) throws(MariaDBError) {
    self.connection = connection
    self.settings = settings
    self.attempts = attempts
    self.leadership = leadership
    tables = SQLTables(settings.package)
    try Preparation.noteServer(connection)
    capture = try Capture(connection)
    try readTables()
  }

  func readTables() throws(MariaDBError) {
    try tables.refresh(settings.package, connection)
  }

  /// Groups of one transaction.
  static let groupsInTransaction: Int = 100

  func perform(_ groups: [[ConnectorOperation]], while goesOn: () -> Bool) -> [PerformResult] {
    do throws(MariaDBError) {
      try readTables()
      try connection.execute("START TRANSACTION")
      if let leadership, try !leadership.isCurrent(connection) {
        rollBack()
        return [.notDone(reason: Leadership.lost)]
      }
      try capture.begin(connection)
    } catch {
      rollBack()
      return [failed(error)]
    }
    let taken = settings.remembersOperations ? Writer.groupsInTransaction : 1
    let run = SQLSavepoints(groups.prefix(taken), while: goesOn) { group in
      let (result, isEffective) = inSavepoint(group)
      return SQLSavepoints.End(
        result: result, isEffective: isEffective, isTransactionOpen: connection.isInTransaction)
    }
    guard run.isTransactionOpen else {
      // A deadlock ended it: nothing of any group is there. A refusal of the last one needs nothing.
      var results: [PerformResult] = run.results.map { _ in
        .notDone(reason: "The business database ended the transaction.")
      }
      if let last = run.results.last { results[results.count - 1] = last }
      return results
    }
    guard !run.effective.isEmpty else {
      rollBack()
      return run.results
    }
    return commit(run.results, Set(run.effective))
  }

  private func rollBack() {
    guard connection.isInTransaction else { return }
    do { try connection.execute("ROLLBACK") } catch { connection.close() }
  }

  /// Once COMMIT was sent only its answer tells: where none comes the outcome is unknown.
  private func commit(_ results: [PerformResult], _ effective: Set<Int>) -> [PerformResult] {
    do throws(MariaDBError) {
      try connection.execute("COMMIT")
      capture.committed()
      return results
    } catch {
      let reason = ConnectorError(error, settings.address).description
      guard error.isLost else {
        rollBack()
        return results.map { _ in .notDone(reason: reason) }
      }
      return results.indices.map {
        effective.contains($0) ? .unknown(reason: reason) : results[$0]
      }
    }
  }

  private func inSavepoint(
    _ group: [ConnectorOperation]
  ) -> (result: PerformResult, isEffective: Bool) {
    let work = GroupWork(self)
    do throws(MariaDBError) {
      try connection.execute("SAVEPOINT ferry_group")
      // For the customer's own triggers and columns of who did it, and under which trace.
      let trace = group.lazy.compactMap(\.traceID).first ?? ""
      try connection.execute(
        "SET @ferry_user = \(quotedText(group[0].user ?? "")), @ferry_trace = \(quotedText(trace))")
    } catch { return (ended(.database(error), group[0], at: 0, of: group), false) }
    let outcomes: [OperationOutcome]
    do throws(SQLGroupInterruption<Interruption>) { outcomes = try work.performAll(group) } catch {
      return (ended(error.reason, error.operation, at: error.index, of: group), false)
    }
    do throws(MariaDBError) {
      try capture.take(&work.touched, tables, connection)
      var images: [RowImage] = []
      for row in work.touched.rows { images.append(try row.table.image(row.key, connection)) }
      try connection.execute("RELEASE SAVEPOINT ferry_group")
      attempts.forget(group.map(\.id))
      return (.done(outcomes, touched: images), true)
    } catch {
      // It is not the operation that was refused here.
      let failure = ConnectorError(error, settings.address)
      return (ended(.failed(failure), group[0], at: group.count - 1, of: group), false)
    }
  }

  /// What the caller gets for a group that did not go through; what it did is undone.
  private func ended(
    _ interruption: Interruption, _ operation: ConnectorOperation, at index: Int,
    of group: [ConnectorOperation]
  ) -> PerformResult {
    do throws(MariaDBError) {
      // An error does not say whether the transaction is still there; the next answer does.
      if connection.isOpen { try connection.execute("DO 0") }
      if connection.isInTransaction {
        try connection.execute("ROLLBACK TO SAVEPOINT ferry_group")
      }
    } catch { connection.close() }
    switch interruption {
    case .refused(let refusal):
      attempts.forget(group.map(\.id))
      return PerformResult.refused(refusal, at: index, of: group.count)
    case .failed(let error): return .notDone(reason: error.description)
    case .database(let error):
      guard connection.isOpen, let refusal = refusal(error, operation) else { return failed(error) }
      attempts.forget(group.map(\.id))
      return PerformResult.refused(refusal, at: index, of: group.count)
    }
  }

  /// Nil where the same is to be tried again.
  private func refusal(_ error: MariaDBError, _ operation: ConnectorOperation) -> Refusal? {
    let verdict = SQLVerdict(error)
    guard verdict == .refused else {
      return verdict.refusal(of: operation, "error \(error.number)", attempts)
    }
    let table = try? tables.table(of: operation.entity)
    return Explanation(operation: operation, table: table, connection: connection).refusal(error)
  }

  private func failed(_ error: MariaDBError) -> PerformResult {
    .notDone(reason: ConnectorError(error, settings.address).description)
  }

  /// A group while it is performed, and the rows that it changed.
  private final class GroupWork: SQLGroupWork {
    private let writer: Writer
    var touched = SQLTouchedRows<EntityTable>()

    init(_ writer: Writer) { self.writer = writer }

    var remembersOperations: Bool { writer.settings.remembersOperations }

    func claim(_ operation: ConnectorOperation) throws(Interruption) -> OperationClaim {
      do { return try AppliedOperations.claim(operation, writer.connection) } catch {
        throw .database(error)
      }
    }

    func finish(_ operation: ConnectorOperation, key: ObjectKey) throws(Interruption) {
      do { try AppliedOperations.finish(operation, key: key, writer.connection) } catch {
        throw .database(error)
      }
    }

    func work(_ operation: ConnectorOperation) throws(Interruption) -> ObjectKey {
      guard !operation.entity.isOperation else {
        return try SQLStatementWork<Interruption>(operation, literal: ColumnForm.literal).perform {
          sql, _ throws(Interruption) in
          do throws(MariaDBError) { return try writer.connection.rows(sql).affected > 0 } catch {
            throw .database(error)
          }
        }
      }
      let table = try table(of: operation.entity)
      let key = try SQLOperationWork(
        operation,
        MariaDBDialect(
          operation: operation, table: table, tables: writer.tables, connection: writer.connection)
      ).perform()
      touched.note(table.entity, table, key)
      return key
    }

    func touch(_ operation: ConnectorOperation, _ key: ObjectKey) throws(Interruption) {
      touched.note(operation.entity, try table(of: operation.entity), key)
    }

    private func table(of entity: Entity) throws(Interruption) -> EntityTable {
      do { return try writer.tables.table(of: entity) } catch { throw .failed(error) }
    }
  }
}

extension SQLTables<EntityTable, String> {
  /// Reads the tables anew where a column of one of them is not as it was.
  mutating func refresh(
    _ package: Package, _ connection: MariaDBConnection
  ) throws(MariaDBError) {
    let names = Set(package.entities.filter { !$0.isOperation }.map(\.table))
    let list = names.sorted().map(quotedText).joined(separator: ", ")
    let now = try connection.value(
      """
      SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT_WS(' ', table_name, column_name,
        ordinal_position, column_type, collation_name, is_nullable, extra))))
      FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name IN (\(list.isEmpty ? "''" : list))
      """)
    guard isOlder(than: now ?? "") else { return }
    let catalogue = try Catalogue(connection, names: names)
    refresh(now ?? "") { entity throws(ConnectorError) in
      guard let schema = catalogue.tables[entity.table] else { return nil }
      return (schema.name, try EntityTable(entity, schema, package))
    }
  }
}
