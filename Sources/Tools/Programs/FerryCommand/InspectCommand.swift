import Ferry
import FerryArguments
import FerryGenerator
import FerryInspection
import FerryJSON
import FerryWire
import FerryWorld

/// `ferry inspect`: what a device's database holds.
enum InspectCommand: Subcommand {
  static let name = "inspect"
  static let summary = "show the content of a device's database, live; export it for support"
  static let operands = "<device database> [options]"
  static let options =
    [
      CommandOption("once", nil, "print once and end, also in a terminal"),
      .json,
      CommandOption(
        "export", "FILE", "write pending work and log records to a new file, for support"),
      CommandOption("values", nil, "with --export: show values instead of their types and lengths"),
    ] + DatabaseKeyOption.options
  static let discussion = """
    In a terminal this is a live view of subscriptions, objects, pending operations and log records,
    updated every second; q or control-C ends it. Otherwise it prints once. It reads the file and
    changes nothing; the app may be running.

    --export writes one JSON file (see Documentation/Inspect.md). It hides values, also in messages,
    unless --values is given. An existing file is never overwritten.

    \(DatabaseKeyOption.discussion)

    Exit codes: 0 shown or written; 1 the file cannot be read, is not a device's database, its key
    is wrong, or the export cannot be written; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let path = try arguments.operands("device.db")[0]
    let export = try arguments.value("export")
    if arguments.flag("values"), export == nil {
      throw UsageError(
        "--values needs --export",
        hint: "Add --export FILE. Without an export, values are always shown.")
    }
    if export != nil, arguments.flag("json") || arguments.flag("once") {
      throw UsageError(
        "--export cannot be used with --json or --once", hint: "Leave out --json and --once.")
    }
    let key = try DatabaseKeyOption.key(arguments)
    try TextFile.requireNoFolder(path)
    let file = try DeviceFile(path: path, key: key)
    if let export {
      try write(file, to: export, showsValues: arguments.flag("values"))
    } else if arguments.flag("json") {
      Terminal.show(json(try file.inspection()), asJSON: true)
    } else if !arguments.flag("once"), LiveTerminal.isPossible {
      try follow(file, key)
    } else {
      show(try file.inspection(), now: SystemClock().now)
    }
    return .success
  }

  private static func write(_ file: DeviceFile, to path: String, showsValues: Bool) throws {
    let export = try DeviceExport(
      file, showsValues: showsValues, written: SystemClock().now.milliseconds)
    try NewFile.write(export.text + "\n", to: path)
    Terminal.show("wrote \(path); values are \(showsValues ? "shown" : "hidden") in it")
  }

  /// Until the user has seen enough.
  private static func follow(_ first: DeviceFile, _ key: DatabaseKey?) throws {
    var file = first
    // Before the screen is taken: what is wrong with the file is told on the other one.
    var inspection = try file.inspection(limit: InspectScreen.limit)
    var seen = try file.version()
    var ending: CInt?
    do {
      guard let terminal = LiveTerminal() else {
        show(inspection, now: SystemClock().now)
        return
      }
      repeat {
        var problem: String?
        do throws(FerryError) {
          if file.hasMoved { file = try DeviceFile(path: file.path, key: key) }
          let version = try file.version()
          if version != seen || file !== first {
            inspection = try file.inspection(limit: InspectScreen.limit)
            seen = version
          }
        } catch {
          problem = error.message
        }
        let size = terminal.size
        let screen = InspectScreen(
          name: first.path.split(separator: "/").last.map(String.init) ?? first.path,
          width: size.columns, height: size.lines, now: SystemClock().now.milliseconds)
        terminal.draw(screen.lines(inspection, problem: problem))
      } while !terminal.waitForEnd(milliseconds: 1_000)
      ending = terminal.endingSignal
    }
    if let ending { LiveTerminal.end(by: ending) }
  }

  private static func show(_ inspection: DeviceInspection, now: Timestamp) {
    Terminal.show("package \(inspection.package)")
    Terminal.show("user    \(user(inspection))")
    Terminal.show("server  \(inspection.server ?? "none yet")")
    Terminal.show("device  \(inspection.device), \(inspection.subscription.rawValue)")
    for set in inspection.parameterSets { Terminal.show("parameters \(set)") }
    Terminal.show("\nobjects")
    let width = inspection.entities.map(\.entity.count).max() ?? 0
    for entity in inspection.entities {
      let pending = entity.pending > 0 ? ", \(entity.pending) pending" : ""
      Terminal.show("  \(Terminal.padded(entity.entity, width))  \(entity.visible)\(pending)")
    }
    Terminal.show("\npending operations: \(inspection.operations.count)")
    for operation in inspection.operations { Terminal.show("  \(line(operation, now: now))") }
    Terminal.show("\nlog records: \(inspection.logRecords.count)")
    for record in inspection.logRecords { Terminal.show("  \(record)") }
    Terminal.show("\ncheckpoints")
    for group in inspection.groups {
      Terminal.show(
        "  \(group.name)  version \(group.version)\(group.era == nil ? ", not imported yet" : "")")
    }
    Terminal.show("\npartitions")
    if inspection.getsNothing {
      let cure = "Look at the user's claims with: ferry user list"
      Terminal.show("  none: this user gets no rows. \(cure)")
    }
    for partition in inspection.partitions {
      let staged =
        partition.staged == partition.cursor ? "" : ", download at \(partition.staged)"
      Terminal.show(
        "  \(partition.number)  \(partition.group)  \(partition.state)  \(partition.count) rows, "
          + "at \(partition.cursor)\(staged)")
    }
  }

  /// Who logged in last, and whether they must again.
  static func user(_ inspection: DeviceInspection) -> String {
    guard let user = inspection.user else { return "nobody has logged in" }
    return inspection.mustLogIn ? "\(user), must log in again" : user
  }

  /// An operation in one line, with its age.
  static func line(_ operation: DeviceInspection.OperationView, now: Timestamp) -> String {
    let seconds = max(0, (now.milliseconds - operation.made) / 1_000)
    let state =
      operation.state == "submitted" && operation.isAcknowledged
      ? "submitted, the server has it" : operation.state
    return "\(operation.kind) \(operation.entity) \(operation.key)  \(state)  \(seconds) s old  "
      + operation.changed
  }

  private static func json(_ inspection: DeviceInspection) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("package", inspection.package)
    writer.field("user", inspection.user)
    writer.field("server", inspection.server)
    writer.field("device", inspection.device)
    writer.field("mustLogIn", inspection.mustLogIn)
    writer.field("subscription", inspection.subscription.rawValue)
    writer.key("parameterSets")
    writer.array(inspection.parameterSets) { $0.raw($1.utf8) }
    writer.key("operations")
    writer.array(inspection.operations) { $0.operation($1) }
    writer.key("logRecords")
    writer.array(inspection.logRecords) { $0.raw($1.utf8) }
    writer.inspected(inspection)
    writer.endObject()
    return writer.text
  }
}

extension JSONWriter {
  mutating func operation(_ operation: DeviceInspection.OperationView) {
    beginObject()
    field("id", operation.id)
    field("entity", operation.entity)
    field("key", operation.key)
    field("operation", operation.kind)
    field("state", operation.state)
    field("acknowledged", operation.isAcknowledged)
    field("made", operation.made)
    key("changed")
    raw(operation.changed.utf8)
    key("base")
    raw(operation.base.utf8)
    endObject()
  }
}
