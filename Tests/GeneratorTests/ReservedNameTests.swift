import FerryGenerator
import FerryModel
import FerrySQLite
import Foundation
import Testing

@Suite("Reserved names")
struct ReservedNameTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The public members that the client's sources give each object: of objects, and of their type.
  private static func declared() throws -> (members: Set<String>, typeMembers: Set<String>) {
    let folder = root.appending(path: "Sources/Circle/Device")
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
      "Sources/Circle/Model/ReservedName.swift and the client have come apart")
  }

  @Test("The names that no query of the model may have are the members of the types")
  func typeMembers() throws {
    let expected = try Self.declared().typeMembers.union(["Attributes"])
    #expect(expected.count > 15)
    #expect(
      ReservedName.typeMembers.symmetricDifference(expected).sorted() == [],
      "Sources/Circle/Model/ReservedName.swift and the client have come apart")
  }

  @Test(
    "An attribute that is searched by words has a name that SQLite's full-text index takes",
    arguments: [
      "rank", "Rank", "rowid", "ROWID", "oid", "docid", "id", "content", "order", "match",
    ])
  func searched(_ name: String) throws {
    let connection = try Connection(path: ":memory:")
    var isTaken = true
    do {
      try connection.execute("CREATE VIRTUAL TABLE words USING fts5(\"\(name)\")")
    } catch { isTaken = false }
    #expect((ReservedName.clashOfSearched(name) == nil) == isTaken)
  }

  @Test(
    "A type is Identifiable by its key id where the app gives that; else its lists say by what",
    arguments: [
      ("app", "string", true), ("device", "string", false), ("businessSystem", "long", false),
    ])
  func identity(origin: String, type: String, isIdentifiable: Bool) throws {
    let text = """
      { "name": "Shop", "version": "1.0", "entities": [
        { "name": "Item", "attributes": [{ "name": "id", "type": "\(type)" }], "key": ["id"],
          "keyOrigin": "\(origin)", "partition": { "columns": { "id": "open" } } } ] }
      """
    let reading = ModelReader.read(Array(text.utf8), file: "shop.json")
    let package = try #require(reading.package, "\(reading.problems)")
    let code = SwiftRenderer.render(package, from: "shop.json")
    #expect(code.contains("struct Item: Ferry.BusinessObject {") != isIdentifiable)
    #expect(
      code.contains("struct Item: Ferry.BusinessObject, Swift.Identifiable {") == isIdentifiable)
  }

  @Test(
    "What an app's business calls things is free",
    arguments: [
      "id", "description", "hash", "database", "pending", "count", "entity", "key", "value", "name",
      "find", "load", "query", "changes", "matches", "skip", "take", "debug", "state", "owner",
      "cancel", "outcome", "refreshed", "refusal", "submit",
    ])
  func free(_ name: String) { #expect(ReservedName.clashOfMember(name) == nil) }
}
