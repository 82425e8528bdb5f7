import FerryConnector
import FerryModel
import FerryWorld

/// What the driver asks the business system next, for one chain of operations.
package enum ReplayStep: Sendable, Equatable {
  /// `Connector.recall`: they may have been performed before.
  case recall([ConnectorOperation])
  /// `Connector.perform`.
  case perform([ConnectorOperation])
  /// `Connector.read`: somebody touched these objects meanwhile, or they were not given.
  case read(Entity, [ObjectKey])
  /// The chain is answered.
  case done
  /// The business system is away: `Service.nextReplay` gives the chain out again after this time.
  case retry(after: Duration)
}

/// What the business system said.
package enum ReplayReport: Sendable, Equatable {
  case recalled([Recall])
  case performed(PerformResult)
  case read([RowImage])
  /// `recall` or `read` threw.
  case failed(ConnectorError)
}

/// Decides how one chain of operations comes to its answers. Pure.
///
/// An outcome is accepted only together with the rows as the business system has them; what may
/// have run is never performed again without proof that it did not.
package struct ReplayMachine {
  package enum Action: Equatable {
    case ask(ReplayStep)
    /// Write the answers, if no image was touched since its mark.
    case settle
    /// Answer all that is open with `unknown`.
    case giveUp(reason: String)
    /// Certainly not performed: give the claim back and try again later.
    case release(reason: String, mayHaveRun: Bool)
    /// Ask the step later; the claim stays, and so does what was done. `until`: at this moment, where
    /// the connector has named one.
    case park(ReplayStep, reason: String, until: Timestamp? = nil)
  }

  package struct Seen: Equatable {
    package let image: RowImage
    let mark: Mark
  }

  let operations: [ConnectorOperation]
  let mayHaveRun: Bool
  /// An operator has decided that it is performed where the business system cannot tell.
  private let isDecided: Bool
  private let readBackKeys: Int
  package private(set) var outcomes: [OperationOutcome?]
  /// What the operation of the same place wrote, where that is not what it asked for: values by
  /// position in the entity's attributes.
  package private(set) var written: [[Int: AttributeValue]]
  /// What was seen of each object, and since when it holds.
  package private(set) var seen: [ObjectName: Seen] = [:]
  /// Objects whose rows in the cache take the values of operations, and since when those hold.
  private var merges: [ObjectName: Mark] = [:]
  private var toRead: [ObjectName] = []
  private var wasUnknown: Bool = false
  /// The business system has answered for parts of the chain: what is accepted stays, and the chain is
  /// not given back before all members have ended.
  private(set) var isInParts: Bool = false
  /// What the business system needs before it performs the chain; nil where it needs nothing.
  package private(set) var awaited: AwaitedThing?
  /// Rows that may be the effect of operations which the business system cannot tell, by place.
  package private(set) var candidates: [Int: [RowImage]] = [:]
  /// Places of operations that may have been performed, and may be performed again.
  private var repeatable: Set<Int> = []
  /// Refused before the business system was asked.
  private var isJudgedHere: Bool = false
  /// What becomes of operations that have no outcome when it was asked for.
  package enum Rest: Sendable {
    case performed
    /// Its device has not said since the start that they are open. A store that was restored to an
    /// earlier state may have answered them before: they wait.
    case kept
    /// Their device has ended a part of them.
    case notTried
  }

  package var rest: Rest = .performed

  package init(
    _ operations: [ConnectorOperation], mayHaveRun: Bool, isDecided: Bool = false,
    readBackKeys: Int
  ) {
    self.operations = operations
    self.mayHaveRun = mayHaveRun
    self.isDecided = isDecided
    self.readBackKeys = readBackKeys
    outcomes = Array(repeating: nil, count: operations.count)
    written = Array(repeating: [:], count: operations.count)
  }

  /// With outcomes that an operator has decided, only the rows are read.
  package init(
    _ operations: [ConnectorOperation], decided outcomes: [OperationOutcome], readBackKeys: Int
  ) {
    self.init(operations, mayHaveRun: false, readBackKeys: readBackKeys)
    self.outcomes = outcomes
  }

  package mutating func start() -> Action {
    if mayHaveRun { return .ask(.recall(operations)) }
    return goOn()
  }

  package mutating func take(_ report: ReplayReport, during step: ReplayStep, mark: Mark) -> Action
  {
    switch report {
    case .recalled(let found): return recalled(found, of: step)
    case .performed(let result): return performed(result, mark)
    case .read(let images):
      for image in images { see(image, mark) }
      return goOn()
    case .failed(let error):
      if case .perform = step { return performed(.unknown(reason: error.message), mark) }
      if case .recall = step, !error.isTransient {
        return isDecided && !wasUnknown ? goOn() : giveUp(error.message)
      }
      return .park(step, reason: error.message)
    }
  }

  /// The objects whose images may be older than what the cache has learned since; `version` gives the
  /// version of an object's row, `isListed` whether it is read once more after the chain.
  ///
  /// A load leaves alone what the chain has claimed, and lists it where it has it otherwise than the
  /// cache. If the load began after the image was seen and has not listed it, the business system has
  /// it as the cache does, or not at all: it may have been set back (Decision 0109).
  func outdated(
    by marks: Marks, isListed: (ObjectName) -> Bool,
    version: (ObjectName) throws(StoreError) -> Int64?
  ) throws(StoreError) -> [ObjectName] {
    let own = Set(
      operations.compactMap { operation in
        operation.key.map { ObjectName(entity: operation.entity.name, key: $0) }
      })
    var outdated: [ObjectName] = []
    let since = seen.mapValues(\.mark).merging(merges) { seen, _ in seen }
    for (name, mark) in since.sorted(by: { $0.key < $1.key })
    where marks.isTouched(
      name, version: try version(name), since: mark,
      byLoads: !own.contains(name) ? .ended : isListed(name) ? nil : .began)
    {
      outdated.append(name)
    }
    return outdated
  }

  /// Some images were older than what the cache has learned since.
  mutating func take(touched names: [ObjectName]) -> Action {
    for name in names {
      seen[name] = nil
      merges[name] = nil
    }
    toRead = names.sorted()
    return goOn()
  }

  /// One of what is to be performed may not be: nothing of that is, and what was done stays done.
  mutating func refuse(_ place: Int, _ refusal: Refusal) -> Action {
    isJudgedHere = true
    for index in open { outcomes[index] = index == place ? .refused(refusal) : .notTried }
    return goOn()
  }

  private mutating func recalled(_ found: [Recall], of step: ReplayStep) -> Action {
    let asked = places(of: step)
    guard found.count == asked.count else {
      return giveUp("the business system remembered \(found.count) operations")
    }
    var late: Timestamp?
    var untold: [Int: String] = [:]
    for (index, recall) in zip(asked, found) {
      switch recall {
      case .performed(let outcome):
        assert(outcomes[index] ?? outcome == outcome, "an operation gets a second outcome")
        outcomes[index] = outcome
      case .notPerformed: repeatable.remove(index)
      case .mayBeRepeated: repeatable.insert(index)
      case .mayStillArrive(let until): late = max(late ?? until, until)
      case .cannotTell(let reason, let rows):
        untold[index] = reason
        candidates[index] = rows
      }
    }
    if let late {
      let rest = asked.filter { outcomes[$0] == nil }
      return .park(
        .recall(prepared(rest)), reason: "an earlier request may still arrive", until: late)
    }
    if !untold.isEmpty { return isDecided && !wasUnknown ? goOn() : cannotTell(untold) }
    guard wasUnknown, asked.contains(where: { outcomes[$0] == nil }) else { return goOn() }
    return later("the business system did not perform it")
  }

  /// A person decides about these. What is open beside them is not tried.
  private mutating func cannotTell(_ untold: [Int: String]) -> Action {
    if outcomes.allSatisfy({ $0 == nil }), untold.count == operations.count {
      return .giveUp(reason: untold.min { $0.key < $1.key }?.value ?? "")
    }
    for index in open {
      outcomes[index] = untold[index].map { .unknown(reason: $0) } ?? left(index)
    }
    return goOn()
  }

  /// What an open operation becomes that is not performed any more.
  private func left(_ index: Int) -> OperationOutcome {
    repeatable.contains(index)
      ? .unknown(reason: "its answer was lost, and it is not sent again") : .notTried
  }

  /// All that is open is unknown. What was accepted is answered together with its rows.
  private mutating func giveUp(_ reason: String) -> Action {
    guard isInParts, outcomes.contains(where: { $0 != nil }) else { return .giveUp(reason: reason) }
    for index in open { outcomes[index] = .unknown(reason: reason) }
    return goOn()
  }

  /// What is open is performed later. A chain of which the business system has answered parts stays
  /// claimed: it may be unable to report them a second time.
  private mutating func later(_ reason: String) -> Action {
    let isAnswered = outcomes.contains { $0 != nil }
    guard isInParts, isAnswered else {
      return .release(reason: reason, mayHaveRun: isAnswered || !repeatable.isDisjoint(with: open))
    }
    wasUnknown = false
    return .park(.perform(prepared(open)), reason: reason)
  }

  /// The operations at these places as the business system is to be asked now: keys that were given
  /// to members which are accepted are put in.
  func prepared(_ places: [Int]) -> [ConnectorOperation] {
    var keys = GivenKeys()
    for (operation, outcome) in zip(operations, outcomes) {
      if case .accepted(let key, _) = outcome { keys.learn(operation, key: key) }
    }
    return places.map { keys.applied(to: operations[$0]) }
  }

  private func places(of step: ReplayStep) -> [Int] {
    switch step {
    case .recall(let asked), .perform(let asked):
      let ids = Set(asked.map(\.id))
      return operations.indices.filter { ids.contains(operations[$0].id) }
    case .read, .done, .retry: return []
    }
  }

  private mutating func performed(_ result: PerformResult, _ mark: Mark) -> Action {
    awaited = nil
    switch result {
    case .done(let found, let touched):
      let asked = open
      guard found.count == asked.count else {
        return giveUp("the business system answered \(found.count) of \(asked.count)")
      }
      let left = untouched(found, of: asked)
      for image in touched where !left.contains(ObjectName(entity: image.entity, key: image.key)) {
        see(image, mark)
      }
      return take(found, of: asked, touched, mark)
    case .notDone(let reason): return later(reason)
    case .waits(let thing):
      awaited = thing
      return later("a credential of its user is missing")
    case .unknown(let reason):
      guard !wasUnknown else { return giveUp(reason) }
      wasUnknown = true
      return .ask(.recall(isInParts ? prepared(open) : operations))
    }
  }

  /// Behind a refusal, `notTried` is an answer; without one it means that the operation is still to be
  /// performed.
  private mutating func take(
    _ found: [OperationOutcome], of asked: [Int], _ touched: [RowImage], _ mark: Mark
  ) -> Action {
    let isRefused = found.contains(where: ReplayMachine.isRefused)
    var doubted: [Int] = []
    for (index, outcome) in zip(asked, found) {
      switch outcome {
      case .unknown: doubted.append(index)
      case .notTried where !isRefused: continue
      case .accepted(let key, let isRepeated):
        outcomes[index] = outcome
        guard !isRepeated else { continue }
        merge(operations[index], key, mark)
        written[index] = ReplayMachine.written(operations[index], key, touched)
      case .refused, .notTried: outcomes[index] = outcome
      }
    }
    guard !open.isEmpty else { return goOn() }
    isInParts = true
    guard doubted.isEmpty else {
      wasUnknown = true
      return .ask(.recall(prepared(doubted)))
    }
    return later("the business system has not performed the rest of it yet")
  }

  /// What the business system made of the new values. Only the images of the transaction itself show
  /// it: a row that is read later may have the values of others.
  private static func written(
    _ operation: ConnectorOperation, _ key: ObjectKey, _ touched: [RowImage]
  ) -> [Int: AttributeValue] {
    let entity = operation.entity
    guard operation.kind != .delete,
      let values = touched.last(where: { $0.entity == entity.name && $0.key == key })?.values
    else { return [:] }
    return operation.changed.reduce(into: [:]) { written, change in
      guard values.indices.contains(change.key), values[change.key] != change.value else { return }
      written[change.key] = values[change.key]
    }
  }

  /// The names of `merged`.
  var merging: [ObjectName] { Array(merges.keys) }

  private mutating func merge(_ operation: ConnectorOperation, _ key: ObjectKey, _ mark: Mark) {
    let name = ObjectName(entity: operation.entity.name, key: key)
    guard seen[name] == nil, ReplayMachine.isEnough(operation) else { return }
    merges[name] = mark
  }

  private mutating func see(_ image: RowImage, _ mark: Mark) {
    let name = ObjectName(entity: image.entity, key: image.key)
    seen[name] = Seen(image: image, mark: mark)
    merges[name] = nil
    toRead.removeAll { $0 == name }
  }

  /// Objects whose images are not written yet, or are still to be read.
  var unwritten: Set<ObjectName> { Set(seen.keys).union(merges.keys).union(toRead) }

  /// What has no outcome.
  var open: [Int] { outcomes.indices.filter { outcomes[$0] == nil } }

  /// Performs what has no outcome, then reads what was not seen, then settles.
  private mutating func goOn() -> Action {
    if let stop = outcomes.firstIndex(where: { $0.map(ReplayMachine.isRefused) ?? false }) {
      for index in outcomes.indices where index > stop && outcomes[index] == nil {
        outcomes[index] = left(index)
      }
    }
    if !open.isEmpty {
      switch rest {
      case .performed: return .ask(.perform(prepared(open)))
      case .kept:
        return .release(
          reason: "its device has not named it since the start",
          mayHaveRun: outcomes.contains { $0 != nil } || !repeatable.isDisjoint(with: open))
      case .notTried: for index in open { outcomes[index] = left(index) }
      }
    }
    for name in needed() where seen[name] == nil && !toRead.contains(name) { toRead.append(name) }
    toRead.sort()
    guard let first = toRead.first else { return whole() }
    let keys = toRead.prefix { $0.entity == first.entity }.prefix(readBackKeys).map(\.key)
    guard
      let entity = operations.first(where: { $0.entity.name == first.entity })?.entity
        ?? entities[first.entity]
    else { return .settle }
    return .ask(.read(entity, Array(keys)))
  }

  /// Entities of rows that the business system touched by its own rules.
  package var entities: [String: Entity] = [:]

  /// The objects whose rows must be known before the answers are written: those that were changed,
  /// and those that the business system has otherwise than the device thought.
  func needed() -> [ObjectName] {
    zip(operations, outcomes).compactMap { operation, outcome in
      switch outcome {
      case .accepted(let key, _):
        let name = ObjectName(entity: operation.entity.name, key: key)
        return operation.policy == .none || merges[name] != nil ? nil : name
      case .refused(let refusal)
      where refusal.code == 404 || refusal.code == 412 || refusal.code == 403 && !isJudgedHere:
        return operation.kind == .create
          ? nil : operation.key.map { ObjectName(entity: operation.entity.name, key: $0) }
      default: return nil
      }
    }
  }

  private static func isRefused(_ outcome: OperationOutcome) -> Bool {
    if case .refused = outcome { true } else { false }
  }
}
