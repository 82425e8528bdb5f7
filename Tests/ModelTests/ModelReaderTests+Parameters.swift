import FerryModel
import FerryTestTraits
import Testing

/// Parameters and constants of partitions.
extension ModelReaderTests {
  /// The shop whose clerks are chosen by a parameter.
  private static let chosen = shop.replacing(
    #""claim:clerk""#, with: #""parameter:clerk within claim:clerks""#
  ).replacing(
    #""groups": ["default", "stock"],"#,
    with: #"""
      "groups": ["default", "stock"],
      "parameters": [{ "name": "clerk", "type": "string", "default": "ADA" }],
      """#)

  @Test(
    "Parameters are read, with the claim that bounds them, and written back equal",
    .reference("facts/1.6"))
  func parameters() throws {
    let reading = read(Self.chosen)
    #expect(reading.problems == [])
    let package = try #require(reading.package)
    #expect(
      package.parameters == [
        Parameter(
          name: "clerk", type: .string, kind: .synchronization, defaultValue: .text("ADA"))
      ])
    #expect(
      package.entity(named: "Orders")?.partition
        == .columns([
          PartitionColumn(attribute: "clerk", source: .parameter("clerk", within: "clerks"))
        ]))
    #expect(read(ModelWriter.text(of: package)).package == package)
  }

  /// The clerk of a device is a key of its user, if the app saves no set.
  private static let keyed = chosen.replacingOccurrences(
    of: #"{ "name": "clerk", "type": "string", "default": "ADA" }"#,
    with: #"""
      { "name": "clerk", "type": "string", "from": "own" },
            { "name": "own", "type": "string", "kind": "server", "default": "ADA" }
      """#)

  @Test(
    "A parameter may be taken from a personalization key, and a column may have a constant",
    .reference("facts/2.3"))
  func sources() throws {
    let reading = read(Self.keyed)
    #expect(reading.problems == [])
    let package = try #require(reading.package)
    #expect(
      package.parameters == [
        Parameter(name: "clerk", type: .string, from: "own"),
        Parameter(name: "own", type: .string, kind: .server, defaultValue: .text("ADA")),
      ])
    #expect(read(ModelWriter.text(of: package)).package == package)
    let constant = read(
      Self.shop.replacing(#""claim:clerk""#, with: #""constant:ADA L""#))
    #expect(constant.problems == [])
    #expect(
      constant.package?.entity(named: "Orders")?.partition
        == .columns([PartitionColumn(attribute: "clerk", source: .constant("ADA L"))]))
    #expect(read(ModelWriter.text(of: try #require(constant.package))).package == constant.package)
  }

  @Test(
    "A parameter without a source, and a source that cannot be one, are told with the place",
    arguments: [
      (#""from": "own""#, #""from": "owm""#, "no personalization key \"owm\""),
      (#""from": "own""#, #""from": "clerk""#, "no personalization key \"clerk\""),
      (#""from": "own""#, #""kind": "client", "from": "own""#, "cannot be taken from another one"),
      (
        #""type": "string", "kind": "server", "default": "ADA""#,
        #""type": "long", "kind": "server""#, "and the key \"own\" is long"
      ),
      (#""from": "own""#, #""from": "own", "default": "BOB""#, "is never used"),
      (#", "from": "own""#, "", "\"clerk\" has no value before the app saves a set"),
      (
        #", "from": "own""#, #", "kind": "client""#, "\"clerk\" has no value before the app sets it"
      ),
    ])
  func badSources(old: String, new: String, problem: String) {
    #expect(Self.keyed.contains(old))
    let problems = read(Self.keyed.replacing(old, with: new)).problems.map(\.description)
    #expect(problems.contains { $0.contains(problem) }, "\(problems)")
  }

  @Test(
    "A constant that no row can have is an error",
    arguments: [
      (
        #""columns": { "clerk": "claim:clerk""#, #""columns": { "number": "constant:many""#,
        "is no such value"
      ),
      (#""claim:clerk""#, #""constant:A,B""#, "names no source"),
      (#""claim:clerk""#, #""constant:""#, "names no source"),
    ])
  func badConstants(old: String, new: String, problem: String) {
    #expect(Self.shop.contains(old), "\(Self.shop)")
    let problems = read(Self.shop.replacing(old, with: new)).problems.map(\.description)
    #expect(problems.contains { $0.contains(problem) }, "\(problems)")
  }

  @Test(
    "A parameter that fits nothing is told",
    arguments: [
      (#""default": "ADA""#, #""kind": "sever""#, "\"sever\" is unknown here"),
      (#""type": "string", "default": "ADA""#, #""type": "long""#, "is string, and the parameter"),
      (
        #""name": "clerk", "type": "string", "default""#,
        #""name": "clark", "type": "string", "default""#, "the model has no parameter \"clerk\""
      ),
      (#""default": "ADA""#, #""default": true"#, "the default is not of type string"),
      (
        #""type": "string", "default": "ADA""#, #""type": "list""#, "cannot be a list"
      ),
      (#" within claim:clerks"#, "", "any user may ask for any clerk"),
      (#"parameter:clerk within"#, "parameter:clerk in", "names no source"),
    ])
  func badParameters(old: String, new: String, problem: String) {
    #expect(Self.chosen.contains(old))
    let problems = read(Self.chosen.replacing(old, with: new)).problems.map(\.description)
    #expect(problems.contains { $0.contains(problem) }, "\(problems)")
  }
}
