import Foundation
import Testing

@Suite("The guide of big values")
struct BigValuesGuideTests {
  @Test("Its code is the compiled one, piece by piece")
  func sameCode() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let read = { (path: String) in
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let compiled = try read("Tests/ClientTests/BigValuesGuide.swift")
      .replacingOccurrences(of: "\n    ", with: "\n")
    let pieces = { (text: String, first: String, last: String) in
      text.components(separatedBy: first).dropFirst().compactMap {
        $0.components(separatedBy: last).first
      }
    }
    let printed = pieces(try read("Documentation/BigValues.md"), "```swift\n", "```")
    let code = pieces(compiled, "// GUIDE begins\n", "// GUIDE ends")
    #expect(printed.count == 6 && Set(printed) == Set(code))
  }
}
