import FerryArguments
import FerryJSON
import Foundation

/// `ferry doctor`: whether this machine can run the server, and the cure of what is wrong.
enum DoctorCommand: Subcommand {
  static let name = "doctor"
  static let summary = "check this machine and ferryd's settings, and say the cure of what is wrong"
  static let operands = "(--configuration <file> | --data <folder>) [options]"
  static let options = [
    CommandOption(
      "configuration", "FILE", "ferryd's configuration file, such as /etc/ferry/ferryd.conf"),
    CommandOption("data", "FOLDER", "the data folder (default: as in the configuration file)"),
    CommandOption(
      "ferryd", "FILE", "the program ferryd (default: beside ferry, or in PATH)"),
    .json,
  ]
  static let discussion = """
    It changes nothing, and may be run while the server works. It checks the data folder and who may
    enter it, free space, memory, the limit of open files, the clock, the port, the certificate, and
    whether ferryd can read its settings, models and databases. Run it as the user of the server: an
    answer about rights holds for the user that asks.

    ok       nothing to do
    warning  the server runs, and something is likely to fail later
    problem  the server does not start, or loses service

    Example: sudo -u ferry ferry doctor --configuration /etc/ferry/ferryd.conf
    Exit codes: 0 no problem was found; 1 at least one problem; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let path = try arguments.value("configuration")
    let file = try path.map { try configuration($0) }
    guard let data = try arguments.value("data") ?? file?.value("data") else {
      throw UsageError(
        "no data folder is named",
        hint: path.map { "Write data = FOLDER into \($0)." }
          ?? "Give --configuration FILE or --data FOLDER.")
    }
    var checks = MachineChecks()
    checks.folder(data)
    checks.memory()
    checks.openFiles(connections: file?.value("connections").flatMap { Int($0) } ?? 2_048)
    checks.clock()
    if let file {
      checks.port(file.value("address") ?? "127.0.0.1", file.value("port") ?? "8080", data: data)
      checks.door(
        address: file.value("address") ?? "127.0.0.1", certificate: file.value("certificate"),
        proxies: file.values("proxy"))
    }
    if let path {
      checks.settings(path, program: try arguments.value("ferryd") ?? MachineChecks.ferryd())
    }
    let asJSON = arguments.flag("json")
    Terminal.show(asJSON ? checks.json : checks.lines.joined(separator: "\n"), asJSON: asJSON)
    return checks.findings.contains { $0.state == .problem } ? .problems : .success
  }

  private static func configuration(_ path: String) throws -> ConfigurationFile {
    guard let bytes = FileManager.default.contents(atPath: path),
      let text = String(validating: bytes, as: UTF8.self)
    else {
      throw CommandError(
        "the configuration file \(path) cannot be read",
        hint: "Name a file that exists, and run this as a user who may read it.")
    }
    return try ConfigurationFile(text, path: path)
  }
}

extension MachineChecks {
  var lines: [String] {
    let width = findings.map(\.subject.count).max() ?? 0
    return findings.flatMap { finding in
      let line =
        "\(Terminal.padded(finding.state.rawValue, 7))  "
        + "\(Terminal.padded(finding.subject, width))  \(finding.text)"
      return finding.cure.isEmpty
        ? [line] : [line, String(repeating: " ", count: width + 11) + finding.cure]
    }
  }

  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("findings")
    writer.array(findings) { writer, finding in
      writer.beginObject()
      writer.field("subject", finding.subject)
      writer.field("state", finding.state.rawValue)
      writer.field("text", finding.text)
      writer.field("cure", finding.cure.isEmpty ? nil : finding.cure)
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }
}
