import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Groups of one operation each that are done together, in two trips: the first reads and locks their
/// rows, the second changes them, each in a savepoint of its own. What each operation is judged and
/// compared with is what it would be alone. Where anything is not as expected, nothing of the group
/// or of the block stays, and it is done alone, which finds the words for it.
final class GroupBlock {
  private struct Part {
    let group: [ConnectorOperation]
    let table: EntityTable
    let dialect: PostgreSQLDialect
    /// The row before; nil where there is none.
    var row: [String?]?
    var plan: PlannedDialect?

    var operation: ConnectorOperation { group[0] }

    /// What is sent behind the claim.
    var requests: [PostgreSQLConnection.Request] {
      guard let statement = plan?.statement else { return [] }
      let isJudged = plan?.isJudgedBehind ?? false
      return [statement] + (isJudged ? operation.key.flatMap(table.reading).map { [$0] } ?? [] : [])
    }

    /// The key of the object afterwards; nil where the statement did not do what was planned.
    func key(of answers: [PostgreSQLRows]) -> ObjectKey? {
      guard plan?.statement != nil else { return operation.key }
      guard let answer = answers.dropFirst().first else { return nil }
      guard operation.kind == .create else { return answer.affected == 1 ? operation.key : nil }
      return answer.count == 1 ? try? dialect.key(of: answer) : nil
    }
  }

  /// With the savepoints of its blocks a transaction stays under 64, beyond which the cluster slows.
  static let mostGroups: Int = 20
  private static let savepoint: String = "ferry_block"

  private let writer: Writer
  private var parts: [Part] = []
  private var connection: PostgreSQLConnection { writer.connection }

  /// As many of the groups, from the first on, as can be done together.
  init(_ groups: some Sequence<[ConnectorOperation]>, _ writer: Writer) {
    self.writer = writer
    var keys: Set<SQLTouchedRow> = []
    for group in groups.prefix(GroupBlock.mostGroups) {
      guard group.count == 1, let part = GroupBlock.part(group, writer) else { break }
      // A second change of a row is compared with what the first has left.
      if let key = part.operation.key {
        let row = SQLTouchedRow(entity: part.operation.entity.name, key: key)
        guard keys.insert(row).inserted else { break }
      }
      parts.append(part)
    }
  }

  private static func part(_ group: [ConnectorOperation], _ writer: Writer) -> Part? {
    let operation = group[0]
    let hasBig = operation.changed.contains { position, value in
      operation.entity.attributes[position].type.isBig && !value.isNull
    }
    guard !hasBig, writer.tables.areQuiet([operation.entity], writer.quiet),
      let table = try? writer.tables.table(of: operation.entity)
    else { return nil }
    if let key = operation.key {
      guard table.parameters(of: key) != nil else { return nil }
    } else {
      // The row of a key that is not known yet cannot be judged in the same trip.
      guard operation.kind == .create, operation.judge == nil else { return nil }
    }
    let dialect = PostgreSQLDialect(operation, table, writer.tables, writer.connection)
    return Part(group: group, table: table, dialect: dialect)
  }

  /// What the groups came to, from the first on, with their rows noted in `rows`. Those behind them,
  /// and all of them where it is empty, are undone and are to be done alone.
  func perform(_ rows: TransactionRows) -> [PerformResult] {
    guard parts.count > 1 else { return [] }
    do throws(PostgreSQLError) {
      try readRows()
      plan()
      if let keys = change() { return note(keys, rows) }
    } catch { isFutile = true }
    undo()
    return []
  }

  /// Whether nothing was found out of any group but that they cannot be done together.
  private(set) var isFutile: Bool = false

  /// How many groups it has.
  var count: Int { parts.count }

