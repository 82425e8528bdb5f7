import FerryArguments
import FerryGenerator
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel

extension PrepareCommand {
  /// The server commits each statement by itself. They are in such an order that the customer's writes
  /// go on after any of them.
  static func prepare(
    _ package: Package, _ address: MariaDBAddress, _ arguments: Arguments
  ) throws -> ExitCode {
    let isRemoval = arguments.flag("remove")
    let connection: MariaDBConnection
    let preparation: FerryMariaDBConnector.Preparation
    var isServed = false
    do throws(MariaDBError) {
      connection = try MariaDBConnection(address)
      preparation = try FerryMariaDBConnector.Preparation(
        package, connection, onlyOperations: arguments.flag("operations"),
        role: try? arguments.value("role"))
      if isRemoval, !arguments.flag("print") {
        isServed = try FerryMariaDBConnector.Preparation.isServed(connection)
      }
    } catch {
      throw GeneratorError("\(address) was not changed: \(error.message)", hint: error.hint)
    }
    guard !isServed else {
      throw GeneratorError(
        "\(address) was not changed: a ferryd is connected to it", hint: "Stop ferryd first.")
    }
    if !isRemoval { try requireFit(package, address.text, preparation.mismatches) }
    let statements = isRemoval ? preparation.removal : preparation.statements
    guard !arguments.flag("print") else {
      // A trigger has semicolons in it.
      let script = statements.map { "\($0)\n$$\n" }.joined()
      try show([], before: "SET NAMES utf8mb4;\nDELIMITER $$\n\(script)DELIMITER ;\n")
      return .success
    }
    do throws(MariaDBError) {
      // The tables' own users must not queue up behind a lock that does not come.
      try connection.execute("SET SESSION lock_wait_timeout = 10")
      for statement in statements { try connection.execute(statement) }
    } catch {
      throw GeneratorError(
        "\(address) is not prepared as a whole: \(error.message)",
        hint: "Run the command again as a user with the rights CREATE and TRIGGER, or give the "
          + "output of --print to an administrator.")
    }
    Terminal.show(
      isRemoval
        ? "Ferry was removed from \(address)."
        : "\(address) is prepared. A running ferryd uses it from now on.")
    return .success
  }
}
