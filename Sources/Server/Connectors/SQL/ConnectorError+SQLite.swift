import FerryConnector
import FerrySQLite

extension ConnectorError {
  /// What the operator of the business database can do about an error of SQLite.
  init(_ error: SQLiteError, _ path: String) {
    let name = "The business database \(path)"
    if error.isBusy {
      self.init(
        "\(name) is locked by another program",
        hint: "It is tried again; end the program that keeps it locked if this stays.",
        isTransient: true)
    } else if error.isNotADatabase {
      self.init(
        "\(name) is not a SQLite database",
        hint: "Name the right file; an encrypted database cannot be read.", isTransient: false)
    } else if error.isCannotOpen {
      self.init(
        "\(name) cannot be opened",
        hint:
          "Check that the file is there and that the server may read and write it and its folder.",
        isTransient: false)
    } else if error.isReadOnly {
      self.init(
        "\(name) may not be written",
        hint: "Give the server's user the right to write the file and its folder.",
        isTransient: false)
    } else if error.isFull {
      self.init(
        "\(name) has no room left", hint: "Free space on its disk; it is tried again.",
        isTransient: true)
    } else if error.isCorrupt {
      self.init(
        "\(name) is damaged: \(error.message)",
        hint: "Check it with `PRAGMA integrity_check` and restore it from a backup.",
        isTransient: false)
    } else {
      self.init(
        "\(name) failed: \(error.message) (SQLite \(error.code))",
        hint: "Check the disk and the rights of the file; if the schema changed run `ferry check`.",
        isTransient: error.isOfTheMachine)
    }
  }
}
