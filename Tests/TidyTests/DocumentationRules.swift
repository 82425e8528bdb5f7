/// Every public declaration begins with a sentence of its own.
enum DocumentationRules {
  /// Members that a protocol of the language or the library describes already.
  static let described: Set = [
    "description", "debugDescription", "errorDescription", "hash", "encode", "rawValue",
    "hashValue", "makeIterator", "makeAsyncIterator", "next", "allCases", "id",
    "enqueue", "asUnownedSerialExecutor",
  ]

  /// Members of the house's own protocols: whoever conforms need not repeat their description.
  static func protocolMembers(in files: [SourceFile]) -> Set<String> {
    var members: Set<String> = []
    for file in files {
      var depth = 0
      var opensProtocol = false
      var protocolDepth: Int?
      for (index, token) in file.tokens.enumerated() {
        switch token.text {
        case "protocol": opensProtocol = true
        case "{":
          depth += 1
          if opensProtocol { protocolDepth = protocolDepth ?? depth }
          opensProtocol = false
        case "}":
          if protocolDepth == depth { protocolDepth = nil }
          depth -= 1
        case "func", "var", "typealias":
          if protocolDepth == depth { members.insert(file.tokens.text(index + 1)) }
        default: break
        }
      }
    }
    return members
  }

  /// Types, functions and subscripts; what is named in `described` is left out.
  ///
  /// A property, an initializer and a function of one line say with their name and type what a
  /// sentence would repeat, an overload is described by the function it stands beside.
  static func violations(in file: SourceFile, described known: Set<String>) -> [Violation] {
    var told: Set<String> = []
    return file.text.code.indices.compactMap { index in
      let line = file.text.code[index]
      guard let name = publicName(Token.all(in: [line])) else { return nil }
      if isDocumented(index, file) {
        told.insert(name)
        return nil
      }
      let isOneLine = line.contains("func ") && line.contains("{") && line.hasSuffix("}")
      guard !isOneLine, !known.contains(name), !told.contains(name) else { return nil }
      return file.violation(
        index + 1, "every public declaration has a doc comment", "public \(name)",
        cure: "say in one sentence what the caller must know and the name does not tell")
    }
  }

  /// What a line declares in public; nil for other lines and for what describes itself.
  private static func publicName(_ words: [Token]) -> String? {
    guard let start = words.firstIndex(where: { $0.text == "public" || $0.text == "open" }) else {
      return nil
    }
    let kinds: Set = [
      "struct", "enum", "actor", "protocol", "typealias", "func", "subscript", "class", "var",
      "let", "init", "import", "case",
    ]
    let place = words.indices.first { index in
      index > start && kinds.contains(words[index].text)
        && !(words[index].text == "class" && ["func", "var"].contains(words.text(index + 1)))
    }
    guard let place else { return nil }
    switch words[place].text {
    case "var", "let", "init", "import", "case": return nil
    case "subscript": return "subscript"
    case "func" where words.indices.contains(place + 1) && !words[place + 1].isWord:
      // An operator; `func` and its backquote tell a keyword used as a name.
      return words[place + 1].text == "`" ? words.text(place + 2) : nil
    default:
      let name = words.text(place + 1)
      return described.contains(name) ? nil : name
    }
  }

  /// The nearest line above that is no attribute is a doc comment.
  private static func isDocumented(_ index: Int, _ file: SourceFile) -> Bool {
    var place = index - 1
    while place >= 0 {
      let code = file.text.code[place].drop { $0 == " " }
      let comment = file.text.comments[place].drop { $0 == " " }
      if comment.hasPrefix("///") || comment.hasSuffix("*/") { return true }
      guard code.hasPrefix("@") || code.hasPrefix("#") else { return false }
      place -= 1
    }
    return false
  }
}
