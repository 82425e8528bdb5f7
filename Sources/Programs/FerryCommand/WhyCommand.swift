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
  static let operands = "<entity> <key> --data FOLDER | --device DATABASE"
  static let options =
    [
      CommandOption("data", "FOLDER", "read the server's data folder; the server may be running"),
      CommandOption("device", "DATABASE", "read a device's database; the app may be running"),
      CommandOption.json,
    ] + DatabaseKeyOption.options
  static let discussion = """
    Write the key as in log records: 10248, "ALFKI", 10248,11. A single text key needs no quotes.
    The command changes nothing. If the object is not there, similar keys or entities are shown.

    \(DatabaseKeyOption.discussion)

    Exit codes: 0 the object is there; 1 it is not there (the reason is printed), or the file cannot
    be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let words = try arguments.operands("entity", "key")
    switch (try arguments.value("data"), try arguments.value("device")) {
    case (let folder?, nil):
      return try askServer(folder, words[0], words[1], json: arguments.flag("json"))
    case (nil, let path?):
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
      print(text(of: why))
    } else {
      print("\(why.entity) \(why.key): \(why.verdict)")
      if let values = why.values { print("values     \(values)") }
      if let partition = why.partition { print("partition  \(partition)") }
      let now = SystemClock().now
      for operation in why.operations {
        print("operation  \(InspectCommand.line(operation, now: now))")
      }
      for record in why.logRecords { print("log record \(record)") }
      show(similar: why.similar)
    }
    return why.values == nil ? .problems : .success
  }

  private static func show(similar: [String]) {
    guard !similar.isEmpty else { return }
    print("similar    \(Terminal.harmless(similar.joined(separator: "  ")))")
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
    _ folder: String, _ entity: String, _ key: String, json: Bool
  )
    throws -> ExitCode
  {
    let found = try Explanation.read(folder: folder, entity: entity, key: key)
    for explanation in found {
      if json { print(text(of: explanation)) } else { show(explanation) }
    }
    let isThere = found.contains { $0.body != nil && !$0.isDeleted && !$0.isWithdrawn }
    return isThere ? .success : .problems
  }

  private static func show(_ why: Explanation) {
    print("\(why.package) \(why.entity) \(why.key): \(why.verdict)")
    if let rule = why.rule { print("partition  \(rule) = \(why.place ?? "")") }
    if let version = why.version {
      print("version    \(version)\(why.isDeleted ? ", deleted" : "")")
    }
    if let body = why.body { print("values     \(body)") }
    if let reason = why.rejectedReason { print("left out   \(reason)") }
    for operation in why.operations {
      let outcome = operation.outcome ?? operation.state
      let reason = operation.reason.map { ": \($0)" } ?? ""
      print(
        "operation  \(operation.kind) by \(operation.user) (\(operation.id)) \(outcome)\(reason)")
    }
    show(similar: why.similar)
  }

  private static func text(of why: Explanation) -> String {
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
      writer.endObject()
    }
    writer.key("similar")
    writer.array(why.similar) { $0.string($1) }
    writer.endObject()
    return writer.text
  }
}
