import Ferry
import FerryModel
import FerryWire

/// What may become of a pending change, and what not.
extension DeviceWatch {
  /// Invariants 1, 2, 6 and 12: a pending change leaves only with its answer, in the import that
  /// carries it, or because the app took it back; its id stays until an answer has used it up.
  func checkOperations(
    _ current: [Int64: PendingOperation], _ checkpoints: [String: CheckpointName],
    isAnswered: Bool, _ ledger: Ledger
  ) throws {
    // Keys that the very same import gives; what waits behind a create knows it by the old one.
    for old in operations.values where isAnswered && old.kind == .create {
      let checkpoint = checkpoints[SimulatedBusiness.group(of: old.entity)]
      let told = (ledger.told[old.id] ?? []).first { $0.checkpoint == checkpoint }
      if let key = told?.answer.newKey { given[old.key] = key }
    }
    let unmade = unmade(current)
    for (sequence, old) in operations.sorted(by: { $0.key < $1.key }) {
      if let new = current[sequence] {
        guard new != old else { continue }
        if new.id != old.id { ledger.leave(old.id) }
        if new.isSent, !old.isSent { reach(.sent, old.name) }
        trace.say("    device \(number): \(shown(old)) became \(shown(new))")
        try compare(old, new, ledger)
      } else if isMoved(old, current) || isBehindPart(old, current) {
        trace.say("    device \(number): \(shown(old)) has another place")
      } else {
        trace.say("    device \(number): \(shown(old)) is gone")
        ledger.leave(old.id)
        if case .session? = cause,
          isUnited(old, current) || isGivenBack(old, current) || isUnmade(old, unmade)
            || isWithdrawnWithCreate(old, current)
        {
          continue
        }
        let checkpoint = checkpoints[SimulatedBusiness.group(of: old.entity)]
        try accountFor(old, checkpoint, isAnswered: isAnswered, ledger)
      }
    }
  }

  /// A delete that waits behind a create of the same object has become the withdrawal of the create.
  private func isWithdrawnWithCreate(
    _ old: PendingOperation, _ current: [Int64: PendingOperation]
  ) -> Bool {
    old.kind == .delete && !old.isInFlight
      && current.values.contains {
        $0.kind == .create && $0.state == .withdrawn && $0.entity == old.entity
          && $0.object == old.object && $0.sequence < old.sequence
      }
  }

  private func compare(
    _ old: PendingOperation, _ new: PendingOperation, _ ledger: Ledger
  ) throws {
    switch cause {
    case nil:
      // Where the disk failed as it was noted that it is sent, that may turn out to be written at the
      // next start.
      var sent = old
      sent.isSent = true
      guard sent == new else { throw failure(1, "\(shown(old)) became \(shown(new)) by itself") }
    case .app:
      guard new.id == old.id else {
        throw failure(2, "\(shown(old)) got the id \(new.id) before it was answered")
      }
    case .session: try compareAnswered(old, new, ledger)
    }
  }

  private func compareAnswered(
    _ old: PendingOperation, _ new: PendingOperation, _ ledger: Ledger
  ) throws {
    let outcomes = ledger.outcomes(of: old.id)
    if new.id != old.id {
      // A copy may have been told otherwise, and made the same order.
      if isCopy { ledger.loosen(old) }
      guard !outcomes.isDisjoint(with: [.replayFailed, .notTried]) else {
        throw failure(2, "\(shown(old)) got the id \(new.id) before it was answered")
      }
      reach(new.state == .replayFailed ? .refused : .notTried, old.name)
      if new.state == .replayFailed { expect(.failure, new) }
    } else if new.state == .replayFailed, old.state == .waiting,
      old.wanted != .no || old.isNotTried
    {
      // What it waited for is no more: the device itself says no.
      reach(.refused, old.name)
      expect(.failure, new)
    } else if new.state == .unknown, old.state != .unknown {
      ledger.loosen(old)
      reach(.unknown, old.name)
      expect(.unknown, new)
    }
    guard new.kind == old.kind else { return }
    guard Set(old.changed.keys).isSubset(of: new.changed.keys) else {
      throw failure(1, "\(shown(old)) lost values: \(shown(new))")
    }
  }

