/// Counts words that have several meanings in our text, so that public text has fewer and fewer.
enum EnglishRules {
  /// Each with the plain word that usually fits.
  static let overloaded: [String: String] = [
    "told": "reported, notified, named", "stands": "is, exists", "gone": "deleted, closed, lost",
    "settle": "end, decide", "settles": "ends, decides", "settled": "ended, decided",
    "rest": "others, remainder", "rests": "waits",
  ]

  struct Place: Equatable {
    let file: String
    let line: Int
    let word: String
  }

  /// "at rest" is a term of encryption.
  static func places(in text: String, file: String, line: Int) -> [Place] {
    let words = text.split { !$0.isLetter && $0 != "_" }.map(String.init)
    return words.indices.filter { index in
      let word = words[index]
      return word != word.uppercased() && overloaded[word.lowercased()] != nil
        && !(word == "rest" && index > 0 && words[index - 1] == "at")
    }.map { Place(file: file, line: line, word: words[$0].lowercased()) }
  }

  /// A page without its code blocks and without words in backquotes.
  static func places(inPage lines: [String], file: String) -> [Place] {
    var isCode = false
    return lines.enumerated().flatMap { number, line -> [Place] in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, !line.hasPrefix("    ") else { return [] }
      return places(in: withoutCode(line), file: file, line: number + 1)
    }
  }

  /// Sentences with more words than a reader keeps in mind. A word in backquotes is one word; tables,
  /// headings and code are left out.
  static func longSentences(inPage lines: [String], file: String, limit: Int) -> [Violation] {
    var isCode = false
    return lines.enumerated().flatMap { number, line -> [Violation] in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, !["    ", "|", "#"].contains(where: line.hasPrefix) else { return [] }
      let text = line.replacing(/`[^`]*`/, with: "X").replacing(/\]\([^)]*\)/, with: "]")
      return text.split(separator: /[.!?:;]\s/).compactMap { sentence in
        let count = sentence.split(separator: " ").count
        guard count > limit else { return nil }
        return Violation(
          file: file, line: number + 1, rule: "a sentence has at most \(limit) words",
          found: "\(count) words: \(sentence.prefix(60))…", cure: "write two sentences")
      }
    }
  }

  /// Documentation comments of a source file.
  static func places(inDocumentationOf source: SourceFile) -> [Place] {
    source.text.comments.enumerated().flatMap { number, comment -> [Place] in
      let text = comment.drop { $0 == " " }
      guard text.hasPrefix("///") else { return [] }
      return places(in: withoutCode(String(text)), file: source.path, line: number + 1)
    }
  }

  /// Texts in quotes: errors, hints, log messages and help.
  static func places(inTextsOf source: SourceFile) -> [Place] {
    source.text.literals.enumerated().flatMap { number, text in
      places(in: withoutValues(text), file: source.path, line: number + 1)
    }
  }

  /// A text without the values that are put into it.
  private static func withoutValues(_ text: String) -> String {
    text.replacing(/\\\([^)]*\)/, with: " ")
  }

  private static func withoutCode(_ line: String) -> String {
    line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 0 }.map { String($0.element) }.joined(separator: " ")
  }

  /// More than a limit allows: the last places, with the count.
  static func violations(_ places: [Place], limit: Int, in area: String) -> [Violation] {
    guard places.count > limit else { return [] }
    return places.suffix(5).map { place in
      Violation(
        file: place.file, line: place.line,
        rule: "\(area) has at most \(limit) overloaded words, and now \(places.count)",
        found: "\"\(place.word)\"",
        cure: "write \(overloaded[place.word] ?? "a plain word"); where words were removed, "
          + "lower the limit in Tests/TidyTests/EnglishTests.swift")
    }
  }
}
