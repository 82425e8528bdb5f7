import FerryModel

/// What one SQL database does for the operations of a group, in the transaction that is open.
/// `performAll` has the order of it, which is the same for all.
public protocol SQLGroupWork {
  associatedtype Interruption: SQLInterruption

  /// Whether the table of operations is kept.
  var remembersOperations: Bool { get }

  /// Notes the operation in the table of operations, before anything of it is done.
  func claim(_ operation: ConnectorOperation) throws(Interruption) -> OperationClaim

  /// Notes the key that a claimed operation came to.
  func finish(_ operation: ConnectorOperation, key: ObjectKey) throws(Interruption)

  /// Does the operation itself, and gives the object's key. Its own row counts as touched even where
  /// nothing changed, so that the caller has it fresh.
  func work(_ operation: ConnectorOperation) throws(Interruption) -> ObjectKey

  /// An operation was performed before: its row, where it has one, counts as touched.
  func touch(_ operation: ConnectorOperation, _ key: ObjectKey) throws(Interruption)
}

/// The operation of a group that did not go through.
public struct SQLGroupInterruption<Interruption: SQLInterruption>: Error {
  /// Its place in the group.
  public let index: Int
  /// With the keys that earlier operations of the group were given.
  public let operation: ConnectorOperation
  public let reason: Interruption
}

extension SQLGroupWork {
  /// Performs all operations of a group in order, each at most once. Where it throws, what the group
  /// did is to be undone.
  public func performAll(
    _ group: [ConnectorOperation]
  ) throws(SQLGroupInterruption<Interruption>) -> [OperationOutcome] {
    var outcomes: [OperationOutcome] = []
    var keys = GivenKeys()
    for (index, given) in group.enumerated() {
      let operation = keys.applied(to: given)
      do throws(Interruption) {
        let (key, isRepeated) = try performOnce(given, operation)
        keys.learn(given, key: key)
        outcomes.append(.accepted(key: key, isRepeated: isRepeated))
      } catch {
        throw SQLGroupInterruption(index: index, operation: operation, reason: error)
      }
    }
    return outcomes
  }

  private func performOnce(
    _ given: ConnectorOperation, _ operation: ConnectorOperation
  ) throws(Interruption) -> (key: ObjectKey, isRepeated: Bool) {
    guard remembersOperations else { return (try work(operation), false) }
    switch try claim(given) {
    case .performed(let key):
      if !operation.entity.isOperation { try touch(operation, key) }
      return (key, true)
    case .otherContent:
      throw .refused(
        Refusal(code: 422, message: "An earlier form of this change was accepted already."))
    case .new:
      let key = try work(operation)
      try finish(given, key: key)
      return (key, false)
    }
  }
}

/// Several groups in one transaction, each in a savepoint: what became of them.
public struct SQLSavepoints {
  /// How one group ended.
  public struct End {
    public let result: PerformResult
    /// Whether something of it is to be committed.
    public let isEffective: Bool
    /// False where the database has ended the transaction, and with it what earlier groups did.
    public let isTransactionOpen: Bool

    public init(result: PerformResult, isEffective: Bool, isTransactionOpen: Bool) {
      self.result = result
      self.isEffective = isEffective
      self.isTransactionOpen = isTransactionOpen
    }
  }

  /// Of each group that was begun, in order.
  public private(set) var results: [PerformResult] = []
  /// The places of groups that are to be committed.
  public private(set) var effective: [Int] = []
  public private(set) var isTransactionOpen: Bool = true

  /// Performs the first group, and the others as long as `goesOn`, which is asked between two. Ends
  /// behind one that was not done, since those behind it would meet the same.
  public init(
    _ groups: some Sequence<[ConnectorOperation]>, while goesOn: () -> Bool,
    perform: ([ConnectorOperation]) -> End
  ) {
    for group in groups where results.isEmpty || goesOn() {
      let end = perform(group)
      if end.isEffective { effective.append(results.count) }
      results.append(end.result)
      isTransactionOpen = end.isTransactionOpen
      if case .notDone = end.result { return }
      guard isTransactionOpen else { return }
    }
  }
}
