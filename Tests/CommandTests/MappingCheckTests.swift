import Foundation
import Testing

/// A mapping beside a model, as `ferry check` and `ferry deploy` judge it.
struct MappingCheckTests {
  private static let model = """
    {"name": "Depot", "version": "1.0", "groups": ["default"], "entities": [
      {"name": "Item", "key": ["id"], "operations": ["update"], "attributes": [
        {"name": "id", "type": "long"}, {"name": "amount", "type": "int", "nullable": true}]}]}
    """

  private static func mapping(_ rules: String) -> String {
    #"{"entities": {"Item": {"list": "/items", "read": "/items/{id}", "update": "/items/{id}", "#
      + #""results": [\#(rules)]}}}"#
  }

  @Test("A rule that can have no effect is an error, with its place and the cure")
  func rules() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "depot.model.json")
    try Data(MappingCheckTests.model.utf8).write(to: file)
    for (rules, isGood, place) in [
      (#"{"at": "/code", "is": ["W1"], "means": "warning"}"#, true, ""),
      (#"{"means": "refusal"}"#, false, "/entities/Item/results/0: takes every answer. Write"),
      (
        #"{"for": "delete", "at": "/code", "means": "refusal"}"#, false,
        "/entities/Item/results/0/for: names \"delete\""
      ),
    ] {
      try Data(MappingCheckTests.mapping(rules).utf8).write(
        to: folder.appending(path: "Depot.rest.json"))
      let check = try FerryProgram.run(["check", file.path])
      #expect(check.code == (isGood ? 0 : 1), "\(check.said)")
      guard !isGood else { continue }
      let deploy = try FerryProgram.run(["deploy", file.path, "--data", "/nowhere"])
      #expect(deploy.code == 1)
      for said in [check.said, deploy.said] {
        #expect(said.contains("Depot.rest.json is wrong at \(place)"), "\(said)")
      }
    }
  }
}
