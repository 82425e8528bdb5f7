/// How a program tells its caller what happened.
package enum ExitCode: Int32, Sendable {
  case success = 0
  /// It ran and found problems, or could not do what was asked.
  case problems = 1
  /// The command line makes no sense; nothing was done.
  case usage = 2
  /// Control-C ended it, and what was known until then was printed.
  case interrupted = 130
}

/// The command line makes no sense.
package struct UsageError: Error, CustomStringConvertible {
  package let message: String
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}
