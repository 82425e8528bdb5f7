import FerryConnector
import FerryPostgreSQL

extension SQLVerdict {
  /// By its SQLSTATE.
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
}
