import Foundation
import Testing

@Suite("The guide of queries")
struct QueriesGuideTests {
  @Test("Its code is the compiled one, line by line")
  func sameCode() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let read = { (path: String) in
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    let compiled = pieces(
      try read("Tests/ClientTests/QueriesGuide.swift").map {
        $0.hasPrefix("    ") ? String($0.dropFirst(4)) : $0
      },
      from: "// GUIDE begins", to: "// GUIDE ends")
    let printed = pieces(try read("Documentation/Queries.md"), from: "```swift", to: "```")
    #expect(compiled.count == 13 && printed == compiled)
  }

  private func pieces(_ lines: [String], from first: String, to last: String) -> [[String]] {
    var found: [[String]] = []
    var rest = lines[...]
    while let start = rest.firstIndex(of: first), let end = rest[start...].firstIndex(of: last) {
      found.append(Array(rest[(start + 1)..<end]))
      rest = rest[(end + 1)...]
    }
    return found
  }
}
