import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryWorld

/// A business system that is reached by requests and has no transactions across them: each request is
/// done or not, and its answer may be lost. It outlives the server.
///
/// Its rows are those of the business system in memory, so that the oracle sees each effect.
final class SimulatedService {
  /// What a service has.
  struct Traits: Sendable {
    enum ETags: Sendable { case none, versions, hashes }

    var etags: ETags = .versions
    /// Whether it refuses a second order with the same reference.
    var isReferenceUnique = true
    /// Whether a chain is done as a whole or not at all.
    var hasChangeSets = false
    /// Whether it is read by pages, and tells of its changes.
    var isREST = false
    /// Whether it knows a create by the number of its request, for a while.
    var knowsNumbers = false

    /// Of a seed: each combination comes in twelve seeds in a row.
    init(seed: UInt64) {
      etags = [.versions, .hashes, .versions, .none][Int(seed % 4)]
      isReferenceUnique = seed % 3 != 2
      hasChangeSets = seed % 2 == 1
    }

    /// Of a service of REST.
    init(restSeed seed: UInt64) {
      etags = [.versions, .none, .versions, .hashes][Int(seed % 4)]
      isREST = true
      knowsNumbers = seed % 3 != 2
      isReferenceUnique = !knowsNumbers
    }
  }

  /// What a request asks for.
  struct Write {
    let operation: ConnectorOperation
    let condition: AttemptMachine.Condition
    /// By which the service knows the request.
    var number: String?
  }

  /// What the service answers, or what becomes of the answer.
  enum Reply {
    case done([OperationOutcome])
    /// A condition of one of them does not hold.
    case changed(place: Int)
    case refused(Refusal, place: Int)
    case notDone
    case lost
  }

  /// How a request fails.
  enum Fault: CaseIterable { case away, lostBefore, lostAfter, late }

  let traits: Traits
  private let business: MemoryBusiness
  private let connector: MemoryConnector
  private let chance: SeededChance
  private let clock: SimulatedClock
  private var late: [(writes: [Write], end: Timestamp)] = []
  private var versions: [RowName: Int] = [:]
  /// What was asked for under a number, what was made, and until when the service knows it.
  private var numbers: [String: (operation: ConnectorOperation, key: ObjectKey, end: Timestamp)] =
    [:]
  private let isFlawed: Bool
  private var seen = 0
  private var hasFaults = true
  /// What a connector reported that cannot be; nil where all was right.
  private(set) var wrong: SimulationFailure?
  /// Times that somebody else wrote between a reading and a write.
  private(set) var races = 0
  /// How often each fault struck.
  private(set) var struck: [Fault: Int] = [:]

  /// How long after a lost answer its request may still arrive.
  static let lateness: Duration = .seconds(4)
  /// For how long it knows the number of a request.
  static let window: Duration = .seconds(60)

  /// `isFlawed`: numbers are not unique, and it does not look at what comes under them.
  init(
    _ business: MemoryBusiness, _ traits: Traits, seed: UInt64, clock: SimulatedClock,
    isFlawed: Bool = false
  ) {
    self.isFlawed = isFlawed
    self.business = business
    self.clock = clock
    connector = MemoryConnector(business)
    self.traits = traits
    chance = SeededChance(seed ^ 0x5E47)
  }

  // MARK: Reading

  func row(_ entity: Entity, _ key: ObjectKey) -> (values: [AttributeValue], etag: String?)? {
    guard let values = business.rows(of: entity.name)[key] else { return nil }
    return (values, etag(RowName(entity: entity.name, key: key), values))
  }

  func rows(_ entity: Entity) -> [ObjectKey: [AttributeValue]] { business.rows(of: entity.name) }

  private func etag(_ name: RowName, _ values: [AttributeValue]) -> String? {
    switch traits.etags {
    case .none: return nil
    case .hashes: return RowCoder.encode(values).map { String($0) }.joined(separator: ".")
    case .versions:
      let history = business.history
      if seen < history.count {
        for effect in history[seen...].flatMap(\.parts).flatMap(\.effects) {
          versions[RowName(entity: effect.entity, key: effect.key), default: 0] += 1
        }
        seen = history.count
      }
      return String(versions[name] ?? 0)
    }
  }

  /// Whether a reading fails.
  func isAway() -> Bool { hasFaults && chance.happens(25) }

  // MARK: Writing

  /// One request: all of its writes or none.
  func send(_ writes: [Write]) -> Reply {
    let fault = fault(for: writes)
    if let fault { struck[fault, default: 0] += 1 }
    switch fault {
    case .away: return .notDone
    case .lostBefore: return .lost
    case .late:
      late.append((writes, clock.moment.advanced(by: SimulatedService.lateness)))
      return .lost
    case .lostAfter:
      _ = perform(writes, isLate: false)
      return .lost
    case nil: return perform(writes, isLate: false)
    }
  }

  private func fault(for writes: [Write]) -> Fault? {
    guard hasFaults, chance.happens(200) else { return nil }
    // What comes late without a condition overwrites what others have written meanwhile.
    let isHeld = writes.allSatisfy { write in
      switch write.condition {
      case .unchanged, .absent: true
      case .none: write.operation.kind == .create && isUnique(write.operation)
      case .firstRequest: true
      }
    }
    return chance.pick(isHeld ? Fault.allCases : [.away, .lostBefore, .lostAfter])
  }

  private func isUnique(_ operation: ConnectorOperation) -> Bool {
    guard traits.isReferenceUnique, operation.entity.name == "Order" else { return false }
    return operation.changed[4].map { !$0.isNull } ?? false
  }

