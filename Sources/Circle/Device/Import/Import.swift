import FerryModel
import FerrySQLite
import FerryWire

/// Brings a whole download into what the app sees, in one transaction: dropped partitions out,
/// pages in, answered operations gone, what still waits laid on top again.
package struct Import {
  let store: Store

  package init(_ store: Store) { self.store = store }

  package enum Result {
    case imported(ImportedChanges)
    /// These partitions do not come to the sums that the server has; they begin again, and nothing
    /// was changed.
    case restarted([Int64])
  }

  package func run(_ batch: ImportBatch) throws(FerryError) -> Result {
    do {
      let changes = try store.write { connection throws(FerryError) in
        let changes = try ImportRun(self.store, connection, batch.checkpoint).run()
        for answer in changes.answered { self.store.ended(answer) }
        return changes
      }
      store.bell.ring()
      return .imported(changes)
    } catch {
      switch error.cause {
      case let wrong as WrongSums:
        try repair(wrong.partitions)
        return .restarted(wrong.partitions)
      case let unfit as UnfitPage:
        try Inbox(store).discard(from: unfit.number, to: unfit.from)
      default: break
      }
      throw error
    }
  }

  private func repair(_ partitions: [Int64]) throws(FerryError) {
    let day = store.world.clock.now.day
    try store.write { connection throws(SQLiteError) in
      let inbox = Inbox(self.store)
      for partition in partitions {
        try inbox.restart(partition, connection)
        try connection.run(
          "UPDATE ferry_partition SET repaired_day = ? WHERE number = ?", .integer(day),
          .integer(partition))
      }
    }
  }
}

struct WrongSums: Error {
  let partitions: [Int64]
}

/// One import under way, inside its transaction.
final class ImportRun {
  let store: Store
  let connection: Connection
  let checkpoint: Checkpoint
  private var rows: [String: Rows] = [:]
  var changes: [String: EntityChanges] = [:]
  /// What came, object by object, where a handler wants to hear of each.
  private var objects: [String: [Int64]] = [:]
  /// Whether it is noted.
  let listsObjects: Bool
  /// Change of sum and count by partition.
  var sums: [Int64: (sum: UInt64, count: Int64)] = [:]
  /// Objects whose pending operations must be laid on top again.
  private var touched: [String: Set<Int64>] = [:]
  /// Entities that have pending operations: their images may stand aside.
  var pendingEntities: Set<String> = []
  /// Partitions that were downloaded from the start: what no page named leaves.
  private var restarted: Set<Int64> = []
  private var named: [String: Set<Int64>] = [:]
  /// Partitions that are no longer this device's; what another one has taken over by the end stays.
  private var dropped: [Int64] = []
  private var answered: [AnsweredOperation] = []
  /// Objects that have left a partition; those that come back in another one keep their row.
  private var leaving: [String: Set<Int64>] = [:]
  /// Nothing of the group was imported before; the app hears of its end even if it is empty.
  private var isFirst = false

  init(_ store: Store, _ connection: Connection, _ checkpoint: Checkpoint) {
    self.store = store
    self.connection = connection
    self.checkpoint = checkpoint
    listsObjects = store.listsImports.load(ordering: .relaxed)
  }

  /// An object has come, new or with other values.
  func list(_ entity: String, _ object: Int64) {
    if listsObjects { objects[entity, default: []].append(object) }
  }

