import FerryArguments
import FerryJSON
import FerrySQLiteStore
import FerryServer
import FerryWire

/// `ferry log`: what apps wrote on their devices and submitted.
enum LogCommand: Subcommand {
  static let name = "log"
  static let summary = "show the log records that apps wrote on their devices and submitted"
  static let operands = "--data FOLDER [options]"
  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder; the server may be running"),
    CommandOption("user", "NAME", "only of this user"),
    CommandOption("device", "ID", "only of this device"),
    CommandOption("entity", "NAME", "only about objects of this entity"),
    CommandOption("level", "LEVEL", "this level or graver: trace, debug, info, warn, error, fatal"),
    CommandOption("take", "NUMBER", "the last so many; 100 if not given"),
    .json,
  ]
  static let discussion = """
    What the business system refused stands with its operation: see ferry why. Nothing is changed.

    Exit codes: 0 shown, also when there is none; 1 the folder cannot be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let folder = try arguments.required("data", "data")
    var question = DeviceReport.Question()
    question.user = try arguments.value("user")
    question.device = try arguments.value("device")
    question.component = try arguments.value("entity")
    if let level = try arguments.value("level") {
      guard let known = LogRecord.Level(rawValue: level) else {
        throw UsageError(
          "there is no level \"\(level)\"",
          hint: "Levels are \(LogRecord.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      question.atLeast = known
    }
    if let take = try arguments.value("take") {
      guard let number = Int(take), number > 0 else {
        throw UsageError("--take \(take) is no number", hint: "Write for example --take 20.")
      }
      question.take = number
    }
    let reports = try DeviceReport.read(folder: folder, question)
    if arguments.flag("json") {
      print(json(reports))
    } else {
      for report in reports { print(Terminal.harmless(line(report))) }
      if reports.isEmpty { print("no log records of devices") }
    }
    return .success
  }

  private static func line(_ report: DeviceReport) -> String {
    let record = report.record
    let object = "\(record.component) \(record.entityKey)"
    return "\(record.timestamp)  \(record.level.rawValue)  \(report.user) on \(report.device)  "
      + "\(report.package) \(object)  \(record.code)  \(record.message)"
  }

  private static func json(_ reports: [DeviceReport]) -> String {
    var writer = JSONWriter()
    writer.array(reports) { writer, report in
      writer.beginObject()
      writer.field("package", report.package)
      writer.field("user", report.user)
      writer.field("device", report.device)
      writer.key("record")
      writer.logRecord(report.record)
      writer.endObject()
    }
    return writer.text
  }
}
