/// Decides how one operation is performed at a business system without transactions, and what became
/// of it after a lost answer. Pure.
///
/// It asks for a read, a write on a condition, or a search, and never knows an address. Whoever drives
/// it compares the row with the operation (`AttemptRow`). Reference: Decision 0122.
public struct AttemptMachine: Sendable, Hashable {
  /// What the operation does, as far as it matters for a lost answer.
  public enum Kind: Sendable, Hashable, CaseIterable {
    case update, delete
    /// The app made the key.
    case createUnderOwnKey
    /// The business system makes the key.
    case createUnderGivenKey
    /// No row of its own.
    case action
  }

  /// How a create under a given key is found again.
  public enum Proof: Sendable, Hashable, CaseIterable {
    /// The business system knows a request by its number, and answers it as before.
    case repeatable
    /// An attribute tells the row: it holds the number of the operation, or its values are unique.
    case attribute
    case none
  }

  /// What the business system can do for this operation.
  public struct Means: Sendable, Hashable {
    /// It writes only where the row is as it was read, and that is proved.
    public var isConditional: Bool
    public var proof: Proof

    public init(isConditional: Bool, proof: Proof = .none) {
      self.isConditional = isConditional
      self.proof = proof
    }
  }

  /// What has to hold for a write.
  public enum Condition: Sendable, Hashable {
    case none
    /// The row is as it was read.
    case unchanged(etag: String)
    /// There is no row with this key yet.
    case absent
    /// The request is known by its number.
    case firstRequest
  }

  /// What the machine wants asked of the business system.
  public enum Request: Sendable, Hashable {
    case read
    case write(Condition)
    /// By the attribute that tells the row; without one, rows that equal what was sent.
    case find
  }

  /// What the business system answered, or what became of the request.
  public enum Answer: Sendable, Hashable {
    /// To a read.
    case row(AttemptRow)
    /// To a search: how many rows there are.
    case found(Int)
    /// The write was done.
    case written
    /// The condition did not hold.
    case changed
    case refused(Refusal)
    /// Nothing was done, for certain.
    case notDone(reason: String)
    /// The write may have been done.
    case lost(reason: String)
    /// Nothing was done: whose credential is missing must bring one.
    case needsCredential
  }

  /// How the attempt ends.
  public enum Ending: Sendable, Hashable {
    /// `isRepeated`: it was found done, or was done by an earlier request.
    case accepted(isRepeated: Bool)
    case refused(Refusal)
    case notDone(reason: String)
    /// `recall` is to be asked.
    case unknown(reason: String)
    case needsCredential
    /// Of a recall: it was not performed, or performing it again does no harm.
    case notPerformed
    /// Of a recall: nothing can be concluded before late requests are over.
    case mayStillArrive
    /// Of a recall: only a person can tell.
    case cannotTell(reason: String)
  }

  /// What to do next.
  public enum Action: Sendable, Hashable {
    case ask(Request)
    case end(Ending)
  }

  /// Bugs that the exploration must find.
  package enum Flaw: Sendable, Hashable, CaseIterable {
    /// A write that may have been done is sent again without a condition.
    case retryUnconditional
    /// A row that equals what was sent is taken for the one that was made.
    case probeGuesses
    /// A refusal is reported while an earlier request may still arrive.
    case lateAfterRefusal
    /// The write is tried again on the condition of the first reading.
    case oldETagRetry
    /// One unknown outcome makes the whole chain unknown.
    case groupUnknownWhole
  }

  private enum State: Sendable, Hashable {
    case begun
    case reading
    case writing
    /// A refused create: is the key there?
    case looking(Refusal?)
    case finding
    case ended
  }

  public let kind: Kind
  public let means: Means
  /// An earlier request for the same operation may have been done, or may still arrive.
  public let mayHaveRun: Bool
  /// No earlier request can arrive any more.
  public let isLateOver: Bool
  /// Only asks what became of the operation; writes nothing.
  public let isRecall: Bool
  package var flaws: Set<Flaw> = []
  private var state: State = .begun
  private var firstETag: String?
  private var hasSent = false
  private var repeats = 0

  /// Times that a write is tried again because the row was changed between reading and writing.
  public static let repeatLimit = 5

  /// To perform an operation.
  public init(_ kind: Kind, _ means: Means, mayHaveRun: Bool, isLateOver: Bool) {
    self.kind = kind
    self.means = means
    self.mayHaveRun = mayHaveRun
    self.isLateOver = isLateOver
    isRecall = false
  }

  /// To find out what became of an operation that was sent.
  public init(recalling kind: Kind, _ means: Means, isLateOver: Bool) {
    self.kind = kind
    self.means = means
    mayHaveRun = true
    self.isLateOver = isLateOver
    isRecall = true
  }

