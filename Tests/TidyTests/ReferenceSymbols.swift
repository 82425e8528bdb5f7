import Foundation

/// What the pages about the reference name as ours, compared with what the sources declare.
enum ReferenceSymbols {
  static let pages = ["Reference.md", "ReferenceOData.md", "ReferenceSDK.md"]

  /// Names on the pages that no source of the library declares: what the generator makes of a model,
  /// names of the examples, and the words of files, headers and the language.
  static let others: Set = [
    "Travel", "Order", "Promote", "Package.swift", "contract", "findByStatus", "image", "char",
    "throws", "traceparent", "Codable", "_original", "changeLogs", "FerryCertificates",
    "FerryVault", "FerryTrace", "ferry", "ferryd", "member", "photo", "PersonalizationKeys",
    "ObjectNotFoundException", "Database", "Query", "SearchFields",
  ]

  /// Names of the reference that stand for something else here than what the row is about.
  static let homonyms: Set = [
    "restart", "status", "size", "getString", "DISCONNECTING", "DONE", "UNKNOWN",
  ]

  /// What the sources declare for apps, or for the package: types, functions, properties and cases.
  static func declared(in files: [SourceFile], for access: String = "public") -> Set<String> {
    let kinds: Set = [
      "func", "var", "let", "case", "struct", "enum", "protocol", "class", "actor", "typealias",
    ]
    var found: Set<String> = []
    for file in files {
      var isProtocol = false
      for line in file.text.code {
        if line.hasPrefix("\(access) protocol") { isProtocol = true }
        if line.hasPrefix("}") { isProtocol = false }
        let words = Token.all(in: [line]).map(\.text)
        guard let first = words.first else { continue }
        let isCase = first == "case" && words.count > 1 && words[1] != "." && words[1] != "let"
        guard isCase || words.contains(access) || isProtocol else { continue }
        for (place, word) in words.enumerated() where kinds.contains(word) {
          guard words.indices.contains(place + 1) else { continue }
          let name = words[place + 1] == "`" ? place + 2 : place + 1
          if words.indices.contains(name) { found.insert(words[name]) }
        }
        // `case a, b(Int)`: what follows a comma outside of brackets.
        guard isCase else { continue }
        var depth = 0
        for (place, word) in words.enumerated() {
          if word == "(" { depth += 1 }
          if word == ")" { depth -= 1 }
          if word == ",", depth == 0, words.indices.contains(place + 1) {
            found.insert(words[place + 1])
          }
        }
      }
    }
    return found
  }

  /// The names in the codes of a cell: `a.b(_:in:)` is `a` and `b`. Tests, options and files are
  /// no names.
  static func names(in cell: String) -> [(code: String, parts: [String])] {
    let codes = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    return codes.compactMap { index, code in
      guard index % 2 == 1 else { return nil }
      let text = code.prefix { $0 != "(" }
      let isName = text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
      guard isName, let first = text.first, first == "." || first.isLetter || first == "_" else {
        return nil
      }
      return (String(code), text.split(separator: ".").map(String.init))
    }
  }

  /// `UPLOADING` and `CONNECTION_ERROR` as Swift spells them.
  static func swiftName(_ name: String) -> String {
    guard name.contains(where: \.isLetter), name == name.uppercased() else { return name }
    let words = name.lowercased().split(separator: "_")
    return words.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }
      .joined()
  }

  static func violations(
    in page: String, _ lines: [String], declared: Set<String>, client: Set<String>,
    tests: Set<String>
  ) -> [Violation] {
    var violations: [Violation] = []
    for (number, line) in lines.enumerated() where line.hasPrefix("|") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      // A table of names, or one of ids.
      guard cells.count == 4 || cells.count == 7 else { continue }
      let here = cells.count == 4 ? cells[2] : cells[3]
      for (code, parts) in names(in: here) {
        let isKnown = parts.allSatisfy {
          declared.contains($0) || others.contains($0) || tests.contains($0)
        }
        if isKnown || others.contains(code) { continue }
        violations.append(
          Violation(
            file: page, line: number + 1, rule: "what a row names as ours is declared in Sources",
            found: code, cure: "write the name that there is, or add it to ReferenceSymbols.others")
        )
      }
      guard cells.count == 4, here.hasPrefix(" not here") else { continue }
      for (code, parts) in names(in: cells[1]) where parts.count == 1 {
        guard client.contains(swiftName(parts[0])), !homonyms.contains(parts[0]) else { continue }
        violations.append(
          Violation(
            file: page, line: number + 1, rule: "what is here is not called \"not here\"",
            found: "\(code) is declared as \(swiftName(parts[0]))",
            cure: "say what it is here, or add it to ReferenceSymbols.homonyms"))
      }
    }
    return violations
  }
}