  func run() throws(FerryError) -> ImportedChanges {
    try sql { () throws(SQLiteError) in try self.begin() }
    let answers = AnswerTaker(store, connection, checkpoint.answers)
    let accepted = try sql { () throws(SQLiteError) in try answers.takeKeys() }
    try applyPages()
    try sql { () throws(SQLiteError) in
      try self.removeUnnamed()
      for object in try answers.take(accepted) {
        self.touched[object.entity, default: []].insert(object.object)
        self.answered += object.answered
      }
      let pending = PendingStore(self.store, self.connection)
      for (name, objects) in self.touched.sorted(by: { $0.key < $1.key }) {
        guard let entity = self.store.model.entity(named: name) else { continue }
        for object in objects.sorted() {
          try pending.show(entity, object, shown: nil)
          try pending.operations.markWaiters(for: entity, object)
        }
      }
    }
    try sql { () throws(SQLiteError) in try self.giveBackKept() }
    try finish()
    try ChainSealing(Transaction(store, connection)).sealWanted()
    try sql { () throws(SQLiteError) in try Contents(self.store).sweep(self.connection) }
    let entities = changes.values.sorted { $0.entity < $1.entity }
    if isFirst || !entities.isEmpty {
      try sql { () throws(SQLiteError) in
        try NoticeTable.owe(
          entities, objects: self.objects, group: self.checkpoint.group, self.connection)
      }
    }
    return ImportedChanges(
      group: checkpoint.group, version: checkpoint.version, entities: entities,
      confirmed: checkpoint.answers.map(\.id), answered: answered, isReset: !restarted.isEmpty)
  }

  /// Objects that came again have what only the device knew of them.
  private func giveBackKept() throws(SQLiteError) {
    guard try !KeptValues.isEmpty(connection) else { return }
    let kept = KeptValues(store: store)
    for (name, change) in changes.sorted(by: { $0.key < $1.key }) where change.inserted > 0 {
      guard let entity = store.model.entity(named: name) else { continue }
      try kept.giveBack(to: entity, connection)
    }
  }

  private func begin() throws(SQLiteError) {
    let era = try connection.value(
      "SELECT era FROM ferry_checkpoint WHERE grp = ?", .text(checkpoint.group))
    isFirst = era?.text == nil
    // One look for each entity: however much is pending, nothing of it is read.
    for entity in store.model.entities {
      let known = try connection.value(
        "SELECT 1 FROM ferry_operation WHERE entity = ? LIMIT 1", .text(entity.name))
      if known != nil { pendingEntities.insert(entity.name) }
    }
    for row in try connection.rows(
      "SELECT number, state FROM ferry_partition WHERE grp = ? ORDER BY number",
      .text(checkpoint.group))
    {
      guard let partition = row[0].integer else { continue }
      switch row[1].text {
      case "drop": dropped.append(partition)
      case "reset": restarted.insert(partition)
      default: break
      }
    }
  }

  private func drop(_ partition: Int64) throws(SQLiteError) {
    try leaveAll(partition, but: [:])
    try connection.run("DELETE FROM ferry_partition WHERE number = ?", .integer(partition))
    sums[partition] = nil
  }

  /// Everything of a partition leaves, except what `named` holds; what is pending stays.
  private func leaveAll(_ partition: Int64, but named: [String: Set<Int64>]) throws(SQLiteError) {
    for entity in store.model.entities where entity.group == checkpoint.group {
      let table = Schema.table(entity)
      let found = try connection.rows(
        """
        SELECT _id, _hash, 0 FROM \(table) WHERE _partition = ?1
        UNION ALL SELECT _id, _hash, 1 FROM \(Schema.original(entity)) WHERE _partition = ?1
        """, .integer(partition))
      for row in found {
        guard let object = row[0].integer, named[entity.name]?.contains(object) != true else {
          continue
        }
        count(partition, minus: row[1].integer ?? 0)
        if store.world.has(.resetSweepsPending) {
          let operations = OperationTable(store, connection)
          for operation in try operations.of(entity, object) {
            try operations.delete(operation)
          }
        }
        try remove(entity, object, isAside: row[2].integer == 1)
      }
    }
  }

  private func removeUnnamed() throws(SQLiteError) {
    for entity in store.model.entities {
      for object in (leaving[entity.name] ?? []).sorted() {
        try remove(entity, object, isAside: false)
      }
    }
    for partition in restarted.sorted() { try leaveAll(partition, but: named) }
    for partition in dropped { try drop(partition) }
  }

