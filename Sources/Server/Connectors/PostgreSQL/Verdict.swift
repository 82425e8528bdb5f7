import FerryPostgreSQL

/// What an error of PostgreSQL says of an operation, by its SQLSTATE. Asked for before COMMIT was
/// sent; afterwards only an answer tells.
enum Verdict: Equatable {
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

  init(_ error: PostgreSQLError) {
    guard error.kind == .server else {
      self = .notDone
      return
    }
    switch error.sqlState {
    case "40001", "40P01": self = .conflict
    case "55P03", "57014", "25006": self = .notDone
    case "42501": self = .forbidden
    default:
      switch error.stateClass {
      case "22", "23", "44", "P0": self = .refused
      case "08", "53", "54", "57", "XX": self = .notDone
      // A function of the business gave its refusal a SQLSTATE of its own.
      default: self = error.isRaised ? .refused : .odd
      }
    }
  }

  /// How often an operation is tried before the user is told.
  static let tries: Int = 10
}
