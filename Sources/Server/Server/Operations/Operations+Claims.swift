import FerryConnector
import FerryModel
import FerryWire

/// What operations hold while they may be changing it.
extension Operations {
  /// `mayHaveRun`: what it creates may have been there before it was claimed (Decision 0109, 2).
  func claim(
    _ operations: [(entity: String, kind: OperationKind, key: ObjectKey?)], task: Int64,
    mayHaveRun: Bool = false
  ) {
    core.claims.claim(
      operations.compactMap { operation in
        operation.key.map { ObjectName(entity: operation.entity, key: $0) }
      }, creates: operations.filter { $0.kind == .create }.map(\.entity),
      isKeyless: operations.contains { $0.kind == .create && $0.key == nil }, task: task,
      moment: mayHaveRun ? Claims.always : core.marks.tick())
  }

  /// Takes up what a stop or a crash left. What may have been performed is claimed from the start
  /// on: a load that reads what it did must not tell of it before its answer does.
  func takeUp(
    _ waiting: [(received: ReceivedOperation, wasClaimed: Bool)]
  ) throws(ServerError) {
    var left: [ReplayQueue.Name: [Operation]] = [:]
    var names: [ReplayQueue.Name] = []
    for (received, wasClaimed) in waiting {
      let missing = try guarded { () throws(StoreError) in try self.missing(received) }
      queue.add(
        received, now: world.clock.moment,
        connection: connections.position(of: received.operation.entity), wasClaimed: wasClaimed,
        isNamed: CallerDevice.isOne(received.device),
        contents: references(of: received.operation),
        missing: missing)
      guard wasClaimed || received.mayHaveRun else { continue }
      let name = ReplayQueue.Name(received)
      if left[name] == nil { names.append(name) }
      left[name, default: []].append(received.operation)
    }
    for name in names where queue.isComplete(name) {
      core.lastTask += 1
      held[name] = core.lastTask
      claim(
        (left[name] ?? []).map { ($0.entity, $0.kind, $0.key) }, task: core.lastTask,
        mayHaveRun: true)
    }
  }
}
