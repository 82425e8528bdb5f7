import FerryArguments

/// `ferry key`: changes the keys that seal the tokens of a running server.
enum KeyCommand: Subcommand {
  static let name = "key"
  static let summary = "change the keys of a running server without logging anyone out"
  static let operands = "rotate --data <folder> [options]"
  static let options = OperatorDoor.options
  static let discussion = """
    rotate makes new keys for access tokens and refresh tokens. Older tokens stay valid until they
    expire; new tokens use the new keys. The server accepts the keys of the last eight changes.
    Change them at most once a week: otherwise a device that was offline for up to 60 days may have
    to log in again.
    If a key was stolen, stop the server. Delete token.key, refresh.key and their numbered copies
    (token.key.2, …). The next start makes new keys, and every user has to log in again.

    Example: ferry key rotate --data data
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let verb = try arguments.operands("rotate")[0]
    guard verb == "rotate" else {
      throw UsageError("the verb \"\(verb)\" is unknown", hint: "Write rotate.")
    }
    try await OperatorDoor(arguments).rotateKeys()
    Terminal.show("The keys were changed. No user has to log in again.")
    return .success
  }
}