  private func accountFor(
    _ old: PendingOperation, _ checkpoint: CheckpointName?, isAnswered: Bool, _ ledger: Ledger
  ) throws {
    switch cause {
    // What the app took back is looked at with what it was told.
    case .app:
      ledger.recall(old.id)
      return
    case nil: throw failure(12, "\(shown(old)) is gone by itself")
    case .session: break
    }
    if old.state == .withdrawn {
      reachWithdrawn(old, ledger)
      return
    }
    let told = ledger.told[old.id] ?? []
    // What was told of it now, by this import or at the door; a copy may have been told otherwise.
    let now =
      refused.filter { $0.id == old.id }
      + told.filter { isAnswered && $0.checkpoint == checkpoint }.map(\.answer)
    if let answer = now.first(where: { $0.outcome == .replayResult }) {
      guard let checkpoint, answer.version <= checkpoint.version else {
        throw failure(6, "\(shown(old)) left before the version \(answer.version) of its answer")
      }
      reach(.accepted, old.name)
      expect(.success, old, key: answer.newKey)
      if !hasImage(old) {
        ledger.lose(RowName(entity: old.entity, key: answer.newKey ?? old.key))
      }
      return
    }
    if now.contains(where: { $0.outcome == .replayFailed }) {
      reach(.refused, old.name)
      expect(.failure, old)
      return
    }
    if now.contains(where: { $0.outcome == .notTried }) {
      reach(.notTried, old.name)
      return
    }
    // What waited behind a change that was not taken has become one with it.
    let joined = operations.values.contains {
      $0.entity == old.entity && $0.object == old.object && $0.sequence < old.sequence
        && !ledger.outcomes(of: $0.id).isDisjoint(with: [.replayFailed, .notTried])
    }
    guard !old.isInFlight, joined else {
      if told.contains(where: { $0.answer.outcome == .replayResult }) {
        throw failure(
          6, "\(shown(old)) was accepted and left outside of the import that carried its answer")
      }
      // An import takes only what its checkpoint answers.
      throw failure(isAnswered ? 12 : 1, "\(shown(old)) is gone and nobody answered it")
    }
  }

  /// What became of a change that the app had taken back.
  private func reachWithdrawn(_ old: PendingOperation, _ ledger: Ledger) {
    let deeds: [Answer.Outcome: ReachedPair.Deed] = [
      .replayResult: .accepted, .replayFailed: .refused, .notTried: .notTried,
    ]
    if let deed = ledger.told[old.id]?.last.flatMap({ deeds[$0.answer.outcome] }) {
      reach(deed, old.name)
    }
  }

  /// Whether its object was here twice, and what waited of either has become one.
  private func isUnited(_ old: PendingOperation, _ current: [Int64: PendingOperation]) -> Bool {
    !old.isInFlight
      && current.values.contains { new in
        let before = operations[new.sequence] ?? new
        guard new.entity == old.entity, !before.isInFlight, before.object != old.object,
          new.object == old.object || new.key == renamed(old.key, old.entity)
        else { return false }
        return new.kind == .delete || before.kind == .delete
          || Set(old.changed.keys).isSubset(of: new.changed.keys)
      }
  }

  /// A key after this import, where the answers in it gave the object its own key or that of what it
  /// belongs to.
  private func renamed(_ key: ObjectKey, _ entity: String) -> ObjectKey {
    if let new = given[key] { return new }
    guard let entity = SimulatedBusiness.package.entity(named: entity),
      let values = key.values(of: entity)
    else { return key }
    return ObjectKey(
      values.map { value in
        given[ObjectKey([value])]?.values(of: SimulatedBusiness.order)?.first ?? value
      })
  }

  /// Whether its object was here twice, and it goes behind what was changed of the other row. What
  /// was changed later there, and submitted, it need not change any more.
  private func isMoved(_ old: PendingOperation, _ current: [Int64: PendingOperation]) -> Bool {
    guard case .session? = cause, !old.isInFlight,
      let new = current.values.first(where: { $0.id == old.id }), new.sequence > old.sequence,
      new.kind == old.kind, new.state == old.state, (new.wanted == .no) == (old.wanted == .no)
    else { return false }
    let all = current.values.filter { $0.name == new.name }
    let isOfTwo =
      new.object != old.object
      || all.contains { operations[$0.sequence].map { $0.object != new.object } ?? false }
    return isOfTwo && Set(old.changed.keys).isSubset(of: Set(all.flatMap(\.changed.keys)))
  }

