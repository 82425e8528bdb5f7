import FerryArguments
import FerryOData
import Foundation

/// `ferry odata`: what any OData document holds, and the same in the other format.
enum ODataCommand: Subcommand {
  static let name = "odata"
  static let summary = "say what an OData document holds, or rewrite a feed in the other format"
  static let operands = "describe|convert <file or -> [options]"
  static let options = [
    .json, CommandOption("strict", nil, "refuse what is only not as it should be"),
    CommandOption("metadata", "<file>", "the service's $metadata, for types"),
    CommandOption("version", "2|3|4", "the version, where the document leaves it open"),
    CommandOption("to", "atom|json", "the format that convert writes"),
  ]
  static let discussion = """
    describe says what a service document, metadata, feed, entry, error, batch or OpenSearch
    description holds; with --json as one object (Documentation/odata-describe.schema.json).
    convert rewrites a feed or entry between Atom and JSON. - reads the standard input.

    Exit codes: 0 it was read; 1 it was refused, with one line that says why and where;
    2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    var words = arguments.operands
    for option in ["json", "strict"] where arguments.flag(option) { words.append("--\(option)") }
    for option in ["metadata", "version", "to"] {
      if let value = try arguments.value(option) { words += ["--\(option)", value] }
    }
    let outcome = ODataShell.run(
      words,
      open: { path in
        let file =
          path == "-"
          ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        return {
          let piece = try file.read(upToCount: 64 << 10)
          return piece.flatMap { $0.isEmpty ? nil : Array($0) }
        }
      }, write: { try FileHandle.standardOutput.write(contentsOf: Data($0)) })
    if !outcome.complaint.isEmpty { Terminal.error(outcome.complaint) }
    return switch outcome.status {
    case 0: .success
    case 1: .problems
    default: .usage
    }
  }
}
