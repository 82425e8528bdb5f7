import Foundation
import Testing

/// The articles beside the sources: `Reading.md` shows lines of `ReadingArticle.swift` beside this
/// file, where they are compiled and run.
@Suite("The articles") struct ArticleTests {
  /// A folder of articles, with a landing page of the module's name.
  struct Catalog: Sendable, CustomTestStringConvertible {
    let folder: URL
    let landingPage: String
    let articles: [String]
    var testDescription: String { landingPage }

    init(_ path: String) {
      folder = DescribeTests.root.appendingPathComponent("Sources/\(path).docc")
      let page = folder.deletingPathExtension().lastPathComponent + ".md"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      landingPage = page
      articles = names.filter { $0.hasSuffix(".md") && $0 != page }.sorted()
    }
  }

  static let catalogs = [Catalog("OData/OData/FerryOData"), Catalog("OData/Batch/FerryODataBatch")]

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

  @Test("Their code is compiled code, line by line", arguments: catalogs)
  func sameCode(_ catalog: Catalog) throws {
    for article in catalog.articles { try sameCode(article, in: catalog) }
  }

  private func sameCode(_ article: String, in catalog: Catalog) throws {
    let name = article.dropLast(3)
    let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let compiled = try lines(place.appendingPathComponent("\(name)Article.swift"))
    let shown = blocks(try lines(catalog.folder.appendingPathComponent(article)))
    #expect(!shown.isEmpty, "\(article) shows no code")
    for block in shown {
      #expect(!block.isEmpty)
      let starts = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(starts.count == 1, "\(article): \(block.joined(separator: "\n"))")
    }
  }

  @Test("The landing page leads to each of them", arguments: catalogs)
  func landing(_ catalog: Catalog) throws {
    let page = try lines(catalog.folder.appendingPathComponent(catalog.landingPage))
    let listed = page.filter { $0.hasPrefix("- <doc:") }.map {
      String($0.dropFirst(7).dropLast()) + ".md"
    }
    #expect(!listed.isEmpty && listed.sorted() == catalog.articles)
  }
}
