/// A word of the SQL in which databases declare their tables.
enum SQLToken: Equatable {
  /// A keyword, or a name without quotes.
  case word(String)
  /// A name in quotes.
  case name(String)
  case text(String)
  case number(Int64)
  /// `(`, `,`, `=`, `::` and all others; a number that is no whole one of 64 bits too.
  case sign(String)

  func isWord(_ word: String) -> Bool {
    if case .word(let own) = self { own.uppercased() == word } else { false }
  }

  /// The words of a text, without comments.
  static func tokens(of sql: String) -> [SQLToken] {
    var reader = Reader(rest: Substring(sql).unicodeScalars)
    var tokens: [SQLToken] = []
    while let token = reader.next() { tokens.append(token) }
    return tokens
  }

  private struct Reader {
    var rest: Substring.UnicodeScalarView

    mutating func next() -> SQLToken? {
      skip()
      guard let first = rest.first else { return nil }
      switch first {
      case "'": return .text(quoted("'"))
      case "\"", "`": return .name(quoted(first))
      case "[": return bracket()
      case "0"..."9": return number()
      case _ where first == "_" || first.properties.isXIDStart:
        return .word(taken { $0 == "$" || $0.properties.isXIDContinue })
      case ":" where rest.starts(with: "::".unicodeScalars):
        rest.removeFirst(2)
        return .sign("::")
      default:
        rest.removeFirst()
        return .sign(String(Character(first)))
      }
    }

    private mutating func skip() {
      while let first = rest.first {
        if first.properties.isWhitespace {
          rest.removeFirst()
        } else if rest.starts(with: "--".unicodeScalars) {
          _ = taken { $0 != "\n" }
        } else if rest.starts(with: "/*".unicodeScalars) {
          rest.removeFirst(2)
          while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
          rest = rest.dropFirst(2)
        } else {
          return
        }
      }
    }

    private mutating func taken(_ belongs: (Unicode.Scalar) -> Bool) -> String {
      let part = rest.prefix(while: belongs)
      rest = rest.dropFirst(part.count)
      return String(Substring(part))
    }

    /// Two quotes inside are one.
    private mutating func quoted(_ quote: Unicode.Scalar) -> String {
      rest.removeFirst()
      var text = String.UnicodeScalarView()
      while let scalar = rest.popFirst() {
        guard scalar == quote else {
          text.append(scalar)
          continue
        }
        guard rest.first == quote else { break }
        rest.removeFirst()
        text.append(quote)
      }
      return String(text)
    }

    /// A name of SQLite in brackets, or the brackets of an array.
    private mutating func bracket() -> SQLToken {
      rest.removeFirst()
      guard let first = rest.first, first == "_" || first.properties.isXIDStart,
        let end = rest.firstIndex(of: "]")
      else { return .sign("[") }
      let name = String(Substring(rest[..<end]))
      rest = rest[rest.index(after: end)...]
      return .name(name)
    }

    private mutating func number() -> SQLToken {
      let text = taken { $0 == "." || $0.properties.isXIDContinue }
      return Int64(text).map(SQLToken.number) ?? .sign(text)
    }
  }
}
