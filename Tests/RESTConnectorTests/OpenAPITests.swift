import FerryGenerator
import FerryModel
import FerryOpenAPIReading
import FerryRESTConnector
import Testing

/// From the description of a service to a model and a mapping.
@Suite(.timeLimit(.minutes(60)))
struct OpenAPITests {
  private let address = "http://service.test/openapi.json"

  /// A service of items and shelves; `item`: properties of an item, `more`: beside the paths.
  private func document(
    version: String = "3.1.0", item: String = "", paths: String = "", schemas: String = ""
  ) -> String {
    """
    {"openapi": "\(version)", "info": {"title": "Store", "version": "1"}, "paths": {
      "/items": {
        "get": {"parameters": [{"name": "offset", "in": "query", "schema": {"type": "integer"}},
                               {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}],
          "responses": {"200": {"description": "", "content": {"application/json": {"schema":
            {"type": "object", "properties": {"total": {"type": "integer"},
             "items": {"type": "array", "items": {"$ref": "#/components/schemas/ItemOut"}}}}}}}}},
        "post": {"parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
          "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ItemIn"}}}},
          "responses": {"201": {"description": ""}}}},
      "/items/{item_id}": {
        "get": {"responses": {"200": {"description": "", "content": {"application/json":
          {"schema": {"$ref": "#/components/schemas/ItemOut"}}}}}},
        "patch": {"parameters": [{"name": "If-Match", "in": "header", "schema": {"type": "string"}}],
          "requestBody": {"content": {"application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/ItemIn"}}}},
          "responses": {"200": {"description": ""}}},
        "delete": {"responses": {"204": {"description": ""}}}},
      "/shelves": {"get": {"responses": {"200": {"description": "", "content": {"application/json":
        {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Shelf"}}}}}}}},
      "/shelves/{id}": {"get": {"responses": {"200": {"description": "", "content": {"application/json":
        {"schema": {"$ref": "#/components/schemas/Shelf"}}}}}}}\(paths)},
     "components": {"schemas": {
      "ItemIn": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 40},
        "stock": {"type": "integer", "format": "int32"}, "shelf_id": {"type": "integer"}}},
      "ItemOut": {"allOf": [{"$ref": "#/components/schemas/ItemIn"},
        {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "integer"}\(item)}}]},
      "Shelf": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"},
        "place": {"type": ["string", "null"], "enum": ["left", "right", null]}}}\(schemas)}}}
    """
  }

  private func read(
    _ text: String
  ) throws -> (package: Package, notes: [Note], mapping: RESTMapping, text: String) {
    let reading = try OpenAPIReading(Array(text.utf8), address: address)
    let made = try ModelMaker.make(
      from: reading.schema, options: TranslationOptions(name: "Shop"), file: "model.json",
      source: "rest:\(reading.service)")
    let package = made.translation.package
    let mapping = reading.mapping(for: package)
    return (
      package, made.translation.notes, try RESTMapping(Array(mapping.utf8), for: package), mapping
    )
  }

  @Test(arguments: ["3.0.3", "3.1.0"])
  func aDescriptionIsAModelAndAMapping(_ version: String) throws {
    let (package, _, _, mapping) = try read(document(version: version))
    let item = try #require(package.entity(named: "Item"))
    #expect(item.table == "items")
    #expect(item.keyOrigin == .businessSystem)
    #expect(item.attributes[item.key[0]].name == "id")
    #expect(item.attributes.first { $0.name == "name" }?.maxLength == 40)
    #expect(item.attributes.first { $0.name == "stock" }?.type == .int)
    #expect(item.attributes.first { $0.name == "shelfID" || $0.name == "shelfId" }?.type == .long)
    #expect(item.relationships.first?.target == "Shelf")
    let shelf = try #require(package.entity(named: "Shelf"))
    #expect(
      shelf.attributes.first { $0.name == "place" }?.values == [.text("left"), .text("right")])
    for part in [
      "\"rows\": \"/items\"", "{\"offset\": \"offset\", \"limit\": \"limit\"}",
      "\"pageRows\": 100", "\"body\": \"merge\"", "\"condition\": \"etag\"",
      "\"header\": \"Idempotency-Key\"",
      "\"read\": \"/items/{id}\"",
    ] { #expect(mapping.contains(part), "\(part) in \(mapping)") }
  }

