import FerryConnector
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// What an operator says of an operation whose outcome is unknown.
extension Service {
  func decide(_ received: ReceivedOperation, _ decision: Decision) throws(ServerError) {
    let operation = try connectorOperation(received)
    let name = ReplayQueue.Name(received)
    lastTask += 1
    let mark = marks.begin(clock: try clock())
    do throws(ServerError) {
      try guarded { () throws(SQLiteError) in try replayStore.claim([([operation.id], mark)]) }
    } catch {
      marks.end(mark)
      throw error
    }
    var replay = ActiveReplay(
      id: lastTask, name: name, claims: received.claims,
      machine: ReplayMachine([operation], mayHaveRun: false, readBackKeys: limits.readBackKeys),
      step: .perform([operation]), mark: mark, marks: [mark])
    for entity in package.entities { replay.machine.entities[entity.name] = entity }
    switch decision {
    case .again:
      // Its rights may never have been judged.
      replay.areRightsJudged = false
      replay.notBefore = world.clock.moment
    case .refused(let message):
      replay.machine = ReplayMachine(
        [operation], decided: [.refused(Refusal(code: 500, message: message))],
        readBackKeys: limits.readBackKeys)
    case .accepted(let key):
      replay.machine = ReplayMachine(
        [operation], decided: [.accepted(key: key)], readBackKeys: limits.readBackKeys)
      replay.step = .read(operation.entity, [key])
      replay.notBefore = world.clock.moment
    }
    claim([(operation.entity.name, operation.kind, operation.key)], task: replay.id)
    replays[replay.id] = replay
    if replay.notBefore == nil { _ = try carryOut(.settle, replay.id) }
  }
}
