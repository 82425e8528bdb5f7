import FerryModel
import Testing

/// Lists of values in a model, and the Swift names that they get.
struct ListedNamesTests {
  private func read(_ attributes: String, entities: String = "") -> ModelReading {
    let text = """
      { "name": "Shop", "version": "1.0", "entities": [
        { "name": "Item", "key": ["id"], "operations": [], "attributes": [
          { "name": "id", "type": "long" }, \(attributes) ] }\(entities) ] }
      """
    return ModelReader.read(Array(text.utf8), file: "shop.json")
  }

  private func names(_ attributes: String, entities: String = "") throws -> ListedNames {
    let reading = read(attributes, entities: entities)
    let package = try #require(reading.package, "\(reading.problems)")
    let item = try #require(package.entity(named: "Item"))
    return try #require(package.listedNames(of: item)[1]).get()
  }

  @Test("Each value of a list gets a name that Swift takes, whatever its characters are")
  func members() throws {
    let names = try names(
      #"{ "name": "state", "type": "string", "values": ["open", "in progress", "PG-13", "default", "value", "", "+", "2nd", "Été"] }"#
    )
    #expect(names.type == "State")
    #expect(
      names.members == [
        "open", "inProgress", "pg13", "default_", "value_", "empty", "plusSign", "value2nd", "été",
      ])
    let numbers = try self.names(#"{ "name": "level", "type": "int", "values": [-1, 0, 10] }"#)
    #expect(numbers.members == ["valueMinus1", "value0", "value10"])
  }

  @Test("A type whose name is taken gets the ending Value, in Swift's words and in the model's")
  func types() throws {
    let list = #""type": "string", "values": ["a", "b"]"#
    #expect(try names("{ \"name\": \"type\", \(list) }").type == "TypeValue")
    let state = "{ \"name\": \"state\", \(list) }"
    let other =
      #", { "name": "State", "key": ["id"], "operations": [], "attributes": [{ "name": "id", "type": "long" }] }"#
    #expect(try names(state, entities: other).type == "StateValue")
    #expect(try names(state + #", { "name": "State_", "type": "long" }"#).type == "State")
  }

  @Test("Values with one name keep the plain type, and the reader says so with the line")
  func clashes() throws {
    let reading = read(#"{ "name": "state", "type": "string", "values": ["a b", "a-b"] }"#)
    let package = try #require(reading.package)
    let item = try #require(package.entity(named: "Item"))
    #expect(throws: ListedNames.Clash.self) {
      try #require(package.listedNames(of: item)[1]).get()
    }
    #expect(item.attributes[1].values == [.text("a b"), .text("a-b")])
    let warning = try #require(reading.warnings.first)
    #expect(reading.problems.count == 1)
    #expect(
      warning.description.contains(
        #"the values of Item.state get no Swift type: "a b" and "a-b" would both be aB"#))
    #expect(warning.place.line == 3)
  }

  @Test("Two names that are both taken keep the plain type")
  func takenTwice() {
    let entity = { (name: String) in
      #", { "name": "\#(name)", "key": ["id"], "operations": [], "attributes": [{ "name": "id", "type": "long" }] }"#
    }
    let reading = read(
      #"{ "name": "state", "type": "string", "values": ["a"] }"#,
      entities: entity("State") + entity("StateValue"))
    #expect(
      reading.warnings.map(\.what) == [
        "the values of Item.state get no Swift type: State and StateValue are names of other types "
          + "or members"
      ])
  }

  @Test(
    "A list that cannot be is refused with its place and cure",
    arguments: [
      (#""type": "decimal", "values": ["1"]"#, "only strings and whole numbers have \"values\""),
      (#""type": "string", "values": []"#, "the list of values of state is empty"),
      (#""type": "string", "values": ["a", "a"]"#, "\"a\" is in the list twice"),
      (#""type": "byte", "values": [1, 300]"#, "a value of state is not of type byte"),
      (#""type": "string", "values": ["a", null]"#, "a value of state is not of type string"),
      (
        #""type": "string", "maxLength": 1, "values": ["a", "bc"]"#,
        "\"bc\" cannot be saved in state: 2 characters are more than 1"
      ),
      (
        #""type": "string", "default": "c", "values": ["a", "b"]"#,
        "the default of state, \"c\", is not in its list of values"
      ),
    ])
  func refused(_ fields: String, _ words: String) {
    let reading = read("{ \"name\": \"state\", \(fields) }")
    #expect(reading.package == nil)
    #expect(
      reading.errors.contains { $0.what.hasPrefix(words) && !$0.cure.isEmpty },
      "\(reading.problems)")
  }

  @Test("A key that others make has no list, and no reference to one has")
  func givenKeys() {
    let text = """
      { "name": "Shop", "version": "1.0", "entities": [
        { "name": "Item", "key": ["id"], "keyOrigin": "businessSystem", "operations": [],
          "attributes": [{ "name": "id", "type": "long", "values": [1, 2] }] },
        { "name": "Part", "key": ["n"], "operations": [], "attributes": [
          { "name": "n", "type": "long" }, { "name": "item", "type": "long", "values": [1, 2] }],
          "relationships": [{ "name": "whole", "target": "Item", "attributes": ["item"] }] }] }
      """
    let reading = ModelReader.read(Array(text.utf8), file: "shop.json")
    #expect(
      reading.errors.map { $0.what.prefix(4) } == ["id c", "item"], "\(reading.problems)")
  }

  @Test("A list is written for people, and not in the text by which devices compare models")
  func written() throws {
    let package = try #require(
      read(#"{ "name": "state", "type": "string", "values": ["a \"b\"", ""] }"#).package)
    let text = ModelWriter.text(of: package)
    #expect(text.contains(#""values": ["a \"b\"", ""]"#))
    #expect(ModelReader.read(Array(text.utf8), file: "shop.json").package == package)
    #expect(!ModelWriter.text(of: package, schema: nil, documented: false).contains("values"))
  }
}
