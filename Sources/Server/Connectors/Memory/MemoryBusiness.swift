import FerryConnector
import FerryModel
import Synchronization

/// A business system in memory: tables, rules, a history of its commits, and faults on demand.
///
/// Any number of `MemoryConnector`s may share one. The same calls in the same order give the same
/// rows, keys and history.
public final class MemoryBusiness: Sendable {
  struct State {
    var tables: [String: [ObjectKey: [AttributeValue]]] = [:]
    /// What the references in the tables stand for.
    var contents: [BigReference: [UInt8]] = [:]
    var lastKeys: [String: Int64] = [:]
    var performed: [OperationID: (operation: ConnectorOperation, key: ObjectKey)] = [:]
    var history: [MemoryCommit] = []
    var fault: (@Sendable (MemoryCall) -> MemoryFault?)?
    var overlap: (@Sendable (Set<MemoryRowName>) -> MemoryChange?)?
    /// Transactions of others that wait for the end of the one under way.
    var waiting: [MemoryChange] = []
    /// Groups of which the connector knows no outcome, and that are performed later.
    var late: [[ConnectorOperation]] = []
    var notes: MemoryNotes?
    /// How many connectors have performed for each store.
    var terms: [String: Int] = [:]
    var performers: [String?] = []
  }

  public let package: Package
  /// Whether a group is performed as a whole; otherwise each operation is a commit of its own.
  public let isTransactional: Bool
  /// Whether an operation performed before is known by its id.
  public let remembersOperations: Bool
  /// Whether rows that were judged are locked until the transaction ends (see `setOverlap`).
  public let holdsJudgedRows: Bool
  /// What this business system does wrong on purpose.
  public let flaws: Set<MemoryFlaw>
  private let rules: [MemoryRule]
  private let operations: [String: MemoryOperation]
  let constraints: MemoryConstraints
  let state: Mutex<State> = Mutex(State())

  /// `operations`: what the entities without rows do, by their names. `notesChanges`: whether a
  /// connector gives hints at changed rows and a cursor; without that it compares everything.
  public init(
    package: Package, rules: [MemoryRule] = [], operations: [String: MemoryOperation] = [:],
    isTransactional: Bool = true, remembersOperations: Bool = true, holdsJudgedRows: Bool = true,
    notesChanges: Bool = false, flaws: Set<MemoryFlaw> = []
  ) {
    self.package = package.served
    self.rules = rules
    self.operations = operations
    self.isTransactional = isTransactional
    self.remembersOperations = remembersOperations
    self.holdsJudgedRows = holdsJudgedRows
    self.flaws = flaws
    constraints = MemoryConstraints(package: package)
    if notesChanges { state.withLock { $0.notes = MemoryNotes() } }
  }

  /// All commits so far, in order.
  public var history: [MemoryCommit] { state.withLock { $0.history } }

  /// The rows as they are now.
  public func rows(of entity: String) -> [ObjectKey: [AttributeValue]] {
    state.withLock { $0.tables[entity] ?? [:] }
  }

  /// Every table at one moment.
  public var tables: [String: [ObjectKey: [AttributeValue]]] { state.withLock { $0.tables } }

  /// Asked at each call of a connector what goes wrong; nil: nothing does, ever.
  public func setFault(_ fault: (@Sendable (MemoryCall) -> MemoryFault?)?) {
    state.withLock { $0.fault = fault }
  }

  /// Asked between the judgement of a transaction's first operation and its write, with the rows
  /// that the judgement has read: what somebody else does in a transaction of their own at that
  /// moment; nil: nobody does anything.
  ///
  /// It commits at once. If it writes a row that the judgement has read, it waits for the end of the
  /// operation's transaction, unless `holdsJudgedRows` is false. It must not call the business.
  public func setOverlap(_ overlap: (@Sendable (Set<MemoryRowName>) -> MemoryChange?)?) {
    state.withLock { $0.overlap = overlap }
  }

  /// As whom groups were performed by connectors with credentials; nil is the technical user.
  public var performers: [String?] { state.withLock { $0.performers } }
  func notePerformer(_ user: String?) { state.withLock { $0.performers.append(user) } }

  func fault(at call: MemoryCall) -> MemoryFault? {
    // Asked outside the lock: a fault may look at the business, or change it meanwhile.
    let fault = state.withLock { $0.fault }
    return fault?(call)
  }

  /// Someone else changes rows, in one commit. Rules are his matter; required values and
  /// relationships are kept: breaking one undoes all of it and is answered.
  @discardableResult
  public func changeByOther(_ body: (inout MemoryTransaction) -> Void) -> Refusal? {
    state.withLock { state in change(&state, body) }
  }

