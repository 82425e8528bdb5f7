import FerryConnector
import FerryModel
import FerrySQLite

/// Why an operation did not go through.
enum Interruption: SQLInterruption {
  /// The business said no.
  case refused(Refusal)
  /// The database could not do it now.
  case failed(ConnectorError)
}

/// The connection that performs, one group per transaction.
final class Writer {
  let connection: Connection
  let remembersOperations: Bool
  private(set) var tables: EntityTables
  private let touched: TouchedRows
  /// The last entry of triggers before the transaction; nil where there are none.
  private var entryBefore: Int64?
  /// Entries that own transactions made: they are no news.
  var ownEntries: [ClosedRange<Int64>] = []

  init(_ path: String, _ settings: SQLiteConnector.Settings) throws(ConnectorError) {
    connection = try SQLiteConnector.open(path, settings)
    remembersOperations = settings.remembersOperations
    tables = EntityTables(settings.package)
    let touched = TouchedRows()
    self.touched = touched
    #if os(Linux)
      connection.observeRowChanges { touched.note($0) }
    #endif
  }

  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    do throws(ConnectorError) {
      try begin()
    } catch {
      rollBack()
      return .notDone(reason: error.description)
    }
    let work = work(group)
    guard work.isEffective else {
      rollBack()
      return work.result
    }
    do { try commit() } catch {
      return notCommitted(error, group, done: work.result)
    }
    return work.result
  }

  /// A group inside a transaction. Where it is not effective what it did is to be undone.
  func work(_ group: [ConnectorOperation]) -> (result: PerformResult, isEffective: Bool) {
    touched.begin(tables.byTable)
    let outcomes: [OperationOutcome]
    do throws(SQLGroupInterruption<Interruption>) { outcomes = try performAll(group) } catch {
      switch error.reason {
      case .refused(let refusal):
        return (PerformResult.refused(refusal, at: error.index, of: group.count), false)
      case .failed(let error): return (.notDone(reason: error.description), false)
      }
    }
    do { return (.done(outcomes, touched: try touched.images(connection)), true) } catch {
      return (.notDone(reason: ConnectorError(error, connection.path).description), false)
    }
  }

  func begin() throws(ConnectorError) {
    do {
      try connection.execute("BEGIN IMMEDIATE")
      if remembersOperations { try AppliedOperations.create(connection) }
      try tables.refresh(connection)
      entryBefore =
        try ChangeEntries.exist(connection) ? try ChangeEntries.last(connection) : nil
    } catch { throw ConnectorError(error, connection.path) }
  }

  func commit() throws(SQLiteError) {
    var own: ClosedRange<Int64>?
    if let entryBefore {
      let last = try ChangeEntries.last(connection)
      if last > entryBefore { own = entryBefore + 1...last }
    }
    try connection.execute("COMMIT")
    if let own { ownEntries.append(own) }
  }

  /// What others changed since the cursor; nil where no triggers note it.
  func changes(since cursor: String?) throws(SQLiteError) -> BusinessChanges? {
    guard try ChangeEntries.exist(connection) else { return nil }
    try connection.transaction(.deferred) { () throws(SQLiteError) in
      try tables.refresh(connection)
    }
    if let last = ChangeEntries.Cursor(cursor)?.last {
      ownEntries.removeAll { $0.upperBound <= last }
    }
    return try ChangeEntries(connection, tables).changes(since: cursor, own: ownEntries)
  }

  /// SQLite ends the transaction itself after some errors, and after RAISE(ROLLBACK).
  func rollBack() {
    guard connection.isInTransaction else { return }
    do { try connection.execute("ROLLBACK") } catch { return }
  }

  /// A deferred rule is the business's no; a lock leaves the transaction open, to be undone. After
  /// anything else only the database itself can tell what became of the transaction.
  private func notCommitted(
    _ error: SQLiteError, _ group: [ConnectorOperation], done: PerformResult
  ) -> PerformResult {
    let failure = ConnectorError(error, connection.path)
    if error.isConstraint {
      let (index, refusal) = deferredRefusal(error, group, done)
      rollBack()
      return PerformResult.refused(refusal, at: index, of: group.count)
    }
    let wasOpen = connection.isInTransaction
    rollBack()
    if error.isBusy, wasOpen, !connection.isInTransaction {
      return .notDone(reason: failure.description)
    }
    guard remembersOperations else { return .unknown(reason: failure.description) }
    do {
      let fresh = try Connection(path: connection.path, mode: .readWrite)
      let recalled = try AppliedOperations.recall(group.map(\.id), fresh)
      if recalled.allSatisfy({ $0 != nil }) { return done }
      return recalled.allSatisfy { $0 == nil }
        ? .notDone(reason: failure.description) : .unknown(reason: failure.description)
    } catch {
      return .unknown(reason: "\(failure) Afterwards: \(error.message)")
    }
  }

  func deferredRefusal(
    _ error: SQLiteError, _ group: [ConnectorOperation], _ done: PerformResult
  ) -> (Int, Refusal) {
    var keys = GivenKeys()
    guard case .done(let outcomes, _) = done else {
      return (group.count - 1, Explanation.plain(error))
    }
    for (index, given) in group.enumerated() {
      let operation = keys.applied(to: given)
      guard case .accepted(let key, _) = outcomes[index],
        let table = try? tables.table(of: operation.entity)
      else { continue }
      keys.learn(given, key: key)
      let explanation = Explanation(operation, table, connection)
      if let refusal = explanation.brokenForeignKey(at: key) { return (index, refusal) }
    }
    return (group.count - 1, Explanation.plain(error))
  }
}

