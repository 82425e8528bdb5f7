import FerryModel

/// The values that the checks of a table allow for single columns, where a check is nothing but a list.
///
/// Plain are `status IN ('open', 'done')` and `status = ANY (ARRAY['open', 'done'])`, in parentheses or
/// not, with casts, and with `OR status IS NULL`. A column with two lists has none here.
package struct CheckLists: Equatable {
  /// By the name of the column as the check writes it.
  private var lists: [String: [AttributeValue]] = [:]
  private var doubled: Set<String> = []
  /// Whether names that differ by their case alone are the same.
  private let ignoresCase: Bool

  /// From the text of a `CREATE TABLE` of SQLite.
  package init(ofTable sql: String) {
    ignoresCase = true
    let tokens = SQLToken.tokens(of: sql)
    guard let open = tokens.firstIndex(of: .sign("(")),
      let body = CheckLists.inside(tokens[open...])
    else { return }
    let folding = Set(CheckLists.parts(body, at: .sign(",")).compactMap(CheckLists.foldingColumn))
    for (index, token) in body.enumerated() where token.isWord("CHECK") {
      let rest = body.dropFirst(index + 1)
      if rest.first == .sign("("), let check = CheckLists.inside(rest) { add(check) }
    }
    for column in folding { lists[column] = nil }
  }

  /// From definitions of checks as PostgreSQL writes them: `CHECK ((level = ANY (ARRAY[1, 2])))`.
  package init(ofChecks definitions: [String]) {
    ignoresCase = false
    for definition in definitions {
      let tokens = CheckLists.withoutCasts(SQLToken.tokens(of: definition))
      // What comes after it says that old rows were not looked at, which changes nothing here.
      guard tokens.first?.isWord("CHECK") == true, let check = CheckLists.inside(tokens.dropFirst())
      else { continue }
      add(check)
    }
  }

  /// The list of a column; empty where it has none.
  package subscript(column: String) -> [AttributeValue] { lists[key(column)] ?? [] }

  private func key(_ column: String) -> String { ignoresCase ? column.lowercased() : column }

  private mutating func add(_ check: [SQLToken]) {
    guard let (column, values) = CheckLists.list(check) else { return }
    let key = key(column)
    if doubled.contains(key) { return }
    if lists.updateValue(values, forKey: key) != nil {
      lists[key] = nil
      doubled.insert(key)
    }
  }

  // What a check says.

  private static func list(_ tokens: [SQLToken]) -> (column: String, values: [AttributeValue])? {
    let tokens = bare(tokens)
    let sides = parts(tokens, at: .word("OR"))
    if sides.count == 2 {
      for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        if let column = nullable(side), let found = list(other), found.column == column {
          return found
        }
      }
      return nil
    }
    let operators = tokens.indices.filter { tokens[$0].isWord("IN") || tokens[$0] == .sign("=") }
    guard operators.count == 1, let place = operators.first,
      let column = column(Array(tokens[..<place]))
    else { return nil }
    let right = Array(tokens[(place + 1)...])
    let elements: [[SQLToken]]
    if tokens[place].isWord("IN") {
      guard right.first == .sign("("), let inside = inside(right[...]),
        inside.count + 2 == right.count
      else { return nil }
      elements = parts(inside, at: .sign(","))
    } else if right.first?.isWord("ANY") == true {
      let array = bare(Array(right.dropFirst()))
      guard array.first?.isWord("ARRAY") == true, array.count > 2, array[1] == .sign("["),
        array.last == .sign("]")
      else { return nil }
      elements = parts(Array(array[2..<(array.count - 1)]), at: .sign(","))
    } else {
      elements = [right]
    }
    var values: [AttributeValue] = []
    for element in elements {
      guard let value = literal(element) else { return nil }
      if !values.contains(value) { values.append(value) }
    }
    return values.isEmpty ? nil : (column, values)
  }

  /// `status IS NULL`.
  private static func nullable(_ tokens: [SQLToken]) -> String? {
    let tokens = bare(tokens)
    guard tokens.count == 3, tokens[1].isWord("IS"), tokens[2].isWord("NULL") else { return nil }
    return column([tokens[0]])
  }

  private static func column(_ tokens: [SQLToken]) -> String? {
    let tokens = bare(tokens)
    guard tokens.count == 1 else { return nil }
    switch tokens[0] {
    case .word(let name), .name(let name): return name
    default: return nil
    }
  }

  private static func literal(_ tokens: [SQLToken]) -> AttributeValue? {
    switch bare(tokens) {
    case let tokens where tokens.count == 1:
      switch tokens[0] {
      case .text(let text): .text(text)
      case .number(let number): .integer(number)
      default: nil
      }
    case let tokens where tokens.count == 2 && tokens[0] == .sign("-"):
      if case .number(let number) = tokens[1] { .integer(-number) } else { nil }
    default: nil
    }
  }

  /// A column that compares texts in another way than by their bytes: its list allows more.
  private static func foldingColumn(_ definition: [SQLToken]) -> String? {
    guard let first = definition.first, let name = column([first]),
      let place = definition.firstIndex(where: { $0.isWord("COLLATE") }),
      place + 1 < definition.count, column([definition[place + 1]])?.uppercased() != "BINARY"
    else { return nil }
    return name.lowercased()
  }

  // Parentheses.

  /// What is between the first token, which opens, and the one that closes it.
  private static func inside(_ tokens: ArraySlice<SQLToken>) -> [SQLToken]? {
    guard tokens.first == .sign("(") else { return nil }
    var depth = 0
    for (offset, token) in tokens.enumerated() {
      if token == .sign("(") { depth += 1 }
      if token == .sign(")") { depth -= 1 }
      if depth == 0 { return Array(tokens.dropFirst().prefix(offset - 1)) }
    }
    return nil
  }

  /// Without the parentheses around all of it.
  private static func bare(_ tokens: [SQLToken]) -> [SQLToken] {
    guard let inside = inside(tokens[...]), inside.count + 2 == tokens.count else { return tokens }
    return bare(inside)
  }

  /// The parts between a token, where it is in no parentheses or brackets.
  private static func parts(_ tokens: [SQLToken], at separator: SQLToken) -> [[SQLToken]] {
    var parts: [[SQLToken]] = [[]]
    var depth = 0
    for token in tokens {
      if token == .sign("(") || token == .sign("[") { depth += 1 }
      if token == .sign(")") || token == .sign("]") { depth -= 1 }
      let isSeparator =
        if case .word(let word) = separator { token.isWord(word) } else { token == separator }
      if isSeparator, depth == 0 {
        parts.append([])
      } else {
        parts[parts.count - 1].append(token)
      }
    }
    return parts
  }

  /// Without `::character varying(20)[]`; a number in quotes that is cast to one is one.
  private static func withoutCasts(_ tokens: [SQLToken]) -> [SQLToken] {
    var kept: [SQLToken] = []
    var rest = tokens[...]
    while let token = rest.popFirst() {
      guard token == .sign("::") else {
        kept.append(token)
        continue
      }
      let type = takeType(&rest)
      if case .text(let text) = kept.last, let number = Int64(text),
        ["bigint", "integer", "smallint"].contains(type)
      {
        kept[kept.count - 1] = .number(number)
      }
    }
    return kept
  }

  /// Takes the words of a type from the front, and returns the last of them.
  private static func takeType(_ rest: inout ArraySlice<SQLToken>) -> String {
    let keywords: Set<String> = ["AND", "ANY", "COLLATE", "IN", "IS", "NOT", "OR"]
    var last = ""
    while let token = rest.first {
      switch token {
      case .word(let word) where !keywords.contains(word.uppercased()): last = word
      case .name(let name): last = name
      case .sign("."): break
      case .sign("("): rest = rest.dropFirst((inside(rest)?.count ?? 0) + 1)
      case .sign("[") where rest.dropFirst().first == .sign("]"): rest = rest.dropFirst()
      default: return last
      }
      rest = rest.dropFirst()
    }
    return last
  }
}