  func change(_ state: inout State, _ body: (inout MemoryTransaction) -> Void) -> Refusal? {
    var transaction = state.begin()
    body(&transaction)
    let refusal = constraints.broken(by: transaction.effects, in: transaction)
    if refusal != nil { transaction.undo() }
    state.end(
      transaction, parts: [MemoryCommit.Part(operation: nil, effects: transaction.effects)])
    return refusal
  }

  /// Puts rows there as someone else would.
  @discardableResult
  public func insert(_ entity: String, _ rows: [[AttributeValue]]) -> Refusal? {
    guard let shape = package.entity(named: entity) else {
      preconditionFailure("no entity \(entity)")
    }
    return changeByOther { transaction in
      for row in rows { transaction.write(entity, shape.key(of: row), row) }
    }
  }

  func content(_ reference: BigReference) -> [UInt8]? {
    state.withLock { $0.contents[reference] }
  }

  func keep(_ bytes: [UInt8], as reference: BigReference) {
    state.withLock { $0.contents[reference] = bytes }
  }

  func recall(_ ids: [OperationID]) -> [OperationOutcome?] {
    state.withLock { state in
      ids.map { id in state.performed[id].map { .accepted(key: $0.key) } }
    }
  }

  /// Also the numbers of its commits.
  func perform(_ group: [ConnectorOperation]) -> (PerformResult, commits: [Int]) {
    state.withLock { state in
      // It waits for a transaction of the same operations that is still running.
      let ids = Set(group.map(\.id))
      endLate(&state) { $0.contains { ids.contains($0.id) } }
      return perform(group, &state)
    }
  }

  func perform(
    _ group: [ConnectorOperation], _ state: inout State
  ) -> (PerformResult, commits: [Int]) {
    let result = isTransactional ? performWhole(group, &state) : performOneByOne(group, &state)
    endWaiting(&state)
    return result
  }

  private func performWhole(
    _ group: [ConnectorOperation], _ state: inout State
  ) -> (PerformResult, commits: [Int]) {
    var keys = GivenKeys()
    var outcomes: [OperationOutcome] = []
    var parts: [MemoryCommit.Part] = []
    var own: [(entity: String, key: ObjectKey)] = []
    let lastKeys = state.lastKeys
    var transaction = state.begin()
    for (index, given) in group.enumerated() {
      let start = transaction.effects.count
      switch perform(given, keys.applied(to: given), &transaction, &state) {
      case .refused(let refusal):
        transaction.undo()
        state.end(transaction, parts: [])
        state.lastKeys = lastKeys
        for part in parts { part.operation.map { state.performed[$0] = nil } }
        var outcomes = [OperationOutcome](repeating: .notTried, count: group.count)
        outcomes[index] = .refused(refusal)
        return (.done(outcomes, touched: []), [])
      case .before(let key):
        outcomes.append(.accepted(key: key, isRepeated: true))
        keys.learn(given, key: key)
        own.append((given.entity.name, key))
      case .performed(let key):
        outcomes.append(.accepted(key: key))
        keys.learn(given, key: key)
        own.append((given.entity.name, key))
        parts.append(
          MemoryCommit.Part(operation: given.id, effects: Array(transaction.effects[start...])))
      }
    }
    let touched = touched(transaction, and: own)
    state.end(transaction, parts: parts)
    return (.done(outcomes, touched: touched), parts.isEmpty ? [] : [state.history.count])
  }

  private func performOneByOne(
    _ group: [ConnectorOperation], _ state: inout State
  ) -> (PerformResult, commits: [Int]) {
    var keys = GivenKeys()
    var outcomes: [OperationOutcome] = []
    var images: [RowImage] = []
    var commits: [Int] = []
    for given in group {
      var transaction = state.begin()
      let outcome = perform(given, keys.applied(to: given), &transaction, &state)
      switch outcome {
      case .refused(let refusal):
        transaction.undo()
        state.end(transaction, parts: [])
        outcomes.append(.refused(refusal))
        let missing = max(0, group.count - outcomes.count)
        let rest = [OperationOutcome](repeating: .notTried, count: missing)
        return (.done(outcomes + rest, touched: images), commits)
      case .before(let key), .performed(let key):
        let isRepeated: Bool = if case .before = outcome { true } else { false }
        outcomes.append(.accepted(key: key, isRepeated: isRepeated))
        keys.learn(given, key: key)
        let new = touched(transaction, and: [(given.entity.name, key)])
        images.removeAll { old in new.contains { $0.entity == old.entity && $0.key == old.key } }
        images += new
        var parts: [MemoryCommit.Part] = []
        if case .performed = outcome {
          parts = [MemoryCommit.Part(operation: given.id, effects: transaction.effects)]
          commits.append(state.history.count + 1)
        }
        state.end(transaction, parts: parts)
      }
    }
    return (.done(outcomes, touched: images), commits)
  }