  /// The first question, or the end where none is needed. Call it once.
  public mutating func start() -> Action {
    if isRecall { return startRecall() }
    switch kind {
    case .update, .delete: return read()
    case .createUnderOwnKey: return mayHaveRun ? read() : write(.absent)
    case .createUnderGivenKey:
      if means.proof == .repeatable { return write(.firstRequest) }
      guard mayHaveRun else { return write(.none) }
      if flaws.contains(.retryUnconditional) { return write(.none) }
      if means.proof == .attribute || flaws.contains(.probeGuesses) { return find() }
      return end(.unknown(reason: Self.noProof))
    case .action:
      guard mayHaveRun, means.proof != .repeatable, !flaws.contains(.retryUnconditional) else {
        return write(means.proof == .repeatable ? .firstRequest : .none)
      }
      return end(.unknown(reason: Self.noProof))
    }
  }

  private mutating func startRecall() -> Action {
    switch kind {
    case .update, .delete:
      return means.isConditional || flaws.contains(.retryUnconditional)
        ? read() : end(.cannotTell(reason: Self.noCondition))
    case .createUnderOwnKey: return read()
    case .createUnderGivenKey:
      if means.proof == .repeatable { return end(.notPerformed) }
      if flaws.contains(.retryUnconditional) { return end(.notPerformed) }
      return find()
    case .action:
      let mayRepeat = means.proof == .repeatable || flaws.contains(.retryUnconditional)
      return end(mayRepeat ? .notPerformed : .cannotTell(reason: Self.noProof))
    }
  }

  /// The answer to the last question.
  public mutating func take(_ answer: Answer) -> Action {
    switch (state, answer) {
    case (.reading, .row(let row)): return isRecall ? recalled(row) : read(row)
    case (.looking(let refusal), .row(let row)): return looked(row, refusal)
    case (.finding, .found(let count)): return found(count)
    case (.writing, .written): return end(.accepted(isRepeated: false))
    case (.writing, .changed): return changed()
    case (.writing, .refused(let refusal)):
      if kind == .createUnderOwnKey { return ask(.read, .looking(refusal)) }
      return hold(refusal)
    case (.writing, .lost(let reason)): return end(.unknown(reason: reason))
    // What was asked for may not be shown, or is not there any more.
    case (.reading, .refused(let refusal)), (.finding, .refused(let refusal)):
      return mayHaveRun || hasSent
        ? end(
          isRecall
            ? .cannotTell(reason: refusal.message) : .unknown(reason: refusal.message))
        : end(.refused(refusal))
    case (_, .notDone(let reason)), (_, .lost(let reason)): return notDone(reason)
    case (_, .needsCredential): return end(.needsCredential)
    default: return notDone("an answer that does not belong to the question")
    }
  }

  /// What may have run stays so.
  private mutating func notDone(_ reason: String) -> Action {
    end(mayHaveRun ? .unknown(reason: reason) : .notDone(reason: reason))
  }

  // MARK: Performing

  private mutating func read(_ row: AttemptRow) -> Action {
    let isUncertain = mayHaveRun || hasSent
    guard case .there(let there) = row else {
      switch kind {
      case .createUnderOwnKey: return write(.absent)
      case .delete where isUncertain: return end(.accepted(isRepeated: true))
      default:
        return mayHaveRun
          ? end(.unknown(reason: "the object is not there any more")) : end(.refused(.gone))
      }
    }
    if kind == .createUnderOwnKey {
      return there.isAsked
        ? end(.accepted(isRepeated: true))
        : end(.unknown(reason: "there is another object with this key"))
    }
    if isUncertain, kind == .update, there.isAsked { return end(.accepted(isRepeated: true)) }
    if let judgement = there.judgement { return hold(judgement) }
    if let conflict = there.conflict {
      guard !mayHaveRun else {
        return end(.unknown(reason: "the object has neither the old values nor the new ones"))
      }
      return end(.refused(conflict))
    }
    guard means.isConditional else {
      guard !mayHaveRun || flaws.contains(.retryUnconditional) else {
        return end(.unknown(reason: Self.noCondition))
      }
      return write(.none)
    }
    guard let etag = there.etag else {
      return mayHaveRun
        ? end(.unknown(reason: "the business system gave no ETag")) : write(.none)
    }
    if mayHaveRun, flaws.contains(.retryUnconditional) { return write(.none) }
    let first = firstETag ?? etag
    firstETag = first
    return write(.unchanged(etag: flaws.contains(.oldETagRetry) ? first : etag))
  }

