import FerryModel
import FerrySQLite
import FerryWire

extension ChainSealing {
  /// Nothing is performed as one in two business systems: one could refuse what the other did.
  func checkConnections(_ members: [PendingOperation]) throws(FerryError) {
    let entities = members.compactMap { store.model.entity(named: $0.entity) }
    guard let first = entities.first,
      let other = entities.first(where: { $0.connection != first.connection })
    else { return }
    throw FerryError(
      .operationNotAllowed,
      "changes of \(first.name) and \(other.name) are to be replayed as one, and their rows are in two "
        + "business systems: \(first.shownConnection) and \(other.shownConnection)",
      hint: "Change them in two transactions.", entity: first.name)
  }

  /// What was submitted and had to wait cannot be sent as it is by now: the app hears of it as of a
  /// refusal of the business system, with a log record of code 422 that the device writes. It is
  /// pending, and can be corrected or cancelled.
  func refuse(
    _ members: [PendingOperation], for reason: FerryError
  ) throws(SQLiteError) {
    let connection = transaction.connection
    store.world.log.error("a change cannot be sent", ("reason", reason.description))
    for var member in members {
      (member.wanted, member.state) = (.no, .replayFailed)
      member.failure = member.counter
      try pending.operations.update(member)
    }
    for member in members {
      // It may have gone with a new object that one of them left nothing of.
      guard let entity = store.model.entity(named: member.entity),
        try pending.operations.with(member.id) != nil
      else { continue }
      let record = LogRecord(
        component: member.entity, entityKey: member.isTemporary ? "" : member.key.text, code: 422,
        message: "\(reason.message). \(reason.hint)", operation: member.kind,
        requestID: member.id, timestamp: store.world.clock.now.milliseconds, level: .error,
        attribute: reason.entity == member.entity ? reason.attribute : nil)
      // What was changed since it was submitted is in the app's hand with it.
      guard try pending.giveBack(entity, member.object, telling: .refused([record]))
      else { continue }
      store.ended(AnsweredOperation(member, .refused([record])))
      try LogRecords.keep(record, entity: member.entity, object: member.object, connection)
      try NoticeTable.owe(
        .replayFailure, entity: member.entity, object: member.object, key: member.key,
        content: member.kind.rawValue, connection)
    }
  }
}
