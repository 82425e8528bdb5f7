import FerryArguments
import FerryJSON
import FerrySQLiteStore
import FerryServer
import FerryWire

/// `ferry log`: what apps wrote on their devices and submitted, or a file that a user sent.
enum LogCommand: Subcommand {
  static let name = "log"
  static let summary = "show the log records that apps submitted, or an exported log file"
  static let operands = "--data FOLDER [options] | FILE [--level --take --correlation --json]"
  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder; the server may be running"),
    CommandOption("user", "NAME", "only records of this user"),
    CommandOption("device", "ID", "only records of this device"),
    CommandOption("entity", "NAME", "only records about objects of this entity"),
    CommandOption(
      "level", "LEVEL", "this level or more severe: trace, debug, info, warn, error, fatal"),
    CommandOption(
      "take", "NUMBER", "show only the latest records; default 100, for a file all"),
    CommandOption("correlation", "ID", "with a file: only records with this correlation id"),
    .json,
  ]
  static let discussion = """
    It changes nothing. Refusals of the business system are not shown; use `ferry why` for them.
    FILE is what an app's log viewer exported, as text or compressed with gzip.

    Exit codes: 0 shown, also if there are none; 1 folder or file cannot be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let least = try level(arguments)
    let take = try take(arguments)
    if let path = arguments.operands.first {
      return try LogFileShow.run(arguments, path, least, take)
    }
    if try arguments.value("correlation") != nil {
      throw UsageError(
        "--correlation works only with an exported file", hint: "Name the file: ferry log FILE.")
    }
    let folder = try arguments.required("data", "data")
    var question = DeviceReport.Question()
    question.user = try arguments.value("user")
    question.device = try arguments.value("device")
    question.component = try arguments.value("entity")
    if let least { question.atLeast = least }
    if let take { question.take = take }
    let reports = try DeviceReport.read(folder: folder, question)
    if arguments.flag("json") {
      Terminal.show(json(reports), asJSON: true)
    } else {
      for report in reports { Terminal.show(Terminal.harmless(line(report))) }
      if reports.isEmpty { Terminal.show("no log records of devices") }
    }
    return .success
  }

  private static func level(_ arguments: Arguments) throws(UsageError) -> LogRecord.Level? {
    guard let level = try arguments.value("level") else { return nil }
    guard let known = LogRecord.Level(rawValue: level) else {
      throw UsageError(
        "there is no level \"\(level)\"",
        hint: "Levels are \(LogRecord.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    return known
  }

  private static func take(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let take = try arguments.value("take") else { return nil }
    guard let number = Int(take), number > 0 else {
      throw UsageError(
        "--take \(take) is not a number from 1", hint: "Write for example --take 20.")
    }
    return number
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
