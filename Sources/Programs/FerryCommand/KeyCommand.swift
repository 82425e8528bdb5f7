import FerryArguments

/// `ferry key`: changes the keys that seal the tokens of a running server.
enum KeyCommand: Subcommand {
  static let name = "key"
  static let summary = "change the keys of a running server without logging anyone out"
  static let operands = "rotate --data <folder> [options]"
  static let options = OperatorDoor.options
  static let discussion = """
    rotate makes new keys for access tokens and refresh tokens. Tokens that were given before stay
    good, each for its own time; tokens from now on have the new keys. The keys of the last eight
    changes are accepted, so do not change them more often than once a week: a device that was
    silent for 60 days would have to log in.
    Where a key was stolen, stop the server and remove token.key and refresh.key with all that
    have a number: the next start makes new ones, and everybody logs in again.

    Example: ferry key rotate --data data
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let verb = try arguments.operands("rotate")[0]
    guard verb == "rotate" else {
      throw UsageError("\"\(verb)\" is unknown", hint: "Write rotate.")
    }
    try await OperatorDoor(arguments).rotateKeys()
    print("The keys are changed. Nobody has to log in.")
    return .success
  }
}
