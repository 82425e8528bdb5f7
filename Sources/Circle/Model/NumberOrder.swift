/// Gives attributes of type decimal and integer, which are kept as texts, the order of numbers
/// wherever a model's SQL names them.
///
/// Where such an attribute is only asked to be equal to a parameter or to another attribute, it is
/// left as it is: both are canonical texts, and an index of the attribute helps.
struct NumberOrder {
  let entity: Entity
  let package: Package

  private static let collation = " COLLATE ferry_decimal"
  /// Words before a whole value, and behind one.
  private static let starts: Set<String> = [
    "and", "or", "not", "where", "on", "when", "then", "else", "case", "having", "select", "by",
  ]
  private static let ends: Set<String> = [
    "and", "or", "order", "group", "having", "limit", "union", "except", "intersect", "when",
    "then", "else", "end", "as", "from", "where", "collate",
  ]
  /// Words behind which a name is no value.
  private static let introductions: Set<String> = ["as", "from", "join", "collate"]

  /// The text again, with `place` for each parameter.
  func written(_ parts: [SQLText.Part], place: (String) -> String) -> String {
    let tokens = parts.flatMap { part in
      switch part {
      case .plain(let text): SQLToken.tokens(of: text)
      case .parameter(let name): [SQLToken(.parameter, place(name))]
      }
    }
    let line = SQLLine(tokens)
    return tokens.indices.map { place in
      tokens[place].text + (isNumber(line, place) ? NumberOrder.collation : "")
    }.joined()
  }

  /// Whether the value that stands there is to be ordered as a number.
  private func isNumber(_ line: SQLLine, _ place: Int) -> Bool {
    guard let name = line.tokens[place].name, let type = type(of: name, line, place),
      type == .decimal || type == .integer
    else { return false }
    let after = line.token(1, from: place)
    guard after?.text != "(", after?.text != ".", after?.name != "collate" else { return false }
    return !isEqual(line, place)
  }

  /// The type of the attribute that is named there: of the entity before the point, or of this one.
  private func type(of name: String, _ line: SQLLine, _ place: Int) -> AttributeType? {
    guard let before = line.token(-1, from: place) else { return type(of: name, entity) }
    guard before.text == "." else {
      let isIntroduced = before.name.map(NumberOrder.introductions.contains) ?? false
      return isIntroduced ? nil : type(of: name, entity)
    }
    let owner = line.token(-2, from: place)?.name
    return package.entities.first { $0.name.lowercased() == owner }.flatMap { type(of: name, $0) }
  }

  private func type(of name: String, _ entity: Entity) -> AttributeType? {
    entity.attributes.first { $0.name.lowercased() == name }?.type
  }

  /// Whether it is only asked to be equal to parameters or to another attribute.
  private func isEqual(_ line: SQLLine, _ place: Int) -> Bool {
    if isBehindEqual(line, place) { return true }
    let start = line.token(-1, from: place)?.text == "." ? -2 : 0
    guard isStart(line.token(start - 1, from: place)) else { return false }
    var next = 1
    switch line.token(1, from: place) {
    case let token? where token.text == "=":
      if line.token(2, from: place)?.text == "=" { next = 2 }
    case let token? where token.name == "is": break
    case let token? where token.name == "in": return isList(line, place)
    default: return false
    }
    guard let other = line.token(next + 1, from: place) else { return false }
    guard other.isParameter || isAttribute(other, line.token(next + 2, from: place)) else {
      return false
    }
    let isOfOther = line.token(next + 2, from: place)?.text == "."
    return isEnd(line.token(next + (isOfOther ? 4 : 2), from: place))
  }

  /// Whether a value that begins behind this is no part of a longer one, as in `2 * :amount`.
  private func isStart(_ token: SQLToken?) -> Bool {
    guard let token else { return true }
    return ["(", ","].contains(token.text) || token.name.map(NumberOrder.starts.contains) ?? false
  }

  /// Whether a value that ends before this is no part of a longer one, as in `:amount * 2`.
  private func isEnd(_ token: SQLToken?) -> Bool {
    guard let token else { return true }
    return [")", ",", ";"].contains(token.text)
      || token.name.map(NumberOrder.ends.contains) ?? false
  }

  private func isBehindEqual(_ line: SQLLine, _ place: Int) -> Bool {
    let start = line.token(-1, from: place)?.text == "." ? -2 : 0
    guard line.token(start - 1, from: place)?.text == "=" else { return false }
    let end = line.token(start - 2, from: place)?.text == "=" ? start - 3 : start - 2
    guard let other = line.token(end, from: place), isEnd(line.token(1, from: place)) else {
      return false
    }
    guard let name = other.name else {
      return other.isParameter && isStart(line.token(end - 1, from: place))
    }
    guard line.token(end - 1, from: place)?.text == "." else {
      return type(of: name, entity) != nil && isStart(line.token(end - 1, from: place))
    }
    guard isStart(line.token(end - 3, from: place)) else { return false }
    let owner = line.token(end - 2, from: place)?.name
    return package.entities.contains { $0.name.lowercased() == owner }
  }

  private func isAttribute(_ token: SQLToken, _ after: SQLToken?) -> Bool {
    guard let name = token.name, after?.text != "(" else { return false }
    if after?.text == "." { return package.entities.contains { $0.name.lowercased() == name } }
    return type(of: name, entity) != nil
  }

  /// Whether parameters and nothing else stand in the brackets behind IN.
  private func isList(_ line: SQLLine, _ place: Int) -> Bool {
    guard line.token(2, from: place)?.text == "(" else { return false }
    var next = 3
    while let token = line.token(next, from: place) {
      if token.text == ")" { return next > 3 }
      guard token.isParameter || token.text == "," else { return false }
      next += 1
    }
    return false
  }
}

/// Tokens of a text, to be looked at without the spaces between them.
private struct SQLLine {
  let tokens: [SQLToken]
  private let spoken: [Int]
  private let order: [Int: Int]

  init(_ tokens: [SQLToken]) {
    self.tokens = tokens
    let spoken = tokens.indices.filter { tokens[$0].kind != .space }
    self.spoken = spoken
    order = [Int: Int](uniqueKeysWithValues: spoken.enumerated().map { ($1, $0) })
  }

  /// The one that stands so many tokens further on.
  func token(_ distance: Int, from place: Int) -> SQLToken? {
    guard let start = order[place], spoken.indices.contains(start + distance) else { return nil }
    return tokens[spoken[start + distance]]
  }
}
