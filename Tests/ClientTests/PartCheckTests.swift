import FerryModel
import FerryTestTraits
import Testing

@testable import Ferry

/// What is asked of the parts of complex values, by whoever saves and by a newer model.
@Suite("Parts of complex values")
struct PartCheckTests {
  private static func address(zipLength: Int) -> ComplexType {
    ComplexType(
      name: "Address",
      attributes: [
        Attribute(name: "street", column: "street", type: .string, isNullable: false),
        Attribute(
          name: "zip", column: "zip", type: .string, isNullable: true, maxLength: zipLength),
      ])
  }

  private static let home = Attribute(
    name: "home", column: "home", type: .complex, isNullable: true, element: "Address")
  private static let others = Attribute(
    name: "others", column: "others", type: .list, isNullable: true, element: "Address")

  private static let member = Entity(
    name: "Member", table: "members",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false), home, others,
    ], key: [0],
    keyOrigin: .app, relationships: [], operations: [.create, .update, .delete], partition: nil,
    group: "default")

  @Test(
    "A part that must have a value is asked for, left out or null, with its place",
    .reference("facts/1.2"),
    arguments: [
      (home, #"{"zip":"1"}"#, ".street"), (home, #"{"street":null}"#, ".street"),
      (others, #"[{"street":"a"},{"zip":null}]"#, "[1].street"),
    ])
  func required(attribute: Attribute, json: String, part: String) throws {
    let misfit = try #require(
      AttributeCheck.canonical(
        .text(json), of: attribute, types: [PartCheckTests.address(zipLength: 8)]
      ).misfit)
    #expect(misfit.part == part && misfit.problem == "it has no value")
    #expect(misfit.cure == "Set one and save again.")
  }

  @Test(
    "A part that may be null may be left out",
    arguments: [#"{"street":"a"}"#, #"{"street":"a","zip":null}"#])
  func optional(json: String) {
    let checked = AttributeCheck.canonical(
      .text(json), of: PartCheckTests.home, types: [PartCheckTests.address(zipLength: 8)])
    #expect(checked.misfit == nil)
  }

  @Test("A newer model judges the parts that fitted before; what never did goes over")
  func migration() {
    func problem(_ json: String, before: Int, now: Int) -> String? {
      MigrationProblem.of(
        .update, [1: .text(json)], isOpen: true, PartCheckTests.member, PartCheckTests.member,
        types: (
          before: [PartCheckTests.address(zipLength: before)],
          now: [PartCheckTests.address(zipLength: now)]
        )
      )?.description
    }
    let change = #"{"street":"a","zip":"12345"}"#
    #expect(
      problem(change, before: 8, now: 4)
        == "Member.home.zip, where 5 characters are more than 4")
    #expect(problem(change, before: 4, now: 4) == nil)
    #expect(problem(change, before: 8, now: 5) == nil)
  }
}
