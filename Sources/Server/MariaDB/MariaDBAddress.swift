/// Where a database of MariaDB or MySQL is, without its secrets.
///
/// `mariadb:shop`, `mariadb:host=db.example dbname=shop user=ferry` or `mariadb://ferry@db.example/shop`;
/// `mysql:` says the same. What it does not say comes from the option files of the client library, groups
/// `client` and `ferry`. A password in the address is refused, for an address is in models, logs and
/// lists of processes: it comes from an option file (`file=`), or from the variable `MYSQL_PWD`.
package struct MariaDBAddress: Sendable, Equatable, CustomStringConvertible {
  /// As it was written.
  package let text: String
  /// By the keywords of `known`.
  let options: [String: String]

  /// The keywords of an address.
  static let known: [String] = ["dbname", "file", "host", "port", "socket", "ssl-ca", "user"]

  /// Throws `.address` where the text names no database of MariaDB, or holds a secret.
  package init(_ text: String) throws(MariaDBError) {
    guard MariaDBAddress.isAddress(text) else { throw MariaDBAddress.unreadable }
    let rest = text.drop { $0 != ":" }.dropFirst()
    var options =
      rest.hasPrefix("//")
      ? try MariaDBAddress.parse(address: rest.dropFirst(2))
      : rest.contains("=") ? try MariaDBAddress.parse(words: rest) : ["dbname": String(rest)]
    options = options.filter { !$0.value.isEmpty }
    guard options["dbname"] != nil, options.values.allSatisfy({ !$0.contains("://") }),
      options["port"].map({ UInt16($0) != nil }) ?? true
    else { throw MariaDBAddress.unreadable }
    self.text = text
    self.options = options
  }

  /// Whether the text begins like an address of MariaDB.
  package static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("mariadb:") || text.hasPrefix("mysql:")
  }

  package var description: String { text }

  /// The database's name.
  package var database: String { options["dbname"] ?? "" }

  private static let unreadable = MariaDBError(
    .address, message: "The address of the database cannot be read",
    hint: "Write mariadb:<database>, mariadb:host=<host> dbname=<database> user=<user> or "
      + "mariadb://<user>@<host>/<database>.")

  private static let secret = MariaDBError(
    .address, message: "The address has a secret, the password",
    hint: "Put it into an option file and write file=<path>, or into MYSQL_PWD.")

  private static func parse(words text: Substring) throws(MariaDBError) -> [String: String] {
    var options: [String: String] = [:]
    for word in text.split(separator: " ") {
      guard let sign = word.firstIndex(of: "=") else { throw unreadable }
      let keyword = String(word[..<sign])
      guard keyword != "password" else { throw secret }
      guard known.contains(keyword), options[keyword] == nil else {
        throw MariaDBError(
          .address, message: "The address has a keyword that is not known, or twice",
          hint: "Known are \(known.joined(separator: ", ")).")
      }
      options[keyword] = String(word[word.index(after: sign)...])
    }
    return options
  }

  /// `user@host:port/database`.
  private static func parse(address text: Substring) throws(MariaDBError) -> [String: String] {
    guard let slash = text.firstIndex(of: "/") else { throw unreadable }
    var authority = text[..<slash]
    var options = ["dbname": String(text[text.index(after: slash)...])]
    guard !text[slash...].contains(where: { "?#@".contains($0) }) else { throw unreadable }
    if let sign = authority.lastIndex(of: "@") {
      guard !authority[..<sign].contains(":") else { throw secret }
      options["user"] = String(authority[..<sign])
      authority = authority[authority.index(after: sign)...]
    }
    if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
      options["port"] = String(authority[authority.index(after: colon)...])
      authority = authority[..<colon]
    }
    options["host"] = authority.filter { $0 != "[" && $0 != "]" }
    return options
  }
}
