import FerryArguments
import Foundation

/// `ferry status`: what an operator asks first.
enum StatusCommand: Subcommand {
  static let name = "status"
  static let summary =
    "show whether a server is running and ready, its models, users, devices and waiting operations"
  static let operands = "--data <folder> [options]"
  static let options =
    OperatorDoor.options + [
      CommandOption("users", "FILE", "as for ferryd (default: users.json in the data folder)"),
      .json,
    ]
  static let discussion = """
    The page is made of GET /health, GET /metrics and the lists of `ferry device` and `ferry deploy`;
    the command changes nothing. For each package it shows how many operations wait for the business
    system, how old the oldest one is, how far the changes of the business system were read, and when
    all rows were compared last. If the server does not answer, the packages of its store are shown.

    status   ready: devices are served and the business system works
             loading: the first load has not ended
             degraded: devices are served, and the business system fails, with the reason
             trouble, stuck: devices get 503, because the store fails or does not answer
             starting: the server runs and serves no package yet
             notRunning: nothing answers

    Example: ferry status --data data
    Exit codes: 0 it is ready; 1 it is not, or its key cannot be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let data = try arguments.required("data", "data")
    let users = try arguments.value("users") ?? "\(data)/users.json"
    let status = try await ServerStatus.read(
      try OperatorDoor(arguments), data: data, users: users)
    let asJSON = arguments.flag("json")
    let text = asJSON ? status.json : StatusText(status, now: Date()).lines.joined(separator: "\n")
    Terminal.show(text, asJSON: asJSON)
    return status.word == "ready" ? .success : .problems
  }
}
