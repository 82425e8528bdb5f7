import Foundation
import Testing

@Suite("The articles of the product Ferry")
struct FerryArticlesTests {
  @Test("Their code is the compiled one, piece by piece, and the landing page names each article")
  func sameCode() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appending(path: "Sources/Circle/Device/Ferry.docc")
    let compiled = try String(
      contentsOf: root.appending(path: "Tests/ClientTests/FerryArticles.swift"), encoding: .utf8
    ).replacingOccurrences(of: "\n    ", with: "\n")
    let pieces = { (text: String, first: String, last: String) in
      text.components(separatedBy: first).dropFirst().compactMap {
        $0.components(separatedBy: last).first
      }
    }
    var printed: [String] = []
    // The guides are made from pages whose code has tests of its own.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".md") }
    let landing = try String(contentsOf: folder.appending(path: "Ferry.md"), encoding: .utf8)
    for name in names {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      printed += pieces(text, "```swift\n", "```")
      #expect(name == "Ferry.md" || landing.contains("<doc:\(name.dropLast(3))>"), "\(name)")
    }
    let code = pieces(compiled, "// GUIDE begins\n", "// GUIDE ends")
    #expect(printed.count == 4 && Set(printed) == Set(code))
  }
}
