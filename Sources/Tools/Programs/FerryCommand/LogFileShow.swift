import FerryArguments
import FerryGenerator
import FerryJSON
import FerryLogger
import FerryWire
import FerryWorld
import Foundation

/// `ferry log FILE`: a file that the log viewer of an app exported.
enum LogFileShow {
  static func run(
    _ arguments: Arguments, _ path: String, _ least: LogRecord.Level?, _ take: Int?
  ) throws -> ExitCode {
    _ = try arguments.operands("FILE")
    for option in ["data", "user", "device", "entity"] where !arguments.values(option).isEmpty {
      throw UsageError(
        "--\(option) cannot be used with an exported file",
        hint: "A file takes --level, --take, --correlation and --json.")
    }
    let id = try arguments.value("correlation")
    let bytes = try TextFile.read(path)
    let text: String
    do throws(LogError) {
      text = try LogExport.text(of: bytes)
    } catch {
      throw CommandError("\(path): \(error.message)", hint: error.hint)
    }
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let headEnd = parts.firstIndex(of: "") ?? parts.count
    var lines = parts.dropFirst(headEnd + 1).filter { line in
      !line.isEmpty && isMeant(line, least) && (id.map { isOf(line, $0) } ?? true)
    }
    if let take { lines = Array(lines.suffix(take)) }
    if arguments.flag("json") {
      Terminal.show(json(parts.prefix(headEnd), lines), asJSON: true)
    } else {
      for line in parts.prefix(headEnd) + [""] + lines { Terminal.show(Terminal.harmless(line)) }
    }
    return .success
  }

  /// The level is the third word of a line; a line of another form is shown.
  private static func isMeant(_ line: String, _ least: LogRecord.Level?) -> Bool {
    let words = line.split(separator: " ", maxSplits: 3)
    guard let least, words.count > 2,
      let severity = LogSeverity.allCases.first(where: { $0.name == words[2].lowercased() }),
      let level = LogLevel.allCases.first(where: { $0.name == least.rawValue })
    else { return true }
    return severity >= level.severity
  }

  private static func isOf(_ line: String, _ id: String) -> Bool {
    line.hasSuffix(" correlation=\(id)")
  }

  private static func json(_ head: some Sequence<String>, _ lines: [String]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("header")
    writer.beginObject()
    for field in head {
      let sides = field.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
      writer.field(String(sides[0]), sides.count == 2 ? String(sides[1]) : "")
    }
    writer.endObject()
    writer.key("records")
    writer.array(lines) { writer, line in writer.string(line) }
    writer.endObject()
    return writer.text
  }
}
