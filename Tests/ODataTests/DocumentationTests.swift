import Foundation
import Testing

/// The tables of the documentation name what is there.
@Suite("The tables of the documentation") struct DocumentationTests {
  private func rows(_ page: String) throws -> [[String]] {
    let file = DescribeTests.root.appendingPathComponent("Documentation/\(page)")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return lines.filter { line in
      !["| ---", "| input ", "| id "].contains { line.hasPrefix($0) } && line.hasPrefix("| ")
    }.map { line in
      line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  /// `Suite.function` of every test of OData.
  private func tests() throws -> Set<String> {
    try ["ODataTests", "ODataAddressTests"].reduce(into: []) { try $0.formUnion(tests(in: $1)) }
  }

  private func tests(in folder: String) throws -> Set<String> {
    let folder = DescribeTests.root.appendingPathComponent("Tests/\(folder)")
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var found: Set<String> = []
    while let file = all?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      let suite = file.deletingPathExtension().lastPathComponent
      for match in text.matches(of: /\n  func ([a-zA-Z0-9]+)\(/) {
        let before = text[..<match.range.lowerBound].suffix(6_000)
        guard let mark = before.ranges(of: "@Test(").last,
          before.ranges(of: "\n  func ").last.map({ $0.lowerBound < mark.lowerBound }) ?? true
        else { continue }
        found.insert("\(suite).\(match.1)")
      }
    }
    return found
  }

  @Test("Each row names tests that are there", arguments: ["ODataLimits.md"])
  func named(_ page: String) throws {
    let tests = try tests()
    let rows = try rows(page)
    #expect(rows.count > 20)
    for row in rows {
      let names = try #require(row.last).matches(of: /`([A-Za-z0-9.]+)`/).map { String($0.1) }
      #expect(!names.isEmpty, "\(row[0]) names no test")
      for name in names { #expect(tests.contains(name), "\(row[0]) names \(name)") }
    }
  }
}
