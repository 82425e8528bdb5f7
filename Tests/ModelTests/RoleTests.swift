import FerryModel
import Foundation
import Testing

@Suite("References to objects of others, in a model") struct AnyTargetTests {
  @Test("The switch is read and written, and its effect is told")
  func told() throws {
    func model(_ relationship: String, _ partition: String) -> String {
      """
      { "name": "Shop", "version": "1.0", "entities": [
        { "name": "Film", "attributes": [{ "name": "id", "type": "long" },
            { "name": "tenant", "type": "string" }], "key": ["id"]\(partition) },
        { "name": "Rental", "attributes": [{ "name": "id", "type": "long" },
            { "name": "filmID", "type": "long" }], "key": ["id"], "operations": [],
          "relationships": [{ "name": "film", "target": "Film", "attributes": ["filmID"]\(relationship) }]
        }] }
      """
    }
    let rule = #", "partition": { "columns": { "tenant": "claim:tenant" } }"#
    func read(_ text: String) -> ModelReading { ModelReader.read(Array(text.utf8), file: "m") }
    let any = read(model(#", "anyTarget": true"#, rule))
    let package = try #require(any.package)
    #expect(package.entity(named: "Rental")?.relationships.first?.allowsAnyTarget == true)
    #expect(read(ModelWriter.text(of: package)).package == package)
    let forEveryone =
      "every user gets all objects of Rental, and by Rental.film they belong to Film, which has a "
      + "partition"
    #expect(
      any.openings.map(\.what) == [
        forEveryone,
        "every user may refer to any Film by Rental.film, and learns whether it exists",
      ])
    #expect(read(model("", rule)).openings.map(\.what) == [forEveryone])
    #expect(read(model("", rule)).package != package)
    #expect(
      read(model(#", "anyTarget": true"#, "")).openings.map(\.what).contains(
        "every user has all objects that Rental.film leads to: \"anyTarget\" does nothing"))
    let own = model(#", "anyTarget": true"#, rule).replacingOccurrences(
      of: #""operations": [],"#, with: #""partition": { "through": "film" },"#)
    #expect(
      read(own).openings.map(\.what)
        == ["Rental.film decides the partition: \"anyTarget\" does nothing"])
  }
}

@Suite("Writes over what others wrote, in a model") struct BlindWriteTests {
  @Test("The switch is read and written, and its effect is told")
  func told() throws {
    func read(_ more: String) -> ModelReading {
      let text = """
        { "name": "Shop", "version": "1.0", "entities": [
          { "name": "Film", "attributes": [{ "name": "id", "type": "long" },
              { "name": "tenant", "type": "string" }], "key": ["id"],
            "partition": { "columns": { "tenant": "claim:tenant" } }\(more) }] }
        """
      return ModelReader.read(Array(text.utf8), file: "m")
    }
    let open = read(#", "blindWrites": true"#)
    let package = try #require(open.package)
    #expect(package.entity(named: "Film")?.allowsBlindWrites == true)
    let written = Array(ModelWriter.text(of: package).utf8)
    #expect(ModelReader.read(written, file: "m").package == package)
    #expect(
      open.openings.map(\.what)
        == [
          "a client may change Film without saying what it saw, and write over what others wrote"
        ])
    #expect(read("").openings == [] && read("").package != package)
    #expect(
      read(#", "blindWrites": true, "operations": ["create"]"#).openings.map(\.what)
        == ["Film has no update and no delete: \"blindWrites\" does nothing"])
  }
}

@Suite("Roles in a model") struct ModelRoleTests {
  private static let model = """
    {
      "name": "Shop", "version": "1.0", "roles": ["sales", "office"],
      "entities": [
        { "name": "Sale", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"],
          "roles": { "read": ["sales", "office"], "update": ["office"] } },
        { "name": "Close", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"],
          "performs": ["DELETE FROM Sale WHERE id = :id"], "roles": { "perform": ["office"] } },
        { "name": "Note", "attributes": [{ "name": "id", "type": "long" }], "key": ["id"],
          "operations": ["create", "delete"], "roles": { "delete": ["office"] } }
      ]
    }
    """