  private mutating func changed() -> Action {
    switch kind {
    case .update, .delete:
      guard repeats < Self.repeatLimit else { return hold(.changedAgain) }
      repeats += 1
      return read()
    case .createUnderOwnKey: return ask(.read, .looking(nil))
    // The request is known, and was rejected: the row decides.
    case .createUnderGivenKey, .action: return end(.unknown(reason: "the request is known"))
    }
  }

  /// A create under its own key was refused. What equals it has the same effect.
  private mutating func looked(_ row: AttemptRow, _ refusal: Refusal?) -> Action {
    guard case .there(let there) = row else { return hold(refusal ?? .keyTaken) }
    if there.isAsked { return end(.accepted(isRepeated: true)) }
    return mayHaveRun
      ? end(.unknown(reason: "there is another object with this key"))
      : end(.refused(refusal ?? .keyTaken))
  }

  private mutating func found(_ count: Int) -> Action {
    let canTell = means.proof == .attribute || flaws.contains(.probeGuesses)
    if isRecall {
      guard canTell else { return end(.cannotTell(reason: Self.noProof)) }
      switch count {
      case 1: return end(.accepted(isRepeated: true))
      case 0: return end(isLateOver ? .notPerformed : .mayStillArrive)
      default: return end(.cannotTell(reason: "\(count) objects can be the one that was made"))
      }
    }
    switch count {
    case 1: return end(.accepted(isRepeated: true))
    case 0 where isLateOver: return write(.none)
    case 0: return end(.unknown(reason: "the request may still arrive"))
    default: return end(.unknown(reason: "\(count) objects can be the one that was made"))
    }
  }

  /// A refusal counts once no earlier request can be done any more.
  private mutating func hold(_ refusal: Refusal) -> Action {
    mayHaveRun && !isLateOver && !flaws.contains(.lateAfterRefusal)
      ? end(.unknown(reason: "refused, but an earlier request may still arrive"))
      : end(.refused(refusal))
  }

  // MARK: Recalling

  private mutating func recalled(_ row: AttemptRow) -> Action {
    guard case .there(let there) = row else {
      switch kind {
      case .delete: return end(.accepted(isRepeated: true))
      case .createUnderOwnKey: return end(.notPerformed)
      default: return end(.cannotTell(reason: "the object is not there any more"))
      }
    }
    if kind != .delete, there.isAsked { return end(.accepted(isRepeated: true)) }
    if kind != .createUnderOwnKey, there.conflict == nil {
      let canRepeat = there.etag != nil || flaws.contains(.retryUnconditional)
      return end(canRepeat ? .notPerformed : .cannotTell(reason: Self.noCondition))
    }
    return end(
      .cannotTell(
        reason: kind == .createUnderOwnKey
          ? "there is another object with this key"
          : "the object has neither the old values nor the new ones"))
  }

  // MARK: Steps

  private mutating func read() -> Action { ask(.read, .reading) }
  private mutating func find() -> Action { ask(.find, .finding) }

  private mutating func write(_ condition: Condition) -> Action {
    assert(!isRecall, "a question about an earlier request writes")
    assert(
      !flaws.isEmpty || !mayHaveRun || isLateOver || condition != .none,
      "what may have been performed is sent again without a condition")
    defer { hasSent = true }
    return ask(.write(condition), .writing)
  }

  private mutating func ask(_ request: Request, _ next: State) -> Action {
    state = next
    return .ask(request)
  }

  private mutating func end(_ ending: Ending) -> Action {
    state = .ended
    return .end(ending)
  }

  private static let noCondition =
    "the business system does not write on a condition, so a lost answer cannot be found again"
  private static let noProof = "nothing tells the object that was made from others like it"
}

/// A row as the machine needs it.
public enum AttemptRow: Sendable, Hashable {
  case absent
  case there(There)

  /// What the machine knows of a row that exists.
  public struct There: Sendable, Hashable {
    public let etag: String?
    /// It has each value that the operation asked for.
    public let isAsked: Bool
    /// Nil where it has each value that the operation was based on.
    public let conflict: Refusal?
    /// Why the user may not do it; nil where he may.
    public let judgement: Refusal?

    public init(etag: String?, isAsked: Bool, conflict: Refusal?, judgement: Refusal?) {
      self.etag = etag
      self.isAsked = isAsked
      self.conflict = conflict
      self.judgement = judgement
    }
  }
}

extension Refusal {
  static let gone = Refusal(code: 404, message: "The object is not in the business system.")
  static let keyTaken = Refusal(
    code: 412, message: "There is an object with this key already.")
  static let changedAgain = Refusal(
    code: 412, message: "The object was changed again and again. Save the change once more.")
}