  /// A row is in the partition now, with these values.
  func enter(
    _ entity: Entity, _ values: [AttributeValue], _ hash: Int64, _ partition: Int64
  ) throws(SQLiteError) {
    let table = access(entity)
    let key = entity.key.map { values[$0] }
    if pendingEntities.contains(entity.name),
      let object = try pendingObject(entity, table, ObjectKey(key), key)
    {
      let before = try table.original(connection, object: object)
      if let before { count(before.partition, minus: before.hash) }
      count(partition, plus: hash)
      try table.putOriginal(
        connection, OriginalRow(object: object, partition: partition, hash: hash, values: values))
      touched[entity.name, default: []].insert(object)
      note(entity, object, partition)
      list(entity.name, object)
      changes[entity.name, default: EntityChanges(entity: entity.name)].updated += 1
      return
    }
    if try table.insertDownloaded(
      connection, object: nil, values: values, partition: partition, hash: hash)
    {
      count(partition, plus: hash)
      note(entity, connection.lastInsertRowID, partition)
      list(entity.name, connection.lastInsertRowID)
      changes[entity.name, default: EntityChanges(entity: entity.name)].inserted += 1
      return
    }
    guard let known = try table.downloaded(connection, key: key) else { return }
    let isBack = leaving[entity.name]?.remove(known.object) != nil
    if !isBack, let before = known.partition, let hash = known.hash { count(before, minus: hash) }
    count(partition, plus: hash)
    note(entity, known.object, partition)
    guard known.hash != hash || known.partition != partition else { return }
    try table.updateDownloaded(
      connection, object: known.object, values: values, partition: partition, hash: hash)
    list(entity.name, known.object)
    changes[entity.name, default: EntityChanges(entity: entity.name)].updated += 1
  }

  /// A row is no longer in the partition; it goes if it is not in another one by now.
  func leave(_ entity: Entity, _ key: ObjectKey, _ partition: Int64) throws(SQLiteError) {
    let table = access(entity)
    if pendingEntities.contains(entity.name),
      let original = try table.original(connection, key: key)
    {
      guard original.partition == partition || store.world.has(.leaveIgnoresPartition) else {
        return
      }
      count(partition, minus: original.hash)
      try remove(entity, original.object, isAside: true)
      return
    }
    guard let values = key.values(of: entity),
      let known = try table.downloaded(connection, key: values), let place = known.partition,
      place == partition || store.world.has(.leaveIgnoresPartition),
      leaving[entity.name, default: []].insert(known.object).inserted
    else { return }
    count(place, minus: known.hash ?? 0)
  }

  private func remove(_ entity: Entity, _ object: Int64, isAside: Bool) throws(SQLiteError) {
    let table = access(entity)
    if isAside {
      try table.deleteOriginal(connection, object: object)
      touched[entity.name, default: []].insert(object)
    } else {
      try table.deleteVisible(connection, object: object)
    }
    changes[entity.name, default: EntityChanges(entity: entity.name)].deleted += 1
  }

  /// The object with this key that is pending, whether its image is here or not.
  private func pendingObject(
    _ entity: Entity, _ table: Rows, _ key: ObjectKey, _ values: [AttributeValue]
  ) throws(SQLiteError) -> Int64? {
    if let original = try table.original(connection, key: key) { return original.object }
    // What is visible under the key has it; a key may have been given away again since another
    // object's delete was saved.
    if let shown = try table.downloaded(connection, key: values) {
      return shown.hash == nil ? shown.object : nil
    }
    let object = try connection.value(
      """
      SELECT object FROM ferry_operation WHERE entity = ? AND key = ? AND state <> 'withdrawn'
      LIMIT 1
      """, .text(entity.name), .text(key.text))
    return object?.integer
  }

  private func note(_ entity: Entity, _ object: Int64, _ partition: Int64) {
    noteNew(entity.name, object, partition)
  }

  /// What a partition that is downloaded from its start has named.
  func noteNew(_ entity: String, _ object: Int64, _ partition: Int64) {
    guard notes(partition) else { return }
    named[entity, default: []].insert(object)
  }

