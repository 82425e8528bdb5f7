import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// What an operator says of an operation whose outcome is unknown.
extension Service {
  func decide(_ received: ReceivedOperation, _ decision: Decision) throws(ServerError) {
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
      step: .recall([operation.id]), mark: mark, marks: [mark])
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
