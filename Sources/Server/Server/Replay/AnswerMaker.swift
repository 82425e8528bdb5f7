import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// Puts what the business system said into the words of the wire.
struct AnswerMaker {
  let version: Int64
  let now: Timestamp

  /// Of the operations of a chain that have an outcome.
  func answers(_ machine: ReplayMachine, _ notes: AnswerNotes, isOver: Bool) -> [Answer] {
    machine.operations.indices.compactMap { index in
      guard let outcome = machine.outcomes[index] else { return nil }
      let operation = machine.operations[index]
      return answer(
        operation, outcome, written: machine.written[index], notes: notes.of(operation.id),
        isOver: isOver)
    }
  }

  /// `written`: what the business system wrote otherwise than asked. `notes`: what is said beside a
  /// success. `isOver`: its group did not come whole in time.
  func answer(
    _ operation: ConnectorOperation, _ outcome: OperationOutcome,
    written: [Int: AttributeValue] = [:], notes: AnswerNotes.Notes = AnswerNotes.Notes(),
    isOver: Bool = false
  ) -> Answer {
    switch outcome {
    case .accepted(let key, _):
      var answer = make(
        operation, .replayResult, newKey: operation.kind == .create ? key : nil,
        log: notes.decisions.map { record(operation, $0) }
          + (notes.results + AnswerMaker.remarks(operation)).map { record(operation, key, $0) })
      for (position, value) in written {
        answer.written[operation.entity.attributes[position].name] = value
      }
      return answer
    case .refused(let refusal):
      return make(operation, .replayFailed, log: records(operation, refusal))
    case .notTried: return make(operation, .notTried, isToBeSentAgain: isOver)
    case .unknown(let reason): return unknown(operation, reason: reason)
    }
  }

  /// The device shows the row as it was, and its user hears why.
  private static func remarks(_ operation: ConnectorOperation) -> [ResultNote] {
    guard operation.policy == .none else { return [] }
    return [
      ResultNote(.info, "The change was accepted. It is shown when the server next reads the row.")
    ]
  }

  /// One for each attribute that was changed meanwhile.
  private func records(_ operation: ConnectorOperation, _ refusal: Refusal) -> [LogRecord] {
    guard refusal.conflicts.count > 1 else { return [record(operation, refusal)] }
    return refusal.conflicts.map {
      record(
        operation,
        Refusal(
          code: refusal.code, message: $0.sentence, attribute: $0.attribute,
          baseValue: $0.baseValue, currentValue: $0.currentValue))
    }
  }

  private func record(_ operation: ConnectorOperation, _ decision: ConflictDecision) -> LogRecord {
    // Without the values: a device takes a record with both for a conflict to be shown.
    return LogRecord(
      component: operation.entity.name, entityKey: operation.key?.text ?? "", code: 412,
      message: decision.sentence, operation: operation.kind, requestID: operation.id,
      timestamp: now.milliseconds, level: .warn, attribute: decision.conflict.attribute)
  }

  private func record(
    _ operation: ConnectorOperation, _ key: ObjectKey, _ note: ResultNote
  ) -> LogRecord {
    LogRecord(
      component: operation.entity.name, entityKey: key.text, code: LogRecord.remark,
      message: note.message, operation: operation.kind, requestID: operation.id,
      timestamp: now.milliseconds, level: note.level == .warning ? .warn : .info,
      attribute: note.attribute, constraint: note.businessCode)
  }

  func unknown(_ operation: ConnectorOperation, reason: String) -> Answer {
    let record = record(
      operation,
      Refusal(
        code: 500,
        message: "it is unknown whether the business system performed the change: \(reason)"))
    return make(operation, .unknown, log: [record])
  }

  private func make(
    _ operation: ConnectorOperation, _ outcome: Answer.Outcome, newKey: ObjectKey? = nil,
    log: [LogRecord] = [], isToBeSentAgain: Bool = false
  ) -> Answer {
    Answer(
      id: operation.id, version: version, outcome: outcome, newKey: newKey, logRecords: log,
      isToBeSentAgain: isToBeSentAgain)
  }

  private func record(_ operation: ConnectorOperation, _ reason: Refusal) -> LogRecord {
    LogRecord(
      component: operation.entity.name, entityKey: operation.key?.text ?? "", code: reason.code,
      message: reason.message, operation: operation.kind, requestID: operation.id,
      timestamp: now.milliseconds, level: .error, attribute: reason.attribute,
      baseValue: reason.baseValue, currentValue: reason.currentValue,
      constraint: AnswerMaker.short(reason.constraint), detail: AnswerMaker.short(reason.detail),
      hint: AnswerMaker.short(reason.hint))
  }

  /// A rule of the business may say any number of words.
  private static func short(_ text: String?) -> String? {
    text.map { String($0.prefix(WireLimits.reportCharacters)) }
  }
}
