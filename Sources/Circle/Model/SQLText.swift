/// SQL as far as its parameters go.
public enum SQLText {
  /// A stretch of SQL, or the name of a parameter without its colon.
  public enum Part: Sendable, Hashable {
    case plain(String)
    case parameter(String)
  }

  /// Quoted texts and names are plain, whatever stands in them.
  public static func parts(of sql: String) -> [Part] {
    var parts: [Part] = []
    var plain = ""
    var quote: Unicode.Scalar?
    let scalars = Array(sql.unicodeScalars)
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      index += 1
      if let open = quote {
        if scalar == open { quote = nil }
      } else if scalar == "'" || scalar == "\"" {
        quote = scalar
      } else if scalar == ":", index < scalars.count, ReservedName.isLetter(scalars[index]) {
        var name = ""
        while index < scalars.count, ReservedName.isLetterOrDigit(scalars[index]) {
          name.unicodeScalars.append(scalars[index])
          index += 1
        }
        if !plain.isEmpty { parts.append(.plain(plain)) }
        plain = ""
        parts.append(.parameter(name))
        continue
      }
      plain.unicodeScalars.append(scalar)
    }
    if !plain.isEmpty { parts.append(.plain(plain)) }
    return parts
  }
}

/// A word, a name, a number, a text, a sign or the space between them.
struct SQLToken {
  enum Kind { case name, parameter, space, other }

  let kind: Kind
  /// As it is written.
  let text: String

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  var isParameter: Bool { kind == .parameter }

  /// A name or word without its quotes and without case, as SQLite compares them; nil for others.
  var name: String? {
    guard kind == .name else { return nil }
    guard let first = text.first, let last = SQLToken.quotes[first] else {
      return text.lowercased()
    }
    let name = text.dropFirst().dropLast()
    return name.split(separator: "\(last)\(last)", omittingEmptySubsequences: false)
      .joined(separator: "\(last)").lowercased()
  }

  /// Quotes around names, and what ends them.
  private static let quotes: [Character: Character] = ["\"": "\"", "`": "`", "[": "]"]

  /// The tokens of SQL without parameters; their texts together are the SQL.
  static func tokens(of sql: String) -> [SQLToken] {
    var tokens: [SQLToken] = []
    var rest = Substring(sql)
    while let first = rest.first {
      let (kind, length) = head(of: rest, first)
      let end = rest.index(rest.startIndex, offsetBy: length)
      tokens.append(SQLToken(kind, String(rest[..<end])))
      rest = rest[end...]
    }
    return tokens
  }

  private static func head(of text: Substring, _ first: Character) -> (Kind, Int) {
    if first.isWhitespace { return (.space, text.prefix(while: \.isWhitespace).count) }
    if let end = quotes[first] { return (.name, quoted(text, end)) }
    if first == "'" { return (.other, quoted(text, "'")) }
    if first.isNumber { return (.other, text.prefix { isPart($0) || $0 == "." }.count) }
    if isPart(first) { return (.name, text.prefix(while: isPart).count) }
    return (.other, 1)
  }

  /// Up to the closing quote; two of them are one that belongs to it.
  private static func quoted(_ text: Substring, _ end: Character) -> Int {
    var length = 1
    var rest = text.dropFirst()
    while let character = rest.first {
      length += 1
      rest = rest.dropFirst()
      guard character == end else { continue }
      guard rest.first == end, end != "]" else { return length }
      length += 1
      rest = rest.dropFirst()
    }
    return length
  }

  private static func isPart(_ character: Character) -> Bool {
    character == "$" || character.unicodeScalars.allSatisfy(ReservedName.isLetterOrDigit)
  }
}
