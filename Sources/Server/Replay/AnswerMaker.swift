import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// Puts what the business system said into the words of the wire.
struct AnswerMaker {
  let version: Int64
  let now: Timestamp

  /// `written`: what the business system wrote otherwise than asked. `isOver`: its group did not come
  /// whole in time.
  func answer(
    _ operation: ConnectorOperation, _ outcome: OperationOutcome,
    written: [Int: AttributeValue] = [:],
    isOver: Bool = false
  ) -> Answer {
    switch outcome {
    case .accepted(let key, _):
      var answer = make(operation, .replayResult, newKey: operation.kind == .create ? key : nil)
      for (position, value) in written {
        answer.written[operation.entity.attributes[position].name] = value
      }
      return answer
    case .refused(let refusal):
      let record = record(
        operation, code: refusal.code, message: refusal.message, attribute: refusal.attribute,
        baseValue: refusal.baseValue, currentValue: refusal.currentValue)
      return make(operation, .replayFailed, log: [record])
    case .notTried: return make(operation, .notTried, isToBeSentAgain: isOver)
    }
  }

  func unknown(_ operation: ConnectorOperation, reason: String) -> Answer {
    let record = record(
      operation, code: 500,
      message: "it is unknown whether the business system performed the change: \(reason)",
      attribute: nil, baseValue: nil, currentValue: nil)
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

  private func record(
    _ operation: ConnectorOperation, code: Int, message: String, attribute: String?,
    baseValue: AttributeValue?, currentValue: AttributeValue?
  ) -> LogRecord {
    LogRecord(
      component: operation.entity.name, entityKey: operation.key?.text ?? "", code: code,
      message: message, operation: operation.kind, requestID: operation.id,
      timestamp: now.milliseconds, level: .error, attribute: attribute, baseValue: baseValue,
      currentValue: currentValue)
  }
}
