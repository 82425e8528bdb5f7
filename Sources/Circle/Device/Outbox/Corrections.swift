import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What an operator wants done with changes of this device that were refused.
///
/// The device makes the new form of a change, so there is never more than one: what the app did since
/// the refusal outweighs the operator, and the operator hears so. Each correction is done once: it is
/// done, and its receipt kept, in one transaction. The receipt is sent until the server brings the
/// correction no more.
struct Corrections {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  var store: Store { transaction.store }

  /// What became of those that the server does not know to be done.
  func receipts() throws(FerryError) -> [CorrectionReceipt] {
    guard let text = try transaction.setting(.corrections) else { return [] }
    return (try? CorrectionReceipt.list(json: Array(text.utf8))) ?? []
  }

  private func keep(_ receipts: [CorrectionReceipt]) throws(FerryError) {
    try transaction.set(
      .corrections,
      receipts.isEmpty ? nil : String(decoding: CorrectionReceipt.json(receipts), as: UTF8.self))
  }

  /// Does what a welcome brings. `sent`: receipts that the request of this welcome carried; the server
  /// has heard those whose corrections it brings no more. Returns whether something is to be sent.
  func take(
    _ corrections: [Correction], sent: [OperationID]
  ) throws(FerryError) -> Bool {
    let before = try receipts()
    let open = Set(corrections.map(\.id))
    var kept = before.filter { open.contains($0.id) || !sent.contains($0.id) }
    var isNew = false
    for correction in corrections
    where !kept.contains(where: { $0.id == correction.id }) && kept.count < WireLimits.corrections {
      kept.append(try carryOut(correction))
      isNew = true
    }
    if kept != before { try keep(kept) }
    return isNew || kept.contains { open.contains($0.id) && !sent.contains($0.id) }
  }

  private func carryOut(_ correction: Correction) throws(FerryError) -> CorrectionReceipt {
    let known = try refused(correction.operation)
    if known == nil, correction.verb == .restore {
      return try attempt(correction) { inner throws(FerryError) in try inner.restore(correction) }
    }
    guard let (entity, operation) = known else {
      return CorrectionReceipt(id: correction.id, outcome: .absent)
    }
    guard let operation, operation.counter == operation.failure else {
      return CorrectionReceipt(id: correction.id, outcome: .kept)
    }
    return try attempt(correction) { inner throws(FerryError) in
      try inner.carryOut(correction, entity, operation)
    }
  }

  private func attempt(
    _ correction: Correction, _ body: (Corrections) throws(FerryError) -> CorrectionReceipt
  ) throws(FerryError) -> CorrectionReceipt {
    do throws(FerryError) {
      // What cannot be done leaves nothing behind.
      return try store.withTransaction { inner throws(FerryError) in
        try body(Corrections(inner))
      }
    } catch {
      guard Corrections.impossible.contains(error.code) else { throw error }
      var receipt = CorrectionReceipt(id: correction.id, outcome: .invalid)
      receipt.message = error.message
      return receipt
    }
  }

  /// The object whose newest refusal is that of this operation, with the change that waits for the app;
  /// that is nil where the app has submitted it again.
  private func refused(
    _ id: OperationID
  ) throws(FerryError) -> (Entity, PendingOperation?)? {
    try transaction.sql { connection throws(SQLiteError) in
      let row = try connection.row(
        """
        SELECT entity, object FROM ferry_log_record AS r WHERE record ->> 'requestId' = ?
        AND NOT EXISTS (SELECT 1 FROM ferry_log_record AS newer
          WHERE newer.entity = r.entity AND newer.object = r.object AND newer.number > r.number
          AND newer.record ->> 'requestId' <> r.record ->> 'requestId'
          AND newer.record ->> 'level' = 'error')
        LIMIT 1
        """, .text(id.text))
      guard let name = row?[0].text, let object = row?[1].integer,
        let entity = self.store.model.entity(named: name)
      else { return nil }
      let all = try PendingStore(self.store, connection).operations.of(entity, object)
      guard !all.isEmpty else { return nil }
      let open = all.last.flatMap { $0.isOpen && $0.state == .replayFailed ? $0 : nil }
      return (entity, open)
    }
  }

