import FerryModel

/// What an error of a database server says of an operation. Asked for before COMMIT was sent;
/// afterwards only an answer tells.
public enum SQLVerdict: Sendable, Equatable {
  /// The business says no: it would say so again.
  case refused
  /// The right to do it is missing: a row's policy, or a grant.
  case forbidden
  /// Nothing was done; others were in the way.
  case conflict
  /// Nothing was done; the same may succeed later.
  case notDone
  /// Nothing was done, and it is not known that trying helps.
  case odd

  /// How often an operation is tried before it is refused.
  public static let tries: Int = 10

  /// The refusal of a conflict or of something odd once it was tried often enough; nil before that, and
  /// for everything else. `sentence`: what the database said.
  public func refusal(
    of operation: ConnectorOperation, _ sentence: String, _ attempts: SQLAttempts
  ) -> Refusal? {
    switch self {
    case .refused, .forbidden, .notDone: return nil
    case .conflict:
      guard attempts.count(operation.id) >= SQLVerdict.tries else { return nil }
      return Refusal(
        code: 409,
        message: "\(operation.entity.name) is being changed by others again and again. Try it "
          + "again later.")
    case .odd:
      guard attempts.count(operation.id) >= SQLVerdict.tries else { return nil }
      return Refusal(code: 500, message: "The business database cannot do this: \(sentence).")
    }
  }
}
