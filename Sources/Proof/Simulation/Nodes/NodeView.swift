import FerryModel
import FerrySQLite
import FerrySQLiteStore
import FerryServer
import FerryWire
import FerryWorld

/// The shared store as one node sees it: behind a line that may be cut, and for a leader behind the
/// fence of its term.
final class NodeView {
  let shared: SharedStore
  /// nil on a node that follows.
  let term: Int?
  /// Nothing reaches the store.
  var isCutOff = false
  private(set) var era: String
  /// The clock that a leader knows; nil where it must ask, after an answer was lost.
  private var knownClock: Int64?
  /// Inside a transaction behind the fence.
  private var isFenced = false
  private var arrivalPlace: Int
  private var seen: (clock: Int64, term: Int, isLoaded: Bool)?

  init(_ shared: SharedStore, term: Int?) {
    self.shared = shared
    self.term = term
    era = shared.rows.era
    arrivalPlace = shared.touched.count
  }

  static let unreachable = StoreError(
    .unreachable, "the line to the store broke", isTransient: true)

  /// What any node may do.
  func any<Result>(
    _ body: (SQLiteStore) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard !isCutOff else { throw NodeView.unreachable }
    return try body(shared.rows)
  }

  private func has(_ bug: PlantedBug) -> Bool { shared.planted.contains(bug) }

  private var isOver: Bool { term != shared.term }

  private var superseded: StoreError {
    StoreError(.superseded, "the term \(term ?? 0) is over; another node leads", isTransient: true)
  }

  /// What the leader alone may do: all behind the fence, or nothing.
  func lead<Result>(
    _ body: (SQLiteStore) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard term != nil else { throw superseded }
    guard !isFenced else { return try any(body) }
    guard !isOver || has(.leaseWithoutTerm) || has(.fenceWithoutError) else { throw superseded }
    isFenced = true
    defer { isFenced = false }
    let result = try any(body)
    // What followed the fence was committed all the same.
    if isOver, has(.fenceWithoutError) { throw superseded }
    return result
  }

  func clock() throws(StoreError) -> Int64 {
    if let knownClock, !isCutOff { return knownClock }
    let clock =
      try term == nil
      ? any { store throws(StoreError) in try store.clock() }
      : lead { store throws(StoreError) in try store.clock() }
    knownClock = term == nil ? nil : clock
    return clock
  }

  /// Behind the fence, where the store's clock must be the one that this node knows.
  func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard term != nil else {
      return try any { store throws(StoreError) in
        try store.transaction { () throws(StoreError) in
          try body(NumberedTransaction(version: try store.clock()))
        }
      }
    }
    return try lead { store throws(StoreError) in
      let known = try clock()
      guard try known == store.clock() || has(.readBeforeLock) else {
        knownClock = nil
        throw StoreError(.busy, "the store has another clock", isTransient: true)
      }
      // The next number of the clock that was read before the lock: it may be taken.
      let isTaken = try known != store.clock()
      let result =
        try isTaken
        ? store.transaction { () throws(StoreError) in
          try body(NumberedTransaction(version: known + 1))
        }
        : store.numbered(body)
      if !isTaken, shared.takeLostAnswer() {
        knownClock = has(.readBeforeLock) ? known : nil
        throw NodeView.unreachable
      }
      knownClock = try store.clock()
      return result
    }
  }

  // What nodes learn from each other.

  func news() throws(StoreError) -> StoreNews? {
    guard term == nil else { return nil }
    return try any { store throws(StoreError) in
      let now = (clock: try store.clock(), term: shared.term, isLoaded: try store.isLoaded())
      var news = StoreNews(clock: now.clock)
      let last = seen?.clock ?? .max
      news.partitions = Set(
        try rows("SELECT id FROM partition WHERE version > ?", .integer(last))
          .compactMap { $0[0].integer })
      news.answered = try rows(
        """
        SELECT device, user, group_name, chain, position = count - 1 FROM operation
        WHERE answer_version > ? ORDER BY answer_version, sequence
        """, .integer(last)
      ).compactMap { row in
        guard let chain = row[3].text.flatMap({ OperationID($0) }) else { return nil }
        return AnsweredOperation(
          owner: Owner(device: row[0].text ?? "", user: row[1].text ?? ""),
          group: row[2].text ?? "", chain: chain, isLastOfChain: row[4].integer == 1)
      }
      if let seen {
        news.isNewEra = now.term != seen.term
        news.isNewDay = now.isLoaded != seen.isLoaded
      }
      seen = now
      era = store.era
      return news
    }
  }

  private func rows(
    _ sql: String, _ value: SQLiteValue
  ) throws(StoreError) -> [[SQLiteValue]] {
    do throws(SQLiteError) { return try shared.rows.writer.rows(sql, value) } catch {
      throw StoreError(error)
    }
  }

  func arrivals() throws(StoreError) -> [ReceivedOperation] {
    guard term != nil else { return [] }
    return try lead { store throws(StoreError) in
      if let knownClock, try knownClock != store.clock(), !has(.readBeforeLock) {
        self.knownClock = nil
        throw StoreError(.busy, "the store has another clock", isTransient: true)
      }
      var known: Set<OperationID> = []
      var arrived: [ReceivedOperation] = []
      for id in shared.touched[arrivalPlace...] where known.insert(id).inserted {
        let state = try rows("SELECT state FROM operation WHERE id = ?", .text(id.text))
        guard state.first?[0].text == OperationState.stored.rawValue else { continue }
        arrived.append(try store.operation(id))
      }
      arrivalPlace = shared.touched.count
      return arrived.sorted { $0.sequence < $1.sequence }
    }
  }

  func waiting(of owner: Owner) throws(StoreError) -> WaitingOperations? {
    guard term == nil else { return nil }
    return try any { _ throws(StoreError) in
      let found = try rows(
        """
        SELECT device, length(payload) FROM operation
        WHERE user = ? AND state IN ('stored', 'claimed')
        """, .text(owner.user.text))
      return WaitingOperations(
        ofDevice: found.count { $0[0].text == owner.device.text }, ofUser: found.count,
        bytesOfUser: found.reduce(0) { $0 + Int($1[1].integer ?? 0) })
    }
  }

  func waitingOperations() throws(StoreError) -> Int? {
    try any { _ throws(StoreError) in
      try rows("SELECT id FROM operation WHERE sequence > ? AND state <> 'answered'", .integer(0))
        .count
    }
  }
}
