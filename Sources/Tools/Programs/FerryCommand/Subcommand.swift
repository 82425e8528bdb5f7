import FerryArguments

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
