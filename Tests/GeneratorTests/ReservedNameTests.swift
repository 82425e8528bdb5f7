import FerryGenerator
import FerryModel
import Foundation
import Testing

@Suite("Reserved names")
struct ReservedNameTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The public members that the client's sources give each object: of objects, and of their type.
  private static func declared() throws -> (members: Set<String>, typeMembers: Set<String>) {
    let folder = root.appending(path: "Sources/Client")
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let opening = /^(?:public protocol BusinessObject\b|extension BusinessObject \{)/
    let member = /^  (?:public )?(static )?(?:mutating )?(?:func|var|typealias) `?(\w+)`?/
    var (members, typeMembers): (Set<String>, Set<String>) = ([], [])
    for case let file as URL in files where file.pathExtension == "swift" {
      var (isInside, isPublic) = (false, false)
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if line.firstMatch(of: opening) != nil {
          (isInside, isPublic) = (true, line.hasPrefix("public"))
        } else if line.hasPrefix("}") {
          isInside = false
        }
        guard isInside, isPublic || line.hasPrefix("  public "),
          let found = line.firstMatch(of: member)
        else { continue }
        if found.1 == nil {
          members.insert(String(found.2))
        } else {
          typeMembers.insert(String(found.2))
        }
      }
    }
    return (members, typeMembers)
  }

  @Test("The names that no attribute may have are the members that objects have, and no others")
  func members() throws {
    // `hash(into:)` leaves `hash` free. From Hashable, from the generator, and the module's name.
    let expected = try Self.declared().members.subtracting(["hash"])
      .union(["hashValue", "Attributes", "Ferry"])
    #expect(expected.count > 25)
    #expect(
      ReservedName.members.symmetricDifference(expected).sorted() == [],
      "Sources/Model/ReservedName.swift and the client have come apart")
  }

  @Test("The names that no query of the model may have are the members of the types")
  func typeMembers() throws {
    let expected = try Self.declared().typeMembers.union(["Attributes"])
    #expect(expected.count > 15)
    #expect(
      ReservedName.typeMembers.symmetricDifference(expected).sorted() == [],
      "Sources/Model/ReservedName.swift and the client have come apart")
  }

  @Test(
    "What an app's business calls things is free",
    arguments: [
      "id", "description", "hash", "database", "pending", "count", "entity", "key", "value", "name",
      "find", "load", "query", "changes", "matches", "skip", "take", "debug", "state", "owner",
    ])
  func free(_ name: String) { #expect(ReservedName.clashOfMember(name) == nil) }
}
