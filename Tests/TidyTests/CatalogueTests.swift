import Foundation
import Testing

@Suite("The DocC catalogue of Ferry")
struct CatalogueTests {
  private static let folder = House.root.appending(path: "Sources/Circle/Device/Ferry.docc")

  private static func pages() throws -> [String: String] {
    var pages: [String: String] = [:]
    for folder in [folder, folder.appending(path: "Guides")] {
      for file in try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
      where file.pathExtension == "md" {
        let text = try String(contentsOf: file, encoding: .utf8)
        let name = file.deletingPathExtension().lastPathComponent
        #expect(pages.updateValue(text, forKey: name) == nil, "two pages are called \(name)")
      }
    }
    return pages
  }

  /// Public types of the module, and those of FerryModel, which it exports.
  private static func symbols() throws -> Set<String> {
    let declaration =
      /^(?:@\w+ )*public (?:final )?(?:struct|class|enum|protocol|actor|typealias) (\w+)/
    var found: Set<String> = []
    for file in House.sources
    where file.path.hasPrefix("Sources/Circle/Device/")
      || file.path.hasPrefix("Sources/Circle/Model/")
    {
      for line in House.read(file.path).split(separator: "\n") {
        if let match = line.firstMatch(of: declaration) { found.insert(String(match.1)) }
      }
    }
    return found
  }

  /// The anchors of a page as DocC makes them of its headings.
  private static func anchors(of text: String) -> Set<String> {
    let headings = text.split(separator: "\n").filter { $0.hasPrefix("#") }
    return Set(
      headings.map { heading in
        heading.drop { $0 == "#" || $0 == " " }.split { !($0.isLetter || $0.isNumber || $0 == "_") }
          .joined(separator: "-")
      })
  }

  @Test("The guides in it are what the script makes of the pages in Documentation")
  func made() throws {
    #expect(try script("guides", "--check") == [])
  }

  @Test("Each link leads to a page, to a heading of one, or to a public type")
  func links() throws {
    let pages = try Self.pages()
    let symbols = try Self.symbols()
    #expect(pages.count > 12 && symbols.count > 60)
    var count = 0
    for (name, text) in pages {
      for match in text.matches(of: /(?:<doc:|\]\(doc:)([^>)\s]+)[>)]/) {
        count += 1
        let parts = match.1.split(separator: "#", maxSplits: 1).map(String.init)
        guard let page = pages[parts[0]] else {
          Issue.record("\(name): \(match.1) is no page of the catalogue")
          continue
        }
        if parts.count == 2 {
          #expect(Self.anchors(of: page).contains(parts[1]), "\(name): \(match.1)")
        }
      }
      for match in text.matches(of: /``([\w\/]+)``/) {
        count += 1
        let type = match.1.split(separator: "/").first.map(String.init) ?? ""
        #expect(symbols.contains(type) || type == "Ferry", "\(name): \(match.1) is not public")
      }
      // A path that only works in the repository would lead nowhere in Xcode.
      let relative = text.matches(of: /\]\((?!doc:|https?:)[^)]*\)/).map(\.0)
      #expect(name == "Ferry" || relative.isEmpty, "\(name): \(relative)")
    }
    #expect(count > 80)
  }

  @Test("The landing page names every other page")
  func landing() throws {
    let pages = try Self.pages()
    let landing = try #require(pages["Ferry"])
    for name in pages.keys where name != "Ferry" {
      #expect(landing.contains("<doc:\(name)>"), "\(name)")
    }
  }
}
