import FerryArguments
import FerryConnections
import FerryModel

/// `ferry credential`: passwords of users at a service, sealed for the server.
enum CredentialCommand: Subcommand {
  static let name = "credential"
  static let summary = "keep or remove the sealed password of a user at a service"
  static let verbs = ["set", "remove"]
  static let operands =
    "set|remove --connections <file> --connection <name> --user <name> [options]"
  static let options = [
    CommandOption("connections", "<file>", "the file of connections that ferryd reads"),
    CommandOption("connection", "<name>", "the connection, whose \"users\" are sealedPasswords"),
    CommandOption("user", "<name>", "the user's name in the user file"),
    CommandOption("as", "<name>", "the user's name at the service (default: the same)"),
    CommandOption("password-stdin", nil, "read the password from standard input, one line"),
  ]
  static let discussion = """
    The password is asked for. It is sealed with the connection's "passwordKey" and written into its
    file "passwords". A running server uses it with its next request.

    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let verb = try arguments.operands("set|remove")[0]
    guard verbs.contains(verb) else {
      throw UsageError("the verb \"\(verb)\" is unknown", hint: "Write set or remove.")
    }
    let file = try ConnectionsFile(path: try arguments.required("connections", "connections.json"))
    let name = try arguments.required("connection", "erp")
    let user = try arguments.required("user", "nancy")
    guard let connection = file[name] else {
      throw UsageError(
        "the file has no connection \(name)",
        hint: NearestWord.cure(name, among: file.connections.map(\.name)))
    }
    guard let passwords = connection.passwords else {
      throw CommandError(
        "changes of the connection \(name) are not sent with passwords of users",
        hint: "Write \"users\": {\"way\": \"sealedPasswords\", …} if that is meant.")
    }
    guard verb == "set" else {
      try passwords.set(nil, of: user, as: user)
      Terminal.show("removed the password of \(Terminal.harmless(user))")
      return .success
    }
    let password =
      arguments.flag("password-stdin")
      ? readLine(strippingNewline: true) ?? "" : try PasswordPrompt.ask()
    guard !password.isEmpty else {
      throw CommandError("no password was given", hint: "Nothing was changed.")
    }
    try passwords.set(password, of: user, as: try arguments.value("as") ?? user)
    Terminal.show("sealed the password of \(Terminal.harmless(user)) for \(name)")
    return .success
  }
}