  /// Whether what comes in this partition is noted, object by object.
  func notes(_ partition: Int64) -> Bool {
    !restarted.isEmpty && restarted.contains(partition)
  }

  func count(_ partition: Int64, plus hash: Int64) {
    count(partition, plus: UInt64(bitPattern: hash), rows: 1)
  }

  func count(_ partition: Int64, plus sum: UInt64, rows: Int64) {
    let known = sums[partition] ?? (0, 0)
    sums[partition] = (known.sum &+ sum, known.count + rows)
  }

  private func count(_ partition: Int64, minus hash: Int64) {
    let known = sums[partition] ?? (0, 0)
    sums[partition] = (known.sum &- UInt64(bitPattern: hash), known.count - 1)
  }

  func access(_ entity: Entity) -> Rows {
    if let known = rows[entity.name] { return known }
    let made = store.rows(of: entity)
    rows[entity.name] = made
    return made
  }

  /// Cursors and sums are the checkpoint's; the pages have done their work.
  private func finish() throws(FerryError) {
    let wrong = try sql { () throws(SQLiteError) in try self.settle() }
    guard wrong.isEmpty else {
      throw FerryError(
        .protocolViolation, "checksum mismatch in the partitions \(wrong)",
        hint: "They are downloaded again.", isTransient: true, cause: WrongSums(partitions: wrong))
    }
  }

  private func settle() throws(SQLiteError) -> [Int64] {
    let day = store.world.clock.now.day
    var wrong: [Int64] = []
    for (partition, change) in sums.sorted(by: { $0.key < $1.key }) {
      try connection.run(
        "UPDATE ferry_partition SET count = count + ? WHERE number = ?",
        .integer(change.count), .integer(partition))
      let sum = try connection.value(
        "SELECT sum FROM ferry_partition WHERE number = ?", .integer(partition))
      let total = UInt64(bitPattern: sum?.integer ?? 0) &+ change.sum
      try connection.run(
        "UPDATE ferry_partition SET sum = ? WHERE number = ?", .integer(Int64(bitPattern: total)),
        .integer(partition))
    }
    for partition in checkpoint.partitions {
      let row = try connection.row(
        "SELECT sum, count, repaired_day FROM ferry_partition WHERE number = ?",
        .integer(partition.partition))
      guard let row, let sum = row[0].integer, let count = row[1].integer else { continue }
      let agrees = UInt64(bitPattern: sum) == partition.sum && count == partition.count
      if !agrees {
        store.world.log.error(
          "a partition does not come to the server's sum",
          ("partition", String(partition.partition)),
          ("ours", "\(UInt64(bitPattern: sum)) of \(count)"),
          ("server", "\(partition.sum) of \(partition.count)"))
        // One repair a day: a sum that stays wrong is a fault to be reported, not a storm.
        if row[2].integer != day { wrong.append(partition.partition) }
      }
      try connection.run(
        """
        UPDATE ferry_partition SET state = 'live', version = ?1, row = ?2, staged_version = ?1,
          staged_row = ?2 WHERE number = ?3
        """, .integer(checkpoint.version), .integer(.max), .integer(partition.partition))
      try connection.run(
        "DELETE FROM ferry_page WHERE partition = ?", .integer(partition.partition))
    }
    try ProgressTable.restartIfEmpty(connection)
    try connection.run(
      """
      INSERT INTO ferry_checkpoint (grp, era, version, imported) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (grp) DO UPDATE SET era = ?2, version = ?3, staged_era = NULL, staged_at = ?3,
        imported = ?4
      """, .text(checkpoint.group), .text(checkpoint.era), .integer(checkpoint.version),
      .integer(store.world.clock.now.milliseconds))
    return wrong
  }

  func sql<Result>(_ body: () throws(SQLiteError) -> Result) throws(FerryError) -> Result {
    try store.sql(body)
  }
}
