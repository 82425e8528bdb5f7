import FerryArguments
import FerryGenerator
import FerryJSON
import FerryModel

/// `ferry diff`: what changed in the database since the model was made.
enum DiffCommand: Subcommand {
  static let name = "diff"
  static let summary = "compare a database with its model, and say whether devices still work"
  static let operands = "<model.json> [--from <database>] [options]"
  static let options = [
    CommandOption(
      "from", "<database>",
      "\(DatabaseAddress.forms); it is only read (default: the model's source)"), .json,
  ]
  static let discussion = """
    Devices continue to work if something was added that their model does not need. They do not
    work if a part of their model is missing, or has another type or another key.

    Exit codes: 0 devices with this model continue to work; 1 they do not, or the model or the
    database cannot be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let file = try arguments.operands("model.json")[0]
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      for problem in reading.errors { Terminal.error(problem.description) }
      throw GeneratorError(
        "\(file) is not a valid model", hint: "Correct it first: `ferry check` shows the errors.")
    }
    guard let address = try arguments.value("from") ?? reading.source else {
      throw UsageError(
        "the model \(file) names no business database",
        hint: "Write --from \(DatabaseAddress.forms).")
    }
    let database = try DatabaseAddress(address)
    let difference = ModelDifference.compare(package, with: try await database.schema())
    let asJSON = arguments.flag("json")
    Terminal.show(
      asJSON ? json(difference, package) : text(difference, package), asJSON: asJSON)
    return difference.canGoOn ? .success : .problems
  }

  private static func text(_ difference: ModelDifference, _ package: Package) -> String {
    var lines = difference.changes.map { change in
      "\(change.canGoOn ? "  " : "! ")\(change)"
    }
    if lines.isEmpty { lines.append("The database matches the model \(package.id).") }
    lines.append(
      difference.canGoOn
        ? "Devices with \(package.id) continue to work."
        : "Devices with \(package.id) do not work with it (lines with !): make a new version of the model."
    )
    return lines.joined(separator: "\n")
  }

  private static func json(_ difference: ModelDifference, _ package: Package) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("package", package.id)
    writer.field("canGoOn", difference.canGoOn)
    writer.key("changes")
    writer.array(difference.changes) { writer, change in
      writer.beginObject()
      writer.field("subject", change.subject)
      writer.field("what", change.what)
      writer.field("consequence", change.consequence)
      writer.field("canGoOn", change.canGoOn)
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }
}
