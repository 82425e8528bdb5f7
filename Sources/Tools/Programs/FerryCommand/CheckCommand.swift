import FerryArguments
import FerryCachePolicies
import FerryConnections
import FerryGenerator
import FerryIssuers
import FerryJSON
import FerryModel

/// `ferry check`: every mistake of a model with its place and cure, or of a gateway's file.
enum CheckCommand: Subcommand {
  static let name = "check"
  static let summary = "show every mistake of a model, with its line and how to correct it"
  static let operands =
    "(<model.json> | --gateway <file> | --connections <file> [<model.json>] "
    + "| --login <configuration> <user>) [options]"
  static let options = [
    CommandOption("mapping", "<file>", "also read a mapping of an issuer's claims and groups"),
    CommandOption(
      "gateway", "<file>",
      "check the file of a gateway, and ask each of its services, in place of a model"),
    CommandOption(
      "login", "<configuration>",
      "show what each provider of a security configuration says of a login, in place of a model"),
    CommandOption("security", "<file>", "with --login: the security configurations"),
    CommandOption(
      "users", "<file>",
      "with --login: the user file (default: users.json beside the security file)"),
    CommandOption(
      "password-stdin", nil, "with --login: read the password from standard input, one line"),
    CommandOption(
      "connections", "<file>",
      "check a file of connections, ask each of them, and show what it can for the model's entities"
    ),
    CommandOption(
      "row", "<entity>=<key>",
      "with --connections: prove on this row that the service heeds conditions. Ferry sends a value that "
        + "is there already under a wrong ETag; may be repeated"),
    .json,
  ]
  static let discussion = """
    Errors make a model unusable. Warnings name what somebody should check, for example partition
    columns that are open to everyone, and objects that every user may change.

    Exit codes: 0 no error, perhaps warnings; 1 at least one error, or the file cannot be read;
    2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    if let gateway = try arguments.value("gateway") {
      _ = try arguments.operands()
      return try await GatewayCheck.run(gateway, asJSON: arguments.flag("json"))
    }
    if let configuration = try arguments.value("login") {
      return try LoginCheck.run(configuration, arguments)
    }
    if let connections = try arguments.value("connections") {
      return try await checkConnections(connections, arguments)
    }
    let file = try arguments.operands("model.json")[0]
    if let mapping = try arguments.value("mapping") {
      _ = try Mapping(try TextFile.read(mapping), name: mapping)
    }
    let reading = ModelReader.read(
      try TextFile.read(file), file: file, isZone: SystemZones.has)
    if let package = reading.package {
      _ = try PolicyFile(of: package, beside: file).read(for: package)
      try MappingText(of: package, besideModel: file)?.check(for: package)
    }
    let problems = reading.problems + reading.openings
    let warnings = reading.warnings.count + reading.openings.count
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("model", file)
      writer.field("package", reading.package?.id)
      writer.field("errors", reading.errors.count)
      writer.field("warnings", warnings)
      writer.key("problems")
      writer.array(problems) { $0.problem($1) }
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    } else {
      for problem in problems { Terminal.show(problem.description) }
      let count =
        Terminal.counted(reading.errors.count, "error", "errors") + ", "
        + Terminal.counted(warnings, "warning", "warnings")
      let subject = reading.package.map {
        "\($0.id), " + Terminal.counted($0.entities.count, "entity", "entities")
      }
      Terminal.show("\(file): \(subject.map { "\($0): " } ?? "")\(count)")
    }
    return reading.errors.isEmpty ? .success : .problems
  }

  private static func checkConnections(
    _ path: String, _ arguments: Arguments
  ) async throws -> ExitCode {
    var package: Package?
    var mapping: MappingText?
    if !arguments.operands.isEmpty {
      let file = try arguments.operands("model.json")[0]
      let reading = ModelReader.read(try TextFile.read(file), file: file)
      guard let read = reading.package else {
        for problem in reading.errors { Terminal.show(problem.description) }
        return .problems
      }
      package = read
      mapping = MappingText(of: read, besideModel: file)
    }
    return try await ConnectionsCheck(
      path, package, mapping: mapping, rows: arguments.values("row")
    ).run(asJSON: arguments.flag("json"))
  }
}
