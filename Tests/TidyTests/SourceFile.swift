/// One Swift file of the house, read and taken apart.
struct SourceFile {
  /// From the root of the checkout, with `/`.
  let path: String
  let text: SwiftText
  let tokens: [Token]

  init(path: String, _ text: String) {
    self.path = path
    self.text = SwiftText(text)
    tokens = Token.all(in: self.text.code)
  }

  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  func isIn(_ folders: String...) -> Bool {
    folders.contains { path.hasPrefix($0 + "/") }
  }

  func violation(_ line: Int, _ rule: String, _ found: String, cure: String) -> Violation {
    Violation(file: path, line: line, rule: rule, found: found, cure: cure)
  }

  /// The types declared at the top of the file. Left out: those private to it, and a shorter name
  /// for a type that is called the same elsewhere.
  var topLevelTypes: [Token] {
    let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    var depth = 0
    var types: [Token] = []
    for (index, token) in tokens.enumerated() {
      switch token.text {
      case "{": depth += 1
      case "}": depth -= 1
      case let kind where depth == 0 && kinds.contains(kind):
        guard tokens.indices.contains(index + 1), tokens[index + 1].isWord else { continue }
        let before = tokens[max(0, index - 3)..<index].filter { $0.line == token.line }
        // `import struct M.T` declares nothing.
        let others: Set = ["private", "fileprivate", "import"]
        guard !before.contains(where: { others.contains($0.text) }) else { continue }
        let name = tokens[index + 1]
        let isSameElsewhere =
          kind == "typealias"
          && tokens[(index + 2)...].prefix { $0.line == token.line }.contains {
            $0.text == name.text
          }
        if !isSameElsewhere { types.append(name) }
      default: break
      }
    }
    return types
  }
}
