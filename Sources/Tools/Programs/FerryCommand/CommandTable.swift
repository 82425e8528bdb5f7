import FerryArguments
import FerryModel

/// All commands of `ferry`, one line each.
enum CommandTable {
  static var commands: [any Subcommand.Type] {
    [
      NewCommand.self, CheckCommand.self, DiffCommand.self, PrepareCommand.self, UserCommand.self,
      StatusCommand.self, InspectCommand.self, WhyCommand.self, LogCommand.self, DeployCommand.self,
      DeviceCommand.self, CredentialCommand.self, OperationCommand.self, CacheCommand.self,
      AdminCommand.self, PushCommand.self,
      BackupCommand.self, RestoreCommand.self, MoveCommand.self, TakeoverCommand.self,
      KeyCommand.self,
      LoginCommand.self, SimulateCommand.self, ODataCommand.self, DoctorCommand.self,
      CompletionCommand.self,
    ]
  }

  /// `words` as the system gave them, the program's own name first.
  static func run(_ words: [String]) async -> ExitCode {
    var words = words.dropFirst()
    guard let first = words.popFirst() else {
      Terminal.show(help)
      return .usage
    }
    if ["--help", "-h", "help"].contains(first) {
      guard let topic = words.first else {
        Terminal.show(help)
        return .success
      }
      guard let command = command(named: topic) else { return unknown(topic) }
      Terminal.show(help(of: command))
      return .success
    }
    if first == "--version" {
      Terminal.show(ProgramVersion.text(of: "ferry"))
      return .success
    }
    guard let command = command(named: first) else { return unknown(first) }
    if words.contains("--help") || words.contains("-h") {
      Terminal.show(help(of: command))
      return .success
    }
    do {
      return try await command.run(try Arguments(Array(words), options: command.options))
    } catch {
      return report(error, of: command, Array(words))
    }
  }

  /// The only place where a command's failure is shown.
  private static func report(
    _ error: any Error, of command: any Subcommand.Type, _ words: [String]
  ) -> ExitCode {
    let failure = CommandFailure(error)
    let code: ExitCode = error is UsageError ? .usage : .problems
    let help = code == .usage ? "\nTry: ferry help \(command.name)" : ""
    Terminal.error("ferry \(command.name): \(failure.text)\(help)")
    // The command line itself may be what is wrong.
    let asksForJSON = words.prefix { $0 != "--" }.contains("--json")
    if asksForJSON, command.options.contains(where: { $0.name == CommandOption.json.name }) {
      Terminal.show(failure.json(exitCode: code), asJSON: true)
    }
    return code
  }

  private static func command(named name: String) -> (any Subcommand.Type)? {
    commands.first { $0.name == name }
  }

  private static func unknown(_ name: String) -> ExitCode {
    Terminal.error(
      "ferry: unknown command \"\(name)\". \(NearestWord.cure(name, among: commands.map { $0.name }))"
    )
    return .usage
  }

  static var help: String {
    let width = commands.map { $0.name.count }.max() ?? 0
    let lines = commands.map { command in
      "  \(Terminal.padded(command.name, width))  \(command.summary)"
    }
    return """
      ferry: offline apps on top of an existing business database.

      usage: ferry <command> …

      \(lines.joined(separator: "\n"))

      `ferry help <command>` describes a command; `ferry --version` shows the version.
      Exit codes: 0 done, 1 problems were found or it could not be done, 2 wrong usage.
      With --json a failure is also one object on standard output:
      {"error": {"code": …, "message": …, "hint": …, "exitCode": …}}.
      """
  }

  static func help(of command: any Subcommand.Type) -> String {
    let spelled = command.options.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = spelled.map(\.count).max() ?? 0
    let options = zip(command.options, spelled).map { option, spelled in
      "  \(Terminal.padded(spelled, width))  \(option.text)"
    }
    let usage = ["usage: ferry", command.name, command.operands].filter { !$0.isEmpty }
    return """
      \(usage.joined(separator: " "))
      \(command.summary)

      \(options.joined(separator: "\n"))

      \(command.discussion)
      """
  }
}
