import FerryConnector
import FerryModel

/// A call of a connector, where a fault may strike.
public enum MemoryCall: Sendable, Hashable, CaseIterable {
  case perform, recall, read, load, changedByOthers
}

/// What goes wrong between a connector and its business system.
public enum MemoryFault: Sendable, Hashable, CaseIterable {
  /// The business system cannot be reached; nothing was done.
  case away
  /// The line broke before the business system committed; the connector cannot know.
  case timeoutBeforeCommit
  /// The line broke after it committed; the connector cannot know. A load breaks in the middle.
  case timeoutAfterCommit
  /// The line broke, and the transaction goes on: it is performed later (`performLate`).
  case commitsLater
}

/// A connector to a business system in memory: what simulations and demonstrations use.
public final class MemoryConnector: Connector {
  let business: MemoryBusiness
  /// By which operations are performed as their users; nil: as the technical user.
  private let credentials: (any CredentialSource)?
  private var ownCommits: Set<Int> = []
  private var commitsOfOthers: Int?
  private var hasCompared = false
  private var leadership: (store: String, term: Int?)?

  public func abilities(of entity: Entity) -> ConnectorAbilities {
    let notes = business.notesChanges
    return ConnectorAbilities(
      atomicGroups: business.isTransactional,
      memory: business.remembersOperations ? .operations : .none,
      conditionalWrites: business.holdsJudgedRows, changes: notes ? .cursor : .poll,
      reportsDeletes: notes, snapshots: true)
  }

  /// `credentials`: where operations are performed as their users.
  public init(_ business: MemoryBusiness, credentials: (any CredentialSource)? = nil) {
    self.business = business
    self.credentials = credentials
  }

  public func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    package.entities.filter { business.package.entity(named: $0.name) != $0 }.map {
      Mismatch(
        place: $0.name, problem: "the business system in memory has another \($0.name)",
        cure: "Give both the same model.")
    }
  }

  public func lead(_ store: String) { leadership = (store, nil) }

  /// Waits for what earlier ones for the same store have begun, the first time.
  private func takeOver() throws(ConnectorError) {
    guard let leadership, leadership.term == nil else { return }
    guard let term = business.takeOver(leadership.store) else {
      throw ConnectorError(
        "A transaction of an earlier server is still running", hint: "It is tried again.",
        isTransient: true)
    }
    self.leadership = (leadership.store, term)
  }

  public func takeLead(again: Bool) throws(ConnectorError) -> Bool {
    guard let leadership, leadership.term == nil || again && !mayPerform else { return false }
    self.leadership = (leadership.store, nil)
    try takeOver()
    return true
  }

  private var mayPerform: Bool {
    guard let leadership, !business.flaws.contains(.leaderUnchecked) else { return true }
    return business.term(of: leadership.store) == leadership.term
  }

  public func perform(_ group: [ConnectorOperation]) -> PerformResult {
    do throws(ConnectorError) { try takeOver() } catch {
      return .notDone(reason: error.description)
    }
    guard mayPerform else {
      return .notDone(reason: "Another server performs for this store now.")
    }
    if let credentials, let user = group.first?.user {
      do throws(ConnectorError) {
        guard try credentials.credential(for: user) != nil else {
          return .waits(for: .credential(user))
        }
      } catch {
        return .notDone(reason: error.description)
      }
    }
    let fault = business.fault(at: .perform)
    if fault == .away { return .notDone(reason: MemoryConnector.away.description) }
    if fault == .timeoutBeforeCommit { return .unknown(reason: "The line broke") }
    do { try business.keepContents(of: group) } catch {
      return .notDone(reason: error.description)
    }
    if fault == .commitsLater {
      business.keepForLater(group)
      return .unknown(reason: "The line broke")
    }
    let (result, commits) = business.perform(group)
    if credentials != nil { business.notePerformer(group.first?.user) }
    guard fault == nil else { return .unknown(reason: "The line broke") }
    ownCommits.formUnion(commits)
    return result
  }

  public func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    try meet(.recall)
    try takeOver()
    guard business.remembersOperations else {
      throw ConnectorError(
        "The business system in memory does not record performed operations",
        hint: "Compare its rows with what was sent, then mark the operation accepted or refused.",
        isTransient: false)
    }
    let ids = operations.map(\.id)
    guard !business.isRunning(ids) || business.flaws.contains(.recallTooEarly) else {
      throw ConnectorError(
        "A transaction of these operations is still running", hint: "It is tried again.",
        isTransient: true)
    }
    return business.recall(ids).map { Recall(recorded: $0) }
  }

  public func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try meet(.read)
    let rows = business.rows(of: entity.name)
    return keys.map { RowImage(entity, $0, rows[$0]) }
  }

  public func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    let fault = business.fault(at: .load)
    if fault == .away || fault == .timeoutBeforeCommit { throw MemoryConnector.away }
    let tables = business.tables
    for (index, entity) in scope.entities.enumerated() {
      let rows = (tables[entity.name] ?? [:]).sorted { $0.key.text < $1.key.text }
      let all = rows.map { RowImage(entity, $0.key, $0.value) }
      for row in all.compactMap(\.rejected) { rejected(row) }
      let images = all.filter { $0.rejected == nil }
      let isTorn = fault != nil && index == scope.entities.count - 1
      let given = isTorn ? Array(images.prefix(images.count / 2)) : images
      if !given.isEmpty { try each(LoadPage(entity: entity, rows: given)) }
      if isTorn { throw MemoryConnector.away }
    }
    return .snapshot
  }

  public func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? {
    try meet(.load)
    let rows = business.rows(of: entity.name).sorted { $0.key.text < $1.key.text }
    let last: AttributeValue? = place?.first
    let rest = rows.filter { row in
      guard case .text(let text)? = last else { return true }
      return row.key.text > text
    }
    let images = rest.prefix(count).map { RowImage(entity, $0.key, $0.value) }
    return EntitySlice(
      rows: images.filter { $0.rejected == nil },
      next: rest.count > count ? images.last.map { [.text($0.key.text)] } : nil)
  }

  public func changedByOthers() throws(ConnectorError) -> Bool {
    try meet(.changedByOthers)
    let now = business.history.count - ownCommits.count
    defer { commitsOfOthers = now }
    return now != commitsOfOthers
  }

  public func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    guard business.notesChanges else {
      return BusinessChanges(cursor: nil, hints: try changedByOthers() ? [.anything] : [])
    }
    try meet(.changedByOthers)
    if cursor == nil, business.flaws.contains(.notesAfterComparison) {
      defer { hasCompared = true }
      return hasCompared
        ? BusinessChanges(cursor: business.beginNotes(), hints: [])
        : BusinessChanges(cursor: nil, hints: [.anything])
    }
    return business.changes(since: cursor, without: ownCommits)
      ?? BusinessChanges(cursor: business.beginNotes(), hints: [.anything])
  }

  private func meet(_ call: MemoryCall) throws(ConnectorError) {
    if business.fault(at: call) != nil { throw MemoryConnector.away }
  }

  private static let away: ConnectorError = ConnectorError(
    "The business system in memory is not reachable", hint: "It is tried again.", isTransient: true)
}

extension RowImage {
  /// A row of a table in memory, which takes every value.
  init(_ entity: Entity, _ key: ObjectKey, _ values: [AttributeValue]?) {
    if let values, let rejected = RejectedRow(values, of: entity, key: key) {
      self.init(rejected, key: key)
    } else {
      self.init(entity: entity.name, key: key, values: values)
    }
  }
}
