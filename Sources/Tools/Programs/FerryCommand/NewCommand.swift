import FerryArguments
import FerryGenerator
import FerryJSON
import FerryModel
import FerryOpenAPIReading
import FerryRESTConnector
import FerrySQLite

/// `ferry new`: from a database to a model.
enum NewCommand: Subcommand {
  static let name = "new"
  static let summary = "write a model from a business database"
  static let operands = "--from <database> --out <model.json> [options]"
  static let options = [
    CommandOption("from", "<database>", "\(DatabaseAddress.forms); it is only read"),
    CommandOption(
      "all-values", nil,
      "PostgreSQL: read every row instead of a sample, so that no large value is missed"),
    CommandOption("out", "<file>", "the file for the model; an existing file is kept"),
    CommandOption("force", nil, "overwrite an existing file"),
    CommandOption("name", "<Name>", "name of the package; default: the name of the database"),
    CommandOption("version", "<1.0>", "version of the package, major.minor"),
    CommandOption(
      "partition", "<Entity=Column:source,…>",
      "which user gets which rows; source is claim:<name> or open; may be repeated"),
    CommandOption(
      "entity", "<Name=Table>",
      "another name for the entity of a table; may be repeated"),
    CommandOption(
      "writable", "<Table,…>",
      "tables without a partition rule that every user may write; \"all\" for all of them"),
    CommandOption(
      "keep", "<Table.Column,…>",
      "columns that devices get although they look like secrets; \"all\" for all of them"),
    CommandOption("group", "<name=Table,…>", "a synchronization group; may be repeated"),
    .json,
  ]
  static let discussion = """
    Reads tables, keys, foreign keys and types; in SQLite also every value once. Tables and columns
    that cannot be used are listed, with the reason and the cure. An entity with a foreign key to a
    partitioned entity gets the same partition. Every user gets all rows of an entity without a
    partition rule, and devices cannot change them. A column whose name suggests a secret (password,
    hash, token, secret, salary, iban, ssn and similar) is left out. \(ModelWriter.schemaFile) is
    written beside the model; editors use it to complete and check the model.

    Example: ferry new --from sqlite:shop.db --out Model/model.json \\
               --entity Order=Orders --partition Order=EmployeeID:claim:employee
    Exit codes: 0 the model was written, also if parts were left out; 1 it was not; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let database = try DatabaseAddress(try arguments.required("from", "sqlite:shop.db"))
    let out = try arguments.required("out", "model.json")
    if TextFile.exists(out), !arguments.flag("force") {
      throw GeneratorError(
        "\(out) already exists and was not changed",
        hint:
          "Name another file, or overwrite it with --force. `ferry diff` compares a model with a database."
      )
    }
    var options = TranslationOptions(
      name: try arguments.value("name") ?? database.stem)
    if let version = try arguments.value("version") { options.version = version }
    do {
      options.partitions = try arguments.values("partition").map(PartitionRequest.init)
      options.groups = try arguments.values("group").map(GroupRequest.init)
      options.entities = try arguments.values("entity").map(EntityRequest.init)
    } catch {
      throw UsageError(error.message, hint: error.hint)
    }
    options.writable = .init(arguments.values("writable"))
    options.kept = .init(arguments.values("keep"))
    var service: OpenAPIReading?
    if case .openAPI(let address) = database { service = try await OpenAPIReading.read(address) }
    let schema: DatabaseSchema
    if let service {
      schema = service.schema
    } else {
      schema = try await database.schema(allValues: arguments.flag("all-values"))
    }
    let made = try ModelMaker.make(
      from: schema, options: options, file: out,
      source: service.map { "rest:\($0.service)" } ?? database.text)
    try TextFile.makeFolder(of: out)
    try TextFile.write(made.text, to: out)
    let editors = TextFile.sibling(of: out, named: ModelWriter.schemaFile)
    if !TextFile.exists(editors) || arguments.flag("force") {
      try TextFile.write(ModelSchema.text, to: editors)
    }
    let mapping = try service.map {
      try writeMapping($0, made.translation.package, beside: out, arguments)
    }
    var advice: JournalAdvice?
    if case .sqlite(let path) = database { advice = try JournalAdvice.of(path: path) }
    let asJSON = arguments.flag("json")
    Terminal.show(
      asJSON
        ? NewReport.json(made, advice, out: out)
        : NewReport.text(made, advice, out: out, database: database.shown, mapping: mapping),
      asJSON: asJSON)
    return .success
  }

  /// How ferryd asks the service; one that somebody has corrected is kept.
  private static func writeMapping(
    _ service: OpenAPIReading, _ package: Package, beside out: String, _ arguments: Arguments
  ) throws -> String {
    let file = TextFile.sibling(of: out, named: RESTMapping.fileName(of: package))
    if TextFile.exists(file), !arguments.flag("force") {
      Terminal.error("\(file) already exists and was not changed.")
      return file
    }
    let text = service.mapping(for: package)
    do throws(RESTMappingFault) { _ = try RESTMapping(Array(text.utf8), for: package) } catch {
      throw GeneratorError(
        "the mapping does not pass its own check: \(error)", hint: "Report this document.")
    }
    try TextFile.write(text, to: file)
    try TextFile.write(
      RESTMappingSchema.text, to: TextFile.sibling(of: out, named: RESTMappingSchema.fileName))
    return file
  }
}
