import FerryModel
import FerryTestTraits
import Testing

@Suite("Connections of entities, in a model")
struct ConnectionTests {
  private func read(
    _ order: String = "", _ line: String = "", relationship: String = ""
  ) -> ModelReading {
    let text = """
      { "name": "Shop", "version": "1.0", "entities": [
        { "name": "Order", "attributes": [{ "name": "id", "type": "long" },
            { "name": "tenant", "type": "string" }], "key": ["id"]\(order) },
        { "name": "Line", "attributes": [{ "name": "id", "type": "long" },
            { "name": "orderID", "type": "long" }], "key": ["id"],
          "relationships": [{ "name": "order", "target": "Order", "attributes": ["orderID"]\
      \(relationship) }]\(line) }] }
      """
    return ModelReader.read(Array(text.utf8), file: "m")
  }

  private let erp = #", "connection": "erp""#

  @Test("The name is read and written; what programs compare has none")
  func written() throws {
    let package = try #require(read(erp).package)
    #expect(package.entity(named: "Order")?.connection == "erp")
    #expect(package.entity(named: "Line")?.connection == nil)
    let again = ModelReader.read(Array(ModelWriter.text(of: package).utf8), file: "m").package
    #expect(again == package)
    #expect(read().package != package)
    #expect(!ModelWriter.text(of: package, documented: false).contains("connection"))
    #expect(read(#", "connection": "my erp""#).errors.count == 1)
    #expect(read(#", "conection": "erp""#).errors.first?.cure == "Did you mean \"connection\"?")
  }

  @Test("A composite over two connections is an error, and over one it is none")
  func composite() throws {
    let wrong = read(erp, relationship: #", "composite": true"#)
    #expect(
      wrong.errors.map(\.what) == [
        "Line.order leads from the default connection to the connection \"erp\", and its objects are "
          + "changed as one"
      ])
    #expect(read(erp, erp, relationship: #", "composite": true"#).errors.isEmpty)
  }

  @Test("A partition through a relationship over two connections is an error")
  func partition() {
    let rule = #", "partition": { "columns": { "tenant": "claim:tenant" } }"#
    let through = #", "partition": { "through": "order" }"#
    #expect(read(erp + rule, through).errors.count == 1)
    #expect(read(erp + rule, erp + through).errors.isEmpty)
  }

  @Test("A reference over two connections is allowed where nobody must check whose its target is")
  func reference() {
    let rule = #", "partition": { "columns": { "tenant": "claim:tenant" } }"#
    #expect(read(erp).errors.isEmpty)
    #expect(read(erp + rule).errors.first?.cure.contains("anyTarget") == true)
    #expect(read(erp + rule, relationship: #", "anyTarget": true"#).errors.isEmpty)
    let roles = #", "roles": { "read": ["manager"] }"#
    #expect(!read(erp + roles).errors.isEmpty)
  }
}
