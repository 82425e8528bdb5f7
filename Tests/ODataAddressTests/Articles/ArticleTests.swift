import Foundation
import Testing

/// `Addresses.md` of the documentation shows lines of `AddressesArticle.swift` beside this file.
@Suite("The articles on addresses") struct ArticleTests {
  private func lines(_ path: String) throws -> [String] {
    try String(contentsOf: ShellTests.root.appendingPathComponent(path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test("Their code is compiled code, line by line")
  func sameCode() throws {
    let compiled = try lines("Tests/ODataAddressTests/Articles/AddressesArticle.swift")
    let article = try lines("Sources/OData/Address/FerryODataAddress.docc/Addresses.md")
    let blocks = article.split(separator: "```swift").dropFirst().map {
      Array($0.prefix { $0 != "```" })
    }
    #expect(blocks.count > 4)
    for block in blocks {
      let places = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(places.count == 1, "\(block.joined(separator: "\n"))")
    }
  }
}
