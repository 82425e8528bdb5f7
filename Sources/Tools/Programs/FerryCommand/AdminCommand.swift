import FerryArguments
import FerryHTTP
import FerryJSON
import FerryModel
import Glibc

/// `ferry admin`: what the control center shows and decides, in a terminal.
enum AdminCommand: Subcommand {
  static let name = "admin"
  static let summary = "see and decide what the control center of a server has"
  static let verbs = [
    "overview", "operations", "operation", "retry", "release", "discard", "restore", "withdraw",
    "causes", "outcomes", "decide", "devices", "device", "keys", "rejected", "why", "reload",
    "audit", "logs", "timeline",
  ]
  static let operands = "<what> --data <folder> [options]"
  static let options =
    AdminDoor.options + [
      CommandOption("id", "<id>", "the operation; its first letters are enough"),
      CommandOption(
        "state", "<state>", "with operations: open, waiting, accepted, refused, unknown, discarded"),
      CommandOption("user-of", "<user>", "of this user of the app"),
      CommandOption("device", "<device>", "of this device"),
      CommandOption("entity", "<entity>", "of this entity"),
      CommandOption("key", "<key>", "of the object with this key"),
      CommandOption("package", "<name:version>", "of this package"),
      CommandOption("cause", "<text>", "with retry and discard: all of this cause"),
      CommandOption(
        "set", "<attribute=value>", "with release: a corrected value; may be repeated"),
      CommandOption("empty", "<attribute>", "with release: this value is empty; may be repeated"),
      CommandOption("values", nil, "with operation: show the values of business rows"),
      CommandOption(
        "verb", "<verb>",
        "with device: lock, unlock, signOut, wipe, logLevel or unregister; with decide: accepted, refused or again"
      ),
      CommandOption(
        "level", "<level>",
        "with logLevel: debug, info, warn or error; left out, what the template says; "
          + "with logs: this level or a graver one"),
      CommandOption("component", "<name>", "with logs: of this component"),
      CommandOption(
        "source", "<source>", "with logs: devices, or server for the newest lines of ferryd"),
      CommandOption(
        "with-pending", nil, "with wipe: also destroy changes that were not sent"),
      CommandOption("reason", "<text>", "why; kept in the audit log"),
      CommandOption("message", "<text>", "a word to the user of the device"),
      CommandOption("dry-run", nil, "only say what would happen"),
      CommandOption("yes", nil, "do not ask before something is destroyed"),
      .json,
    ]
  static let discussion = """
    overview, operations, operation, causes, devices, rejected, why and audit show something; with
    --json it is the answer of the admin API. release corrects values of a refused operation and lets
    its device send it again; retry sends it as it is; discard cancels it; restore brings a discarded
    one back as it was; withdraw takes back what the device has not done yet. retry and discard without
    --id need --cause. device decides about a device.
    logs lists what apps wrote into their logs, or ferryd into its own; timeline shows in the order of
    time what device, server and business system said of one operation.
    outcomes lists operations of which nobody knows whether they were performed, with what was asked and
    found; decide says what became of one. keys changes the keys that seal tokens.
    Without --server the command goes through the socket in the data folder, and needs no password.
    With --server and --operator it logs in; the password is read from --password-file or the terminal.

    Example: ferry admin operations --data data --state open
             ferry admin release --data data --id 3fa9 --set quantity=10 --reason "typing error"
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let list = verbs.joined(separator: ", ")
    let verb = try arguments.operands(list)[0]
    guard verbs.contains(verb) else {
      throw UsageError("\"\(verb)\" is unknown", hint: "Write one of \(list).")
    }
    let door = try AdminDoor(arguments)
    let answer: JSONNode
    switch verb {
    case "overview", "causes", "rejected", "outcomes": answer = try await door.ask(.get, verb)
    case "timeline":
      answer = try await door.ask(.get, "timeline/\(try await id(arguments, door))")
    case "operations", "devices", "audit", "logs":
      answer = try await door.ask(.get, verb, query: try filter(arguments, verb))
    case "why":
      answer = try await door.ask(
        .get, "why",
        query: [
          "package": try arguments.value("package"),
          "entity": try arguments.required("entity", "Order"),
          "key": try arguments.required("key", "10248"),
        ])
    case "operation":
      let id = try await id(arguments, door)
      answer = try await door.ask(
        .get, "operations/\(id)", query: ["values": arguments.flag("values") ? "1" : nil])
    case "retry", "release", "discard", "restore", "withdraw":
      answer = try await decide(verb, arguments, door)
    case "device": answer = try await decideDevice(arguments, door)
    case "decide": answer = try await decideOutcome(arguments, door)
    case "keys": answer = try await changeKeys(arguments, door)
    default: answer = try await reload(arguments, door)
    }
    if arguments.flag("json") {
      Terminal.show(JSONText.of(answer), asJSON: true)
    } else {
      Terminal.show(AdminText.text(verb, answer))
    }
    return .success
  }

  private static func filter(_ arguments: Arguments, _ verb: String) throws -> [String: String?] {
    if verb == "logs" {
      return [
        "source": try arguments.value("source"), "level": try arguments.value("level"),
        "component": try arguments.value("component"), "user": try arguments.value("user-of"),
        "device": try arguments.value("device"), "package": try arguments.value("package"),
        "id": try arguments.value("id"), "count": "100",
      ]
    }
    return [
      "state": try arguments.value("state"), "user": try arguments.value("user-of"),
      "device": try arguments.value("device"), "entity": try arguments.value("entity"),
      "key": try arguments.value("key"), "package": try arguments.value("package"),
      "operation": verb == "audit" ? try arguments.value("id") : nil, "count": "100",
    ]
  }

  /// The whole id of an operation, of which a beginning was written.
  private static func id(_ arguments: Arguments, _ door: AdminDoor) async throws -> String {
    let part = try arguments.required("id", "3fa9")
    guard OperationID(part) == nil else { return part }
    let answer = try await door.ask(.get, "operations", query: ["count": "500"])
    let found = (answer["operations"]?.array ?? []).compactMap { $0["id"]?.string }
      .filter { $0.hasPrefix(part) }
    guard found.count == 1, let id = found.first else {
      throw CommandError(
        found.isEmpty
          ? "none of the newest 500 operations has an id that begins with \"\(part)\""
          : "\(found.count) operations have an id that begins with \"\(part)\"",
        hint: "Write more of the id, or all of it.")
    }
    return id
  }

  private static func decide(
    _ verb: String, _ arguments: Arguments, _ door: AdminDoor
  ) async throws -> JSONNode {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("reason", try arguments.required("reason", "\"typing error\""))
    if let message = try arguments.value("message") { writer.field("message", message) }
    if arguments.flag("dry-run") { writer.field("dryRun", true) }
    if verb == "discard" { try ask("A change of a user is discarded.", arguments) }
    guard try arguments.value("id") != nil else {
      guard verb == "retry" || verb == "discard" else {
        throw UsageError("--id is missing", hint: "Write --id <id>.")
      }
      writer.field("verb", verb)
      writer.field("cause", try arguments.required("cause", "\"412 price_check\""))
      for (option, name) in [("user-of", "user"), ("device", "device"), ("entity", "entity")] {
        if let value = try arguments.value(option) { writer.field(name, value) }
      }
      writer.endObject()
      return try await door.ask(.post, "corrections", body: writer.bytes)
    }
    let id = try await id(arguments, door)
    if verb == "withdraw" {
      writer.endObject()
      let operation = try await door.ask(.get, "operations/\(id)")
      let open = operation["corrections"]?.array?.first { $0["state"]?.string == "open" }
      guard let correction = open?["id"]?.string else {
        throw CommandError(
          "nothing is to be taken back of the operation \(id)",
          hint: "Its device has done it, or nobody has decided.")
      }
      return try await door.ask(
        .post, "operations/\(id)/correction/\(correction)/withdraw", body: writer.bytes)
    }
    writer.field("verb", verb)
    if verb == "release" { try writeValues(arguments, to: &writer) }
    writer.endObject()
    return try await door.ask(.post, "operations/\(id)/correction", body: writer.bytes)
  }

  private static func writeValues(_ arguments: Arguments, to writer: inout JSONWriter) throws {
    writer.key("changed")
    writer.beginObject()
    for pair in arguments.values("set") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else {
        throw UsageError("--set \(pair) has no value", hint: "Write --set attribute=value.")
      }
      writer.field(String(sides[0]), String(sides[1]))
    }
    for name in arguments.values("empty") { writer.field(name, String?.none) }
    writer.endObject()
  }

  private static func decideDevice(
    _ arguments: Arguments, _ door: AdminDoor
  ) async throws -> JSONNode {
    let verb = try arguments.required("verb", "lock")
    let user = try arguments.required("user-of", "nancy")
    let device = try arguments.required("device", "3fa9…")
    switch verb {
    case "wipe": try ask("The device \(device) destroys its data.", arguments)
    case "unregister", "forget":
      try ask("The device \(device) leaves the register; its user must log in again.", arguments)
    default: break
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", verb)
    writer.field("reason", try arguments.required("reason", "\"lost\""))
    if arguments.flag("dry-run") { writer.field("dryRun", true) }
    if let level = try arguments.value("level") { writer.field("level", level) }
    if arguments.flag("with-pending") { writer.field("withPending", true) }
    if verb == "wipe", let password = door.password { writer.field("password", password) }
    writer.endObject()
    let parts = [user, device].map { PercentEncoding.encode($0) }
    return try await door.ask(
      .post, "devices/\(parts[0])/\(parts[1])", body: writer.bytes)
  }

  private static func decideOutcome(
    _ arguments: Arguments, _ door: AdminDoor
  ) async throws -> JSONNode {
    let part = try arguments.required("id", "3fa9")
    let verb = try arguments.required("verb", "accepted")
    let open = try await door.ask(.get, "outcomes")["operations"]?.array ?? []
    let found = open.compactMap { $0["id"]?.string }.filter { $0.hasPrefix(part) }
    guard found.count == 1, let id = found.first else {
      throw CommandError(
        "\(found.count) operations of unknown outcome have an id that begins with \"\(part)\"",
        hint: "`ferry admin outcomes` shows all ids.")
    }
    if verb == "again" {
      try ask("The operation is performed once more, and may be there twice.", arguments)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", verb)
    writer.field("reason", try arguments.required("reason", "\"asked the warehouse\""))
    if let key = try arguments.value("key") { writer.field("key", key) }
    if let message = try arguments.value("message") { writer.field("message", message) }
    if arguments.flag("dry-run") { writer.field("dryRun", true) }
    writer.endObject()
    return try await door.ask(.post, "outcomes/\(id)", body: writer.bytes)
  }

  private static func changeKeys(
    _ arguments: Arguments, _ door: AdminDoor
  ) async throws -> JSONNode {
    try ask("The keys that seal tokens are changed.", arguments)
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("reason", try arguments.required("reason", "\"once a year\""))
    if arguments.flag("dry-run") { writer.field("dryRun", true) }
    if let password = door.password { writer.field("password", password) }
    writer.endObject()
    return try await door.ask(.post, "keys", body: writer.bytes)
  }

  private static func reload(_ arguments: Arguments, _ door: AdminDoor) async throws -> JSONNode {
    let package = PercentEncoding.encode(try arguments.required("package", "Sales:1.0"))
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("reason", try arguments.required("reason", "\"restored from a backup\""))
    if arguments.flag("dry-run") { writer.field("dryRun", true) }
    writer.endObject()
    return try await door.ask(.post, "packages/\(package)/reload", body: writer.bytes)
  }

  /// Throws unless somebody says yes.
  private static func ask(_ what: String, _ arguments: Arguments) throws {
    guard !arguments.flag("yes"), !arguments.flag("dry-run") else { return }
    Terminal.error("\(what) Type yes to go on:")
    guard isatty(STDIN_FILENO) == 1, readLine(strippingNewline: true) == "yes" else {
      throw CommandError("nothing was done", hint: "Answer yes, or add --yes.")
    }
  }
}
