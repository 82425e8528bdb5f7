import FerryArguments
import FerryGenerator
import FerryJSON
import FerryModel

/// `ferry diff`: what changed in the database since the model was made.
enum DiffCommand: Subcommand {
  static let name = "diff"
  static let summary = "tell what changed in a database, and whether devices can go on"
  static let operands = "<model.json> --from <database> [options]"
  static let options = [
    CommandOption("from", "<database>", "\(DatabaseAddress.forms); it is only read"), .json,
  ]
  static let discussion = """
    Devices can go on with their model when something was added that they need not know. They
    cannot when something they know is gone, has another type or another key.

    Exit codes: 0 devices of this model can go on; 1 they cannot, or the model or the database
    cannot be read; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let file = try arguments.operands("model.json")[0]
    let database = try DatabaseAddress(try arguments.required("from", "sqlite:shop.db"))
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      for problem in reading.errors { Terminal.error(problem.description) }
      throw GeneratorError("\(file) is no usable model", hint: "Mend it first; see `ferry check`.")
    }
    let difference = ModelDifference.compare(package, with: try database.schema())
    print(arguments.flag("json") ? json(difference, package) : text(difference, package))
    return difference.canGoOn ? .success : .problems
  }

  private static func text(_ difference: ModelDifference, _ package: Package) -> String {
    var lines = difference.changes.map { change in
      "\(change.canGoOn ? "  " : "! ")\(change)"
    }
    if lines.isEmpty { lines.append("The database is as the model of \(package.id) says.") }
    lines.append(
      difference.canGoOn
        ? "Devices of \(package.id) can go on."
        : "Devices of \(package.id) cannot go on (lines with !): make a model of a new version.")
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
