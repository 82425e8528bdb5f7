/// Documentation/Reference.md: each capability of the reference with what shows it.
enum ReferenceRules {
  struct Row: Equatable {
    let id: String
    let state: String
    let tests: [String]
    let line: Int
  }

  /// How far a capability is: shown by a test that names it; the code is there and no such test;
  /// a part is there; nothing is.
  static let states: Set = ["shown", "built", "partly", "later"]

  static let ids: [String] =
    [("M", 26), ("P", 26), ("I", 8), ("R", 23), ("RC", 15), ("Q", 11)].flatMap { kind, count in
      (1...count).map { "\(kind)\($0)" }
    }

  /// Rows of the form `| sync/P1 | words | API | state | tests |`.
  static func rows(in lines: [String]) -> [Row] {
    lines.enumerated().compactMap { number, line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimming { $0 == " " } }
      guard cells.count == 7, cells[1].hasPrefix("sync/") else { return nil }
      let tests = GuideRules.words(in: [String(cells[5])]).map(\.text)
      return Row(
        id: String(cells[1].dropFirst(5)), state: String(cells[4]), tests: tests, line: number + 1)
    }
  }

  static func violations(
    in guide: String, _ lines: [String], files: [String: SourceFile]
  ) -> [Violation] {
    let rows = rows(in: lines)
    let counts = Dictionary(grouping: rows, by: \.id).mapValues(\.count)
    let missing = ids.filter { counts[$0] != 1 }.map { id in
      Violation(
        file: guide, line: 1, rule: "every capability has one row",
        found: "sync/\(id) has \(counts[id] ?? 0)", cure: "give it one")
    }
    return missing + rows.flatMap { row in row.problems(files).map { violation(guide, row, $0) } }
  }

  /// The capabilities that a title names: `sync/P3, P4` and `sync/P25, sync/Q11`.
  static func ids(in title: String) -> Set<String> {
    let lists = title.matches(of: /sync\/([A-Z]+[0-9]+(?:, (?:sync\/)?[A-Z]+[0-9]+)*)/)
    return Set(
      lists.flatMap { list in
        list.1.split(separator: ", ").map { $0.hasPrefix("sync/") ? $0.dropFirst(5) : $0 }
      }.map(String.init))
  }

  private static func violation(_ guide: String, _ row: Row, _ found: String) -> Violation {
    Violation(
      file: guide, line: row.line, rule: "a capability is shown only by a test that names it",
      found: "sync/\(row.id): \(found)",
      cure: "name the test that shows it, and the capability in its title; or say how far it is")
  }
}

extension ReferenceRules.Row {
  fileprivate func problems(_ files: [String: SourceFile]) -> [String] {
    guard ReferenceRules.states.contains(state) else { return ["the state \(state) is not known"] }
    guard (state == "shown") == !tests.isEmpty else {
      return [state == "shown" ? "no test is named" : "it is \(state), and tests are named"]
    }
    return tests.compactMap { test in
      guard let (path, name) = GuideRules.testName(test), let file = files[path],
        let title = GuideRules.titles(in: file)[name]
      else { return "there is no test \(test)" }
      return ReferenceRules.ids(in: title).contains(id) ? nil : "\(test) does not name it"
    }
  }
}

extension Substring {
  /// Without what `isLeft` holds for at both ends.
  fileprivate func trimming(_ isLeft: (Character) -> Bool) -> Substring {
    var text = drop(while: isLeft)
    while let last = text.last, isLeft(last) { text.removeLast() }
    return text
  }
}
