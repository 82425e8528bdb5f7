/// Finds a name that a table's SQL gives to one of its constraints.
enum ConstraintName {
  /// Whether `CONSTRAINT name` is in the SQL, with the name bare or quoted in any of SQLite's ways.
  static func isDeclared(_ name: String, in sql: String) -> Bool {
    let name = name.lowercased()
    let quoted = ["\"\(name)\"", "[\(name)]", "`\(name)`", "'\(name)'"]
    var rest = Substring(sql.lowercased())
    while let keyword = rest.firstRange(of: "constraint") {
      rest = rest[keyword.upperBound...]
      let next = rest.drop(while: \.isWhitespace)
      if quoted.contains(where: next.hasPrefix) { return true }
      guard next.startIndex > rest.startIndex, next.hasPrefix(name) else { continue }
      let after = next.dropFirst(name.count).first
      if !(after.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" } ?? false) {
        return true
      }
    }
    return false
  }
}
