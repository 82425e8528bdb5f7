/// What `$search` looks for.
public indirect enum ODataSearch: Sendable, Hashable {
  /// One word without white space, quotes or parentheses.
  case word(String)
  /// Words in this order.
  case phrase(String)
  /// What must not match.
  case not(ODataSearch)
  /// Two or more.
  case and([ODataSearch])
  /// Two or more.
  case or([ODataSearch])
  /// Text in single quotes, as a person types it; the service makes the best of it.
  case incomplete(String)

  /// A word where the text is one, else a phrase.
  public static func text(_ text: String) -> ODataSearch {
    isWord(text) ? .word(text) : .phrase(text)
  }

  static func isWord(_ text: String) -> Bool {
    guard !text.isEmpty, text.utf8.first != UInt8(ascii: "'"), !["AND", "OR", "NOT"].contains(text)
    else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "(", ")", "\"", "\u{7F}": false
      default: scalar.value > 0x20
      }
    }
  }
}