  private enum Performed {
    case refused(Refusal)
    case before(ObjectKey)
    case performed(ObjectKey)
  }

  private func perform(
    _ given: ConnectorOperation, _ operation: ConnectorOperation,
    _ transaction: inout MemoryTransaction, _ state: inout State
  ) -> Performed {
    if remembersOperations, let known = state.performed[given.id] {
      let form = known.operation
      guard form.entity.name == given.entity.name, form.kind == given.kind, form.key == given.key,
        form.changed == given.changed
      else {
        return .refused(
          Refusal(code: 422, message: "An earlier form of this change was accepted already."))
      }
      return .before(known.key)
    }
    if let refusal = MemoryBusiness.wrongText(operation, state.contents) {
      return .refused(refusal)
    }
    var held: Set<MemoryRowName> = []
    if operation.kind != .create,
      let refusal = MemoryBusiness.judged(operation, operation.key, transaction, &held)
    {
      return .refused(refusal)
    }
    if let refusal = MemoryBusiness.judgedReferences(operation, transaction, &held) {
      return .refused(refusal)
    }
    overlap(&transaction, &state, held)
    let start = transaction.effects.count
    var work = MemoryWork(operation: operation, lastKey: state.lastKeys[operation.entity.name])
    switch work.perform(&transaction, as: operations[operation.entity.name]) {
    case .refused(let refusal): return .refused(refusal)
    case .accepted(let key):
      // Effects of rules are not given to the rules again.
      for effect in transaction.effects[start...] {
        for rule in rules {
          if let refusal = rule.apply(effect, &transaction) { return .refused(refusal) }
        }
      }
      if let refusal = MemoryBusiness.judged(operation, key, transaction, &held) {
        return .refused(refusal)
      }
      let effects = Array(transaction.effects[start...])
      if let refusal = constraints.broken(by: effects, in: transaction) { return .refused(refusal) }
      state.lastKeys[operation.entity.name] = work.lastKey
      if remembersOperations { state.performed[given.id] = (given, key) }
      return .performed(key)
    }
  }

  /// What the judge says of the row as it is now; nil where there is neither a row nor a judge.
  private static func judged(
    _ operation: ConnectorOperation, _ key: ObjectKey?, _ transaction: MemoryTransaction,
    _ held: inout Set<MemoryRowName>
  ) -> Refusal? {
    guard let judge = operation.judge, let key,
      let row = transaction.row(operation.entity.name, key)
    else { return nil }
    held.insert(MemoryRowName(entity: operation.entity.name, key: key))
    // Memory can always be read.
    return try? judge.refusal(of: row, in: operation.entity) { entity, positions, values in
      transaction.row(entity, positions, values, &held)
    }
  }

  private static func judgedReferences(
    _ operation: ConnectorOperation, _ transaction: MemoryTransaction,
    _ held: inout Set<MemoryRowName>
  ) -> Refusal? {
    guard let judge = operation.judge, operation.kind != .delete else { return nil }
    var changed = operation.changed
    let entity = operation.entity
    for (position, value) in zip(entity.key, operation.key?.values(of: entity) ?? []) {
      changed[position] = value
    }
    let before = operation.key.flatMap { transaction.row(entity.name, $0) }
    return try? judge.refusal(ofReferences: changed, before: before, in: entity) {
      entity, positions, values in transaction.row(entity, positions, values, &held)
    }
  }

  /// Every row that was written and those of the operations, each once, as it is now.
  private func touched(
    _ transaction: MemoryTransaction, and own: [(entity: String, key: ObjectKey)]
  ) -> [RowImage] {
    var seen: [String: Set<ObjectKey>] = [:]
    var images: [RowImage] = []
    for (entity, key) in transaction.effects.map({ ($0.entity, $0.key) }) + own
    where seen[entity, default: []].insert(key).inserted {
      let values = transaction.row(entity, key)
      images.append(
        package.entity(named: entity).map { RowImage($0, key, values) }
          ?? RowImage(entity: entity, key: key, values: values))
    }
    return images
  }
}

extension MemoryBusiness.State {
  /// The tables go into the transaction and come back with `end`, so that they are not copied.
  fileprivate mutating func begin() -> MemoryTransaction {
    let transaction = MemoryTransaction(tables)
    tables = [:]
    return transaction
  }

  fileprivate mutating func end(_ transaction: MemoryTransaction, parts: [MemoryCommit.Part]) {
    tables = transaction.finished()
    record(parts.filter { !$0.effects.isEmpty || $0.operation != nil })
  }

  /// A commit of these parts; none of nothing.
  mutating func record(_ parts: [MemoryCommit.Part]) {
    guard !parts.isEmpty else { return }
    history.append(MemoryCommit(number: history.count + 1, parts: parts))
    notes?.add(history.count)
  }
}
