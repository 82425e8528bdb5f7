import FerrySQLite

/// Why a model or Swift code could not be made at all.
package struct GeneratorError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  /// What to do, a sentence.
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  init(_ error: SQLiteError, path: String) {
    if error.isNotADatabase {
      self.init("\(path) is not a SQLite database", hint: "Name the file of a SQLite database.")
    } else if error.isCannotOpen {
      self.init("\(path) cannot be opened", hint: "Check that the file exists and is readable.")
    } else if error.isBusy {
      self.init(
        "\(path) is locked by another program",
        hint: "Wait until it is done, or read a copy of the file.")
    } else {
      self.init("\(path) cannot be read: \(error.message)", hint: "Try it with the sqlite3 shell.")
    }
  }

  package var description: String { "\(message). \(hint)" }
}