  /// The first trip.
  private func readRows() throws(PostgreSQLError) {
    connection.hold([PostgreSQLConnection.Request("SAVEPOINT \(GroupBlock.savepoint)")])
    for place in parts.indices {
      let operation = parts[place].operation
      guard let key = operation.key,
        let question = parts[place].table.locking(key, for: operation.kind)
      else { continue }
      connection.hold([question]) { answers in
        if let row = answers.first, row.count > 0 { self.parts[place].row = row.row(0) }
      }
    }
    // Where all keys are new there is nothing to read.
    if parts.contains(where: { $0.operation.key != nil }) { try connection.sendHeld() }
  }

  /// Judges and compares, and finds the statement of each; ends at the first that is refused.
  private func plan() {
    var changed: Set<String> = []
    for place in parts.indices {
      let plan = PlannedDialect(
        parts[place].dialect, parts[place].operation, parts[place].row, unknown: changed)
      changed.insert(parts[place].operation.entity.name)
      do throws(Interruption) {
        _ = try SQLOperationWork(parts[place].operation, plan).perform()
        parts[place].plan = plan
      } catch {
        parts.removeSubrange(place...)
        return
      }
    }
  }

  /// The second trip. Gives the keys of those that went through; nil where all are to be undone.
  private func change() -> [ObjectKey]? {
    guard !parts.isEmpty else { return nil }
    var answers = [[PostgreSQLRows]?](repeating: nil, count: parts.count)
    let first = writer.groupsBegun
    for (place, part) in parts.enumerated() {
      writer.groupsBegun += 1
      writer.openSavepoint(part.group)
      let claim = AppliedOperations.claiming(part.operation, result: part.operation.key)
      let release = PostgreSQLConnection.Request("RELEASE \(writer.savepoint)")
      connection.hold([claim] + part.requests + [release]) { answers[place] = $0 }
    }
    do throws(PostgreSQLError) { try connection.sendHeld() } catch {
      let done = answers.firstIndex { $0 == nil } ?? parts.count
      // The one that failed is undone; those before it stay.
      writer.groupsBegun = first + done + 1
      guard done > 0, done < parts.count, writer.undo() else { return nil }
      parts.removeSubrange(done...)
    }
    var keys: [ObjectKey] = []
    for (place, answers) in zip(parts.indices, answers) {
      guard let answers, let key = parts[place].key(of: answers), isAllowed(place, answers) else {
        isFutile = true
        return nil
      }
      keys.append(key)
    }
    return keys
  }

  /// Whether the row may be as the statement has left it, and that does not hang on rows of entities
  /// that others of the block have changed.
  private func isAllowed(_ place: Int, _ answers: [PostgreSQLRows]) -> Bool {
    let part = parts[place]
    guard let judge = part.operation.judge, part.plan?.isJudgedBehind == true else { return true }
    // Behind the claim and the statement.
    guard let row = answers.dropFirst(2).first, row.count == 1 else { return false }
    let others = Set(parts.indices.filter { $0 != place }.map { parts[$0].operation.entity.name })
    do throws(ConnectorError) {
      let refusal = try judge.refusal(
        of: part.table.fitting(row.row(0)), in: part.operation.entity
      ) { entity, positions, values throws(ConnectorError) in
        guard !others.contains(entity.name) else { throw PlannedDialect.unknown(entity) }
        return try part.dialect.fitting(entity, positions, values, isLocked: true)
      }
      return refusal == nil
    } catch { return false }
  }

  private func note(_ keys: [ObjectKey], _ rows: TransactionRows) -> [PerformResult] {
    connection.hold([PostgreSQLConnection.Request("RELEASE \(GroupBlock.savepoint)")])
    var touched: [SQLTouchedRows<EntityTable>] = []
    var results: [PerformResult] = []
    for (part, key) in zip(parts, keys) {
      if key != part.operation.key {
        connection.hold([AppliedOperations.finishing(part.operation, key: key)])
      }
      var row = SQLTouchedRows<EntityTable>()
      row.note(part.operation.entity, part.table, key)
      touched.append(row)
      results.append(.done([.accepted(key: key, isRepeated: false)], touched: []))
    }
    rows.readLater(touched)
    writer.attempts.forget(parts.map(\.operation.id))
    return results
  }

