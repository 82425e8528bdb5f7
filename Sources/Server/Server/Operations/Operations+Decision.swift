import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// What a person found out about an operation whose outcome is unknown.
package enum OperationDecision: Sendable, Equatable {
  /// The business system has taken it; `key` is the object's business key.
  case accepted(key: ObjectKey)
  case refused(message: String)
  /// It was not performed: perform it, where its user may still do that. A business system that
  /// remembers operations is asked first; what it knows of is not performed again.
  case again
}

/// What an operator says of an operation whose outcome is unknown.
extension Operations {
  /// Ends an unknown outcome. `accepted` reads the object first, so its answer comes with the next
  /// replays. Throws `badRequest` when there is no such operation, its outcome is known, or it is being
  /// decided.
  func decide(_ id: OperationID, _ decision: OperationDecision) throws(ServerError) {
    let known = try guarded { () throws(StoreError) in try store.known([id])[0] }
    guard let known, known.outcome == .unknown, known.hasPayload else {
      throw ServerError(
        .badRequest, "there is no operation \(id) with an unknown outcome",
        hint: "`ferry why` shows the operations of an object.")
    }
    // Two would come to different ends, and what one says was told by then.
    guard known.state != .claimed else {
      throw ServerError(
        .badRequest,
        "the decision about operation \(id) is being made, and waits for the business system",
        hint: "`ferry why` shows when it has ended.")
    }
    let received = try guarded { () throws(StoreError) in try store.operation(id) }
    try decide(received, decision)
  }

  func decide(_ received: ReceivedOperation, _ decision: OperationDecision) throws(ServerError) {
    let rights = judgedRights(received)
    let operation = try connectorOperation(received, rights)
    let name = ReplayQueue.Name(received)
    core.lastTask += 1
    let mark = core.marks.begin(clock: try clock())
    do throws(ServerError) {
      try guarded { () throws(StoreError) in try store.claim([([operation.id], mark)]) }
    } catch {
      core.marks.end(mark)
      throw error
    }
    let limit = limits.readBackKeys
    var replay = ActiveReplay(
      id: core.lastTask, name: name, rights: [rights],
      machine: ReplayMachine(
        [operation], mayHaveRun: true, isDecided: true, readBackKeys: limit),
      step: .recall([operation]), mark: mark, marks: [mark])
    switch decision {
    case .again:
      // What was done is not done again, nor judged; the rights of the rest may never have been.
      replay.areRightsJudged = false
      replay.notBefore = world.clock.moment
    case .refused(let message):
      let refusal = Refusal(code: 500, message: message)
      replay.machine = ReplayMachine([operation], decided: [.refused(refusal)], readBackKeys: limit)
    case .accepted(let key):
      replay.machine = ReplayMachine(
        [operation], decided: [.accepted(key: key)], readBackKeys: limit)
      replay.step = .read(operation.entity, [key])
      replay.notBefore = world.clock.moment
    }
    for entity in package.entities { replay.machine.entities[entity.name] = entity }
    claim([(operation.entity.name, operation.kind, operation.key)], task: replay.id)
    replays[replay.id] = replay
    if replay.notBefore == nil { _ = try carryOut(.settle, replay.id) }
  }
}
