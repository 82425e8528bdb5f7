/// Performs the operations of a chain at a business system without transactions. Pure.
///
/// One by one in their order until the first that is not accepted; or as one change set, where the
/// business system has that.
public struct AttemptChain: Sendable, Hashable {
  /// What the chain wants asked of the business system.
  public enum Request: Sendable, Hashable {
    /// Of the operation at this place.
    case one(Int, AttemptMachine.Request)
    /// All writes as one change set, in the order of the operations.
    case batch([AttemptMachine.Condition])
  }

  /// The answer to a request of the same form.
  public enum Answer: Sendable, Hashable {
    case one(AttemptMachine.Answer)
    /// The change set was done, or nothing of it; `place` is that of the operation that is named.
    case batch(AttemptMachine.Answer, place: Int)
  }

  /// What to do next.
  public enum Action: Sendable, Hashable {
    case ask(Request)
    /// Of each operation; nil for one that was not tried.
    case end([AttemptMachine.Ending?])
  }

  private let first: [AttemptMachine]
  private var members: [AttemptMachine]
  private let isChangeSet: Bool
  private var endings: [AttemptMachine.Ending?]
  private var conditions: [AttemptMachine.Condition?]
  private var place = 0
  private var repeats = 0
  private let isWholeUnknown: Bool
  private let isRecall: Bool

  public init(_ members: [AttemptMachine], asChangeSet: Bool = false) {
    first = members
    self.members = members
    isChangeSet = asChangeSet && members.count > 1
    endings = Array(repeating: nil, count: members.count)
    conditions = Array(repeating: nil, count: members.count)
    isRecall = members.contains(where: \.isRecall)
    isWholeUnknown = members.contains { $0.flaws.contains(.groupUnknownWhole) }
  }

  /// The first question. Call it once.
  public mutating func start() -> Action { begin() }

  /// The answer to the last question.
  public mutating func take(_ answer: Answer) -> Action {
    switch answer {
    case .one(let answer): return follow(members[place].take(answer))
    case .batch(let answer, let named): return sent(answer, named)
    }
  }

  private mutating func begin() -> Action {
    guard members.indices.contains(place) else {
      if isRecall { return .end(isChangeSet ? recalledTogether : endings) }
      return isChangeSet ? .ask(.batch(conditions.map { $0 ?? .none })) : .end(endings)
    }
    return follow(members[place].start())
  }

  private mutating func follow(_ action: AttemptMachine.Action) -> Action {
    switch action {
    case .ask(.write(let condition)) where isChangeSet:
      conditions[place] = condition
      place += 1
      return begin()
    case .ask(let request): return .ask(.one(place, request))
    case .end(let ending): return ended(ending)
    }
  }

  private mutating func ended(_ ending: AttemptMachine.Ending) -> Action {
    endings[place] = ending
    if isRecall {
      place += 1
      return begin()
    }
    if isChangeSet { return decided(by: ending) }
    guard case .accepted = ending else {
      if isWholeUnknown, case .unknown = ending {
        return .end(Array(repeating: ending, count: endings.count))
      }
      return .end(endings)
    }
    place += 1
    return begin()
  }

  /// A change set was done as a whole or not at all: one member decides for all.
  private func decided(by ending: AttemptMachine.Ending) -> Action {
    switch ending {
    case .refused:
      return .end(endings.indices.map { $0 == place ? ending : nil })
    default: return .end(Array(repeating: ending, count: endings.count))
    }
  }

  /// One member that was performed means all of them, one that certainly was not means none.
  private var recalledTogether: [AttemptMachine.Ending?] {
    let isPerformed = endings.contains { if case .accepted? = $0 { true } else { false } }
    let decisive: AttemptMachine.Ending? =
      isPerformed
      ? .accepted(isRepeated: true)
      : endings.contains(.mayStillArrive)
        ? .mayStillArrive : endings.contains(.notPerformed) ? .notPerformed : endings.first ?? nil
    return Array(repeating: decisive, count: endings.count)
  }

  private mutating func sent(_ answer: AttemptMachine.Answer, _ named: Int) -> Action {
    switch answer {
    case .written:
      return .end(Array(repeating: .accepted(isRepeated: false), count: endings.count))
    case .changed where repeats < AttemptMachine.repeatLimit:
      repeats += 1
      // What was sent and rejected is no reason to take a row for the work of this chain.
      members = first
      place = 0
      return begin()
    default:
      place = members.indices.contains(named) ? named : 0
      switch members[place].take(answer) {
      case .end(let ending): return decided(by: ending)
      case .ask(let request): return .ask(.one(place, request))
      }
    }
  }
}
