import FerryModel

/// What became of operations whose answers were lost.
extension AttemptWork {
  package mutating func recall() throws(ConnectorError) -> [Recall] {
    var recalls: [Recall] = []
    var unknown = UnknownKeys()
    for place in group.indices {
      operations[place] = keys.applied(to: group[place])
      let operation = operations[place]
      memory.noteRecalled(operation)
      if let misfit = desk.misfit(of: operation.entity) {
        throw ConnectorError(
          misfit, hint: "Correct the model or the mapping.", isTransient: false)
      }
      if operation.kind != .create { try requireProof(operation) }
      let ending = run(place, isRecall: true)
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
      memory.forget(id)
      let key = made[place] ?? operations[place].key ?? ObjectKey([])
      return .performed(.accepted(key: key, isRepeated: true))
    case .notPerformed:
      // A process that comes later knows nothing of this attempt. It would take what still arrives for
      // the work of somebody else.
      if let attempt = memory.attempt(id), memory.clock.moment < attempt.until {
        return .mayStillArrive(until: attempt.until)
      }
      return isNumbered(operations[place]) ? .mayBeRepeated : .notPerformed
    case .mayStillArrive:
      return .mayStillArrive(until: memory.attempt(id)?.until ?? memory.clock.moment)
    case .cannotTell(let reason):
      // Whoever decides that it is performed again decides it knowing this.
      memory.forget(id)
      let seen = images[place].map { [$0] } ?? []
      return .cannotTell(
        reason: reason, candidates: candidates[place].isEmpty ? seen : candidates[place])
    case .refused(let refusal): return .performed(.refused(refusal))
    case .unknown(let reason), .notDone(let reason):
      throw ConnectorError(reason, hint: "It is tried again.", isTransient: true)
    case .needsCredential:
      throw ConnectorError(
        "The service wants a credential", hint: "Give the connection one that it accepts.",
        isTransient: true)
    }
  }

  /// Whether nothing but the number of its request makes it safe to perform it again.
  private func isNumbered(_ operation: ConnectorOperation) -> Bool {
    guard operation.kind == .create, operation.key == nil || operation.entity.isOperation else {
      return false
    }
    return desk.means(of: operation, memory.attempt(operation.id)).proof == .repeatable
  }

  /// After a restart nothing is known of the service yet. What was read is written under a condition
  /// that no object meets: a service that heeds conditions does nothing, any other one changes nothing.
  private func requireProof(_ operation: ConnectorOperation) throws(ConnectorError) {
    let entity = operation.entity
    guard memory.proof(of: entity.table) == nil, let key = operation.key,
      let none = desk.impossibleETag(of: entity),
      case .there(let entry, let image, let etag) = desk.read(entity, key), etag != nil,
      let row = image.values
    else { return }
    let free = row.indices.filter { !entity.key.contains($0) }
    let positions =
      operation.changed.isEmpty ? Array(free.prefix(1)) : Array(operation.changed.keys)
    let same = ConnectorOperation(
      id: operation.id, entity: entity, kind: .update, key: key,
      changed: Dictionary(uniqueKeysWithValues: positions.map { ($0, row[$0]) }), base: [:])
    switch desk.write(same, .unchanged(etag: none), onto: entry) {
    case .changed: memory.prove(entity.table, true)
    case .done: memory.prove(entity.table, false)
    case .absent, .refused: return
    case .notDone, .lost, .forgotten, .needsCredential:
      throw ConnectorError(
        "The service cannot be asked whether it heeds conditions", hint: "It is tried again.",
        isTransient: true)
    }
  }
}
