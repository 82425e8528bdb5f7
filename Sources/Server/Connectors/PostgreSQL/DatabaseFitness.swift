import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Whether the server can work with the database as it is: its encoding, and the rights it needs. In
/// a transaction whose `search_path` is empty.
struct DatabaseFitness {
  private let settings: PostgreSQLConnector.Settings
  private let connection: PostgreSQLConnection

  init(_ settings: PostgreSQLConnector.Settings, _ connection: PostgreSQLConnection) {
    self.settings = settings
    self.connection = connection
  }

  func mismatches(with package: Package) throws(PostgreSQLError) -> [Mismatch] {
    var found: [Mismatch] = []
    let place = settings.address.description
    if try connection.value("SHOW server_encoding") == "SQL_ASCII" {
      found.append(
        Mismatch(
          place: place,
          problem: "its encoding is SQL_ASCII, so the characters of its texts are unknown",
          cure: "Load a dump of it into a database with the encoding UTF8."))
    }
    let has = try connection.rows(
      """
      WITH own AS (
        SELECT c.relname FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'ferry')
      SELECT EXISTS (SELECT FROM own WHERE relname = 'change'),
        EXISTS (SELECT FROM own WHERE relname = 'applied')
          AND EXISTS (SELECT FROM own WHERE relname = 'leader'),
        pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')
      """)
    let (isPrepared, remembers, mayCreate) = (
      has.text(0, 0) == "t", has.text(0, 1) == "t", has.text(0, 2) == "t"
    )
    if settings.remembersOperations, !remembers, !mayCreate {
      found.append(
        Mismatch(
          place: place, problem: "it has no schema \"ferry\", and this user may not create it",
          cure:
            "Let an administrator run what `ferry prepare --print --role` prints for this user, "
            + "or start ferryd with --forget-operations."))
    }
    let rights = try RequiredRights(
      package, connection, remembersOperations: settings.remembersOperations && remembers,
      captures: isPrepared)
    for (right, privileges, grant) in try rights.missing(connection) {
      found.append(
        Mismatch(
          place: place,
          problem: "this user has no \(privileges.joined(separator: ", ")) on "
            + "\(right.object.quoted), and \(right.purpose)",
          cure: "Let an administrator run: \(grant)"))
    }
    return found
  }
}
