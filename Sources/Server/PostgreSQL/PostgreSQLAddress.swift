import CPostgreSQL

/// Where a database is, without its secrets.
///
/// `postgres:shop`, `postgres:host=db.example dbname=shop`, `postgres:service=shop` or
/// `postgres://db.example/shop`. What it does not say comes from libpq's own places: the service
/// file, the password file and the variables that begin with PG. A password in the address is
/// refused, for an address stands in models, logs and lists of processes.
package struct PostgreSQLAddress: Sendable, Equatable, CustomStringConvertible {
  /// As it was written.
  package let text: String
  /// What it says, by libpq's keywords.
  let options: [Option]

  struct Option: Sendable, Equatable {
    let keyword: String
    let value: String
  }

  /// Throws `.address` where the text names no database of PostgreSQL, or holds a secret.
  package init(_ text: String) throws(PostgreSQLError) {
    guard PostgreSQLAddress.isAddress(text) else {
      throw PostgreSQLError(
        .address, message: "The address is not the address of a PostgreSQL database",
        hint: "Write postgres:<database>, postgres:service=<name> or postgres://<host>/<database>.")
    }
    self.text = text
    options = try PostgreSQLAddress.parse(PostgreSQLAddress.connectionText(text))
    for option in options where PostgreSQLAddress.secrets.contains(option.keyword) {
      throw PostgreSQLError(
        .address, message: "The address has a secret, the \(option.keyword)",
        hint: "Put it into a password file (PGPASSFILE), a service file or PGPASSWORD.")
    }
    // As the name of a database it would be printed, with its password.
    guard !options.contains(where: { $0.value.contains("://") }) else {
      throw PostgreSQLAddress.unreadable
    }
  }

  /// Whether the text begins like an address of PostgreSQL.
  package static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres:") || text.hasPrefix("postgresql:")
  }

  package var description: String { text }

  /// The database's name; empty where the address leaves it to libpq.
  package var database: String { options.first { $0.keyword == "dbname" }?.value ?? "" }

  private static let secrets: Set<String> = ["password", "sslpassword"]

  private static let unreadable = PostgreSQLError(
    .address, message: "The address of the database cannot be read",
    hint: "Write postgres:<database>, postgres:service=<name> or postgres://<host>/<database>.")

  /// What libpq understands: an address with slashes as a whole, also behind another "postgres:", and
  /// the rest behind the colon.
  private static func connectionText(_ text: String) -> String {
    let rest = text.drop { $0 != ":" }.dropFirst()
    if rest.hasPrefix("//") { return text }
    if isAddress(String(rest)) { return connectionText(String(rest)) }
    return rest.contains("=") || rest.isEmpty ? String(rest) : "dbname=\(quotedValue(String(rest)))"
  }

  private static func quotedValue(_ text: String) -> String {
    var quoted = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "'"
  }

  private static func parse(_ text: String) throws(PostgreSQLError) -> [Option] {
    var problem: UnsafeMutablePointer<CChar>?
    guard let list = PQconninfoParse(text, &problem) else {
      // libpq's sentence may repeat what was written, secrets too.
      PQfreemem(problem)
      throw unreadable
    }
    defer { PQconninfoFree(list) }
    var options: [Option] = []
    var next = list
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.val {
        options.append(
          Option(keyword: String(cString: keyword), value: String(cString: value)))
      }
      next += 1
    }
    return options
  }
}