extension Writer: SQLGroupWork {
  func claim(_ operation: ConnectorOperation) throws(Interruption) -> OperationClaim {
    do { return try AppliedOperations.claim(operation, connection) } catch {
      throw .failed(ConnectorError(error, connection.path))
    }
  }

  func finish(_ operation: ConnectorOperation, key: ObjectKey) throws(Interruption) {
    do { try AppliedOperations.finish(operation, key: key, connection) } catch {
      throw .failed(ConnectorError(error, connection.path))
    }
  }

  func work(_ operation: ConnectorOperation) throws(Interruption) -> ObjectKey {
    guard !operation.entity.isOperation else {
      return try StatementWork(operation, connection).perform()
    }
    let table = try table(of: operation.entity)
    let key = try SQLOperationWork(
      operation, SQLiteDialect(operation, table, tables, connection)
    ).perform()
    touched.note(table, key)
    return key
  }

  func touch(_ operation: ConnectorOperation, _ key: ObjectKey) throws(Interruption) {
    touched.note(try table(of: operation.entity), key)
  }

  private func table(of entity: Entity) throws(Interruption) -> EntityTable {
    do { return try tables.table(of: entity) } catch { throw .failed(error) }
  }
}

/// The rows that a transaction changed, by entity and key, each once and in order.
final class TouchedRows {
  private struct Row: Hashable {
    let entity: String
    let key: ObjectKey
  }

  private var tables: [String: [EntityTable]] = [:]
  private var seen: Set<Row> = []
  private var rows: [(EntityTable, ObjectKey)] = []

  func begin(_ tables: [String: [EntityTable]]) {
    self.tables = tables
    seen = []
    rows = []
  }

  #if os(Linux)
    func note(_ change: RowChange) {
      for table in tables[change.table.lowercased()] ?? [] {
        for raw in TouchedRows.keys(change, table) {
          if let key = raw.flatMap(table.key(ofRaw:)) { note(table, key) }
        }
      }
    }

    /// Before and after. Where the row id is the key the row itself, which may be large, is left
    /// where it is.
    private static func keys(_ change: RowChange, _ table: EntityTable) -> [[SQLiteValue]?] {
      table.isKeyTheRowID
        ? [change.rowIDBefore.map { [.integer($0)] }, change.rowIDAfter.map { [.integer($0)] }]
        : [change.before(table.keyPositions), change.after(table.keyPositions)]
    }
  #endif

  func note(_ table: EntityTable, _ key: ObjectKey) {
    guard seen.insert(Row(entity: table.entity.name, key: key)).inserted else { return }
    rows.append((table, key))
  }

  /// The rows as they are now, to be read before the commit.
  func images(_ connection: Connection) throws(SQLiteError) -> [RowImage] {
    var images: [RowImage] = []
    for (table, key) in rows { images.append(try table.image(key, connection)) }
    return images
  }
}