  private func carryOut(
    _ correction: Correction, _ entity: Entity, _ operation: PendingOperation
  ) throws(FerryError) -> CorrectionReceipt {
    var receipt = CorrectionReceipt(id: correction.id, outcome: .taken)
    switch correction.verb {
    case .discard:
      _ = try PendingStore(store, transaction.connection).cancel(entity, operation.object)
      try transaction.sql { connection throws(SQLiteError) in
        try Contents(self.store).sweep(connection)
      }
    case .retry:
      try submit(entity, operation)
      receipt.operation = operation.id
    case .release:
      try write(correction, entity, operation)
      try submit(entity, operation)
      receipt.operation = operation.id
    // A device that was set back has it as it was.
    case .restore: break
    }
    try note(correction, entity, operation)
    return receipt
  }

  /// Puts the operator's values into the change, and bases it on what the operator saw: what others
  /// wrote since then is a conflict as any other.
  private func write(
    _ correction: Correction, _ entity: Entity, _ operation: PendingOperation
  ) throws(FerryError) {
    guard operation.kind != .delete else {
      throw Corrections.invalid("a delete has no values to correct", entity)
    }
    let changed = try values(correction.changed, entity)
    let seen = try values(correction.seen, entity)
    let shown = try transaction.sql { connection throws(SQLiteError) in
      try self.store.rows(of: entity).visible(connection, object: operation.object)
    }
    guard let shown else { throw Corrections.invalid("the object is not visible", entity) }
    var after = shown.values
    for (position, value) in changed {
      let attribute = entity.attributes[position]
      let (canonical, misfit) = AttributeCheck.canonical(
        value, of: attribute, types: store.model.complexTypes, isGiven: entity.isGiven(position))
      if let misfit = misfit ?? AttributeCheck.unlisted(value, attribute) {
        throw Corrections.invalid("\(attribute.name): \(misfit.problem)", entity)
      }
      after[position] = canonical
    }
    let change = LocalChange(
      entity: entity, kind: .update, object: operation.object, seen: shown.values, after: after)
    guard try PendingStore.save(change, in: store) != nil else {
      throw Corrections.invalid("the object is not on the device", entity)
    }
    try transaction.sql { connection throws(SQLiteError) in
      let table = PendingStore(self.store, connection).operations
      guard var corrected = try table.with(operation.id), corrected.kind == .update else { return }
      for position in corrected.changed.keys {
        if let value = seen[position] { corrected.base[position] = value }
      }
      try table.update(corrected)
    }
  }

  private func submit(_ entity: Entity, _ operation: PendingOperation) throws(FerryError) {
    _ = try ChainSealing(transaction).submit(entity, operation.object)
    store.freed()
  }

  /// The user reads what was done: it stays when the change is accepted.
  func note(
    _ correction: Correction, _ entity: Entity, _ operation: PendingOperation
  ) throws(FerryError) {
    let names = correction.verb == .release ? try values(correction.changed, entity) : [:]
    let list = names.keys.sorted().map { entity.attributes[$0].name }.joined(separator: ", ")
    let what =
      switch correction.verb {
      case .retry: "The change was sent again by an operator."
      case .release where list.isEmpty: "The change was released by an operator."
      case .release: "The change was corrected by an operator (\(list)) and sent again."
      case .discard: "The change was discarded by an operator."
      case .restore: "The discarded change was restored by an operator."
      }
    let record = LogRecord(
      component: entity.name, entityKey: operation.isTemporary ? "" : operation.key.text,
      code: 200, message: correction.message.isEmpty ? what : "\(what) \(correction.message)",
      operation: operation.kind, requestID: correction.id,
      timestamp: store.world.clock.now.milliseconds, level: .info)
    try transaction.sql { connection throws(SQLiteError) in
      try LogRecords.keep(record, entity: entity.name, object: operation.object, connection)
    }
  }

  private func values(
    _ json: String, _ entity: Entity
  ) throws(FerryError) -> [Int: AttributeValue] {
    let read: Result<[Int: AttributeValue], JSONError> = Array(json.utf8).withUnsafeBufferPointer {
      buffer in
      var scanner = JSONScanner(buffer, depthLimit: WireLimits.nesting)
      do throws(JSONError) { return .success(try scanner.values(of: entity)) } catch {
        return .failure(error)
      }
    }
    do { return try read.get() } catch {
      throw Corrections.invalid("its values cannot be read \(error)", entity)
    }
  }

  /// Errors of the correction itself. Of any other one it is tried again with the next welcome.
  private static let impossible: [FerryError.Code] = [
    .invalidValue, .tooLarge, .invalidReference, .notDownloaded, .operationNotAllowed, .keyChanged,
    .objectNotFound, .objectExists,
  ]

  static func invalid(_ problem: String, _ entity: Entity) -> FerryError {
    FerryError(
      .invalidValue, problem, hint: "Correct the change in another way.", entity: entity.name)
  }
}
