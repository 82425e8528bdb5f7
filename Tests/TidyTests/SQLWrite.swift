/// A statement of SQL found in a file's literals, and what it writes.
struct SQLWrite: Equatable {
  let line: Int
  /// Lower case; empty when the text makes it up, or when nothing is written.
  let table: String
  /// Columns that are set; `+` stands for a row's birth and `-` for its end.
  let columns: [String]

  /// Every statement that begins with an upper-case keyword of SQL.
  static func statements(in file: SourceFile) -> [SQLWrite] {
    let tokens = Token.all(in: file.text.literals)
    return tokens.indices.compactMap { index in
      let line = tokens[index].line
      switch tokens[index].text {
      case "SELECT", "PRAGMA": return SQLWrite(line: line, table: "", columns: [])
      case "INSERT", "REPLACE":
        guard let into = after("INTO", from: index, within: 3, in: tokens) else { return nil }
        let conflict = updateOfConflict(from: into, in: tokens)
        return SQLWrite(line: line, table: name(into, tokens), columns: ["+"] + conflict)
      case "DELETE" where tokens.text(index + 1) == "FROM":
        return SQLWrite(line: line, table: name(index + 2, tokens), columns: ["-"])
      case "UPDATE":
        guard let set = after("SET", from: index, within: 12, in: tokens),
          tokens.text(index - 1) != "DO"
        else { return nil }
        let start = tokens.text(index + 1) == "OR" ? index + 3 : index + 1
        return SQLWrite(line: line, table: name(start, tokens), columns: columns(set, tokens))
      default: return nil
      }
    }
  }

  private static func after(
    _ word: String, from index: Int, within count: Int, in tokens: [Token]
  ) -> Int? {
    ((index + 1)...(index + count)).first { tokens.text($0) == word }.map { $0 + 1 }
  }

  /// The columns of `ON CONFLICT … DO UPDATE SET`, if this insert has it.
  private static func updateOfConflict(from index: Int, in tokens: [Token]) -> [String] {
    let starts: Set = ["INSERT", "REPLACE", "DELETE", "SELECT"]
    for place in index..<tokens.count {
      if starts.contains(tokens.text(place)) && place > index + 40 { return [] }
      if tokens.text(place) == "INSERT" || tokens.text(place) == "DELETE" { return [] }
      if tokens.match(place, "DO", "UPDATE", "SET") { return columns(place + 3, tokens) }
    }
    return []
  }

  /// A table's name, quoted or not; empty where an interpolation stands.
  private static func name(_ index: Int, _ tokens: [Token]) -> String {
    var place = index
    while ["\"", "\\", "["].contains(tokens.text(place)) { place += 1 }
    guard tokens.indices.contains(place), tokens[place].isWord else { return "" }
    if tokens.text(place + 1) == "~", tokens[place + 1].touchesPrevious { return "" }
    return tokens.text(place).lowercased()
  }

  /// The names before `=` in a list that begins at `index`.
  private static func columns(_ index: Int, _ tokens: [Token]) -> [String] {
    var found: [String] = []
    var place = index
    var depth = 0
    var expectsName = true
    while place < tokens.count {
      let text = tokens.text(place)
      switch text {
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0: expectsName = true
      case "WHERE", "RETURNING", ";", "FROM", "INSERT", "UPDATE", "DELETE", "SELECT":
        if depth <= 0 { return found }
      default:
        if expectsName, depth == 0, tokens[place].isWord {
          let next = tokens.text(place + 1) == "\"" ? place + 2 : place + 1
          guard tokens.text(next) == "=" else { return found }
          found.append(text.lowercased())
          expectsName = false
        }
      }
      if depth < 0 { return found }
      place += 1
    }
    return found
  }
}