  @Test func eachGuessIsNoted() throws {
    let (_, notes, _, _) = try read(document())
    #expect(notes.contains { $0.subject == "items.shelf_id" && $0.what.contains("reference") })
    #expect(notes.contains { $0.subject == "items" && $0.cure.contains("\"paging\"") })
    #expect(notes.allSatisfy { !$0.cure.isEmpty })
  }

  @Test func whatCannotBeUsedIsNoted() throws {
    let item = """
      , "self": {"$ref": "#/components/schemas/Circle"},
      "far": {"$ref": "http://other.test/schema.json#/X"},
      "file": {"$ref": "../secret.json"}, "lost": {"$ref": "#/components/schemas/Nothing"},
      "choice": {"oneOf": [{"type": "object"}, {"type": "integer"}]},
      "maybe": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
      "old": {"type": "string", "nullable": true}, "price": {"anyOf": [{"type": "number"}, {"type": "string"}]},
      "made": {"type": "string", "readOnly": true}, "tags": {"type": "array", "items": {"type": "string"}},
      "place": {"type": "object", "properties": {"city": {"type": "string"}}}
      """
    let circle = ", \"Circle\": {\"$ref\": \"#/components/schemas/Circle\"}"
    let (package, notes, _, mapping) = try read(document(item: item, schemas: circle))
    let entity = try #require(package.entity(named: "Item"))
    for (name, word) in [
      ("self", "refers to itself"), ("far", "never fetched"), ("file", "never fetched"),
      ("lost", "not in the document"), ("choice", "oneOf"), ("tags", "is a list"),
    ] {
      #expect(
        notes.contains { $0.subject == "items.\(name)" && $0.what.contains(word) }, "\(name)")
      #expect(!entity.attributes.contains { $0.column == name })
    }
    #expect(entity.attributes.first { $0.column == "maybe" }?.type == .dateTime)
    #expect(entity.attributes.first { $0.column == "maybe" }?.isNullable == true)
    #expect(entity.attributes.first { $0.column == "price" }?.type == .decimal)
    #expect(entity.attributes.contains { $0.column == "place/city" })
    #expect(mapping.contains("{\"at\": \"/made\", \"readOnly\": true}"))
    #expect(mapping.contains("\"/place/city\""))
  }

  /// Two schemas that contain each other, three levels deep and then no further.
  @Test func schemasInACircleEnd() throws {
    let schemas = """
      , "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}, "x": {"type": "string"}}},
      "B": {"allOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]}
      """
    let item = ", \"a\": {\"$ref\": \"#/components/schemas/A\"}"
    let (package, _, _, _) = try read(document(item: item, schemas: schemas))
    #expect(package.entity(named: "Item")?.attributes.contains { $0.column == "a/x" } == true)
  }

  @Test(arguments: [
    ("openapi: 3.1.0\ninfo: {}\n", "YAML"), ("<html></html>", "no JSON"), ("{", "no JSON"),
    ("{\"swagger\": \"2.0\"}", "Swagger 2.0"), ("{\"openapi\": \"4.0.0\"}", "OpenAPI 4.0.0"),
    ("{\"openapi\": \"3.1.0\", \"paths\": {}}", "no list of objects"),
  ])
  func whatIsNoDescriptionIsNamed(_ text: String, _ word: String) {
    let error = #expect(throws: GeneratorError.self) {
      try OpenAPIReading(Array(text.utf8), address: address)
    }
    #expect(error?.message.contains(word) == true)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func anotherServersAddressIsNotTaken() throws {
    for (servers, service) in [
      ("[{\"url\": \"/api/v1/\"}]", "http://service.test/api/v1"),
      ("[{\"url\": \"http://service.test/shop\"}]", "http://service.test/shop"),
      ("[{\"url\": \"http://evil.test/shop\"}]", "http://service.test"),
      ("[{\"url\": \"//evil.test/\"}]", "http://service.test"),
      ("[{\"url\": \"https://{tenant}.test/\"}]", "http://service.test"),
    ] {
      let text = document().replacing(
        "\"paths\": {", with: "\"servers\": \(servers), \"paths\": {", maxReplacements: 1)
      #expect(try OpenAPIReading(Array(text.utf8), address: address).service == service)
    }
  }
}