  private func read(_ text: String) -> ModelReading {
    ModelReader.read(Array(text.utf8), file: "shop.json")
  }

  private func problems(_ old: String, _ new: String) throws -> [String] {
    let text = ModelRoleTests.model.replacingOccurrences(of: old, with: new)
    try #require(text != ModelRoleTests.model)
    return read(text).problems.map { "\($0.severity.rawValue): \($0.what). \($0.cure)" }
  }

  @Test("Roles are read, written and read back")
  func roundTrip() throws {
    let reading = read(ModelRoleTests.model)
    #expect(reading.problems == [])
    let package = try #require(reading.package)
    #expect(package.roles == ["sales", "office"])
    let sale = try #require(package.entity(named: "Sale"))
    #expect(sale.roles[.read] == ["sales", "office"])
    #expect(sale.roles[.update] == ["office"])
    #expect(sale.roles[.delete] == nil)
    #expect(package.entity(named: "Close")?.roles[.perform] == ["office"])
    let again = read(ModelWriter.text(of: package))
    #expect(again.problems == [])
    #expect(again.package == package)
    #expect(package.served == package)
    let open = read(
      ModelRoleTests.model.replacingOccurrences(of: #", "update": ["office"]"#, with: ""))
    #expect(open.package != package)
  }

  @Test("Who may write what by a role is not told of as open to everyone")
  func openings() {
    #expect(
      read(ModelRoleTests.model).openings.map(\.what) == ["every user may create every Note"])
  }

  @Test(
    "What roles cannot say is an error with its cure",
    arguments: [
      (
        #""update": ["office"]"#, #""update": ["ofice"]"#,
        #"error: the model has no role "ofice". Did you mean "office"?"#
      ),
      (
        #" "roles": ["sales", "office"],"#, "",
        #"error: the model has no role "sales". List the package's roles: "roles": ["sales"] beside "entities"."#
      ),
      (
        #""read": ["sales", "office"]"#, #""read": []"#,
        #"error: nobody may read Sale: "read" names no role. Name at least one role, or remove the entity."#
      ),
      (
        #""delete": ["office"]"#, #""delete": []"#,
        #"error: nobody may delete Note: "delete" names no role. Name at least one role, or take "delete" from "operations"."#
      ),
      (
        #""delete": ["office"]"#, #""update": ["office"]"#,
        #"error: Note has no update operation, so no role may do it. Add it to "operations", or remove it here."#
      ),
      (
        #""perform": ["office"]"#, #""create": ["office"]"#,
        #"error: Close is performed: it has no "create" for roles. Write "perform" in its place."#
      ),
      (
        #""delete": ["office"]"#, #""perform": ["office"]"#,
        #"error: Note has rows and is not performed. Write "create", "update" or "delete"."#
      ),
      (
        #""delete": ["office"]"#, #""delete": ["office", "office"]"#,
        #"error: "office" is written twice. Keep one of them."#
      ),
      (
        #""roles": ["sales", "office"],"#, #""roles": ["sales", "office", "sales"],"#,
        #"error: the role "sales" is written twice. Keep one of them."#
      ),
      (
        #""roles": ["sales", "office"],"#, #""roles": ["sales", "office", "boss"],"#,
        #"warning: no entity names the role "boss". Name it in the "roles" of an entity, or remove it."#
      ),
      (
        #""read": ["sales", "office"]"#, #""read": ["sales"]"#,
        #"warning: "office" may update Sale but not read it: a user with no other role is refused. Add it to "read", unless all its users have another role that may read."#
      ),
      (
        #""operations": ["create", "delete"], "roles""#, #""clientOnly": true, "roles""#,
        #"error: Note stays on the device and names roles. Remove "roles"."#
      ),
    ])
  func faults(old: String, new: String, expected: String) throws {
    let found = try problems(old, new)
    #expect(found.contains(expected), "\(found)")
  }
}
