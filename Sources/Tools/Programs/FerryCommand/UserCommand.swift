import FerryArguments
import FerryGenerator
import FerryJSON
import FerryModel
import FerryPasswords
import FerryServer
import FerryWorld
import Foundation

/// `ferry user`: who may log in.
enum UserCommand: Subcommand {
  static let name = "user"
  static let summary = "add, change, list, log out and remove the users of a server"
  static let operands = "add|change|password|list|logout|remove --file <users.json> [options]"
  static let options = [
    CommandOption("file", "<users.json>", "the user file; add creates it"),
    CommandOption("name", "<user>", "the name of the user"),
    CommandOption(
      "role", "<role>", "a role of the user; may be repeated; with change: all that the user has"),
    CommandOption(
      "claim", "<name=value>",
      "a value for partition rules; may be repeated, also with the same name; with change: all "
        + "values of this claim"
    ),
    CommandOption(
      "package", "<name>",
      "a package that the user may use, in all versions; may be repeated; without one: all packages; "
        + "with change: all that the user may use"),
    CommandOption("all-packages", nil, "with change: let the user use all packages"),
    CommandOption("no-roles", nil, "with change: take all roles away"),
    CommandOption("no-claim", "<name>", "with change: take this claim away; may be repeated"),
    CommandOption("password", nil, "with change: ask for a new password"),
    CommandOption(
      "model", "<model.json>",
      "with add and change: warn if the claims do not fit its partition rules"),
    CommandOption("password-stdin", nil, "read the password from standard input, one line"),
    .json,
  ]
  static let discussion = """
    The command asks for the password twice on the terminal, without showing it, or reads it from
    standard input. The file has an argon2id hash of it; no argument and no output has the password.
    The file is written completely or not at all, and only its owner may read it. Commands that
    change it at the same time wait for each other, by a lock on <users.json>.lock.

    Example: ferry user add --file users.json --name nancy --role sales --claim employee=1 \\
               --model model.json
             ferry user change --file users.json --name nancy --role sales --role office
             ferry user password --file users.json --name nancy
             ferry user change --file users.json --name nancy --package Travel
    change keeps what is not named: other claims, the roles without --role, the packages without
    --package, the password without --password or --password-stdin.
    A user who may not use a package gets the same answer as for one that the server does not have.
    Each change is recorded in the audit log <users.json>.audit.jsonl beside the file.
    A running server reads a changed file within a second. A new password, logout and remove end the
    sessions of the user on every device; pending changes stay on the devices. New roles and claims
    end no session; devices get and lose rows with their next exchange. A package that is taken away
    ends its exchanges at once; what devices have of it stays there until `ferry device wipe`.
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    // A word behind it may be the password: no message repeats it.
    for option in ["password", "password-stdin"]
    where arguments.flag(option) && arguments.operands.count > 1 {
      throw UsageError(
        "--\(option) takes no value",
        hint: "The password is asked for, or read from standard input with --password-stdin.")
    }
    let verb = try arguments.operands("add, change, password, list, logout or remove")[0]
    let file = try arguments.required("file", "users.json")
    if verb != "change" {
      for option in ["no-roles", "no-claim", "all-packages", "password"]
      where arguments.flag(option) {
        throw UsageError("--\(option) works only with change", hint: "Leave it out.")
      }
    }
    switch verb {
    case "add": try add(arguments, to: file)
    case "change": try UserChange.run(arguments, in: file)
    case "password": try changePassword(arguments, in: file)
    case "logout": try logOut(arguments, in: file)
    case "list": try list(file, asJSON: arguments.flag("json"))
    case "remove": try remove(arguments, from: file)
    default:
      throw UsageError(
        "the verb \"\(verb)\" is unknown",
        hint: "Write add, change, password, list, logout or remove.")
    }
    return .success
  }

  private static func add(_ arguments: Arguments, to file: String) throws {
    let name = try arguments.required("name", "nancy")
    var user = UserList.User(
      name: name, passwordHash: "", roles: arguments.values("role"),
      claims: try claims(arguments.values("claim")), packages: try packages(arguments))
    let faults = try faults(arguments, user.record)
    guard !name.isEmpty else {
      throw CommandError("--name is empty", hint: "Write --name nancy.")
    }
    // Nobody types a password in vain, and nobody waits for one that is being typed.
    try (UserList.read(file) ?? UserList(users: [])).requireNone(name, in: file)
    user.passwordHash = try hash(arguments)
    try UserList.change(file) { [user] list throws(CommandError) in
      try list.requireNone(name, in: file)
      list.users.append(user)
    }
    note(.userAdded, name, file)
    UserReport("add", user, warnings: faults).show(
      "\(name) may log in now.", asJSON: arguments.flag("json"))
  }

  /// One line in the audit log of the file, with who runs this program.
  static func note(_ event: AuditLog.Event, _ name: String, _ file: String) {
    let login = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
    AuditLog(path: "\(file).audit.jsonl", world: .system(log: TerminalLog()))
      .note(event, user: name, reason: "by \(login) on this machine")
  }

  /// Reasons why the user gets no rows of some entities; empty without `--model`.
  private static func faults(_ arguments: Arguments, _ user: UserRecord) throws -> [String] {
    try check(arguments)?.faults(of: user) ?? []
  }

  /// Of the model that was named.
  static func check(_ arguments: Arguments) throws -> ClaimCheck? {
    guard let file = try arguments.value("model") else { return nil }
    guard let package = ModelReader.read(try TextFile.read(file), file: file).package else {
      throw CommandError(
        "the model \(file) has errors", hint: "`ferry check \(file)` explains them.")
    }
    return ClaimCheck(package)
  }

  private static func changePassword(_ arguments: Arguments, in file: String) throws {
    let name = try arguments.required("name", "nancy")
    _ = try UserList.existing(file).place(of: name, in: file)
    let hash = try hash(arguments)
    let user = try UserList.change(name, in: file) { $0.passwordHash = hash }
    note(.passwordChanged, name, file)
    UserReport("password", user, changed: ["password"], endsSessions: true).show(
      "\(name) has a new password and has to log in again on every device.",
      asJSON: arguments.flag("json"))
  }

  private static func logOut(_ arguments: Arguments, in file: String) throws {
    let name = try arguments.required("name", "nancy")
    _ = try UserList.existing(file).place(of: name, in: file)
    // Any other text ends the sessions of before; this one also tells people when.
    let now = String(World.system().clock.now.milliseconds)
    let user = try UserList.change(name, in: file) { $0.loggedOut = now }
    note(.userLoggedOut, name, file)
    UserReport("logout", user, endsSessions: true).show(
      "\(name) has to log in again on every device. Pending changes stay there.",
      asJSON: arguments.flag("json"))
  }

  private static func remove(_ arguments: Arguments, from file: String) throws {
    let name = try arguments.required("name", "nancy")
    _ = try UserList.existing(file).place(of: name, in: file)
    var removed: UserList.User?
    try UserList.change(file) { list throws(CommandError) in
      removed = list.users.remove(at: try list.place(of: name, in: file))
    }
    note(.userRemoved, name, file)
    guard let removed else { return }
    UserReport("remove", removed, endsSessions: true).show(
      "\(name) was removed. Pending changes stay on the user's devices.",
      asJSON: arguments.flag("json"))
  }

  private static func list(_ file: String, asJSON: Bool) throws {
    let users = try UserList.existing(file).users
    guard asJSON else {
      for user in users {
        let roles = user.roles.isEmpty ? "" : "  roles \(user.roles.joined(separator: ", "))"
        let claims = user.claims.map { "  \($0.name)=\($0.values.joined(separator: ","))" }
        Terminal.show(user.name + roles + claims.joined() + packages(of: user))
      }
      return
    }
    var writer = JSONWriter()
    writer.array(users) { writer, user in UserList.write(user, hash: nil, to: &writer) }
    Terminal.show(writer.text, asJSON: true)
  }

  private static func packages(of user: UserList.User) -> String {
    guard let packages = user.packages else { return "" }
    return packages.isEmpty ? "  no package" : "  packages \(packages.joined(separator: ", "))"
  }

  /// Nil where none is named.
  static func packages(_ arguments: Arguments) throws -> [String]? {
    let names = arguments.values("package")
    for name in names where !AllowedPackages.isName(name) {
      throw UsageError(
        "\"\(name)\" is not the name of a package",
        hint: "Write --package Travel, without a version: all versions are meant.")
    }
    return names.isEmpty ? nil : names
  }

  static func claims(_ texts: [String]) throws -> [UserList.Claim] {
    var claims: [UserList.Claim] = []
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw UsageError("\"\(text)\" is not a claim", hint: "Write --claim employee=1.")
      }
      if let place = claims.firstIndex(where: { $0.name == parts[0] }) {
        claims[place].values.append(parts[1])
      } else {
        claims.append(UserList.Claim(name: parts[0], values: [parts[1]]))
      }
    }
    return claims
  }

  static func hash(_ arguments: Arguments) throws -> String {
    let password: String
    if arguments.flag("password-stdin") {
      password = readLine(strippingNewline: true) ?? ""
    } else {
      password = try PasswordPrompt.ask()
    }
    guard !password.isEmpty else {
      throw CommandError("the password is empty", hint: "Use at least one character.")
    }
    let salt = World.system().chance.bytes(16)
    return try PasswordHash.make(password: password, salt: salt)
  }
}

/// Says on the terminal what does not stop the command.
private struct TerminalLog: Log {
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    Terminal.error(
      "Warning: \(message) (\(fields.map { "\($0.0): \($0.1)" }.joined(separator: ", ")))")
  }
}
