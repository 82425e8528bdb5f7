import FerryArguments
import FerryHTTP
import FerryJSON

/// `ferry cache`: what an operator sees of cache groups, and does with them.
enum CacheCommand: Subcommand {
  static let name = "cache"
  static let summary = "list cache groups with state and age; refresh, suspend or resume one"
  static let verbs = ["list", "refresh", "suspend", "resume"]
  static let operands = "\(verbs.joined(separator: "|")) [group] --data <folder> [options]"
  static let options =
    OperatorDoor.options + [
      CommandOption("package", "NAME:VERSION", "the package, if several have a group of this name"),
      .json,
    ]
  static let discussion = """
    list shows each group of each package: how it is refreshed, its state, how old its rows are, and
    why its last load failed.
    refresh reads the rows of a group now. suspend stops that, whoever asks for its rows: devices get
    the rows that are there. A load that is under way ends, and nothing of it is used. resume ends a
    suspension. A suspension outlives a restart of ferryd.

    Example: ferry cache suspend stock --data data
    Exit codes: 0 done; 1 it could not be done; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let words = arguments.operands
    guard let verb = words.first, verbs.contains(verb) else {
      throw UsageError(
        "the verb \"\(words.first ?? "")\" is unknown",
        hint: "Write one of \(verbs.joined(separator: ", ")).")
    }
    guard words.count == (verb == "list" ? 1 : 2) else {
      throw UsageError(
        verb == "list" ? "list takes no group" : "\(verb) takes one group",
        hint: "`ferry cache list` shows all groups.")
    }
    let door = try OperatorDoor(arguments)
    let answer: JSONNode
    if verb == "list" {
      answer = try await door.ask(.get, "cache")
    } else {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("verb", verb)
      writer.field("group", words[1])
      if let package = try arguments.value("package") { writer.field("package", package) }
      writer.endObject()
      answer = try await door.ask(.post, "cache", writer.bytes)
    }
    guard !arguments.flag("json") else {
      Terminal.show(JSONText.of(answer), asJSON: true)
      return .success
    }
    let lines = (answer["packages"]?.array ?? []).flatMap { package in
      CacheGroupLine.all(package["cacheGroups"]).map { group in
        "\(Terminal.harmless(package["package"]?.string ?? ""))  \(Terminal.harmless(group.text))"
      }
    }
    Terminal.show(
      lines.isEmpty ? "no package has a cache group" : lines.joined(separator: "\n"))
    return .success
  }
}

/// A cache group as a server describes it.
struct CacheGroupLine {
  let name: String
  let refresh: String
  let state: String
  let ageSeconds: Double?
  let loads: Int64
  let failure: String?

  static func all(_ node: JSONNode?) -> [CacheGroupLine] {
    (node?.array ?? []).map { group in
      CacheGroupLine(
        name: group["group"]?.string ?? "", refresh: group["refresh"]?.string ?? "",
        state: group["state"]?.string ?? "",
        ageSeconds: group["ageMilliseconds"]?.integer.map { Double($0) / 1_000 },
        loads: group["loads"]?.integer ?? 0, failure: group["failure"]?.string)
    }
  }

  var text: String {
    let age = ageSeconds.map { "rows \(StatusText.span($0)) old" } ?? "age of rows unknown"
    return "\(name): \(state), \(refresh), \(age)" + (failure.map { "; last load: \($0)" } ?? "")
  }

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("group", name)
    writer.field("refresh", refresh)
    writer.field("state", state)
    writer.field("ageMilliseconds", ageSeconds.map { Int64($0 * 1_000) })
    writer.field("loads", loads)
    writer.field("failure", failure)
    writer.endObject()
  }
}
