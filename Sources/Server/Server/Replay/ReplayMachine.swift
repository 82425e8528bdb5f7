import FerryConnector
import FerryModel

/// What the driver asks the business system next, for one chain of operations.
public enum ReplayStep: Sendable, Equatable {
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
public enum ReplayReport: Sendable, Equatable {
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
    /// Ask the same step again later; the claim stays.
    case park(ReplayStep, reason: String)
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
  private var toRead: [ObjectName] = []
  private var hasRecalled: Bool = false
  private var wasUnknown: Bool = false
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
    case .recalled(let found): return recalled(found)
    case .performed(let result): return performed(result, mark)
    case .read(let images):
      for image in images { see(image, mark) }
      return goOn()
    case .failed(let error):
      if case .perform = step { return performed(.unknown(reason: error.message), mark) }
      if case .recall = step, !error.isTransient {
        return isDecided && !wasUnknown ? goOn() : .giveUp(reason: error.message)
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
    for (name, seen) in seen.sorted(by: { $0.key < $1.key })
    where marks.isTouched(
      name, version: try version(name), since: seen.mark,
      byLoads: !own.contains(name) ? .ended : isListed(name) ? nil : .began)
    {
      outdated.append(name)
    }
    return outdated
  }

  /// Some images were older than what the cache has learned since.
  mutating func take(touched names: [ObjectName]) -> Action {
    for name in names { seen[name] = nil }
    toRead = names.sorted()
    return goOn()
  }

  /// One of what is to be performed may not be: nothing of that is, and what was done stays done.
  mutating func refuse(_ place: Int, _ refusal: Refusal) -> Action {
    isJudgedHere = true
    for index in open { outcomes[index] = index == place ? .refused(refusal) : .notTried }
    return goOn()
  }

  private mutating func recalled(_ found: [Recall]) -> Action {
    guard found.count == operations.count else {
      return .giveUp(reason: "the business system remembered \(found.count) operations")
    }
    hasRecalled = true
    for (index, recall) in found.enumerated() {
      switch recall {
      case .performed(let outcome): outcomes[index] = outcome
      case .notPerformed: continue
      case .mayStillArrive:
        return .park(.recall(operations), reason: "an earlier request may still arrive")
      case .cannotTell(let reason, _):
        return isDecided && !wasUnknown ? goOn() : .giveUp(reason: reason)
      }
    }
    if wasUnknown, outcomes.contains(where: { $0 == nil }) {
      return .release(
        reason: "the business system did not perform it",
        mayHaveRun: outcomes.contains { $0 != nil })
    }
    return goOn()
  }

  private mutating func performed(_ result: PerformResult, _ mark: Mark) -> Action {
    switch result {
    case .done(let found, let touched):
      let asked = open
      guard found.count == asked.count else {
        return .giveUp(reason: "the business system answered \(found.count) of \(asked.count)")
      }
      for (index, outcome) in zip(asked, found) {
        outcomes[index] = outcome
        if case .accepted(let key, false) = outcome {
          written[index] = ReplayMachine.written(operations[index], key, touched)
        }
      }
      for image in touched { see(image, mark) }
      return goOn()
    case .notDone(let reason):
      return .release(reason: reason, mayHaveRun: outcomes.contains { $0 != nil })
    case .waits:
      return .release(
        reason: "a credential of its user is missing", mayHaveRun: outcomes.contains { $0 != nil })
    case .unknown(let reason):
      guard !wasUnknown else { return .giveUp(reason: reason) }
      wasUnknown = true
      return .ask(.recall(operations))
    }
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

  private mutating func see(_ image: RowImage, _ mark: Mark) {
    let name = ObjectName(entity: image.entity, key: image.key)
    seen[name] = Seen(image: image, mark: mark)
    toRead.removeAll { $0 == name }
  }

  /// Objects whose images are not written yet, or are still to be read.
  var unwritten: Set<ObjectName> { Set(seen.keys).union(toRead) }

  /// What has no outcome.
  var open: [Int] { outcomes.indices.filter { outcomes[$0] == nil } }

  /// Performs what has no outcome, then reads what was not seen, then settles.
  private mutating func goOn() -> Action {
    if let stop = outcomes.firstIndex(where: { $0.map(ReplayMachine.isRefused) ?? false }) {
      for index in outcomes.indices where index > stop && outcomes[index] == nil {
        outcomes[index] = .notTried
      }
    }
    if !open.isEmpty {
      switch rest {
      case .performed: return .ask(.perform(open.map { operations[$0] }))
      case .kept:
        return .release(
          reason: "its device has not named it since the start",
          mayHaveRun: outcomes.contains { $0 != nil })
      case .notTried: for index in open { outcomes[index] = .notTried }
      }
    }
    for name in needed() where seen[name] == nil && !toRead.contains(name) { toRead.append(name) }
    toRead.sort()
    guard let first = toRead.first else { return .settle }
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
  private func needed() -> [ObjectName] {
    zip(operations, outcomes).compactMap { operation, outcome in
      switch outcome {
      case .accepted(let key, _): return ObjectName(entity: operation.entity.name, key: key)
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
