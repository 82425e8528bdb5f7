import FerryModel
import FerrySQLite
import FerryWire

/// Applies the answers of a checkpoint to the pending operations, inside the import's transaction.
package struct AnswerTaker {
  private let store: Store
  private let connection: Connection
  private let pending: PendingStore
  private let answers: [Answer]

  init(_ store: Store, _ connection: Connection, _ answers: [Answer]) {
    self.store = store
    self.connection = connection
    pending = PendingStore(store, connection)
    self.answers = answers
  }

  /// An object whose operations were answered.
  struct Touched {
    let entity: String
    let object: Int64
    let answered: [AnsweredOperation]
  }

  /// Gives accepted creates their keys, before the pages that name them. Returns the answers that
  /// concern operations of this device, in the order in which those were made.
  func takeKeys() throws(SQLiteError) -> [(PendingOperation, Answer)] {
    var known: [(PendingOperation, Answer)] = []
    for answer in answers {
      // On a device that was set back it may not have been sent: what is here may be another form of
      // the change. Once it is sent, the server tells the answer again, or that it is another form.
      guard let operation = try pending.operations.with(answer.id),
        operation.isInFlight, operation.isSent
      else { continue }
      known.append((operation, answer))
    }
    known.sort { $0.0.sequence < $1.0.sequence }
    let rekey = Rekey(store, connection)
    for (operation, answer) in known {
      guard answer.outcome == .replayResult, let newKey = answer.newKey,
        let entity = store.model.entity(named: operation.entity)
      else { continue }
      try rekey.run(entity, operation.object, from: operation.key, to: newKey)
    }
    return known
  }

  /// Ends the answered operations, once the pages are in.
  func take(_ known: [(PendingOperation, Answer)]) throws(SQLiteError) -> [Touched] {
    let known = try readAgain(known)
    var touched: [Touched] = []
    var gone: [PendingOperation] = []
    let over = try groupsToSendAgain(known)
    var reopened: [OperationID: Reopened] = [:]
    for (index, (taken, answer)) in known.enumerated() {
      // Read again: a key may have changed since.
      let earlier = reopened[taken.id]?.operation
      let present = earlier == nil ? try pending.operations.with(taken.id) : earlier
      guard let operation = present, let entity = store.model.entity(named: operation.entity)
      else { continue }
      // At most two: one that was submitted and waits for this answer, one that was not.
      let waiting = try pending.operations.of(entity, operation.object)
        .filter { $0.sequence > operation.sequence && !$0.isInFlight }
      var answered = [AnsweredOperation(operation, .init(answer))]
      switch answer.outcome {
      case .replayResult: try accept(operation, answer, waiting, entity)
      case .replayFailed, .notTried:
        if reopened[taken.id] == nil {
          try reopen(known[index...], of: entity, operation.object, into: &reopened)
        }
        // Those who wait for what it was joined with hear the same.
        guard let found = reopened[taken.id] else { continue }
        answered += found.joined.map { AnsweredOperation($0, answered[0].outcome) }
        gone += found.gone
      case .unknown:
        var unknown = operation
        if unknown.state != .withdrawn { unknown.state = .unknown }
        try pending.operations.update(unknown)
      }
      // The server says it again until it hears that it was heard.
      if answer.outcome != .unknown || operation.state != .unknown {
        try keep(answer.logRecords, operation)
        try owe(answer, operation)
      }
      touched.append(
        Touched(
          entity: operation.entity, object: operation.object, answered: answered))
    }
    for operation in gone { try letGo(operation) }
    for (chain, count) in over { try sendAgain(chain, of: count) }
    return touched
  }

  /// Two objects may have become one when keys were given: what was not taken is looked for by the
  /// number that its object has now.
  private func readAgain(
    _ known: [(PendingOperation, Answer)]
  ) throws(SQLiteError) -> [(PendingOperation, Answer)] {
    guard known.contains(where: { $0.1.outcome == .replayFailed || $0.1.outcome == .notTried })
    else { return known }
    var found: [(PendingOperation, Answer)] = []
    for (taken, answer) in known {
      found.append((try pending.operations.with(taken.id) ?? taken, answer))
    }
    return found
  }

  /// Groups that the server waited for in vain, with the number of their operations.
  private func groupsToSendAgain(
    _ known: [(PendingOperation, Answer)]
  ) throws(SQLiteError) -> [(chain: OperationID, count: Int)] {
    var found: [(chain: OperationID, count: Int)] = []
    for (operation, answer) in known where answer.isToBeSentAgain {
      guard answer.outcome == .notTried, !found.contains(where: { $0.chain == operation.chain }),
        let payload = try connection.value(
          "SELECT payload FROM ferry_operation WHERE sequence = ?", .integer(operation.sequence))?
          .blob,
        let sent = try? Operation(payload, in: store.model)
      else { continue }
      found.append((operation.chain, sent.count))
    }
    return found
  }

  /// Nobody refused it: it goes again by itself once all of it was answered. Where the app has
  /// cancelled a part of it, `PendingStore.submitNotTried` sees to the others.
  private func sendAgain(_ chain: OperationID, of count: Int) throws(SQLiteError) {
    let members = try pending.operations.select("WHERE chain = ?", [.text(chain.text)])
    guard members.count == count,
      members.allSatisfy({ $0.state == .waiting && $0.wanted == .no })
    else { return }
    for var member in members {
      member.wanted = .again
      try pending.operations.update(member)
    }
  }

  /// What was cancelled on its way and was not done after all: what was sent with it, and refused
  /// with it, may refer to its temporary key, which nobody will ever replace. What refers to a create
  /// that was refused, and deleted meanwhile, stays as it was saved: see `Store.checkReferences`.
  private func letGo(_ operation: PendingOperation) throws(SQLiteError) {
    try pending.letGo(operation)
    guard let entity = store.model.entity(named: operation.entity) else { return }
    if operation.state == .withdrawn {
      try pending.forgetKey(of: operation, entity)
    } else {
      // What stays on the device has nobody to refuse it.
      try LocalReferences(model: store.model, connection: connection).forget(operation, of: entity)
    }
  }

  /// Waiting changes are based on what the operation wrote: the business system may have taken its
  /// values in another form. The image is no base. It may have later changes of others, which a
  /// waiting change would overwrite without a conflict.
  private func accept(
    _ operation: PendingOperation, _ answer: Answer, _ waiting: [PendingOperation],
    _ entity: Entity
  ) throws(SQLiteError) {
    if !waiting.isEmpty, !store.world.has(.baseNotMoved) {
      let written = written(answer, entity)
      for rebased in PendingMachine.rebase(waiting, after: operation, written: written) {
        try pending.operations.update(rebased)
      }
    }
    try pending.operations.delete(operation)
    if operation.kind == .delete { try showAgain(operation, entity) }
    // Another change of the object may have been refused: one that was made while it was here twice.
    // What an operator did stays for its user; what the business system said of an earlier success does not.
    try connection.run(
      """
      DELETE FROM ferry_log_record WHERE entity = ?1 AND object = ?2
      AND (record ->> 'level' <> 'info' OR record ->> 'code' = 299) AND (record ->> 'requestId' = ?3 OR NOT EXISTS (SELECT 1 FROM ferry_operation
        WHERE entity = ?1 AND object = ?2 AND state IN ('replayFailed', 'unknown')))
      """, .text(operation.entity), .integer(operation.object), .text(operation.id.text))
  }

  /// What the business system wrote otherwise than it was sent, by position.
  private func written(_ answer: Answer, _ entity: Entity) -> [Int: AttributeValue] {
    var written: [Int: AttributeValue] = [:]
    for (position, attribute) in entity.attributes.enumerated() {
      if let value = answer.written[attribute.name] { written[position] = value }
    }
    return written
  }

  /// The object is gone, and a change of it waits that was made on another row, which turned out to
  /// be this object: it is shown on what the delete was based on, as changes are of what others
  /// deleted.
  private func showAgain(_ delete: PendingOperation, _ entity: Entity) throws(SQLiteError) {
    let rows = store.rows(of: entity)
    let rest = try pending.operations.of(entity, delete.object)
    guard rest.contains(where: { $0.state != .withdrawn && $0.kind == .update }),
      let values = AnswerTaker.values(delete.base, of: entity),
      try rows.visible(connection, object: delete.object) == nil,
      try rows.downloaded(connection, key: entity.key.map { values[$0] }) == nil
    else { return }
    try pending.show(entity, delete.object, shown: values)
  }

  /// All values of an object; nil where `known` has not all of them.
  private static func values(_ known: [Int: AttributeValue], of entity: Entity) -> [AttributeValue]?
  {
    var values: [AttributeValue] = []
    for position in entity.attributes.indices {
      guard position < entity.servedCount else {
        values.append(.null)
        continue
      }
      guard let value = known[position] else { return nil }
      values.append(value)
    }
    return values
  }

  /// A change that was not taken, as it was on its way; and what became of the changes behind it.
  private struct Reopened {
    let operation: PendingOperation
    var joined: [PendingOperation] = []
    /// It was cancelled on its way, or is of nothing by now.
    var gone: [PendingOperation] = []
  }

  /// All changes of one object that were not taken are the app's again, the last one first: a change
  /// that the app made since joins the newest of them, and its values outweigh theirs.
  private func reopen(
    _ known: ArraySlice<(PendingOperation, Answer)>, of entity: Entity, _ object: Int64,
    into reopened: inout [OperationID: Reopened]
  ) throws(SQLiteError) {
    for (taken, answer) in known.reversed()
    where taken.object == object && taken.entity == entity.name && reopened[taken.id] == nil {
      guard answer.outcome == .replayFailed || answer.outcome == .notTried,
        let operation = try pending.operations.with(taken.id)
      else { continue }
      reopened[taken.id] = try reopen(
        operation, entity, as: answer.outcome == .notTried ? .waiting : .replayFailed)
    }
  }

  /// The operation and whatever else of its object is not on its way become one change of the app's
  /// again.
  private func reopen(
    _ operation: PendingOperation, _ entity: Entity, as answered: PendingOperation.State
  ) throws(SQLiteError) -> Reopened {
    guard operation.state != .withdrawn else {
      return Reopened(operation: operation, gone: [operation])
    }
    // What is ahead of it is of its own chain, answered before it, and may have been refused.
    let all = try pending.operations.of(entity, operation.object)
      .filter { $0.sequence == operation.sequence || !$0.isInFlight }
    let (state, held) = PendingMachine.reopened(operation, among: all, as: answered)
    let found = try pending.join(all)
    let first = all.first ?? operation
    // What came after what left nothing is a change of its own.
    guard let left = found.left, left.sequence == first.sequence else {
      return Reopened(operation: operation, joined: found.joined, gone: [first])
    }
    guard try !isOfNothing(left, state) else {
      return Reopened(operation: operation, joined: found.joined, gone: [left])
    }
    if !held.isEmpty { try standDown(operation.chain) }
    try pending.operations.update(
      PendingMachine.renewed(
        left, after: operation, as: state,
        isWhole: found.joined.allSatisfy {
          $0.wanted != .no || $0.isNotTried && $0.failure == $0.counter
        }, id: store.newOperationID()))
    return Reopened(operation: operation, joined: found.joined)
  }

  /// A change was not taken, and what was submitted behind it waits to be submitted again with it: so
  /// does the rest of that, which is not replayed by itself (Decision 0018, 5).
  private func standDown(_ chain: OperationID) throws(SQLiteError) {
    let held = try pending.operations.select("WHERE chain = ? AND wanted > 0", [.text(chain.text)])
    for var operation in held {
      operation.wanted = .no
      operation.failure = operation.counter
      try pending.operations.update(operation)
    }
    for operation in held {
      guard let entity = store.model.entity(named: operation.entity),
        try pending.operations.with(operation.id) != nil,
        try pending.giveBack(entity, operation.object, telling: .notTried)
      else { continue }
      store.ended(AnsweredOperation(operation, .notTried))
    }
  }

  /// The object is gone by itself: there is nothing to show again, and nothing to try again.
  private func isOfNothing(
    _ operation: PendingOperation, _ state: PendingOperation.State
  ) throws(SQLiteError) -> Bool {
    guard let entity = store.model.entity(named: operation.entity) else { return false }
    let rows = store.rows(of: entity)
    return try PendingMachine.isOfNothing(
      operation.kind, as: state,
      hasImage: rows.original(connection, object: operation.object) != nil
    ) { () throws(SQLiteError) in
      try rows.visible(connection, object: operation.object) != nil
    }
  }

  private func keep(_ records: [LogRecord], _ operation: PendingOperation) throws(SQLiteError) {
    for record in records {
      try LogRecords.keep(
        record, entity: operation.entity, object: operation.object, connection)
    }
  }

  private func owe(_ answer: Answer, _ operation: PendingOperation) throws(SQLiteError) {
    guard operation.state != .withdrawn else { return }
    let kind: Notice.Kind
    switch answer.outcome {
    case .replayResult: kind = .replaySuccess
    case .replayFailed: kind = .replayFailure
    case .unknown: kind = .replayUnknown
    case .notTried: return
    }
    try NoticeTable.owe(
      kind, entity: operation.entity, object: operation.object, key: operation.key,
      content: operation.kind.rawValue, connection)
  }
}

extension AnswerTaker {
  /// Takes answers that the server gives at the door, for operations it will never perform; they
  /// carry no version and concern no import.
  package static func take(refused answers: [Answer], in store: Store) throws(FerryError) {
    guard !answers.isEmpty else { return }
    try store.write { connection throws(SQLiteError) in
      let taker = AnswerTaker(store, connection, answers)
      let touched = try taker.take(try taker.takeKeys())
      for object in touched {
        guard let entity = store.model.entity(named: object.entity) else { continue }
        try taker.pending.show(entity, object.object, shown: nil)
      }
      try Contents(store).sweep(connection)
      for answer in touched.flatMap(\.answered) { store.ended(answer) }
    }
  }
}

extension AnsweredOperation.Outcome {
  init(_ answer: Answer) {
    self =
      switch answer.outcome {
      case .replayResult: .accepted
      case .replayFailed: .refused(answer.logRecords)
      case .notTried: .notTried
      case .unknown: .unknown
      }
  }
}
