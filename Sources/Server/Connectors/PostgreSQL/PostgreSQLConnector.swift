import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryWorld

/// A database of PostgreSQL as business system.
///
/// Connects when it is first asked, and again after the line was lost. One instance per thread;
/// each has at most two connections, and the one that performs has more while much waits.
package final class PostgreSQLConnector: Connector {
  struct Settings: Sendable {
    let address: PostgreSQLAddress
    let package: Package
    let remembersOperations: Bool
    let deadlines: PostgreSQLConnection.Deadlines
    let lockMilliseconds: Int
    let comparisonInterval: Duration
    let connections: Int
    let clock: any WorldClock
  }

  let settings: Settings
  let attempts = SQLAttempts()
  /// Of all connections that perform.
  let own = OwnTransactions()
  /// Connections beside the first one that performs, made when they are first needed.
  var lanes: [Lane] = []
  var lanesPausedUntil: Duration?
  private(set) var openWriter: Writer?
  private var openReader: PostgreSQLConnection?
  /// Of the reader.
  private var readTables: EntityTables
  private let news: News
  private var lastSeen: String?
  private var store: String?
  private(set) var leadership: Leadership?
  /// Another one has taken over since.
  private var isSuperseded = false
  /// Operations whose outcome this instance itself could not tell.
  private var doubted: Set<OperationID> = []
  package private(set) var isUnreachable: Bool = false

  /// `remembersOperations`: keep the table `ferry.applied` in the business database, which makes
  /// every operation happen exactly once. Without it an outcome may stay unknown after a crash.
  /// `lockTimeout`: how long an operation waits for a row that others have locked.
  /// `comparisonInterval`: how often tables without triggers are compared whole. `connections`: on how
  /// many operations of different users are performed side by side. `clock`: what its own intervals
  /// are measured by; time-outs of the connection are the system's.
  package init(
    _ address: PostgreSQLAddress, package: Package, remembersOperations: Bool = true,
    deadlines: PostgreSQLConnection.Deadlines = PostgreSQLConnection.Deadlines(),
    lockTimeout: Duration = .seconds(10), comparisonInterval: Duration = .seconds(5),
    connections: Int = 4, clock: any WorldClock = SystemClock()
  ) {
    settings = Settings(
      address: address, package: package.served, remembersOperations: remembersOperations,
      deadlines: deadlines, lockMilliseconds: Int(lockTimeout / .milliseconds(1)),
      comparisonInterval: comparisonInterval, connections: connections, clock: clock)
    readTables = EntityTables(settings.package)
    news = News(comparisonInterval: comparisonInterval, clock: clock)
  }

  package func lead(_ store: String) { self.store = store }

  package func takeLead(again: Bool) throws(ConnectorError) -> Bool {
    guard store != nil, settings.remembersOperations,
      leadership == nil || isSuperseded && again
    else { return false }
    openWriter?.connection.close()
    (leadership, isSuperseded, lanes) = (nil, false, [])
    _ = try writer()
    return true
  }

  package func perform(_ group: [ConnectorOperation]) -> PerformResult {
    guard !group.isEmpty else { return .done([], touched: []) }
    return perform([group], while: { false })[0]
  }

  package func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    do throws(ConnectorError) {
      let writer = try writer()
      let shared = shareOut(groups)
      let taken = shared != nil || writer.takesGroups ? groups : Array(groups.prefix(1))
      let results =
        shared.map { perform(taken, in: $0, writer) } ?? writer.perform(taken, while: goesOn)
      if results.contains(.notDone(reason: Leadership.lost)) { isSuperseded = true }
      for (group, result) in zip(taken, results) {
        if case .unknown = result { doubted.formUnion(group.map(\.id)) }
      }
      return results
    } catch { return [.notDone(reason: error.description)] }
  }

  package func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    guard settings.remembersOperations else {
      throw ConnectorError(
        "The business database \(settings.address) does not record performed operations",
        hint: "Compare its rows with what was sent, then mark the operation accepted or refused.",
        isTransient: false)
    }
    // Whoever led before does nothing more from here on; and the table is there.
    _ = try writer()
    let outcomes = try asking { (connection) throws(PostgreSQLError) in
      try connection.execute("BEGIN; SET LOCAL lock_timeout = \(settings.lockMilliseconds)")
      let outcomes = try AppliedOperations.recall(operations.map(\.id), connection)
      try connection.execute("ROLLBACK")
      return outcomes
    }
    let isForgotten = zip(operations, outcomes).contains { $1 == nil && !doubted.contains($0.id) }
    guard let leadership, leadership.isFirst, isForgotten else {
      return outcomes.map { Recall(recorded: $0) }
    }
    throw ConnectorError(
      "The business database \(settings.address) was never used with this data folder, or what it "
        + "recorded of performed operations was removed",
      hint: "Compare its rows with what was sent, then mark the operation accepted or refused.",
      isTransient: false)
  }

  package func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    guard !entity.isOperation else {
      return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
    }
    return try inSnapshot([entity]) {
      (connection, tables) throws(PostgreSQLError) in
      try RowReading.images(keys.map { (tables[0], $0) }, connection)
    }
  }

  package func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try inSnapshot([entity]) { (connection, tables) throws(PostgreSQLError) in
      let table = tables[0]
      guard let parameters = table.parameters(of: key) else { return nil }
      let name = "t.\(quotedName(table.columns[position].column.name))"
      let bytes =
        table.columns[position].attribute.type == .bigString
        ? "pg_catalog.convert_to(\(name), 'UTF8')" : name
      // A value has at most a gigabyte.
      let start = min(offset, Int64(Int32.max) - 1) + 1
      let sql = """
        SELECT substring(\(bytes) FROM \(start)::int4 FOR \(count)::int4) \
        FROM \(table.schema.name.quoted) AS t\(table.whereKey)
        """
      let rows = try connection.rows(sql, parameters)
      guard rows.count == 1, let text = rows.text(0, 0) else { return nil }
      return ColumnForm.bytes(text)
    }
  }

  package func changedByOthers() throws(ConnectorError) -> Bool {
    let changes = try changes(since: lastSeen)
    lastSeen = changes.cursor ?? lastSeen
    return !changes.hints.isEmpty
  }

  /// The row and those that decide its partition are locked before they are judged. Triggers of Ferry
  /// give a cursor.
  package func abilities(of entity: Entity) -> ConnectorAbilities {
    let isPrepared: Bool
    do throws(ConnectorError) { isPrepared = try writer().isPrepared } catch { isPrepared = false }
    return ConnectorAbilities(
      atomicGroups: true, memory: settings.remembersOperations ? .operations : .none,
      conditionalWrites: true, changes: isPrepared ? .cursor : .poll,
      reportsDeletes: isPrepared, snapshots: true)
  }

  /// Under change every few milliseconds.
  package var lookInterval: Duration {
    guard openWriter?.isPrepared == true else { return .milliseconds(250) }
    return news.isBusy ? .milliseconds(4) : .milliseconds(50)
  }

  package func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let writer = try writer()
    do throws(PostgreSQLError) { return try news.changes(since: cursor, writer) } catch {
      news.forget()
      // The table of entries may be gone: the next connection looks.
      if error.stateClass == "42" { openWriter = nil }
      throw ConnectorError(error, settings.address)
    }
  }

  package func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    // An operation of the business system makes no rows.
    let entities = scope.entities.filter { !$0.isOperation }
    let address = settings.address
    let reader = try begin()
    do throws(ConnectorError) {
      for table in try tables(entities, reader) {
        var load = TableLoad(table)
        try reader.copyOut(
          "COPY (\(table.select)) TO STDOUT", wrap: { ConnectorError($0, address) }
        ) { line throws(ConnectorError) in
          try load.take(line, each: each, rejected: rejected)
        }
        try load.finish(each: each)
      }
    } catch {
      end(reader)
      throw error
    }
    end(reader)
    return .snapshot
  }

  /// Of a large table what its statistics say: to count it takes as long as a part of its load.
  package func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int? {
    try inSnapshot(entities.filter { !$0.isOperation }) { reader, tables throws(PostgreSQLError) in
      var count = 0
      for table in tables {
        let name = table.schema.name.quoted
        let known = try reader.value(
          """
          SELECT reltuples::int8 FROM pg_catalog.pg_class
          WHERE oid = $1::regclass AND relkind IN ('r', 'm')
            AND reltuples >= \(PostgreSQLConnector.manyRows)
          """, [.text(name)])
        let rows: String?
        if let known {
          rows = known
        } else {
          rows = try reader.value("SELECT count(*) FROM \(name)")
        }
        count += rows.flatMap { Int($0) } ?? 0
      }
      return count
    }
  }

  private static let manyRows: Int = 100_000

  package func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? {
    guard !entity.isOperation else { return EntitySlice(rows: [], next: nil) }
    return try inSnapshot([entity]) { (connection, tables) throws(PostgreSQLError) in
      try tables[0].slice(after: place, count: count, connection)
    }
  }

  package func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    let package = package.served
    let reader = try begin()
    defer { end(reader) }
    do throws(PostgreSQLError) {
      return try SchemaComparison(reader).mismatches(with: package)
        + DatabaseFitness(settings, reader).mismatches(with: package)
    } catch { throw ConnectorError(error, settings.address) }
  }

  private func writer() throws(ConnectorError) -> Writer {
    if let writer = openWriter, writer.connection.isOpen { return writer }
    openWriter = nil
    news.forget()
    do throws(PostgreSQLError) {
      let connection = try PostgreSQLConnection(
        settings.address, deadlines: settings.deadlines, application: "ferryd writes")
      if settings.remembersOperations {
        if try !AppliedOperations.exists(connection) {
          for statement in AppliedOperations.create { try connection.execute(statement) }
        }
        if let store, leadership == nil {
          leadership = try Leadership(
            taking: store, connection, lockMilliseconds: settings.lockMilliseconds)
        }
      }
      let writer = try Writer(connection, settings, attempts, leadership, own)
      openWriter = writer
      isUnreachable = false
      return writer
    } catch {
      isUnreachable = error.isLost
      throw ConnectorError(error, settings.address)
    }
  }

  private func reader() throws(PostgreSQLError) -> PostgreSQLConnection {
    if let reader = openReader, reader.isOpen { return reader }
    let reader = try PostgreSQLConnection(
      settings.address, deadlines: settings.deadlines, application: "ferryd reads")
    openReader = reader
    return reader
  }

  /// A snapshot that sees every row or fails: where a policy would hide some, they would look
  /// deleted.
  private func begin() throws(ConnectorError) -> PostgreSQLConnection {
    do throws(PostgreSQLError) {
      let reader = try reader()
      try reader.execute(
        """
        BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(CatalogueReader.settings); \
        SET LOCAL row_security = off; SET LOCAL lock_timeout = \(settings.lockMilliseconds); \
        SET LOCAL statement_timeout = 0
        """)
      return reader
    } catch { throw ConnectorError(error, settings.address) }
  }

  private func end(_ reader: PostgreSQLConnection) {
    guard reader.isOpen else { return }
    do { try reader.execute("ROLLBACK") } catch { reader.close() }
  }

  private func tables(
    _ entities: [Entity], _ reader: PostgreSQLConnection
  ) throws(ConnectorError) -> [EntityTable] {
    do throws(PostgreSQLError) {
      let request = readTables.shapeRequest(entities)
      let found = try reader.rows(request.sql, request.parameters)
      if !readTables.areCurrent(entities, found) { try readTables.read(reader) }
    } catch { throw ConnectorError(error, settings.address) }
    var tables: [EntityTable] = []
    for entity in entities { tables.append(try readTables.table(of: entity)) }
    return tables
  }

  private func asking<Answer>(
    _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Answer
  ) throws(ConnectorError) -> Answer {
    do throws(PostgreSQLError) {
      let reader = try reader()
      defer { if reader.isInTransaction { end(reader) } }
      return try body(reader)
    } catch { throw ConnectorError(error, settings.address) }
  }

  private func inSnapshot<Answer>(
    _ entities: [Entity],
    _ body: (PostgreSQLConnection, [EntityTable]) throws(PostgreSQLError) -> Answer
  ) throws(ConnectorError) -> Answer {
    let reader = try begin()
    defer { end(reader) }
    let tables = try tables(entities, reader)
    do { return try body(reader, tables) } catch { throw ConnectorError(error, settings.address) }
  }
}
