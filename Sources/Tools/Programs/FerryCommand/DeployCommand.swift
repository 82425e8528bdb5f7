import FerryArguments
import FerryCachePolicies
import FerryConnections
import FerryGenerator
import FerryJSON
import FerryModel
import FerryRESTConnector
import Foundation

/// `ferry deploy`: which packages a running server serves.
enum DeployCommand: Subcommand {
  static let name = "deploy"
  static let summary = "add, replace, list and withdraw the packages of a running server"
  static let operands = "<model.json>|--list|--withdraw NAME VERSION --data <folder> [options]"
  static let options =
    OperatorDoor.options + [
      CommandOption(
        "database", "ADDRESS",
        "the business database of the model, sqlite:FILE, postgres:DATABASE, odata:ADDRESS or "
          + "\(BusinessDatabase.restScheme)ADDRESS (default: the one "
          + "that the server or the model names)"),
      CommandOption(
        "policies", "FILE",
        "when the rows of the model are read, and what happens in a conflict; without it, a deployed "
          + "model has no policies"),
      CommandOption("list", nil, "list the packages, and the devices that use each"),
      CommandOption("withdraw", nil, "stop serving this version"),
      CommandOption("force", nil, "with --withdraw: even if devices use it or changes wait"),
      .json,
    ]
  static let discussion = """
    The server first checks that the model fits its database. If it does not, nothing changes. A
    new version is added; its first load begins at once, and other versions are served as before. A
    version that the server already has is replaced, but only if devices get the same data as
    before. The model is kept in the data folder, so a restart serves it too. The mapping of a REST
    service is sent with it, if there is one beside the model. Other policies
    (Documentation/CacheGroups.md) hold at once, and interrupt nothing.

    --withdraw is refused while a device uses the version, or a change waits for the business
    system. Rows of a withdrawn version stay in the store, and a later deployment uses them again.

    Example: ferry deploy travel-1.1.json --data data
             ferry deploy --withdraw Travel 1.0 --data data
    Exit codes: 0 done; 1 it could not be done, nothing has changed; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let isList = arguments.flag("list")
    let isWithdrawal = arguments.flag("withdraw")
    guard !(isList && isWithdrawal) else {
      throw UsageError(
        "--list and --withdraw cannot be used together", hint: "Leave out one of them.")
    }
    guard isWithdrawal || !arguments.flag("force") else {
      throw UsageError(
        "--force works only with --withdraw", hint: "Leave out --force, or add --withdraw.")
    }
    if isList {
      _ = try arguments.operands()
      show(try await OperatorDoor(arguments).ask(.get, "packages"), arguments)
    } else if isWithdrawal {
      show(try await send(try withdrawal(arguments), arguments), arguments)
    } else {
      let file = try arguments.operands("model.json")[0]
      show(try await send(try deployment(file, arguments), arguments), arguments)
    }
    return .success
  }

  private static func send(_ body: [UInt8], _ arguments: Arguments) async throws -> JSONNode {
    // To replace a package waits for what it is performing.
    try await OperatorDoor(arguments).ask(.post, "packages", body, within: .seconds(300))
  }

  private static func deployment(_ file: String, _ arguments: Arguments) throws -> [UInt8] {
    let bytes = try TextFile.read(file)
    let reading = ModelReader.read(bytes, file: file, isZone: SystemZones.has)
    for problem in reading.problems + reading.openings { Terminal.error(problem.description) }
    guard let package = reading.package else {
      throw GeneratorError(
        "\(file) is not a valid model", hint: "Correct it first: `ferry check` shows the errors.")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", "deploy")
    writer.field("file", file)
    writer.field("model", String(decoding: bytes, as: UTF8.self))
    if let database = try arguments.value("database") {
      // The server reads this one itself.
      let isREST = database.hasPrefix(BusinessDatabase.restScheme)
      writer.field("database", isREST ? database : try DatabaseAddress(database).absolute)
    }
    if let mapping = MappingText(of: package, besideModel: file) {
      try mapping.check(for: package)
      writer.field("mapping", String(decoding: mapping.bytes, as: UTF8.self))
    }
    if let policies = try arguments.value("policies") {
      let text = try TextFile.read(policies)
      _ = try PolicyFile.parse(text, for: package, policies)
      writer.field("policies", String(decoding: text, as: UTF8.self))
    }
    writer.endObject()
    return writer.bytes
  }

  private static func withdrawal(_ arguments: Arguments) throws -> [UInt8] {
    let words = arguments.operands
    let id = words.count == 1 && words[0].contains(":") ? words[0] : nil
    let names = try id.map { [$0] } ?? arguments.operands("name", "version")
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("verb", "withdraw")
    writer.field("package", names.joined(separator: ":"))
    writer.field("force", arguments.flag("force"))
    writer.endObject()
    return writer.bytes
  }

  private static func show(_ answer: JSONNode, _ arguments: Arguments) {
    guard !arguments.flag("json") else {
      Terminal.show(JSONText.of(answer), asJSON: true)
      return
    }
    if let package = answer["package"]?.string { Terminal.show(done(package, answer)) }
    if let notice = answer["notice"]?.string { Terminal.show(notice) }
    for package in answer["packages"]?.array ?? [] { Terminal.show(entry(package)) }
  }

  private static func done(_ package: String, _ answer: JSONNode) -> String {
    switch answer["outcome"]?.string {
    case "added": "\(package) is served now. Its first load has begun; --list shows its progress."
    case "replaced": "\(package) has been replaced by the new model."
    case "policiesChanged": "\(package) is served by the new policies."
    case "unchanged": "\(package) is already served with this model: nothing was changed."
    default: "\(package) is no longer served. Its rows stay in the store."
    }
  }

  private static func entry(_ package: JSONNode) -> String {
    let devices = package["devices"]?.array ?? []
    var line = "\(package["package"]?.string ?? "")  \(package["status"]?.string ?? "")"
    if let load = package["load"], let rows = load["rows"]?.integer {
      // A package that is ready also reads all rows, to find what changed.
      line += ", reading the business system: \(rows)"
      line += (load["of"]?.integer.map { " of \($0)" } ?? "") + " rows"
      if let seconds = load["remainingSeconds"]?.integer { line += ", about \(seconds) s left" }
    }
    if let waiting = package["waitingOperations"]?.integer, waiting > 0 {
      line += ", " + Terminal.counted(Int(waiting), "change waits", "changes wait")
    }
    line += "  " + (package["database"]?.string ?? "")
    for name in ["message", "business"] {
      if let reason = package[name]?.string { line += "\n  " + Terminal.harmless(reason) }
    }
    line += devices.isEmpty ? "\n  no device uses it" : ""
    for device in devices {
      let seen = device["lastSeen"]?.integer.map {
        Date(timeIntervalSince1970: Double($0) / 1_000).formatted(.iso8601)
      }
      let pending = device["pending"]?.integer.map { ", \($0) pending" } ?? ""
      // What a device says of itself must not reach a terminal as it is.
      line +=
        "\n  " + Terminal.harmless(device["user"]?.string ?? "") + " "
        + Terminal.harmless(device["device"]?.string ?? "")
        + ", \(device["state"]?.string ?? ""), last seen \(seen ?? "")\(pending)"
    }
    return line
  }
}
