import FerryArguments
import FerryGenerator
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector

/// `ferry prepare`: makes what Ferry needs in a business database.
enum PrepareCommand: Subcommand {
  static let name = "prepare"
  static let summary = "make, print or remove what Ferry needs in a database of PostgreSQL"
  static let operands = "<model.json> [--database <address>] [options]"
  static let options = [
    CommandOption(
      "database", "<address>", "the business database (default: the model's source)"),
    CommandOption(
      "operations", nil, "make only the tables of operations: others' changes are then compared"),
    CommandOption("role", "<role>", "grant this role what a server needs, and no more"),
    CommandOption("print", nil, "print the statements for an administrator; change nothing"),
    CommandOption("remove", nil, "remove all of it, the memory of performed operations too"),
  ]
  static let discussion = """
    Makes the schema ferry: tables that remember the operations that were performed, and one into
    which triggers write which rows changed. Each table of the model gets the triggers ferry_row
    and ferry_truncate. Nothing else in the database is changed, and it may be run again, as after
    a new version of the model. Documentation/PostgreSQL.md has the levels, rights and costs.

    Without it ferryd makes the tables of operations itself where it may, and compares all rows
    every time it looks for the changes of others. SQLite needs none of this. Stop ferryd before
    --remove: after it nobody knows which operations were performed.

    Exit codes: 0 done or printed; 1 it could not be done, and nothing was changed; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let file = try arguments.operands("model.json")[0]
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      for problem in reading.errors { Terminal.error(problem.description) }
      throw GeneratorError("\(file) is no usable model", hint: "Mend it first; see `ferry check`.")
    }
    guard let text = try arguments.value("database") ?? reading.source else {
      throw UsageError(
        "no business database is named", hint: "Write --database \(DatabaseAddress.forms).")
    }
    guard case .postgreSQL(let address) = try DatabaseAddress(text) else {
      print("A database of SQLite needs no preparation.")
      return .success
    }
    do throws(PostgreSQLError) {
      let connection = try PostgreSQLConnection(address)
      let preparation = try Preparation(
        package, connection, level: arguments.flag("operations") ? .operations : .all,
        role: try arguments.value("role"))
      let isRemoval = arguments.flag("remove")
      let statements = isRemoval ? preparation.removal : preparation.statements
      if arguments.flag("print") {
        print((["BEGIN"] + statements + ["COMMIT"]).map { "\($0);" }.joined(separator: "\n"))
        return .success
      }
      // The tables' own users must not queue up behind a lock that does not come.
      try connection.execute("BEGIN; SET LOCAL lock_timeout = '10s'")
      for statement in statements { try connection.execute(statement) }
      try connection.execute("COMMIT")
      print(
        isRemoval
          ? "Nothing of Ferry is left in \(address)."
          : "\(address) is prepared; a ferryd that runs uses it from now on.")
      return .success
    } catch {
      throw GeneratorError(
        "\(address) was not changed: \(error.message)",
        hint: error.sqlState == "42501"
          ? "Run it as the owner of the tables, or give the output of --print to an administrator."
          : error.hint)
    }
  }
}
