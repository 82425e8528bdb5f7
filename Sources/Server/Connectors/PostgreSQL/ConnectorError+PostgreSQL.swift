import FerryConnector
import FerryPostgreSQL

extension ConnectorError {
  /// What the operator of the business database can do about an error of PostgreSQL.
  init(_ error: PostgreSQLError, _ address: PostgreSQLAddress) {
    let name = "The business database \(address)"
    switch (error.kind, error.stateClass) {
    case (.address, _):
      self.init(error.message, hint: error.hint, isTransient: false)
    case (.connection, _):
      self.init(
        "\(name) cannot be reached: \(error.message)",
        hint: error.hint.isEmpty ? "It is tried again." : error.hint, isTransient: true)
    case (.deadline, _):
      self.init(
        "\(name) did not answer in time",
        hint: "The server tries again. If the error stays, check the database's load and locks.",
        isTransient: true)
    case (.server, "53"), (.server, "57"), (.server, "40"), (.server, "08"):
      self.init(
        "\(name) could not do it now: \(error)", hint: "It is tried again.", isTransient: true)
    case (.server, _) where error.sqlState == "55P03":
      self.init(
        "\(name) has a row or a table locked for too long: \(error.message)",
        hint:
          "The server tries again. If the error stays, end the transaction that holds the lock.",
        isTransient: true)
    case (.server, _) where error.sqlState == "25006":
      self.init(
        "\(name) is read-only, as a standby is", hint: "Name the primary in the address.",
        isTransient: true)
    case (.server, _) where error.sqlState == "42501":
      self.init(
        "\(name) refuses: \(error.message)",
        hint: "Grant this right to the server's user; `ferry prepare --print` lists what it needs.",
        isTransient: false)
    default:
      self.init(
        "\(name) failed: \(error)",
        hint: "If its schema changed, `ferry diff` shows how.",
        isTransient: error.stateClass == "42")
    }
  }
}
