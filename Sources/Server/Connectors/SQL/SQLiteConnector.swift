import FerryConnector
import FerryModel
import FerrySQLite

/// A SQLite database as business system.
///
/// Opens nothing until it is asked. One instance per thread; instances of one file are cheap and
/// need not know each other. Foreign keys are enforced, the journal mode stays as the owner chose
/// it: with a rollback journal a load keeps writers waiting while it reads, with a write-ahead log
/// nobody waits.
package final class SQLiteConnector: Connector {
  struct Settings {
    let package: Package
    let remembersOperations: Bool
    let busyTimeoutMilliseconds: Int32
  }

  private let path: String
  private let settings: Settings
  private let open: OpenConnections
  private var tables: EntityTables
  private var dataVersion: SQLiteValue?
  /// Of the last look at the entries of triggers, and what it gave.
  private var seen: (version: SQLiteValue?, cursor: String, shortfall: String?)?
  private var nextCleanUp = ContinuousClock.now
  private static let cleanUpInterval: Duration = .seconds(60)

  /// `remembersOperations`: keep the table `ferry_applied` in the business database, which makes
  /// every operation happen exactly once. Without it an outcome may stay unknown after a crash.
  package init(
    path: String, package: Package, remembersOperations: Bool = true,
    busyTimeoutMilliseconds: Int32 = 5_000
  ) {
    self.path = path
    open = OpenConnections(path)
    let package = package.served
    settings = Settings(
      package: package, remembersOperations: remembersOperations,
      busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    tables = EntityTables(package)
  }

  package func perform(_ group: [ConnectorOperation]) -> PerformResult {
    guard !group.isEmpty else { return .done([], touched: []) }
    do throws(ConnectorError) {
      return try open.use { () throws(ConnectorError) in try writer().perform(group) }
    } catch {
      return .notDone(reason: error.description)
    }
  }

  package func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    guard groups.count > 1, settings.remembersOperations else {
      return groups.prefix(1).map { perform($0) }
    }
    do throws(ConnectorError) {
      return try open.use { () throws(ConnectorError) in
        try writer().perform(groups, while: goesOn)
      }
    } catch {
      return [.notDone(reason: error.description)]
    }
  }

  package func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    guard settings.remembersOperations else {
      throw ConnectorError(
        "The business database \(path) does not record performed operations",
        hint: "Compare its rows with what was sent, then mark the operation accepted or refused.",
        isTransient: false)
    }
    return try asking { (connection) throws(SQLiteError) in
      try AppliedOperations.recall(operations.map(\.id), connection)
    }.map { Recall(recorded: $0) }
  }

  package func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try inSnapshot { (connection) throws(ConnectorError) in
      var images: [RowImage] = []
      guard !entity.isOperation else {
        return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
      }
      let table = try tables.table(of: entity)
      for key in keys {
        do throws(SQLiteError) { images.append(try table.image(key, connection)) } catch {
          throw ConnectorError(error, path)
        }
      }
      return images
    }
  }

  package func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try inSnapshot { (connection) throws(ConnectorError) in
      let table = try tables.table(of: entity)
      guard let parameters = table.parameters(of: key) else { return nil }
      do throws(SQLiteError) {
        return try table.big.stretch(
          position, table.whereKey, parameters, offset: offset, count: count, connection)
      } catch { throw ConnectorError(error, path) }
    }
  }

  package func changedByOthers() throws(ConnectorError) -> Bool {
    try open.use { () throws(ConnectorError) in try isChangedByOthers() }
  }

  private func isChangedByOthers() throws(ConnectorError) -> Bool {
    let writer = try writer()
    let now: SQLiteValue?
    do { now = try writer.connection.value("PRAGMA data_version") } catch {
      throw ConnectorError(error, path)
    }
    defer { dataVersion = now }
    return now != dataVersion
  }

  package func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    try open.use { () throws(ConnectorError) in try look(since: cursor) }
  }

  private func look(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let writer = try writer()
    do throws(SQLiteError) {
      let version = try writer.connection.value("PRAGMA data_version")
      // Nobody else has written since.
      if let cursor, let seen, seen.cursor == cursor, seen.version == version {
        return BusinessChanges(cursor: cursor, hints: [], shortfall: seen.shortfall)
      }
      if let changes = try writer.changes(since: cursor) {
        let compared = try ChangeEntries.tablesWithoutTriggers(writer.connection, writer.tables)
        let hints = changes.hints + compared.map { ChangeHint.entity($0) }
        let shortfall =
          compared.isEmpty
          ? nil
          : "\(compared.joined(separator: ", ")) is read whole after each change, for its table has "
            + "no triggers of Ferry; `ferry prepare` makes them or says why it cannot"
        seen = changes.cursor.map { (version, $0, shortfall) }
        if ContinuousClock.now >= nextCleanUp {
          nextCleanUp = ContinuousClock.now + SQLiteConnector.cleanUpInterval
          try ChangeEntries(writer.connection, writer.tables).removeOld()
        }
        return BusinessChanges(cursor: changes.cursor, hints: hints, shortfall: shortfall)
      }
    } catch { throw ConnectorError(error, path) }
    seen = nil
    return BusinessChanges(cursor: nil, hints: try isChangedByOthers() ? [.anything] : [])
  }

  /// `BEGIN IMMEDIATE` keeps every other writer away from judged rows. Triggers of Ferry give a cursor.
  package func abilities(of entity: Entity) -> ConnectorAbilities {
    let hasTriggers: Bool
    do throws(ConnectorError) {
      hasTriggers = try asking { (connection) throws(SQLiteError) in
        guard try ChangeEntries.exist(connection) else { return false }
        return try !ChangeEntries.tablesWithoutTriggers(connection, tables).contains(entity.name)
      }
    } catch { hasTriggers = false }
    return ConnectorAbilities(
      atomicGroups: true, memory: settings.remembersOperations ? .operations : .none,
      conditionalWrites: true, changes: hasTriggers ? .cursor : .poll,
      reportsDeletes: hasTriggers, snapshots: true)
  }

  /// A look at the entries costs a page read as long as nobody writes.
  package var lookInterval: Duration { seen == nil ? .milliseconds(250) : .milliseconds(50) }

  /// The number of rows given to `each` at a time.
  static let batchRows: Int = 1_000

  package func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    try inSnapshot { (connection) throws(ConnectorError) in
      // An operation of the business system makes no rows.
      for entity in scope.entities where !entity.isOperation {
        let table = try tables.table(of: entity)
        var batch: [RowImage] = []
        batch.reserveCapacity(SQLiteConnector.batchRows)
        try rows(of: table, connection) { (raw) throws(ConnectorError) in
          switch table.row(raw) {
          case .rejected(let row): rejected(row)
          case .success(let values):
            batch.append(
              RowImage(entity: entity.name, key: entity.key(of: values), values: values))
          }
          if batch.count == SQLiteConnector.batchRows {
            try each(LoadPage(entity: entity, rows: batch))
            batch.removeAll(keepingCapacity: true)
          }
        }
        if !batch.isEmpty { try each(LoadPage(entity: entity, rows: batch)) }
      }
    }
    return .snapshot
  }

  package func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? {
    guard !entity.isOperation else { return EntitySlice(rows: [], next: nil) }
    return try inSnapshot { (connection) throws(ConnectorError) in
      let table = try tables.table(of: entity)
      do throws(SQLiteError) {
        return try table.slice(after: place, count: count, connection)
      } catch {
        throw ConnectorError(error, path)
      }
    }
  }

  package func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int? {
    try inSnapshot { (connection) throws(ConnectorError) in
      var count = 0
      for entity in entities where !entity.isOperation {
        let table = try tables.table(of: entity)
        do throws(SQLiteError) {
          let found = try connection.value("SELECT count(*) FROM \(table.quotedName)")
          count += Int(found?.integer ?? 0)
        } catch { throw ConnectorError(error, path) }
      }
      return count
    }
  }

  private func rows(
    of table: EntityTable, _ connection: Connection,
    _ body: ([SQLiteValue]) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    let statement: Statement
    do { statement = try connection.statement(table.select) } catch {
      throw ConnectorError(error, path)
    }
    defer { statement.reset() }
    while true {
      let row: [SQLiteValue]
      do {
        guard try statement.step() else { return }
        row = try table.big.row(statement, connection)
      } catch { throw ConnectorError(error, path) }
      try body(row)
    }
  }

  package func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    let remembersOperations = settings.remembersOperations
    let package = package.served
    return try asking { (connection) throws(SQLiteError) in
      let own = remembersOperations ? try AppliedOperations.mismatch(connection) : nil
      return try SchemaComparison(connection).mismatches(with: package) + (own.map { [$0] } ?? [])
    }
  }

  // A file put in the place of another is another database: what this connection writes is lost.
  private func writer() throws(ConnectorError) -> Writer {
    try open.closeOverwritten()
    if let writer = open.writer, !writer.connection.hasMoved { return writer }
    open.writer = nil
    dataVersion = nil
    seen = nil
    let writer = try Writer(path, settings)
    open.writer = writer
    open.noteIndex()
    return writer
  }

  private func reader() throws(ConnectorError) -> Connection {
    try open.closeOverwritten()
    if let reader = open.reader, !reader.hasMoved { return reader }
    open.reader = nil
    tables = EntityTables(settings.package)
    let reader = try SQLiteConnector.open(path, settings)
    do { try reader.execute("PRAGMA query_only = ON") } catch { throw ConnectorError(error, path) }
    open.reader = reader
    open.noteIndex()
    return reader
  }

  private func asking<Answer>(
    _ body: (Connection) throws(SQLiteError) -> Answer
  ) throws(ConnectorError) -> Answer {
    try open.use { () throws(ConnectorError) in
      let reader = try reader()
      do throws(SQLiteError) { return try body(reader) } catch { throw ConnectorError(error, path) }
    }
  }

  private func inSnapshot<Answer>(
    _ body: (Connection) throws(ConnectorError) -> Answer
  ) throws(ConnectorError) -> Answer {
    try open.use { () throws(ConnectorError) in try readingOneState(body) }
  }

  private func readingOneState<Answer>(
    _ body: (Connection) throws(ConnectorError) -> Answer
  ) throws(ConnectorError) -> Answer {
    let reader = try reader()
    let path = path
    let wrap: (SQLiteError) -> ConnectorError = { ConnectorError($0, path) }
    return try reader.transaction(.deferred, wrap: wrap) {
      () throws(ConnectorError) in
      do throws(SQLiteError) { try tables.refresh(reader) } catch {
        throw ConnectorError(error, path)
      }
      return try body(reader)
    }
  }

  /// Readers too may write as far as the file is concerned: whoever comes after a crash has to
  /// roll back the journal or recover the log. `query_only` keeps them from changing rows.
  static func open(_ path: String, _ settings: Settings) throws(ConnectorError) -> Connection {
    do {
      let connection = try Connection(
        path: path, mode: .readWrite, busyTimeoutMilliseconds: settings.busyTimeoutMilliseconds)
      try connection.execute("PRAGMA foreign_keys = ON")
      _ = try connection.value("SELECT count(*) FROM sqlite_schema")
      return connection
    } catch { throw ConnectorError(error, path) }
  }
}
