import FerryConnector
import FerryMariaDB

extension SQLVerdict {
  /// By the number of the error.
  init(_ error: MariaDBError) {
    guard error.kind == .server else {
      self = .notDone
      return
    }
    self =
      switch error.number {
      // Deadlock; the row changed since it was read.
      case 1_213, 1_020, 1_180: .conflict
      // Locks, time-outs, interrupted, no room, too many connections, read-only, table changed.
      case 1_205, 1_969, 3_024, 1_317, 1_021, 1_114, 1_037, 1_038, 1_040, 1_203, 1_290, 1_836,
        1_792, 1_412:
        .notDone
      case 1_142, 1_143, 1_044, 1_227, 1_370: .forbidden
      // Values that do not fit are warnings elsewhere, and errors of a strict server.
      case 1_265, 1_364, 1_366, 4_025, 3_819, 1_048, 1_062, 1_451, 1_452, 1_216, 1_217: .refused
      default:
        error.isRaised || ["22", "23"].contains(error.stateClass) ? .refused : .odd
      }
  }
}

extension MariaDBError {
  /// A table or column is not what it was when it was read.
  var isOfSchema: Bool { [1_054, 1_146, 1_412, 1_146, 1_305].contains(number) }
}

extension ConnectorError {
  /// What the operator of the business database can do about an error of MariaDB.
  init(_ error: MariaDBError, _ address: MariaDBAddress) {
    let name = "The business database \(address)"
    switch (error.kind, SQLVerdict(error)) {
    case (.address, _): self.init(error.message, hint: error.hint, isTransient: false)
    case (.connection, _):
      self.init(
        "\(name) cannot be reached: \(error.message)",
        hint: error.hint.isEmpty ? "It is tried again." : error.hint, isTransient: true)
    case (.server, _) where error.number == 1_205:
      self.init(
        "\(name) has a row or a table locked for too long: \(error.message)",
        hint:
          "The server tries again. If the error stays, end the transaction that holds the lock.",
        isTransient: true)
    case (.server, .notDone), (.server, .conflict):
      self.init(
        "\(name) could not do it now: \(error)", hint: "It is tried again.", isTransient: true)
    case (.server, .forbidden):
      self.init(
        "\(name) refuses: \(error.message)",
        hint: "Grant this right to the server's user; `ferry prepare --print` lists what it needs.",
        isTransient: false)
    default:
      self.init(
        "\(name) failed: \(error)", hint: "If its schema changed, `ferry diff` shows how.",
        isTransient: error.isOfSchema)
    }
  }
}
