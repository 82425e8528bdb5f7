import FerryArguments
import FerryGenerator
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import FerrySQLConnector
import FerrySQLite
import FerryServer

/// `ferry prepare`: makes what Ferry needs in a business database.
enum PrepareCommand: Subcommand {
  static let name = "prepare"
  static let summary = "install, print or remove what Ferry needs in a business database"
  static let operands = "<model.json> [--database <address>] [options]"
  static let options = [
    CommandOption(
      "database", "<address>", "the business database (default: the model's source)"),
    CommandOption(
      "operations", nil,
      "only the tables that record operations; ferryd then compares rows to find other changes"),
    CommandOption("role", "<role>", "grant this role the rights that ferryd needs, and no others"),
    CommandOption("print", nil, "print the statements for an administrator; change nothing"),
    CommandOption("remove", nil, "remove everything, also the record of performed operations"),
  ]
  static let discussion = """
    Makes the schema ferry: tables that record performed operations, and one in which triggers
    record changed rows. Each table of the model gets the triggers ferry_row and ferry_truncate.
    Nothing else in the database is changed. Run it again after a new version of the model.
    Documentation/PostgreSQL.md describes the levels, rights and costs.

    Without this command ferryd makes the tables of operations itself, if it has the right. It then
    compares all rows each time it looks for changes by other programs. Stop ferryd before --remove:
    afterwards nobody knows which operations were performed.

    A SQLite database gets the tables ferry_change, ferry_mark and ferry_database, and triggers
    whose names begin with ferry_. Remove them only with --remove: a trigger without its table
    would stop every write. A MariaDB database gets the same tables with ferry_applied and
    ferry_leader, and triggers whose names begin with ferry_. --operations and --role are for
    PostgreSQL and MariaDB; there a role is written as name@host.

    The model must fit the database. --remove does nothing while a ferryd serves the database.

    Exit codes: 0 done or printed; 1 it could not be done, and nothing was changed; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let file = try arguments.operands("model.json")[0]
    let reading = ModelReader.read(try TextFile.read(file), file: file)
    guard let package = reading.package else {
      for problem in reading.errors { Terminal.error(problem.description) }
      throw GeneratorError(
        "\(file) is not a valid model", hint: "Correct it first: `ferry check` shows the errors.")
    }
    guard let text = try arguments.value("database") ?? reading.source else {
      throw UsageError(
        "the model \(file) names no business database",
        hint: "Write --database \(DatabaseAddress.forms).")
    }
    let address = try DatabaseAddress(text)
    try check(arguments, address)
    switch address {
    case .sqlite(let path): return try prepare(package, path, arguments)
    case .postgreSQL(let address): return try prepare(package, address, arguments)
    case .mariaDB(let address): return try prepare(package, address, arguments)
    case .odata, .openAPI:
      throw UsageError(
        "a service needs no preparation",
        hint: "Start ferryd with it: nothing is installed there.")
    }
  }

  /// Options that would do nothing are a mistake of somebody who expects something.
  private static func check(
    _ arguments: Arguments, _ address: DatabaseAddress
  ) throws(UsageError) {
    for name in ["operations", "role"] where !arguments.values(name).isEmpty {
      if arguments.flag("remove") {
        throw UsageError(
          "--\(name) and --remove exclude each other",
          hint: "--remove takes everything away. Leave out one of them.")
      }
      if case .sqlite = address {
        throw UsageError("--\(name) is for PostgreSQL and MariaDB", hint: "Leave it out.")
      }
    }
  }

  static func requireFit(
    _ package: Package, _ database: String, _ mismatches: [String]
  ) throws(GeneratorError) {
    guard !mismatches.isEmpty else { return }
    let lines = mismatches.joined(separator: "\n  ")
    throw GeneratorError(
      "the model \(package.id) does not fit the database \(database):\n  \(lines)\nNothing was changed",
      hint: "Check --database and the model's source.")
  }

  /// Without it a change by others makes ferryd read everything again.
  private static func prepare(
    _ package: Package, _ path: String, _ arguments: Arguments
  ) throws -> ExitCode {
    let isRemoval = arguments.flag("remove")
    // Before SQLite opens the file, and until this program ends.
    if isRemoval, !arguments.flag("print"), !ServedFile.own(path) {
      throw GeneratorError(
        "\(path) was not changed: a ferryd serves it", hint: "Stop ferryd first.")
    }
    let connection: Connection
    let preparation: SQLitePreparation
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 10_000)
      try connection.execute("PRAGMA foreign_keys = ON")
      preparation = try SQLitePreparation(package, connection)
    } catch { throw unchanged(path, error) }
    if !isRemoval { try requireFit(package, path, preparation.mismatches) }
    do {
      let statements = isRemoval ? preparation.removal : preparation.statements
      if arguments.flag("print") {
        try show(["BEGIN IMMEDIATE"] + statements + ["COMMIT"])
        return .success
      }
      try connection.transaction(.immediate) { () throws(SQLiteError) in
        for statement in statements { try connection.execute(statement) }
      }
      for (table, reason) in preparation.leftOut where !isRemoval {
        Terminal.show("\(table) \(reason): ferryd reads it completely after each change by others.")
      }
      Terminal.show(
        isRemoval
          ? "Ferry was removed from \(path)."
          : "\(path) is prepared. A running ferryd uses it from now on.")
      return .success
    } catch let error as SQLiteError {
      throw unchanged(path, error)
    }
  }

  /// A script for an administrator: what it shows is what it does.
  static func show(_ statements: [String], before: String = "") throws(GeneratorError) {
    let script = before + statements.map { "\($0);" }.joined(separator: "\n")
    guard script.split(separator: "\n").allSatisfy({ Terminal.harmless(String($0)) == $0 }) else {
      throw GeneratorError(
        "a name in the database has a control character, so no script is printed",
        hint: "Run the command without --print, or rename it.")
    }
    Terminal.show(script)
  }

  private static func unchanged(_ path: String, _ error: SQLiteError) -> GeneratorError {
    GeneratorError(
      "\(path) was not changed: \(error.message)",
      hint: "Close programs that are writing to it, and check that it is writable.")
  }

  private static func prepare(
    _ package: Package, _ address: PostgreSQLAddress, _ arguments: Arguments
  ) throws -> ExitCode {
    let role = try arguments.value("role")
    let isRemoval = arguments.flag("remove")
    let connection: PostgreSQLConnection
    let preparation: FerryPostgreSQLConnector.Preparation
    var isServed = false
    do throws(PostgreSQLError) {
      connection = try PostgreSQLConnection(address)
      if isRemoval, !arguments.flag("print") {
        isServed = try FerryPostgreSQLConnector.Preparation.isServed(connection)
      }
      preparation = try FerryPostgreSQLConnector.Preparation(
        package, connection, level: arguments.flag("operations") ? .operations : .all,
        role: role)
    } catch { throw unchanged(address, error) }
    guard !isServed else {
      throw GeneratorError(
        "\(address) was not changed: a ferryd is connected to it", hint: "Stop ferryd first.")
    }
    if !isRemoval { try requireFit(package, address.text, preparation.mismatches) }
    do {
      let statements = isRemoval ? preparation.removal : preparation.statements
      if arguments.flag("print") {
        // psql would go on after an error, and outside the transaction.
        try show(["BEGIN"] + statements + ["COMMIT"], before: "\\set ON_ERROR_STOP on\n")
        return .success
      }
      // The tables' own users must not queue up behind a lock that does not come.
      try connection.execute("BEGIN; SET LOCAL lock_timeout = '10s'")
      for statement in statements { try connection.execute(statement) }
      try connection.execute("COMMIT")
      Terminal.show(
        isRemoval
          ? "Ferry was removed from \(address)."
          : "\(address) is prepared. A running ferryd uses it from now on.")
      return .success
    } catch let error as PostgreSQLError {
      throw unchanged(address, error)
    }
  }

  private static func unchanged(
    _ address: PostgreSQLAddress, _ error: PostgreSQLError
  ) -> GeneratorError {
    GeneratorError(
      "\(address) was not changed: \(error.message)",
      hint: error.sqlState == "42501"
        ? "Run it as the owner of the tables, or give the output of --print to an administrator."
        : error.hint)
  }
}
