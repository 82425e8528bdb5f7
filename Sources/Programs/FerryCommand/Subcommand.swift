/// One word after `ferry`: what it takes, what it says of itself, what it does.
protocol Subcommand: Sendable {
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// What stands after the name in the line of usage, options left out.
  static var operands: String { get }
  static var options: [CommandOption] { get }
  /// What `ferry help <name>` adds: what it does and what each exit code means here.
  static var discussion: String { get }

  static func run(_ arguments: Arguments) async throws -> ExitCode
}

/// How a program tells its caller what happened.
enum ExitCode: Int32, Sendable {
  case success = 0
  /// It ran and found problems, or could not do what was asked.
  case problems = 1
  /// The command line makes no sense; nothing was done.
  case usage = 2
}

/// The command line makes no sense.
struct UsageError: Error, CustomStringConvertible {
  let message: String
  let hint: String

  init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  var description: String { "\(message). \(hint)" }
}