  private func undo() { _ = writer.undo(to: GroupBlock.savepoint) }
}

/// The groups of a transaction, by blocks: what is done ahead of the one whose turn it is.
struct GroupBlocks {
  private var place: Int = 0
  private var ahead: ArraySlice<PerformResult> = []
  /// How many are to be done alone.
  private var alone: Int = 0

  /// Whether groups are done whose turn has not come.
  var holdsResults: Bool { !ahead.isEmpty }

  /// What the next group came to in a block; nil where it is to be done alone.
  mutating func next(
    _ groups: ArraySlice<[ConnectorOperation]>, _ writer: Writer, _ rows: TransactionRows
  ) -> PerformResult? {
    defer { place += 1 }
    if let result = ahead.popFirst() { return result }
    guard alone == 0 else {
      alone -= 1
      return nil
    }
    let block = GroupBlock(groups.dropFirst(place), writer)
    let tried = block.count
    ahead = block.perform(rows)[...]
    // The one at which it ended, or all of them.
    alone = block.isFutile ? tried : ahead.count < max(1, tried) ? 1 : 0
    guard ahead.isEmpty else { return ahead.popFirst() }
    alone -= 1
    return nil
  }
}

/// The statements of one operation whose row was read before: its own is noted, and run later.
final class PlannedDialect: SQLDialect {
  private let dialect: PostgreSQLDialect
  private let operation: ConnectorOperation
  private let row: [String?]?
  /// Entities that operations before it change: what a row of theirs will be is not known yet.
  private let unknown: Set<String>
  private(set) var statement: PostgreSQLConnection.Request?
  /// Whether the row is to be judged as the statement leaves it.
  private(set) var isJudgedBehind: Bool = false

  init(
    _ dialect: PostgreSQLDialect, _ operation: ConnectorOperation, _ row: [String?]?,
    unknown: Set<String>
  ) {
    self.unknown = unknown
    self.dialect = dialect
    self.operation = operation
    self.row = row
  }

  func row(of key: ObjectKey, for kind: OperationKind) throws(Interruption) -> [String?]? { row }

  func value(at position: Int, of row: [String?]) -> AttributeValue? {
    dialect.value(at: position, of: row)
  }

  func shown(at position: Int, of row: [String?]) -> String { dialect.shown(at: position, of: row) }

  func fitting(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue], isLocked: Bool
  ) throws(ConnectorError) -> [AttributeValue]? {
    guard statement == nil else {
      // Only the row itself is asked for behind its statement.
      isJudgedBehind = true
      return nil
    }
    guard !unknown.contains(entity.name) else { throw PlannedDialect.unknown(entity) }
    return try dialect.fitting(entity, positions, values, isLocked: isLocked)
  }

  /// Ends a block: the operation is done alone. Nobody is shown it.
  static func unknown(_ entity: Entity) -> ConnectorError {
    ConnectorError(
      "A row of \(entity.name) is changed by an operation before", hint: "It is read again.",
      isTransient: true)
  }

  func insert(_ values: [Int: AttributeValue]) throws(Interruption) -> ObjectKey? {
    statement = try dialect.inserting(values)
    return operation.key ?? ObjectKey([])
  }

  func update(_ key: ObjectKey, _ changed: [Int: AttributeValue]) throws(Interruption) -> Bool {
    statement = try dialect.updating(key, changed)
    return true
  }

  func delete(_ key: ObjectKey) throws(Interruption) -> Bool {
    statement = dialect.deleting(key)
    return true
  }
}

extension EntityTable {
  /// Asks for the row of a key without its big values.
  func reading(_ key: ObjectKey) -> PostgreSQLConnection.Request? {
    parameters(of: key).map { PostgreSQLConnection.Request(selectSmall + whereKey, $0) }
  }
}
