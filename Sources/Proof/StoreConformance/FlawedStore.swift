import FerryModel
import FerrySQLite
import FerrySQLiteStore
import FerryServer
import FerryWire
import FerryWorld

/// A wrapper that plants bugs in a store.
///
/// Each method does what the wrapped store does, unless a planted bug changes it. The wrapper does
/// not ship. Use it from one thread, like any store.
package final class FlawedStore: StoreDecorator {
  package let inner: any Store
  private let flaws: Set<PlantedBug>
  private var firstEra: String?
  /// Numbers that were drawn early, when the operations were claimed.
  private var drawn: [OperationID: Int64] = [:]
  /// Has a number that was drawn early. Writes of the current transaction get this number.
  private var early: NumberedTransaction?
  /// True inside a transaction without a number: a session that is read there is judged there.
  private var isJudging = false
  private var laggard: Connection?
  private var reads = 0
  /// The store's clock, taken at every fifth `replica` call. With `fixedBound`, reads end there.
  private var bound: Int64 = 0

  /// Bugs in `flaws` that do not concern a store have no effect.
  package init(_ inner: any Store, _ flaws: Set<PlantedBug>) {
    self.inner = inner
    self.flaws = flaws
  }

  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    isJudging = true
    defer { isJudging = false }
    return try inner.transaction(body)
  }

  // Numbers.

  package func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    early = nil
    return try inner.numbered(body)
  }

  package func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError) {
    if flaws.contains(.sequence) {
      for (ids, _) in claims {
        let number = try inner.numbered { transaction throws(StoreError) in
          transaction.hasWritten = true
          return transaction.version
        }
        for id in ids { drawn[id] = number }
      }
    }
    try inner.claim(claims)
  }

  package func answer(
    _ answers: [Answer], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    let numbers = answers.compactMap { drawn.removeValue(forKey: $0.id) }
    if early == nil, let number = numbers.first { early = NumberedTransaction(version: number) }
    var version = early?.version ?? transaction.version
    if flaws.contains(.numberAhead) { version += 1 }
    let answers =
      version == transaction.version ? answers : answers.map { $0.numbered(version) }
    try write(transaction) { transaction throws(StoreError) in
      try inner.answer(answers, transaction)
    }
  }

  package func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [RowName: Int64] {
    try write(transaction) { transaction throws(StoreError) in
      try inner.apply(changes, transaction)
    }
  }

  private func write<Result>(
    _ transaction: NumberedTransaction,
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let early else { return try body(transaction) }
    let result = try body(early)
    if early.hasWritten { transaction.hasWritten = true }
    return result
  }

  // What is read for devices.

  package var era: String {
    guard flaws.contains(.eraNotOpened) else { return inner.era }
    if firstEra == nil {
      firstEra = try? inner.snapshot { view throws(StoreError) in try view.eras().eras.first?.id }
    }
    return firstEra ?? inner.era
  }

  package func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try inner.snapshot { view throws(StoreError) in try body(FlawedSnapshot(view, flaws)) }
  }

  package func replica<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    reads += 1
    if flaws.contains(.olderSnapshot) {
      let clock = try inner.clock()
      let older = try olderView()
      return try body(FlawedSnapshot(older, flaws, clock: clock))
    }
    return try inner.replica { view throws(StoreError) in
      if reads % 5 == 1 { bound = view.clock }
      let end = flaws.contains(.fixedBound) ? bound : .max
      return try body(FlawedSnapshot(view, flaws, end: end))
    }
  }

  /// A state that is up to five reads old.
  private func olderView() throws(StoreError) -> any StoreSnapshot {
    guard let store = inner as? SQLiteStore else {
      throw StoreError(.other, "only a store of SQLite has older states")
    }
    let connection: Connection
    do throws(SQLiteError) {
      if let laggard {
        connection = laggard
      } else {
        connection = try Connection(path: store.path, mode: .readOnly, vfs: store.vfs)
        laggard = connection
      }
      if connection.isInTransaction, reads % 5 == 0 { try connection.execute("COMMIT") }
      if !connection.isInTransaction { try connection.execute("BEGIN") }
    } catch {
      throw StoreError(error)
    }
    return try store.view(connection)
  }

  // What is kept of users and devices.

  /// With `equivalentNames`, returns the same number for places whose names look alike but differ.
  package func partition(at place: Place) throws(StoreError) -> Int64? {
    guard flaws.contains(.equivalentNames) else { return try inner.partition(at: place) }
    let alike = try inner.places(group: place.group.text, rule: place.rule.text).first {
      $0.values.text == place.values.text
    }
    return try inner.partition(at: alike ?? place)
  }

  package func session(_ id: String) throws(StoreError) -> StoredSession? {
    guard var session = try inner.session(id) else { return nil }
    guard isJudging else { return session }
    if flaws.contains(.familyNeverEnds) { session.used = 0 }
    if flaws.contains(.familyTooStrict), session.used > 0 { session.used += 1 }
    return session
  }

  /// With `answeredOnce`, a confirmed answer is not told again.
  package func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError) {
    if !flaws.contains(.answeredOnce) { try inner.answerAgain(id, answer) }
  }

  package func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice? {
    let device = try inner.registeredDevice(owner)
    if flaws.contains(.wipeWithoutReceipt), var wiped = device, wiped.state == .wiping {
      wiped.state = .wiped
      try inner.keep(wiped)
    }
    return device
  }
}

/// A snapshot of the store that planted bugs make wrong.
private struct FlawedSnapshot: StoreSnapshot {
  let clock: Int64
  private let view: any StoreSnapshot
  private let flaws: Set<PlantedBug>
  /// Rows with a later number are left out.
  private let end: Int64

  init(
    _ view: any StoreSnapshot, _ flaws: Set<PlantedBug>, clock: Int64? = nil, end: Int64 = .max
  ) {
    self.view = view
    self.flaws = flaws
    self.clock = clock ?? view.clock
    self.end = end
  }

  func eras() throws(StoreError) -> EraList {
    let eras = try view.eras()
    return flaws.contains(.eraNotOpened) ? EraList(eras: Array(eras.eras.prefix(1))) : eras
  }

  func partition(_ number: Int64) throws(StoreError) -> PartitionState? {
    guard let state = try view.partition(number) else { return nil }
    return PartitionState(
      number: number, version: min(state.version, end),
      floor: flaws.contains(.stagedFloor) ? 0 : state.floor, sum: state.sum, count: state.count,
      isLoaded: state.isLoaded)
  }

  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page {
    try view.page(partition, from: from, upTo: min(upTo, end), limits)
  }

  func rows(
    of entity: Int, in partition: Int64, after key: ObjectKey?, count: Int
  ) throws(StoreError) -> [CachedRow] {
    try view.rows(of: entity, in: partition, after: key, count: count)
  }

  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) throws(StoreError) -> [Answer] {
    let last = flaws.contains(.answerAfterCheckpoint) ? upTo - 1 : upTo
    return try view.answers(group: group, owner, open: open, upTo: last)
  }
}

extension Answer {
  fileprivate func numbered(_ version: Int64) -> Answer {
    var answer = Answer(
      id: id, version: version, outcome: outcome, newKey: newKey, logRecords: logRecords,
      isToBeSentAgain: isToBeSentAgain)
    answer.written = written
    return answer
  }
}