  /// Whether a change before it was sent in two parts, and it goes behind the second with all that it
  /// changes.
  private func isBehindPart(_ old: PendingOperation, _ current: [Int64: PendingOperation]) -> Bool {
    guard !old.isInFlight, let new = current.values.first(where: { $0.id == old.id }) else {
      return false
    }
    var same = new
    same.sequence = old.sequence
    return same == old
      && current.values.contains { part in
        part.isInFlight && operations[part.sequence] == nil && part.entity == old.entity
          && (part.object == old.object || part.key == old.key)
          && old.sequence < part.sequence && part.sequence < new.sequence
      }
  }

  /// Whether it is one of the changes of its object, the first of which was submitted, waited for
  /// others and is not sent after all: they have become one, or leave nothing. Those behind it may have
  /// been submitted too: the first was on its way then, and was recalled with a part that was cancelled.
  private func isGivenBack(_ old: PendingOperation, _ current: [Int64: PendingOperation]) -> Bool {
    guard let join = JoinCheck(of: old, before: operations.values, now: current) else {
      return false
    }
    return join.allowsAnswered(current[join.first.sequence])
  }

  /// Invariant 6: what the checkpoint answered is pending no longer.
  func checkAnswers(
    _ current: [Int64: PendingOperation], _ checkpoint: CheckpointName, _ ledger: Ledger
  ) throws {
    // What waited, or was not sent, when the answer came was not what the answer is for.
    let was = Set(operations.values.filter { $0.isInFlight && $0.isSent }.map(\.id))
    let inFlight = Set(current.values.filter { $0.isInFlight && $0.state != .unknown }.map(\.id))
      .intersection(was)
    let carried = ledger.answers(to: number, in: checkpoint)
    guard !carried.isEmpty, carried.allSatisfy({ !$0.isDisjoint(with: inFlight) }) else { return }
    let answered = carried.reduce(into: Set<OperationID>()) { $0.formUnion($1) }
    let pending = current.values.filter { answered.contains($0.id) && inFlight.contains($0.id) }
    throw failure(
      6,
      "\(pending.map(shown).sorted().joined(separator: ", ")) is pending although the checkpoint "
        + "\(checkpoint.version) answers it")
  }

  /// Invariant 3: what is sent has nothing left that must end before it, and what was submitted of an
  /// object does not stand behind what is open.
  func checkDependencies(_ current: [PendingOperation]) throws {
    let changes: [ObjectNumber: [PendingOperation]] = Dictionary(grouping: current, by: \.name)
    for operation in current {
      let own = (changes[operation.name] ?? []).sorted { $0.sequence < $1.sequence }
      guard let (first, second) = PendingMachine.disorder(own) else { continue }
      throw failure(3, "\(shown(first)) stands before \(shown(second))")
    }
    guard let (sent, first) = DependencyCheck(current, tables).tooEarly(since: operations) else {
      return
    }
    throw failure(3, "\(shown(sent)) is sent before \(shown(first)) has ended")
  }

  private func expect(
    _ kind: CallbackRecorder.Told.Kind, _ operation: PendingOperation, key: ObjectKey? = nil
  ) {
    guard operation.state != .withdrawn else { return }
    let told = CallbackRecorder.Told(
      kind: kind, entity: operation.entity,
      key: key ?? renamed(operation.key, operation.entity))
    expected[told, default: 0] += 1
  }

  func shown(_ operation: PendingOperation) -> String { operation.shown }
}

extension PendingOperation {
  /// The object that it changes.
  var name: ObjectNumber { ObjectNumber(entity: entity, number: object) }

  var shown: String {
    let changed = changed.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.shown)" }
    return
      "\(id.text.prefix(6)) \(state) \(kind) of \(entity) \(key) "
      + "(\(changed.joined(separator: " ")))"
  }
}
