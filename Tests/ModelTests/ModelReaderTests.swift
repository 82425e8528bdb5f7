import FerryModel
import FerryTestTraits
import Foundation
import Testing

struct ModelReaderTests {
  static let shop = """
    {
      "name": "Shop",
      "version": "1.0",
      "groups": ["default", "stock"],
      "entities": [
        {
          "name": "Orders",
          "table": "order table",
          "attributes": [
            { "name": "number", "type": "long" },
            { "name": "clerk", "column": "Clerk", "type": "string", "maxLength": 8 },
            { "name": "placed", "type": "dateTime", "nullable": true, "stored": "space" }
          ],
          "key": ["number"],
          "keyOrigin": "businessSystem",
          "unique": [["clerk"]],
          "partition": { "columns": { "clerk": "claim:clerk" } }
        },
        {
          "name": "Lines",
          "attributes": [
            { "name": "orderNumber", "type": "long" },
            { "name": "part", "type": "string" }
          ],
          "key": ["orderNumber", "part"],
          "relationships": [
            { "name": "order", "target": "Orders", "attributes": ["orderNumber"], "inverse": "lines" }
          ],
          "operations": ["update"],
          "partition": { "through": "order" }
        },
        {
          "name": "Parts", "group": "stock",
          "attributes": [ { "name": "part", "type": "string" } ], "key": ["part"]
        }
      ]
    }
    """

  func read(_ text: String) -> ModelReading {
    ModelReader.read(Array(text.utf8), file: "shop.json")
  }

  /// The shop with one text put in place of another that is there.
  private func changed(_ old: String, _ new: String) -> ModelReading {
    guard let range = Self.shop.range(of: old) else {
      Issue.record("\(old) is not in the model")
      return read("")
    }
    return read(Self.shop.replacingCharacters(in: range, with: new))
  }

