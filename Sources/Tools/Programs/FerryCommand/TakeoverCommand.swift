import Ferry
import FerryArguments
import FerryGenerator
import FerryInspection
import FerryJSON
import FerryModel
import FerryTakeover
import FerryWorld
import Foundation
import Glibc

/// `ferry takeover`: the pending work of another product becomes that of a device's database.
enum TakeoverCommand: Subcommand {
  static let name = "takeover"
  static let summary = "take over the pending changes of another product's local database"
  static let operands =
    "<file> --map <mapping> --model <model> --device <device database> [--apply]"
  static let options =
    [
      CommandOption("map", "FILE", "what in the file is what in the model (JSON)"),
      CommandOption("model", "FILE", "the model of the app that has the device's database"),
      CommandOption("device", "DATABASE", "the device's database; the app must be closed"),
      CommandOption("apply", nil, "write to the device's database; without it nothing is changed"),
      CommandOption("drafts", nil, "keep the changes as drafts, which the app submits"),
      .json,
    ] + DatabaseKeyOption.options
  static let discussion = """
    Each entry of the outbox of the file (SQLite) becomes a pending operation. The file is copied before
    it is read, and never changed. Without --apply everything is tried on a copy of the device's
    database, and the report says what would be done.
    One entry that cannot be taken over is enough: nothing is written then, and the report names each of
    them with its cure. A second run takes over what is new only.
    Synchronize the device's database before: a change of an object needs the object.
    Documentation/FromAnotherProduct.md describes the mapping.

    \(DatabaseKeyOption.discussion)

    Example: ferry takeover old.db --map map.json --model app.json --device new.db
             ferry takeover old.db --map map.json --model app.json --device new.db --apply
    Exit codes: 0 all entries can be, or were taken over; 1 some cannot, or a file cannot be used:
    nothing was changed; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let file = try arguments.operands("old.db")[0]
    let map = try arguments.required("map", "map.json")
    let model = try arguments.required("model", "app.json")
    let device = try arguments.required("device", "device.db")
    let key = try DatabaseKeyOption.key(arguments)
    let package = try ModelFile.read(model)
    for path in [file, device] {
      try TextFile.requireNoFolder(path)
      guard TextFile.exists(path) else {
        throw CommandError("there is no file \(path)", hint: "Check the path.")
      }
    }
    let mapping = try TakeoverMapping(try TextFile.read(map), for: package)
    try check(device, key, package)
    let temporary = FileManager.default.temporaryDirectory.path
    let folder = try PrivateFolder("\(temporary)/ferry-takeover")
    defer { withExtendedLifetime(folder) {} }
    try copy(file, ["-wal", "-journal"], to: folder, "source.db")
    try copy(
      device, ["-wal", "-journal", "-sealing", "-sealing-wal", "-sealing-journal"], to: folder,
      "device.db")
    let source = try TakeoverSource(
      path: "\(folder.part)/source.db", name: file, mapping: mapping)
    let takeover = { (path: String) throws -> TakeoverReport in
      let store = try Store(
        path: path, model: package, world: .system(), durability: .machine, key: key)
      defer { store.close() }
      return try Takeover(
        source, mapping: mapping, into: store, submits: !arguments.flag("drafts")
      ).run()
    }
    let tried = try takeover("\(folder.part)/device.db")
    let isApplied = arguments.flag("apply") && tried.faultCount == 0
    let report = isApplied ? try takeover(device) : tried
    show(report, isApplied: isApplied, arguments)
    return report.faultCount == 0 ? .success : .problems
  }

  /// Another model would change the database, or lose what is pending.
  private static func check(_ device: String, _ key: DatabaseKey?, _ package: Package) throws {
    let there = try DeviceFile(path: device, key: key).inspection(limit: 1).package
    guard there == package.id else {
      throw CommandError(
        "\(device) is of \(there), and the model of \(package.id)",
        hint: "Give --model the model of the app that has this database.")
    }
  }

  /// The file, and what SQLite may have left beside it.
  private static func copy(
    _ path: String, _ besides: [String], to folder: PrivateFolder, _ name: String
  ) throws {
    for ending in [""] + besides {
      let file = open(path + ending, O_RDONLY | O_CLOEXEC)
      if file < 0, errno == ENOENT, !ending.isEmpty { continue }
      guard file >= 0 else {
        throw CommandError(
          "\(path + ending) cannot be read: \(String(cString: strerror(errno)))",
          hint: "Run this as a user who may read it.")
      }
      defer { close(file) }
      _ = try folder.copy(file, to: name + ending)
    }
  }

  private static func show(_ report: TakeoverReport, isApplied: Bool, _ arguments: Arguments) {
    guard !arguments.flag("json") else {
      return Terminal.show(json(report, isApplied), asJSON: true)
    }
    for fault in report.faults {
      let place = ["entry \(fault.entry)", fault.type].compactMap { $0 }.joined(separator: ", ")
      Terminal.show(
        Terminal.harmless("\(place): \(CommandFailure.joined(fault.message, fault.hint))"))
    }
    if report.faultCount > report.faults.count {
      Terminal.show("… and \(report.faultCount - report.faults.count) more.")
    }
    let verbs = TakeoverMapping.Verb.allCases.compactMap { verb in
      report.counts[verb].map { "\($0) \(verb.rawValue)" }
    }
    let counted = Terminal.counted(report.entryCount, "entry", "entries")
    let what = verbs.isEmpty ? counted : "\(counted) (\(verbs.joined(separator: ", ")))"
    let skipped = report.skipped > 0 ? " \(report.skipped) were taken over before." : ""
    if report.faultCount > 0 {
      let bad = Terminal.counted(report.faultCount, "entry", "entries")
      Terminal.show("\(bad) cannot be taken over, \(what) can.\(skipped) Nothing was changed.")
    } else if isApplied {
      let next =
        arguments.flag("drafts")
        ? "They wait as drafts until the app submits them."
        : "The next synchronization sends them."
      Terminal.show("\(what) taken over.\(skipped) \(next)")
    } else {
      Terminal.show(
        "\(what) can be taken over.\(skipped) Nothing was changed; add --apply to do it.")
    }
  }

  private static func json(_ report: TakeoverReport, _ isApplied: Bool) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("applied", isApplied)
    writer.field("entries", report.entryCount)
    for verb in TakeoverMapping.Verb.allCases {
      writer.field(verb.rawValue, report.counts[verb] ?? 0)
    }
    writer.field("takenBefore", report.skipped)
    writer.field("faults", report.faultCount)
    writer.key("problems")
    writer.array(report.faults) { writer, fault in
      writer.beginObject()
      writer.field("entry", fault.entry)
      writer.field("type", fault.type)
      writer.field("message", fault.message)
      writer.field("hint", fault.hint)
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }
}
