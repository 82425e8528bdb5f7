import FerryConnector
import FerryMariaDB
import FerryModel
import FerryWorld

/// A database of MariaDB or MySQL as business system.
///
/// Connects when it is first asked, and again after the line was lost. One instance per thread; each has
/// at most two connections.
package final class MariaDBConnector: Connector {
  struct Settings: Sendable {
    let address: MariaDBAddress
    let package: Package
    let remembersOperations: Bool
    let deadlines: MariaDBConnection.Deadlines
    let lockSeconds: Int64
  }

  private let settings: Settings
  private let attempts = SQLAttempts()
  private var openWriter: Writer?
  private var openReader: MariaDBConnection?
  /// Of the reader.
  private var readTables: SQLTables<EntityTable, String>
  private let news: News
  private var lastSeen: String?
  private var store: String?
  private var leadership: Leadership?
  /// Another one has taken over since.
  private var isSuperseded = false
  /// Operations whose outcome this instance itself could not tell.
  private var doubted: Set<OperationID> = []
  package private(set) var isUnreachable: Bool = false

  /// `remembersOperations`: keep the table `ferry_applied` in the business database, which makes every
  /// operation happen exactly once. Without it an outcome may stay unknown after a crash. `lockTimeout`:
  /// how long an operation waits for a row that others have locked, in whole seconds; zero does not
  /// wait. `comparisonInterval`: how often tables without triggers are compared whole.
  package init(
    _ address: MariaDBAddress, package: Package, remembersOperations: Bool = true,
    deadlines: MariaDBConnection.Deadlines = MariaDBConnection.Deadlines(),
    lockTimeout: Duration = .seconds(10), comparisonInterval: Duration = .seconds(5),
    clock: any WorldClock = SystemClock()
  ) {
    settings = Settings(
      address: address, package: package.served, remembersOperations: remembersOperations,
      deadlines: deadlines, lockSeconds: lockTimeout.components.seconds)
    readTables = SQLTables(settings.package)
    news = News(comparisonInterval: comparisonInterval, clock: clock)
  }

  package func lead(_ store: String) { self.store = store }

  package func takeLead(again: Bool) throws(ConnectorError) -> Bool {
    guard store != nil, settings.remembersOperations,
      leadership == nil || isSuperseded && again
    else { return false }
    openWriter?.connection.close()
    (leadership, isSuperseded) = (nil, false)
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
      let results = try writer().perform(groups, while: goesOn)
      if results.contains(.notDone(reason: Leadership.lost)) { isSuperseded = true }
      for (group, result) in zip(groups, results) {
        if case .unknown = result { doubted.formUnion(group.map(\.id)) }
      }
      return results
    } catch { return [.notDone(reason: error.description)] }
  }

  package func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    let hint = "Compare its rows with what was sent, then mark the operation accepted or refused."
    guard settings.remembersOperations else {
      throw ConnectorError(
        "The business database \(settings.address) does not record performed operations",
        hint: hint, isTransient: false)
    }
    // Whoever led before does nothing more from here on; and the table is there.
    _ = try writer()
    let outcomes = try reading("START TRANSACTION") { (reader) throws(MariaDBError) in
      try AppliedOperations.recall(operations.map(\.id), reader)
    }
    let isForgotten = zip(operations, outcomes).contains { $1 == nil && !doubted.contains($0.id) }
    guard let leadership, leadership.isFirst, isForgotten else {
      return outcomes.map { Recall(recorded: $0) }
    }
    throw ConnectorError(
      "The business database \(settings.address) was never used with this data folder, or what it "
        + "recorded of performed operations was removed", hint: hint, isTransient: false)
  }

  package func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    guard !entity.isOperation else {
      return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
    }
    return try inSnapshot([entity]) { (reader, tables) throws(MariaDBError) in
      var images: [RowImage] = []
      for key in keys { images.append(try tables[0].image(key, reader)) }
      return images
    }
  }

  package func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try inSnapshot([entity]) { (reader, tables) throws(MariaDBError) in
      let table = tables[0]
      guard let condition = table.whereKey(key) else { return nil }
      let bytes = table.columns[position].bytes(table.name(position))
      let start = min(offset, Int64(UInt32.max)).addingReportingOverflow(1).partialValue
      let found = try reader.value(
        "SELECT HEX(SUBSTRING(\(bytes), \(start), \(count))) FROM "
          + "\(quotedName(table.schema.name)) AS t\(condition)")
      return found.flatMap { ColumnForm.bytes(ofDigits: $0) }
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
    do throws(ConnectorError) { isPrepared = try writer().capture.isPrepared } catch {
      isPrepared = false
    }
    return ConnectorAbilities(
      atomicGroups: true, memory: settings.remembersOperations ? .operations : .none,
      conditionalWrites: true, changes: isPrepared ? .cursor : .poll,
      reportsDeletes: isPrepared, snapshots: true)
  }

  /// Under change every few milliseconds.
  package var lookInterval: Duration {
    guard openWriter?.capture.isPrepared == true else { return .milliseconds(250) }
    return news.isBusy ? .milliseconds(4) : .milliseconds(50)
  }

  package func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let writer = try writer()
    do throws(MariaDBError) { return try news.changes(since: cursor, writer) } catch {
      news.forget()
      // The table of entries may be gone: the next connection looks.
      if error.isOfSchema { openWriter = nil }
      throw ConnectorError(error, settings.address)
    }
  }

  /// The number of rows given to `each` at a time.
  private static let batchRows: Int = 1_000

  package func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    // An operation of the business system makes no rows.
    let entities = scope.entities.filter { !$0.isOperation }
    let address = settings.address
    let reader = try begin()
    defer { end(reader) }
    for table in try tables(entities, reader) {
      var batch: [RowImage] = []
      try reader.stream(table.select, wrap: { ConnectorError($0, address) }) {
        texts throws(ConnectorError) in
        switch table.row(texts) {
        case .failure(let error): rejected(error.row)
        case .success(let values):
          batch.append(
            RowImage(
              entity: table.entity.name, key: table.entity.key(of: values), values: values))
        }
        guard batch.count == MariaDBConnector.batchRows else { return }
        try each(LoadPage(entity: table.entity, rows: batch))
        batch.removeAll(keepingCapacity: true)
      }
      if !batch.isEmpty { try each(LoadPage(entity: table.entity, rows: batch)) }
    }
    return .snapshot
  }

  /// What the statistics say: to count a large table takes as long as a part of its load.
  package func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int? {
    try inSnapshot(entities.filter { !$0.isOperation }) { reader, tables throws(MariaDBError) in
      var count = 0
      for table in tables {
        let rows = try reader.value(
          "SELECT table_rows FROM information_schema.tables WHERE table_schema = DATABASE() "
            + "AND table_name = \(quotedText(table.schema.name))")
        count = count.addingReportingOverflow(rows.flatMap { Int($0) } ?? 0).partialValue
      }
      return count
    }
  }

  package func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? {
    guard !entity.isOperation else { return EntitySlice(rows: [], next: nil) }
    return try inSnapshot([entity]) { (reader, tables) throws(MariaDBError) in
      try tables[0].slice(after: place, count: count, reader)
    }
  }

  package func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    let package = package.served
    return try reading("START TRANSACTION READ ONLY") { (reader) throws(MariaDBError) in
      let catalogue = try Catalogue(reader)
      let found = SchemaComparison(catalogue).mismatches(with: package)
      guard found.isEmpty else { return found }
      let own = try reader.value(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
          + "AND table_name IN ('ferry_applied', 'ferry_leader')")
      return try SchemaComparison.missingRights(
        package, reader, alsoOwn: settings.remembersOperations && own == "2")
    }
  }

  private func writer() throws(ConnectorError) -> Writer {
    if let writer = openWriter, writer.connection.isOpen { return writer }
    openWriter = nil
    news.forget()
    do throws(MariaDBError) {
      let connection = try connect("ferryd writes", isolation: "READ COMMITTED")
      if settings.remembersOperations {
        // Not where they are there: it may not be allowed, and it would wait for transactions.
        let own = try connection.value(
          "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
            + "AND table_name IN ('ferry_applied', 'ferry_leader')")
        if own != "2" {
          for statement in AppliedOperations.create { try connection.execute(statement) }
        }
        if let store, leadership == nil {
          leadership = try Leadership(taking: store, connection)
        }
      }
      let writer = try Writer(connection, settings, attempts, leadership)
      openWriter = writer
      isUnreachable = false
      return writer
    } catch {
      isUnreachable = error.isLost
      throw ConnectorError(error, settings.address)
    }
  }

  private func connect(
    _ application: String, isolation: String
  ) throws(MariaDBError) -> MariaDBConnection {
    let connection = try MariaDBConnection(
      settings.address, deadlines: settings.deadlines, application: application)
    try connection.execute("SET SESSION TRANSACTION ISOLATION LEVEL \(isolation)")
    try connection.execute(
      """
      SET SESSION innodb_lock_wait_timeout = \(settings.lockSeconds), \
      SESSION lock_wait_timeout = \(max(1, settings.lockSeconds)), SESSION net_write_timeout = 3600
      """)
    return connection
  }

  private func reader() throws(MariaDBError) -> MariaDBConnection {
    if let reader = openReader, reader.isOpen { return reader }
    let reader = try connect("ferryd reads", isolation: "REPEATABLE READ")
    openReader = reader
    return reader
  }

  private func begin() throws(ConnectorError) -> MariaDBConnection {
    do throws(MariaDBError) {
      let reader = try reader()
      try reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
      return reader
    } catch { throw ConnectorError(error, settings.address) }
  }

  private func end(_ reader: MariaDBConnection) {
    guard reader.isOpen else { return }
    do { try reader.execute("ROLLBACK") } catch { reader.close() }
  }

  private func reading<Answer>(
    _ begin: String, _ body: (MariaDBConnection) throws(MariaDBError) -> Answer
  ) throws(ConnectorError) -> Answer {
    do throws(MariaDBError) {
      let reader = try reader()
      try reader.execute(begin)
      defer { end(reader) }
      return try body(reader)
    } catch { throw ConnectorError(error, settings.address) }
  }

  private func tables(
    _ entities: [Entity], _ reader: MariaDBConnection
  ) throws(ConnectorError) -> [EntityTable] {
    do throws(MariaDBError) { try readTables.refresh(settings.package, reader) } catch {
      throw ConnectorError(error, settings.address)
    }
    var tables: [EntityTable] = []
    for entity in entities { tables.append(try readTables.table(of: entity)) }
    return tables
  }

  private func inSnapshot<Answer>(
    _ entities: [Entity],
    _ body: (MariaDBConnection, [EntityTable]) throws(MariaDBError) -> Answer
  ) throws(ConnectorError) -> Answer {
    let reader = try begin()
    defer { end(reader) }
    let tables = try tables(entities, reader)
    do { return try body(reader, tables) } catch { throw ConnectorError(error, settings.address) }
  }
}
