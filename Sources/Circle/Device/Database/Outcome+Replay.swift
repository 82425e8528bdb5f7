import FerryModel

extension Outcome {
  /// `reason` is why it was not tried.
  init(_ outcome: ReplayOutcome<Object>, _ reason: Refusal?) {
    self =
      switch outcome {
      case .accepted(let object), .nothingPending(let object): .accepted(object)
      case .refused(let object, let records): .refused(Refusal(records, of: object?.record))
      case .unknown: .unknown
      case .notTried: .refused(reason ?? .notTried)
      case .cancelled(let object): .cancelled(object)
      }
  }
}
