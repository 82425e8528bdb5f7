import FerryJSON
import FerryRESTConnector
import Foundation
import Testing

/// The JSON Schema of a mapping, and the page that is made from it.
struct SchemaTests {
  private let schema: JSONNode

  init() throws { schema = try JSONNode.parse(Array(RESTMappingSchema.text.utf8)) }

  /// Every member of every object that the schema describes, with what it is for.
  private func members(_ node: JSONNode) -> [(name: String, text: String?)] {
    var found: [(name: String, text: String?)] = []
    for member in node["properties"]?.object ?? [] {
      found.append((member.key, member.value["description"]?.string))
    }
    for member in node.object ?? [] { found += members(member.value) }
    for inner in node.array ?? [] { found += members(inner) }
    return found
  }

  @Test func eachMemberHasAWordOnThePage() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Documentation/RESTMapping.md"), encoding: .utf8)
    let members = members(schema)
    #expect(members.count > 60)
    for (name, text) in members {
      let text = try #require(text, "\(name) has no description")
      #expect(
        page.contains("| `\(name)` | ") && page.contains(" | \(text) |"),
        "\(name): type Scripts/rest-mapping")
    }
  }

  @Test func eachMemberThatTheReaderKnowsIsInTheSchema() throws {
    let known = Set(members(schema).map(\.name))
    let words = [
      "perform", "list", "find", "read", "create", "update", "delete", "changedStatus", "memory",
      "constants", "overlapSeconds", "readOnly", "absentWithoutDocument", "requestsPerSecond",
    ]
    #expect(words.allSatisfy { known.contains($0) })
  }
}
