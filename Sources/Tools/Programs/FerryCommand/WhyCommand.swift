import Ferry
import FerryArguments
import FerryGenerator
import FerryInspection
import FerryJSON
import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryWorld

/// `ferry why`: why an object is on a device or in the server's cache, or why it is not.
enum WhyCommand: Subcommand {
  static let name = "why"
  static let summary =
    "show why an object is or is not on a device or a server: partition, operations, refusal"
  static let operands = "<entity> <key> --data FOLDER [--user NAME] | --device DATABASE"
  static let options =
    [
      CommandOption("data", "FOLDER", "read the server's data folder; the server may be running"),
      CommandOption(
        "user", "NAME", "with --data: say whether the devices of this user get the object, and why"),
      CommandOption(
        "users", "FILE", "with --user: the user file (default: users.json in the data folder)"),
      CommandOption("device", "DATABASE", "read a device's database; the app may be running"),
      CommandOption.json,
    ] + DatabaseKeyOption.options
  static let discussion = """
    Write the key as in log records: 10248, "ALFKI", 10248,11. A single text key needs no quotes.
    --user compares the user's claims and roles with the partition of the object. Users of an OpenID
    issuer are not in the user file. The command changes nothing. If the object is not there, similar keys or entities are shown.

    \(DatabaseKeyOption.discussion)

    Exit codes: 0 the object is there; 1 it is not there (the reason is printed), or the file cannot
    be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let words = try arguments.operands("entity", "key")
    switch (try arguments.value("data"), try arguments.value("device")) {
    case (let folder?, nil):
      let user = try arguments.value("user").map { name in
        let file = try arguments.value("users") ?? "\(folder)/users.json"
        guard TextFile.exists(file) else {
          throw CommandError(
            "there is no user file \(file)", hint: "Name the file that ferryd reads with --users.")
        }
        let list = try UserList.existing(file)
        return list.users[try list.place(of: name, in: file)]
      }
      return try askServer(folder, words[0], words[1], user, json: arguments.flag("json"))
    case (nil, let path?):
      guard try arguments.value("user") == nil else {
        throw UsageError(
          "--user cannot be used with --device: a device has one user",
          hint: "Write --data FOLDER to ask the server's data.")
      }
      try TextFile.requireNoFolder(path)
      let file = try DeviceFile(path: path, key: try DatabaseKeyOption.key(arguments))
      return try tell(
        try file.why(entity: words[0], key: words[1]), json: arguments.flag("json"))
    default:
      throw UsageError(
        "either --data or --device is needed", hint: "Write --data FOLDER or --device DATABASE.")
    }
  }

  // The device.

  private static func tell(_ why: DeviceWhy, json: Bool) throws -> ExitCode {
    if json {
      Terminal.show(text(of: why), asJSON: true)
    } else {
      Terminal.show("\(why.entity) \(why.key): \(why.verdict)")
      if let values = why.values { Terminal.show("values     \(values)") }
      if let partition = why.partition { Terminal.show("partition  \(partition)") }
      let now = SystemClock().now
      for operation in why.operations {
        Terminal.show("operation  \(InspectCommand.line(operation, now: now))")
      }
      for record in why.logRecords { Terminal.show("log record \(record)") }
      show(similar: why.similar)
    }
    return why.values == nil ? .problems : .success
  }

  private static func show(similar: [String]) {
    guard !similar.isEmpty else { return }
    Terminal.show("similar    \(Terminal.harmless(similar.joined(separator: "  ")))")
  }

  private static func text(of why: DeviceWhy) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("entity", why.entity)
    writer.field("key", why.key)
    writer.field("verdict", why.verdict)
    writer.field("pending", why.pending)
    writer.field("partition", why.partition)
    writer.key("values")
    if let values = why.values { writer.raw(values.utf8) } else { writer.null() }
    writer.key("operations")
    writer.array(why.operations) { $0.operation($1) }
    writer.key("logRecords")
    writer.array(why.logRecords) { $0.raw($1.utf8) }
    writer.key("similar")
    writer.array(why.similar) { $0.string($1) }
    writer.endObject()
    return writer.text
  }

  // The server.

  private static func askServer(
    _ folder: String, _ entity: String, _ key: String, _ user: UserList.User?, json: Bool
  ) throws -> ExitCode {
    let found = try Explanation.read(folder: folder, entity: entity, key: key)
    for explanation in found {
      if json {
        Terminal.show(text(of: explanation, user), asJSON: true)
      } else {
        show(explanation, user)
      }
    }
    let isThere = found.contains { $0.body != nil && !$0.isDeleted && !$0.isWithdrawn }
    return isThere ? .success : .problems
  }

  private static func show(_ why: Explanation, _ user: UserList.User?) {
    Terminal.show("\(why.package) \(why.entity) \(why.key): \(why.verdict)")
    if let rule = why.rule, !rule.isEmpty {
      Terminal.show("partition  \(rule) = \(why.place ?? "")")
    }
    if let sentence = user.flatMap({ WhyUser.sentence($0, why) }) {
      Terminal.show("user       \(sentence)")
    }
    if let version = why.version {
      let state = why.rejectedReason == nil ? ", deleted" : ", left out"
      Terminal.show("version    \(version)\(why.isDeleted ? state : "")")
    }
    if let body = why.body { Terminal.show("values     \(body)") }
    if let reason = why.rejectedReason { Terminal.show("left out   \(reason)") }
    for operation in why.operations {
      let outcome = operation.outcome ?? operation.state
      let reason = operation.reason.map { ": \($0)" } ?? ""
      Terminal.show(
        "operation  \(operation.kind) by \(operation.user) (\(operation.id)) \(outcome)\(reason)")
      if let found = operation.found, found != "[]" {
        Terminal.show("  found    \(Terminal.harmless(found))")
      }
      if operation.outcome == "unknown" {
        Terminal.show("  decide   ferry operation again|refused|accepted --id \(operation.id)")
      }
    }
    show(similar: why.similar)
  }

  private static func text(of why: Explanation, _ user: UserList.User?) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("package", why.package)
    writer.field("entity", why.entity)
    writer.field("key", why.key)
    writer.field("withdrawn", why.isWithdrawn)
    writer.field("verdict", why.verdict)
    writer.field("group", why.group)
    writer.field("rule", why.rule)
    writer.field("place", why.place)
    if let user {
      writer.field("user", user.name)
      writer.field("userVerdict", WhyUser.sentence(user, why))
    }
    writer.field("version", why.version)
    writer.field("deleted", why.isDeleted)
    writer.field("body", why.body)
    writer.field("rejected", why.rejectedReason)
    writer.key("operations")
    writer.array(why.operations) { writer, operation in
      writer.beginObject()
      writer.field("id", operation.id)
      writer.field("operation", operation.kind)
      writer.field("user", operation.user)
      writer.field("device", operation.device)
      writer.field("state", operation.state)
      writer.field("outcome", operation.outcome)
      writer.field("version", operation.version)
      writer.field("reason", operation.reason)
      if let found = operation.found {
        writer.key("found")
        writer.raw(found.utf8)
      }
      writer.endObject()
    }
    writer.key("similar")
    writer.array(why.similar) { $0.string($1) }
    writer.endObject()
    return writer.text
  }
}
