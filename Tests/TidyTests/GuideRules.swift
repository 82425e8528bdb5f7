/// What the guides say about the sources, so that no guide names what was removed.
///
/// Checks words in backquotes outside of code blocks. A path from the root must exist, and the file
/// must declare the symbol after a colon. `Scripts/check NAME` needs that check.
/// `ClientTests/PendingTests.merge` is the test function `merge` of that file.
enum GuideRules {
  struct Word: Equatable {
    let text: String
    let line: Int
  }

  static func words(in lines: [String]) -> [Word] {
    var isCode = false
    return lines.enumerated().flatMap { number, line -> [Word] in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, !line.hasPrefix("    ") else { return [] }
      return line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }
        .map { Word(text: String($0.element), line: number + 1) }
    }
  }

  private static let folders = [
    "Sources/", "Tests/", "Samples/", "Scripts/", "Plugins/", "Documentation/",
  ]

  static func anchors(
    in guide: String, _ lines: [String], paths: Set<String>, files: [String: SourceFile]
  ) -> [Violation] {
    words(in: lines).compactMap { word in
      guard folders.contains(where: { word.text.hasPrefix($0) }), !word.text.contains("…"),
        !word.text.contains("NNNN")
      else {
        return nil
      }
      let parts = command(word.text).split(separator: ":", maxSplits: 1).map(String.init)
      var path = parts[0]
      if path.hasSuffix("/") { path.removeLast() }
      guard paths.contains(path) else {
        return violation(guide, word, "there is no \(path)")
      }
      guard let symbol = parts.dropFirst().first else { return nil }
      guard let file = files[path], declares(symbol, file.tokens) else {
        return violation(guide, word, "\(path) declares no \(symbol)")
      }
      return nil
    }
  }

  /// The script of a command line; other texts stay as they are.
  static func command(_ text: String) -> String {
    guard text.hasPrefix("Scripts/") else { return text }
    let words = text.split(separator: " ").map(String.init)
    guard words.count > 1, words[0] == "Scripts/check", !words[1].hasPrefix("-"),
      !["format", "tidy"].contains(words[1])
    else { return words[0] }
    return "Scripts/check-\(words[1])"
  }

  static func declares(_ symbol: String, _ tokens: [Token]) -> Bool {
    let kinds: Set = [
      "func", "struct", "class", "enum", "actor", "protocol", "var", "let", "case", "typealias",
    ]
    return tokens.indices.contains { index in
      guard tokens[index].text == symbol, index > 0 else { return false }
      if kinds.contains(tokens[index - 1].text) { return true }
      // One of several cases on a line.
      let line = tokens.prefix(index).filter { $0.line == tokens[index].line }
      return tokens[index - 1].text == "," && line.first?.text == "case"
    }
  }

  static func tests(
    in guide: String, _ lines: [String], files: [String: SourceFile]
  ) -> [Violation] {
    words(in: lines).compactMap { word in
      if word.text.wholeMatch(of: /[A-Z][A-Za-z]*Tests(\/[A-Za-z+]+)+/) != nil {
        let path = "Tests/\(word.text)"
        let isFound = files.keys.contains { $0 == path + ".swift" || $0.hasPrefix(path + "/") }
        return isFound ? nil : violation(guide, word, "there are no tests \(word.text)")
      }
      guard let (path, name) = testName(word.text) else { return nil }
      guard let file = files[path], titles(in: file)[name] != nil else {
        return violation(guide, word, "there is no test \(name) in \(path)")
      }
      return nil
    }
  }

  /// `ClientTests/PendingTests.merge` as file and function; nil when it does not look like it.
  static func testName(_ text: String) -> (path: String, name: String)? {
    let parts = text.split(separator: ".")
    guard parts.count == 2, !text.hasPrefix("Tests/"),
      parts[0].wholeMatch(of: /[A-Za-z]+Tests(\/[A-Za-z+]+)+/) != nil,
      parts[1].allSatisfy(\.isLetter)
    else { return nil }
    return ("Tests/\(parts[0]).swift", String(parts[1]))
  }

  /// Each test function of a file with its own title and that of its suite.
  static func titles(in file: SourceFile) -> [String: String] {
    var titles: [String: String] = [:]
    var suite = ""
    for (index, token) in file.tokens.enumerated() where token.text == "@" {
      let kind = file.tokens.text(index + 1)
      guard kind == "Test" || kind == "Suite" else { continue }
      let ends: Set = kind == "Test" ? ["func"] : ["struct", "class", "actor", "enum"]
      guard
        let end = (index + 1..<file.tokens.count).first(where: {
          ends.contains(file.tokens[$0].text)
        })
      else { continue }
      let lines = (token.line - 1)..<file.tokens[end].line
      let title = lines.map { file.text.literals[$0].drop { $0 == " " } }.joined(separator: " ")
      if kind == "Suite" {
        suite = title
      } else {
        titles[file.tokens.text(end + 1)] = "\(title) \(suite)"
      }
    }
    return titles
  }

  static func violation(_ guide: String, _ word: Word, _ found: String) -> Violation {
    Violation(
      file: guide, line: word.line, rule: "a guide names what exists", found: found,
      cure: "name what exists now, or remove the sentence")
  }
}
