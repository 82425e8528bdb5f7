import Ferry
import FerryArguments
import FerryJSON
import FerryWorld

/// `ferry inspect`: what a device's database holds.
enum InspectCommand: Subcommand {
  static let name = "inspect"
  static let summary = "show what a device's database holds: objects, pending operations, cursors"
  static let operands = "<device database> [options]"
  static let options = [CommandOption.json]
  static let discussion = """
    Reads the file and changes nothing; the app may be running.

    Exit codes: 0 shown; 1 the file cannot be read or is no device's database; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let path = try arguments.operands("device.db")[0]
    let inspection = try DeviceInspection(path: path)
    if arguments.flag("json") {
      print(json(inspection))
    } else {
      show(inspection, now: SystemClock().now)
    }
    return .success
  }

  private static func show(_ inspection: DeviceInspection, now: Timestamp) {
    print("package \(inspection.package)")
    print("user    \(inspection.user ?? "nobody has logged in")")
    print("server  \(inspection.server ?? "none yet")")
    print("\nobjects")
    let width = inspection.entities.map(\.entity.count).max() ?? 0
    for entity in inspection.entities {
      let pending = entity.pending > 0 ? ", \(entity.pending) pending" : ""
      print("  \(Terminal.padded(entity.entity, width))  \(entity.visible)\(pending)")
    }
    print("\npending operations: \(inspection.operations.count)")
    for operation in inspection.operations { print("  \(line(operation, now: now))") }
    print("\nlog records: \(inspection.logRecords.count)")
    for record in inspection.logRecords { print("  \(record)") }
    print("\ncheckpoints")
    for group in inspection.groups {
      print(
        "  \(group.name)  version \(group.version)\(group.era == nil ? ", not imported yet" : "")")
    }
    print("\npartitions")
    for partition in inspection.partitions {
      let staged =
        partition.staged == partition.cursor ? "" : ", download at \(partition.staged)"
      print(
        "  \(partition.number)  \(partition.group)  \(partition.state)  \(partition.count) rows, "
          + "at \(partition.cursor)\(staged)")
    }
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
    writer.key("entities")
    writer.array(inspection.entities) { writer, entity in
      writer.beginObject()
      writer.field("entity", entity.entity)
      writer.field("visible", entity.visible)
      writer.field("pending", entity.pending)
      writer.endObject()
    }
    writer.key("operations")
    writer.array(inspection.operations) { $0.operation($1) }
    writer.key("logRecords")
    writer.array(inspection.logRecords) { $0.raw($1.utf8) }
    writer.key("groups")
    writer.array(inspection.groups) { writer, group in
      writer.beginObject()
      writer.field("name", group.name)
      writer.field("era", group.era)
      writer.field("version", group.version)
      writer.field("imported", group.imported)
      writer.endObject()
    }
    writer.key("partitions")
    writer.array(inspection.partitions) { writer, partition in
      writer.beginObject()
      writer.field("partition", partition.number)
      writer.field("group", partition.group)
      writer.field("state", partition.state)
      writer.field("version", partition.cursor.version)
      writer.field("stagedVersion", partition.staged.version)
      writer.field("rows", partition.count)
      writer.endObject()
    }
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