  /// How the request of a create is known.
  func number(of operation: ConnectorOperation) -> String {
    isFlawed ? String(operation.id.text.prefix(1)) : operation.id.text
  }

  private func perform(_ writes: [Write], isLate: Bool) -> Reply {
    guard let number = writes.first?.number else { return performNew(writes, isLate: isLate) }
    let operation = writes[0].operation
    if let known = numbers[number], clock.moment < known.end {
      let isSame =
        known.operation.id == operation.id && known.operation.changed == operation.changed
      // Another request under the number is not taken, and says nothing about this one.
      return isSame || isFlawed ? .done([.accepted(key: known.key, isRepeated: true)]) : .lost
    }
    let reply = performNew(writes, isLate: isLate)
    if case .done(let outcomes) = reply, case .accepted(let key, _)? = outcomes.first {
      numbers[number] = (operation, key, clock.moment.advanced(by: SimulatedService.window))
    }
    return reply
  }

  private func performNew(_ writes: [Write], isLate: Bool) -> Reply {
    for (place, write) in writes.enumerated() where !holds(write) { return .changed(place: place) }
    for (place, write) in writes.enumerated() {
      guard write.operation.kind == .create, isUnique(write.operation),
        rows(write.operation.entity).values.contains(where: { $0[4] == write.operation.changed[4] })
      else { continue }
      let refusal = Refusal(code: 412, message: "There is an order with this reference.")
      return .refused(refusal, place: place)
    }
    // Whoever has read the row has judged it. What comes late is judged by the service.
    let operations = writes.map {
      $0.operation.withoutBase(judge: isLate ? $0.operation.judge : nil)
    }
    guard case .done(let outcomes, _) = connector.perform(operations) else { return .notDone }
    for (place, outcome) in outcomes.enumerated() {
      if case .refused(let refusal) = outcome { return .refused(refusal, place: place) }
    }
    return .done(outcomes)
  }

  private func holds(_ write: Write) -> Bool {
    let operation = write.operation
    let found = operation.key.flatMap { row(operation.entity, $0) }
    switch write.condition {
    case .none, .firstRequest: return true
    case .absent: return found == nil
    case .unchanged(let etag): return found?.etag == etag
    }
  }

  /// Operations whose row was as they wanted it when they counted as done: it may be so by the work of
  /// somebody else.
  private(set) var equal: Set<OperationID> = []

  /// Looks by itself whether it is so.
  func noteEqual(_ operation: ConnectorOperation) {
    let row = operation.key.flatMap { business.rows(of: operation.entity.name)[$0] }
    let isEqual =
      operation.kind == .delete
      ? row == nil
      : row.map { row in operation.changed.allSatisfy { row[$0.key] == $0.value } } ?? false
    if isEqual { equal.insert(operation.id) }
  }

  /// Invariant 2: what was answered is known.
  func noteUnknown(_ operation: ConnectorOperation, wasAnswered: Bool) {
    guard wasAnswered, wrong == nil else { return }
    wrong = SimulationFailure(
      invariant: 2, problem: "\(operation.id) is reported unknown, and its answer came")
  }

  /// Invariant 6: nobody is refused for a change of others that there was not.
  func noteRefused(_ operation: ConnectorOperation, _ refusal: Refusal, races: Int) {
    let isTooOften = refusal.code == 412 && refusal.message.contains("changed again and again")
    guard isTooOften, races < AttemptMachine.repeatLimit, wrong == nil else { return }
    wrong = SimulationFailure(
      invariant: 6,
      problem: "\(operation.id) is refused because its row was changed again and again, and it was "
        + "changed \(races) times")
  }

  // MARK: Time

  /// Requests that are on their way arrive, or are lost for ever.
  func step() {
    let now = clock.moment
    var rest: [(writes: [Write], end: Timestamp)] = []
    for request in late {
      if now >= request.end { continue }
      if chance.happens(150) {
        _ = perform(request.writes, isLate: true)
      } else {
        rest.append(request)
      }
    }
    late = rest
  }

  /// Nothing of this operation arrives any more: an operator has waited for that.
  func settle(_ id: OperationID) {
    late.removeAll { $0.writes.contains { $0.operation.id == id } }
  }

  /// From here on nothing fails.
  func becomeQuiet() {
    hasFaults = false
    for request in late { _ = perform(request.writes, isLate: true) }
    late = []
  }

  /// Somebody else writes between a reading and a write.
  func race(_ operations: [ConnectorOperation]) {
    guard hasFaults, traits.etags != .none, chance.happens(80) else { return }
    let orders = rows(SimulatedBusiness.order).sorted { $0.key.text < $1.key.text }
    guard !orders.isEmpty else { return }
    let meant = chance.happens(500) ? operations.first { $0.entity.name == "Order" }?.key : nil
    let drawn = orders[chance.number(below: orders.count)]
    var (key, values) = orders.first { $0.key == meant } ?? drawn
    values[3] = .integer(Int64(chance.number(below: 9)))
    races += 1
    business.changeByOther { transaction in transaction.write("Order", key, values) }
  }

  /// Whether its link to later changes leads nowhere any more.
  func hasLostLink() -> Bool { hasFaults && chance.happens(100) }
}

extension ConnectorOperation {
  /// As a service gets it: it compares nothing but the condition.
  fileprivate func withoutBase(judge: RowJudge?) -> ConnectorOperation {
    ConnectorOperation(
      id: id, entity: entity, kind: kind, key: key, changed: changed, base: [:],
      temporaryKey: temporaryKey, contents: contents, judge: judge, user: user)
  }
}
