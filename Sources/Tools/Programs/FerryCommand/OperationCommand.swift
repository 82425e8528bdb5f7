import FerryArguments
import FerryHTTP
import FerryJSON
import FerryModel

/// `ferry operation`: what an operator sees of operations whose outcome nobody knows, and decides.
enum OperationCommand: Subcommand {
  static let name = "operation"
  static let summary = "list operations whose outcome nobody knows, and decide what became of them"
  static let verbs = ["list", "again", "refused", "accepted"]
  static let operands = "\(verbs.joined(separator: "|")) --data <folder> [options]"
  static let options =
    OperatorDoor.options + [
      CommandOption("id", "<id>", "the operation; its first letters are enough"),
      CommandOption("key", "<key>", "with accepted: the key of the object in the business system"),
      CommandOption("reason", "<text>", "with refused: what the user of the app reads"),
      .json,
    ]
  static let discussion = """
    list shows each operation with what was sent, why its outcome is not known, and the rows of the
    business system that may be its effect.
    again performs it once more. Only a person can know that this makes nothing twice. refused answers
    that it was not performed. accepted answers that it was performed, as the object with this key.
    The decision is recorded in the audit log, and the device hears of it.

    Example: ferry operation accepted --data data --id 3fa9 --key 1043
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let names = verbs.joined(separator: ", ")
    let verb = try arguments.operands(names)[0]
    guard verbs.contains(verb) else {
      throw UsageError("the verb \"\(verb)\" is unknown", hint: "Write one of \(names).")
    }
    let door = try OperatorDoor(arguments)
    let part = try arguments.value("id")
    let answer = try await door.ask(.get, "operations")
    let all = (answer["operations"]?.array ?? []).filter { operation in
      part.map { operation["id"]?.string?.hasPrefix($0) ?? false } ?? true
    }
    guard verb != "list" else {
      show(all, asJSON: arguments.flag("json"))
      return .success
    }
    guard let part else {
      throw UsageError(
        "--id is missing", hint: "Write --id <id>; `ferry operation list` shows all ids.")
    }
    guard all.count == 1, let operation = all.first else {
      throw CommandError(
        (all.isEmpty ? "no operation of unknown outcome has" : "\(all.count) operations have")
          + " an id that begins with \"\(part)\"",
        hint: all.isEmpty ? "`ferry operation list` shows all ids." : "Write more of the id.")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("id", operation["id"]?.string)
    writer.field("verb", verb)
    if verb == "accepted" { writer.field("key", try arguments.required("key", "1043")) }
    if let reason = try arguments.value("reason") { writer.field("reason", reason) }
    writer.endObject()
    _ = try await door.ask(.post, "operation", writer.bytes)
    let id = Terminal.harmless(operation["id"]?.string ?? "")
    Terminal.show(arguments.flag("json") ? "{}" : "\(id): \(verb)", asJSON: arguments.flag("json"))
    return .success
  }

  private static func show(_ operations: [JSONNode], asJSON: Bool) {
    guard !asJSON else {
      let texts = operations.map { JSONText.of($0) }
      return Terminal.show("{\"operations\":[\(texts.joined(separator: ","))]}", asJSON: true)
    }
    guard !operations.isEmpty else {
      return Terminal.show("the outcome of every operation is known")
    }
    for operation in operations {
      func text(_ name: String) -> String {
        Terminal.harmless(operation[name].map { $0.string ?? JSONText.of($0) } ?? "")
      }
      let key = operation["key"]?.string.map { " \(Terminal.harmless($0))" } ?? ""
      Terminal.show(
        "\(text("id"))  \(text("kind")) \(text("entity"))\(key), \(text("user")) on \(text("device"))"
      )
      Terminal.show("  reason  \(text("reason"))")
      Terminal.show("  sent    \(text("sent"))")
      for row in operation["candidates"]?.array ?? [] {
        Terminal.show("  found   \(Terminal.harmless(JSONText.of(row)))")
      }
    }
  }
}
