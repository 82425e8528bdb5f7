import FerryModel
import FerrySQLite
import FerryWire

/// A change that an operator discarded and wants back.
extension Corrections {
  /// Makes the change pending again as its refusal left it: open, failed, and with the words of that
  /// refusal. Nothing is submitted. What the app has pending of the object by now stays as it is.
  func restore(_ correction: Correction) throws(FerryError) -> CorrectionReceipt {
    guard let sent = try? Operation(Array(correction.sent.utf8), in: store.model),
      sent.id == correction.operation, let entity = store.model.entity(named: sent.entity)
    else {
      var receipt = CorrectionReceipt(id: correction.id, outcome: .invalid)
      receipt.message = "the model of the device does not fit the change"
      return receipt
    }
    var shown: VisibleRow?
    if let key = sent.key {
      let (isPending, row) = try transaction.sql { connection throws(SQLiteError) in
        (
          try OperationTable(self.store, connection).areThere(of: entity, key: key),
          try self.store.rows(of: entity).visible(connection, key: key)
        )
      }
      guard !isPending else { return CorrectionReceipt(id: correction.id, outcome: .kept) }
      shown = row
    }
    guard sent.kind == .create || shown != nil else {
      return CorrectionReceipt(id: correction.id, outcome: .absent)
    }
    let saved = try PendingStore.save(try change(sent, entity, shown), in: store)
    guard let object = shown?.object ?? saved?.object else {
      throw Corrections.invalid("the object is not on the device", entity)
    }
    let operation = try reopen(sent, entity, object)
    try ChainSealing(transaction).checkReferences(operation, entity)
    try keep(correction, sent, operation, entity)
    try note(correction, entity, operation)
    return CorrectionReceipt(id: correction.id, outcome: .taken)
  }

  /// What the app did then, on the object as it is now.
  private func change(
    _ sent: FerryWire.Operation, _ entity: Entity, _ shown: VisibleRow?
  ) throws(FerryError) -> LocalChange {
    let before =
      (sent.kind == .create ? nil : shown?.values)
      ?? [AttributeValue](repeating: .null, count: entity.attributes.count)
    guard sent.kind != .delete else {
      return LocalChange(
        entity: entity, kind: .delete, object: shown?.object, seen: before, after: nil)
    }
    var after = before
    for (position, value) in sent.changed.sorted(by: { $0.key < $1.key }) {
      let attribute = entity.attributes[position]
      guard !attribute.type.isBig || value.isNull else {
        throw Corrections.invalid("the content of \(attribute.name) is kept no more", entity)
      }
      let (canonical, misfit) = AttributeCheck.canonical(
        value, of: attribute, types: store.model.complexTypes, isGiven: entity.isGiven(position))
      if let misfit = misfit ?? AttributeCheck.unlisted(value, attribute) {
        throw Corrections.invalid("\(attribute.name): \(misfit.problem)", entity)
      }
      after[position] = canonical
    }
    return LocalChange(
      entity: entity, kind: sent.kind, object: shown?.object, seen: before, after: after)
  }

  /// The saved change as a refused one, based on what it was based on when it was sent: what others
  /// wrote since is a conflict as any other.
  private func reopen(
    _ sent: FerryWire.Operation, _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> PendingOperation {
    let operation = try transaction.sql { connection throws(SQLiteError) -> PendingOperation? in
      let pending = PendingStore(self.store, connection)
      guard var operation = try pending.operations.of(entity, object).last, operation.isOpen else {
        return nil
      }
      for (position, value) in sent.base
      where operation.kind == .delete || operation.changed[position] != nil {
        operation.base[position] = value
      }
      operation.state = .replayFailed
      operation.failure = operation.counter
      try pending.operations.update(operation)
      try pending.show(entity, object, shown: nil)
      return operation
    }
    guard let operation else {
      throw Corrections.invalid("the object already is as the change would make it", entity)
    }
    return operation
  }

  /// The words of the refusal, by which the next decision finds the change, and the app hears of it.
  private func keep(
    _ correction: Correction, _ sent: FerryWire.Operation, _ operation: PendingOperation,
    _ entity: Entity
  ) throws(FerryError) {
    var records = correction.records.filter { $0.requestID == sent.id }
    if !records.contains(where: { $0.level == .error }) {
      records.append(
        LogRecord(
          component: entity.name, entityKey: sent.key?.text ?? "", code: 500,
          message: "The change was refused.", operation: sent.kind, requestID: sent.id,
          timestamp: store.world.clock.now.milliseconds, level: .error))
    }
    let words = records
    try transaction.sql { connection throws(SQLiteError) in
      for record in words {
        try LogRecords.keep(record, entity: entity.name, object: operation.object, connection)
      }
      try NoticeTable.owe(
        .replayFailure, entity: entity.name, object: operation.object, key: operation.key,
        content: operation.kind.rawValue, connection)
    }
  }
}
