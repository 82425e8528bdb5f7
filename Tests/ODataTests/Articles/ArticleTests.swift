import Foundation
import Testing

/// The articles of Sources/OData/FerryOData.docc: `Reading.md` shows lines of
/// `ReadingArticle.swift` beside this file, where they are compiled and run.
@Suite("The articles") struct ArticleTests {
  static let folder = DescribeTests.root.appendingPathComponent("Sources/OData/FerryOData.docc")

  static let articles: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".md") && $0 != "FerryOData.md" }.sorted()
  }()

  private func lines(_ file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func blocks(_ lines: [String]) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in lines {
      if line == "```swift" {
        block = []
      } else if line == "```", let done = block {
        blocks.append(done)
        block = nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }

  @Test("Their code is compiled code, line by line", arguments: articles)
  func sameCode(_ article: String) throws {
    let name = article.dropLast(3)
    let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let compiled = try lines(place.appendingPathComponent("\(name)Article.swift"))
    let shown = blocks(try lines(Self.folder.appendingPathComponent(article)))
    #expect(!shown.isEmpty, "\(article) shows no code")
    for block in shown {
      #expect(!block.isEmpty)
      let starts = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(starts.count == 1, "\(article): \(block.joined(separator: "\n"))")
    }
  }

  @Test("The landing page leads to each of them")
  func landing() throws {
    let page = try lines(Self.folder.appendingPathComponent("FerryOData.md"))
    let listed = page.filter { $0.hasPrefix("- <doc:") }.map {
      String($0.dropFirst(7).dropLast()) + ".md"
    }
    #expect(!listed.isEmpty && listed.sorted() == Self.articles)
  }
}
