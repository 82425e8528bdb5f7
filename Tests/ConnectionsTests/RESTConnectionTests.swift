import FerryConnections
import FerryModel
import FerryTestTraits
import Testing

@Suite("REST services in a file of connections")
struct RESTConnectionTests {
  private let package = Package(
    name: "Shop", version: "1.0",
    entities: [
      Entity(
        name: "Item", table: "items",
        attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)],
        key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all")
    ], groups: [SynchronizationGroup(name: "all")])

  private static let mapping = #"{"entities": {"Item": {"list": "/items"}}}"#

  private func file(_ members: String) throws -> ConnectionsFile {
    try ConnectionsFile(
      Array(#"{"connections": {"erp": {"address": "rest:https://erp.test/api"\#(members)}}}"#.utf8),
      name: "c.json")
  }

  private func text(
    _ text: String = RESTConnectionTests.mapping, folder: String? = "/"
  ) -> MappingText {
    MappingText(bytes: Array(text.utf8), name: "Shop.rest.json", folder: folder)
  }

  private func fault(_ members: String, _ mapping: MappingText?) -> ConnectionsError? {
    #expect(throws: ConnectionsError.self) {
      _ = try ModelConnections(package, file: file(members), database: nil, mapping: mapping)
    }
  }

  @Test("A connection is mapped by what came with the model, or by its own file")
  func mapped() throws {
    let beside = try ModelConnections(package, file: file(""), database: nil, mapping: text())
    #expect(beside.description == "https://erp.test/api")
    let folder = try TemporaryFolder()
    let own = try folder.write("own.json", RESTConnectionTests.mapping)
    let named = try ModelConnections(
      package, file: file(#", "mapping": "\#(own)""#), database: nil, mapping: text("no JSON"))
    #expect(named.description == "https://erp.test/api")
    #expect(fault("", nil)?.message.contains("Shop.rest.json") == true)
    #expect(fault(#", "mapping": "/nowhere""#, text())?.message.contains("/nowhere") == true)
    let wrong = fault("", text(#"{"entities": {"Itm": {"list": "/items"}}}"#))
    #expect(wrong?.message.contains("/entities/Itm") == true)
  }

  @Test("A mapping may name a place below the host, and cannot lead to another host")
  func place() throws {
    func address(_ connection: String, _ service: String) throws -> String {
      let mapping = #"{"service": "\#(service)", "entities": {"Item": {"list": "/items"}}}"#
      return try ModelConnections(
        package, file: nil, database: "rest:\(connection)", mapping: text(mapping)
      ).description
    }
    #expect(try address("https://erp.test", "https://erp.test/v1") == "https://erp.test/v1")
    #expect(try address("https://erp.test/v2", "https://erp.test/v1") == "https://erp.test/v2")
    #expect(try address("https://erp.test", "https://evil.test/v1") == "https://erp.test")
    #expect(try address("https://erp.test", "http://erp.test/v1") == "https://erp.test")
  }

  @Test("One place has the credential, and one that was deployed names it wholly")
  func credentials() throws {
    func mapping(_ secret: String) -> String {
      #"{"credential": {"bearer": true, "file": "\#(secret)"}, "entities": {"Item": {"list": "/items"}}}"#
    }
    let own = #", "credentials": {"token": {"environment": "T"}}"#
    #expect(fault(own, text(mapping("t")))?.message.contains("both") == true)
    #expect(fault("", text(mapping("t"), folder: nil))?.message.contains("secret") == true)
    #expect(throws: Never.self) {
      _ = try ModelConnections(
        package, file: file(""), database: nil, mapping: text(mapping("/etc/t"), folder: nil))
    }
  }

  @Test(
    "The technical user has a password, a token, a key in a header, or client credentials",
    arguments: [
      (#"{"header": "X-API-Key", "key": {"environment": "K"}}"#, nil),
      (
        #"{"client": "f", "clientSecret": {"environment": "K"}, "tokenAddress": "https://t.test/token", "scope": "s"}"#,
        nil
      ),
      (#"{"header": "X-API-Key"}"#, "no \"key\""),
      (#"{"header": "Host", "key": {"environment": "K"}}"#, "no header for a key"),
      (#"{"header": "a b", "key": {"environment": "K"}}"#, "no header for a key"),
      (#"{"header": "X-K", "key": {"environment": "K"}, "user": "f"}"#, "one of"),
      (#"{"client": "f", "clientSecret": {"environment": "K"}}"#, "no \"tokenAddress\""),
      (
        #"{"client": "f", "clientSecret": {"environment": "K"}, "tokenAddress": "http://t.test/token"}"#,
        "in the clear"
      ),
      (#"{"token": {"environment": "K"}, "scope": "s"}"#, "means nothing"),
    ] as [(String, String?)])
  func ways(_ text: String, _ wrong: String?) throws {
    guard let wrong else {
      #expect(throws: Never.self) { _ = try file(#", "credentials": \#(text)"#) }
      return
    }
    let found = #expect(throws: ConnectionsError.self) {
      _ = try file(#", "credentials": \#(text)"#)
    }
    #expect(found?.message.contains(wrong) == true, "\(found?.message ?? "")")
  }

  @Test("\"mapping\" means nothing for another kind of service")
  func other() {
    let found = #expect(throws: ConnectionsError.self) {
      _ = try ConnectionsFile(
        Array(
          #"{"connections": {"erp": {"address": "odata:https://e.test/", "mapping": "m.json"}}}"#
            .utf8),
        name: "c.json")
    }
    #expect(found?.message.contains("no REST service") == true)
  }
}
