import FerryConnector
import FerryModel
import FerryOData
import FerryODataClient

/// What became of operations whose answers were lost.
extension ChainWork {
  mutating func recall() throws(ConnectorError) -> [Recall] {
    var recalls: [Recall] = []
    var unknown = UnknownKeys()
    for place in group.indices {
      operations[place] = keys.applied(to: group[place])
      let operation = operations[place]
      connection.memory.noteRecalled(operation)
      guard let form = desk.forms(operation.entity) else {
        throw ConnectorError(
          "The service does not have \(operation.entity.name) as the model says",
          hint: EntityForm.cure, isTransient: false)
      }
      if operation.kind != .create { try requireProof(place, form) }
      let ending = run(place, form, isRecall: true)
      let recall = unknown.corrected(try recalled(ending, place), of: group[place])
      // Later ones of the chain refer to it by the key that only its device knew.
      if case .performed(.accepted(let key, _)) = recall { keys.learn(group[place], key: key) }
      recalls.append(recall)
    }
    return recalls
  }

  private func recalled(
    _ ending: AttemptMachine.Ending, _ place: Int
  ) throws(ConnectorError) -> Recall {
    let id = group[place].id
    switch ending {
    case .accepted:
      connection.memory.forget(id)
      let key = made[place] ?? operations[place].key ?? ObjectKey([])
      return .performed(.accepted(key: key, isRepeated: true))
    case .notPerformed:
      // A process that comes later knows nothing of this attempt. It would take what still arrives for
      // the work of somebody else.
      if let attempt = connection.memory.attempt(id), connection.memory.clock.moment < attempt.until
      {
        return .mayStillArrive(until: attempt.until)
      }
      return .notPerformed
    case .mayStillArrive:
      return .mayStillArrive(
        until: connection.memory.attempt(id)?.until ?? connection.memory.clock.moment)
    case .cannotTell(let reason):
      // Whoever decides that it is performed again decides it knowing this.
      connection.memory.forget(id)
      let seen = images[place].map { [$0] } ?? []
      return .cannotTell(
        reason: reason, candidates: candidates[place].isEmpty ? seen : candidates[place])
    case .refused(let refusal): return .performed(.refused(refusal))
    case .unknown(let reason), .notDone(let reason):
      throw ConnectorError(reason, hint: "It is tried again.", isTransient: true)
    case .needsCredential: throw RequestDesk.error(.needsCredential)
    }
  }

  /// After a restart nothing is known of the service yet. What was read is written under an ETag that
  /// no object has: a service that heeds conditions does nothing, any other one changes nothing.
  private mutating func requireProof(
    _ place: Int, _ form: EntityForm
  ) throws(ConnectorError) {
    let operation = operations[place]
    guard connection.memory.proof(of: operation.entity.table) == nil, let key = operation.key else {
      return
    }
    switch desk.read(form, key) {
    case .absent: return
    case .failed(let answer): throw RequestDesk.error(answer)
    case .there(let entry, let image):
      guard entry.etag != nil, let row = image.values else { return }
      let free = row.indices.filter { !form.entity.key.contains($0) }
      let positions =
        operation.changed.isEmpty ? Array(free.prefix(1)) : Array(operation.changed.keys)
      let same = ConnectorOperation(
        id: operation.id, entity: operation.entity, kind: .update, key: key,
        changed: Dictionary(uniqueKeysWithValues: positions.map { ($0, row[$0]) }), base: [:])
      switch desk.write(same, form, onto: entry, etag: ChainWork.noETag) {
      case .changed: connection.prove(operation.entity.table, true)
      case .done: connection.prove(operation.entity.table, false)
      case .absent, .refused, .faulty: return
      case .notDone, .lost, .needsCredential:
        throw ConnectorError(
          "The service cannot be asked whether it heeds conditions", hint: "It is tried again.",
          isTransient: true)
      }
    }
  }
}