  @Test("A model is read with what it leaves out filled in")
  func defaults() throws {
    let reading = read(Self.shop)
    #expect(reading.problems == [])
    let package = try #require(reading.package)
    #expect(package.id == "Shop:1.0")
    #expect(package.groups.map(\.name) == ["default", "stock"])
    let orders = try #require(package.entity(named: "Orders"))
    #expect(orders.table == "order table")
    #expect(orders.operations == [.create, .update, .delete])
    #expect(orders.unique == [[1]])
    #expect(
      orders.partition == .columns([PartitionColumn(attribute: "clerk", source: .claim("clerk"))]))
    let lines = try #require(package.entity(named: "Lines"))
    #expect(lines.key == [0, 1])
    #expect(lines.table == "Lines")
    #expect(lines.relationships.first?.targetAttributes == ["number"])
    #expect(lines.attributes[0].column == "orderNumber")
    #expect(lines.keyOrigin == .app)
  }

  @Test("Documentation is read, written back, and no part of the text that devices compare")
  func documentation() throws {
    let text = Self.shop.replacingOccurrences(
      of: #""name": "Orders","#,
      with: #""name": "Orders", "documentation": "What a customer wants.\nOne \"basket\".","#
    ).replacingOccurrences(
      of: #"{ "name": "number","#,
      with: #"{ "name": "number", "documentation": "Printed on the bill","#)
    let reading = read(text)
    #expect(reading.problems == [])
    let package = try #require(reading.package)
    let orders = try #require(package.entity(named: "Orders"))
    #expect(orders.documentation == "What a customer wants.\nOne \"basket\".")
    #expect(orders.served.documentation == orders.documentation)
    #expect(orders.attributes.contains { $0.documentation == "Printed on the bill" })
    #expect(read(ModelWriter.text(of: package)).package == package)
    let plain = try #require(read(Self.shop).package)
    #expect(package != plain)
    #expect(
      ModelWriter.text(of: package, documented: false)
        == ModelWriter.text(of: plain, documented: false))
    for empty in [#""documentation": """#, #""documentation": 7"#] {
      let wrong = Self.shop.replacingOccurrences(
        of: #""name": "Orders","#, with: #""name": "Orders", \#(empty),"#)
      #expect(read(wrong).errors.map(\.what) == ["a text was expected"])
    }
  }

  @Test("A written model is read back equal, and written again equal")
  func roundTrip() throws {
    let package = try #require(read(Self.shop).package)
    let text = ModelWriter.text(of: package)
    let reading = read(text)
    #expect(reading.package == package)
    #expect(reading.problems == [])
    #expect(ModelWriter.text(of: try #require(reading.package)) == text)
  }

  @Test("A problem names file, line, column, path and cure")
  func place() throws {
    let problem = try #require(
      changed(#""type": "string", "maxLength""#, #""type": "strng", "maxLength""#).errors.first)
    #expect(
      problem.description
        == "shop.json:11:55: error: \"strng\" is unknown here (entities[0].attributes[1].type). "
        + "Did you mean \"string\"?")
  }

  @Test("Every mistake is reported, not just the first", .reference("facts/5.7"))
  func all() {
    let reading = read(
      """
      { "name": "class", "version": "1", "colour": 1, "entities": [
        { "name": "A", "attributes": [ { "name": "a", "type": "txt" }, 7 ], "key": [] },
        { "nam": "B", "attributes": {} }, "C"
      ] }
      """)
    #expect(reading.package == nil)
    #expect(
      reading.errors.count == 11, "\(reading.problems.map(\.description).joined(separator: "\n"))")
  }

  @Test("A text that is no JSON has one problem, at its place")
  func noJSON() {
    #expect(read("{ \"name\": \"Shop\", }").problems.map(\.place.column) == [19])
    #expect(read("").errors.count == 1)
    #expect(ModelReader.read([0xFF, 0xFE], file: "x").errors.count == 1)
    let deep = String(repeating: "[", count: 10_000)
    #expect(
      read(deep).errors.first?.what == "the file is not valid JSON: more than 64 levels are nested")
  }

  @Test(
    "Each mistake has its own words",
    arguments: [
      // Form.
      (#""version": "1.0""#, #""version": "1""#, "is not a version"),
      (#""version": "1.0""#, #""version": "01.0""#, "is not a version"),
      (#""version": "1.0","#, "", #"the model needs "version""#),
      (#""table": "order table""#, #""tabel": "x""#, #"an entity has no "tabel""#),
      (#""table": "order table""#, #""table": "x", "table": "y""#, "is written twice"),
      (#""nullable": true"#, #""nullable": "yes""#, "must be true or false"),
      (#""maxLength": 8"#, #""maxLength": 0"#, "is too small"),
      (
        #""maxLength": 8"#, #""maxLength": 8, "default": "123456789""#,
        "the default of clerk cannot be saved: 9 characters are more than 8"
      ),
      (
        #""type": "string", "maxLength": 8"#,
        #""type": "decimal", "precision": 4, "scale": 2, "default": "123.5""#,
        "the default of clerk cannot be saved: 123.5 has 3 digits before the point, 2 fit"
      ),
      (
        #"{ "name": "part", "type": "string" } ], "key": ["part"]"#,
        #"{ "name": "Rank", "type": "string", "fullText": true } ], "key": ["Rank"]"#,
        "Rank cannot be searched by words"
      ),
      (#""maxLength": 8"#, #""maxLength": "8""#, "must be a whole number"),
      (#""operations": ["update"]"#, #""operations": ["updat"]"#, #""updat" is unknown here"#),
      (#""operations": ["update"]"#, #""operations": "update""#, "a list was expected"),
      // Names.
      (#""name": "Shop""#, #""name": "Sh op""#, "is not an identifier"),
      (#""name": "Shop""#, #""name": "_Shop""#, "is not an identifier"),
      (#""name": "Shop""#, #""name": "Orders""#, "would be the same Swift type"),
      (#""name": "Parts""#, #""name": "orders""#, "differs only by case"),
      (#""name": "Parts""#, #""name": "String""#, "a type that generated code uses"),
      (#""name": "Parts""#, #""name": "ferry_parts""#, "keeps for its own tables"),
      (#""name": "placed""#, #""name": "class""#, "is a keyword of Swift"),
      (#""name": "placed""#, #""name": "isPending""#, "a member that every generated type has"),
      (#""name": "placed""#, #""name": "Clerk""#, "differs only by case"),
      (
        #""name": "placed""#, #""name": "lines""#,
        "twice: attribute, inverse of a relationship of Lines"
      ),
      (#""column": "Clerk""#, #""column": "NUMBER""#, "name the same column"),
      // Groups.
      (#""group": "stock""#, #""group": "stok""#, "unknown group"),
      (#"["default", "stock"]"#, #"["default", "stock", "Stock"]"#, "differs only by case"),
      // Keys.
      (#""key": ["number"]"#, #""key": ["placed"]"#, "is nullable"),
      (#""key": ["number"]"#, #""key": ["nr"]"#, #"Orders has no attribute "nr""#),
      (#""key": ["orderNumber", "part"]"#, #""key": ["part", "part"]"#, "is twice in the key"),
      (#""key": ["part"]"#, #""key": ["part"], "keyOrigin": "bussinessSystem""#, "is unknown here"),
      (
        #""key": ["orderNumber", "part"]"#,
        #""key": ["orderNumber", "part"], "keyOrigin": "businessSystem""#,
        "a key of several attributes"
      ),
      (
        #""name": "number", "type": "long""#, #""name": "number", "type": "int""#,
        "cannot come from the business system"
      ),
      (#""stored": "space""#, #""stored": "blank""#, "is unknown here"),
      (#""column": "Clerk","#, #""stored": "iso","#, "only dateTime has a"),
      (
        #""name": "number", "type": "long""#, #""name": "number", "type": "long", "maxLength": 3"#,
        "only strings have a maxLength"
      ),
      (
        #""name": "number", "type": "long""#, #""name": "number", "type": "long", "scale": 3"#,
        "only decimals have precision and scale"
      ),
      (
        #""type": "string", "maxLength": 8"#, #""type": "decimal", "precision": 4, "scale": 5"#,
        "has 4 digits, 5 of them after the point"
      ),
      (
        #""type": "string", "maxLength": 8"#, #""type": "decimal", "precision": 39"#,
        "has 39 digits, 0 of them after the point"
      ),
      (#""unique": [["clerk"]]"#, #""unique": [["clark"]]"#, #"no attribute "clark""#),
      // Relationships.
      (#""target": "Orders""#, #""target": "Order""#, "which is not an entity"),
      (
        #""attributes": ["orderNumber"]"#, #""attributes": ["orderNumber", "part"]"#,
        "2 attributes for 1 of Orders"
      ),
      (
        #""attributes": ["orderNumber"]"#, #""attributes": ["part"]"#,
        "a string, with Orders.number, a long"
      ),
      (
        #""attributes": ["orderNumber"]"#, #""attributes": ["orderNo"]"#, #"no attribute "orderNo""#
      ),
      (#""inverse": "lines""#, #""targetAttributes": ["nr"]"#, #"Orders has no attribute "nr""#),
      (
        #""attributes": ["orderNumber"], "inverse": "lines""#,
        #""attributes": ["part"], "targetAttributes": ["placed"]"#, "neither its key nor unique"
      ),
      // Partitions.
      (#""claim:clerk""#, #""clerk""#, "names no source"),
      (#""claim:clerk""#, #""claim:""#, "names no source"),
      (#""columns": { "clerk""#, #""columns": { "clark""#, #"no attribute "clark""#),
      (#"{ "clerk": "claim:clerk" }"#, "{}", "names no column"),
      (#"{ "through": "order" }"#, #"{ "through": "ordr" }"#, "to follow"),
      (#"{ "through": "order" }"#, "{}", "either"),
      (
        #""partition": { "columns": { "clerk": "claim:clerk" } }"#, #""operations": []"#,
        "follows Orders, which has no partition rule"
      ),
      (
        #""attributes": ["orderNumber"]"#,
        #""attributes": ["part"], "targetAttributes": ["clerk"]"#,
        "does not lead to the key of Orders"
      ),
      (#""name": "Lines","#, #""name": "Lines", "group": "stock","#, "is in another group"),
    ])
  func mistakes(_ old: String, _ new: String, _ words: String) {
    let reading = changed(old, new)
    let texts = reading.errors.map(\.what)
    #expect(texts.contains { $0.contains(words) }, "\(texts)")
    #expect(reading.package == nil)
    #expect(reading.errors.allSatisfy { !$0.cure.isEmpty && $0.place.line > 0 })
  }

  @Test(
    "What should be looked at is a warning, and the model is usable",
    arguments: [
      (#""claim:clerk""#, #""open""#, "is open"),
      (#"["default", "stock"]"#, #"["default", "stock", "empty"]"#, "has no entity"),
      (
        #""partition": { "through": "order" }"#, #""group": "stock""#,
        "which are not imported together"
      ),
      (
        #""name": "part", "type": "string" } ], "key""#,
        #""name": "part", "type": "double" } ], "key""#,
        "is a floating-point number"
      ),
      (#""name": "Parts","#, #""name": "Parts", "table": "LINES","#, "name the same table"),
    ])
  func warnings(_ old: String, _ new: String, _ words: String) {
    let reading = changed(old, new)
    #expect(reading.warnings.contains { $0.what.contains(words) }, "\(reading.problems)")
    #expect(reading.package != nil)
  }

  @Test("What stays on the device is no part of what the business system may refuse to delete")
  func localPart() {
    let text = Self.shop.replacing(
      #"["orderNumber"], "inverse": "lines""#,
      with: #"["orderNumber"], "inverse": "lines", "composite": true"#)
    #expect(read(text).problems == [])
    let local = text.replacing(#""name": "Lines","#, with: #""name": "Lines", "clientOnly": true,"#)
      .replacing(
        """
        "operations": ["update"],
              "partition": { "through": "order" }
        """, with: #""operations": ["update"]"#)
    let errors = read(local).errors
    #expect(
      errors.map(\.what) == [
        "Lines is \"clientOnly\" and cannot be part of Orders, which is not"
      ])
    #expect(errors.first?.cure == #"Leave "composite" out, or make Orders "clientOnly" too."#)
  }

  @Test("A partition rule that runs in a circle is refused at each of its members")
  func circle() {
    let entity = { (name: String, next: String) in
      """
      { "name": "\(name)", "attributes": [{ "name": "n", "type": "long" }], "key": ["n"],
        "relationships": [{ "name": "next", "target": "\(next)", "attributes": ["n"] }],
        "partition": { "through": "next" } }
      """
    }
    let reading = read(
      """
      { "name": "Round", "version": "1.0",
        "entities": [\(entity("A", "B")), \(entity("B", "C")), \(entity("C", "A"))] }
      """)
    #expect(reading.errors.map(\.what).filter { $0.contains("runs in a circle") }.count == 3)
  }

  @Test("A slip of two letters still finds the word that was meant")
  func nearest() {
    #expect(NearestWord.find("nulable", among: ["name", "nullable"]) == "nullable")
    #expect(NearestWord.find("targte", among: ["target", "table"]) == "target")
    #expect(NearestWord.find("atributs", among: ["target", "attributes"]) == "attributes")
    #expect(NearestWord.find("wholly", among: ["name", "type"]) == nil)
  }
}
