import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestTraits
import Testing

/// The error that a call ends with.
func failure(_ call: () async throws(ODataClientError) -> Void) async -> ODataClientError? {
  do throws(ODataClientError) {
    try await call()
    return nil
  } catch {
    return error
  }
}

@Suite("A service on the network")
struct ServiceTests {
  @Test("A key is made of a variable: a number, a text, or all parts by their names")
  func keysOfVariables() async throws {
    let server = SmallService.serve { _, _ in .status(404) }
    let service = try await ODataService.open(
      server.root, session: ODataSession(SystemTransport.make()))
    for (id, address) in [(7, "Items(7)"), (5_000_000_000, "Items(5000000000)")] {
      #expect(try service.address(of: "Items", key: ODataKey(id)) == address)
    }
    let (name, number) = ("x'y", Int32(2))
    #expect(try service.address(of: "Items", key: ODataKey(name)) == "Items('x''y')")
    let parts: [String: EdmValue] = ["B": .int32(number), "A": .string(name)]
    #expect(try service.address(of: "Parts", key: ODataKey(parts)) == "Parts(A='x''y',B=2)")
  }

  @Test(
    "A key keeps what harms nowhere in a path, and a whole number stays one",
    arguments: [
      (EdmValue.string("a=b"), "'a%3Db'"), (.string("x/y?z#w"), "'x%2Fy%3Fz%23w'"),
      (.string("a b+c%"), "'a%20b%2Bc%25'"), (.string("ü"), "'%C3%BC'"),
      (.string("(;,:@!$*~-._)"), "'(;,:@!$*~-._)'"), (.decimal(5), "5"), (.int64(-5), "-5"),
      (.boolean(true), "true"),
    ])
  func keyText(_ value: EdmValue, _ text: String) async throws {
    let server = SmallService.serve { _, _ in .status(404) }
    let service = try await ODataService.open(
      server.root, session: ODataSession(SystemTransport.make()))
    #expect(try service.address(of: "Items", key: ODataKey(value)) == "Items(\(text))")
    let parts: [String: EdmValue] = ["A": value, "B": .int32(1)]
    #expect(try service.address(of: "Parts", key: ODataKey(parts)) == "Parts(A=\(text),B=1)")
  }

  @Test("Opening reads the service document, then the metadata, and nothing else")
  func open() async throws {
    let server = SmallService.serve { _, _ in .status(500) }
    let service = try await ODataService.open(server.root)
    #expect(server.lines == ["GET /", "GET /$metadata"])
    #expect(service.document.collections.map(\.name) == ["Items"])
    #expect(service.metadata.version == .v4)
    #expect(service.format == .json)
  }

  @Test(
    "An address of no service is refused before anything is sent",
    arguments: ["", "/Items", "ftp://a/", "http://", "http://a/?x=1", "http://a b/"])
  func noAddress(_ address: String) async {
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataService.open(address)
    }
    guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(error?.requestWasSent == false)
  }

  @Test("Metadata of another service is refused by the name of the set that is missing")
  func stranger() async {
    let server = ScriptedService { request, _ in
      request.target == "/"
        ? .json(#"{"@odata.context":"$metadata","value":[{"name":"Orders","url":"Orders"}]}"#)
        : .xml(SmallService.metadata)
    }
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataService.open(server.root)
    }
    guard case .document(let document) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(document.code == .unexpectedDocument)
    #expect(document.message.contains("Orders"))
  }

  @Test("A login page that comes instead of the service is named as one")
  func login() async {
    let server = ScriptedService { _, _ in
      ScriptedService.Answer(
        headers: [("Content-Type", "text/html")],
        body: "<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>")
    }
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataService.open(server.root)
    }
    guard case .document(let document) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(document.code == .htmlPage)
  }

  @Test("Pages are followed in order, each asked for when it is needed")
  func pages() async throws {
    let server = SmallService.serve { request, _ in
      switch request.target {
      case "/Items":
        .json(
          #"{"@odata.context":"$metadata#Items","value":[{"ID":1},{"ID":2}],"#
            + #""@odata.nextLink":"Items?$skiptoken=2"}"#)
      case "/Items?$skiptoken=2": .json(#"{"@odata.context":"$metadata#Items","value":[{"ID":3}]}"#)
      default: .status(404)
      }
    }
    let service = try await ODataService.open(server.root)
    var iterator = service.entries("Items").makeAsyncIterator()
    var ids: [Int64?] = []
    for _ in 0..<2 { ids.append(try await iterator.next()?["ID"]?.integer) }
    #expect(server.lines.count == 3)
    ids.append(try await iterator.next()?["ID"]?.integer)
    #expect(try await iterator.next() == nil)
    #expect(ids == [1, 2, 3])
    #expect(server.lines.suffix(2) == ["GET /Items", "GET /Items?$skiptoken=2"])
  }

  @Test("Rows are made of the same pages, and a value of another type is an error by name")
  func rows() async throws {
    let server = SmallService.serve { request, _ in
      request.target == "/Items"
        ? .json(
          #"{"value":[\#(SmallService.item(1, "a", etag: "1"))],"@odata.nextLink":"Items?p=2"}"#)
        : .json(#"{"value":[\#(SmallService.item(2, "b", etag: "2"))]}"#)
    }
    let service = try await ODataService.open(
      server.root, session: ODataSession(SystemTransport.make()))
    var found: [String] = []
    let rows = service.rows("Items") { row throws(ODataError) in
      "\(try row.integer("ID") ?? 0) \(try row.string("Name") ?? "")"
    }
    for try await row in rows { found.append(row) }
    #expect(found == ["1 a", "2 b"])
    let error = await failure { () throws(ODataClientError) in
      let wrong = service.rows("Items") { row throws(ODataError) in try row.integer("Name") ?? 0 }
      for try await _ in wrong {}
    }
    guard case .document(let problem) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(problem.code == .invalidValue)
  }

  @Test(
    "A next link to another host, or in a circle, ends the pages with an error",
    arguments: ["http://127.0.0.2/Items", "Items"])
  func badNext(_ next: String) async throws {
    let server = SmallService.serve { _, _ in
      .json(
        #"{"@odata.context":"$metadata#Items","value":[{"ID":1}],"@odata.nextLink":"\#(next)"}"#)
    }
    let service = try await ODataService.open(server.root)
    var iterator = service.entries("Items").makeAsyncIterator()
    #expect(try await iterator.next()?["ID"] == .int32(1))
    let error = await failure { () throws(ODataClientError) in _ = try await iterator.next() }
    guard case .document(let document) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(document.code == .link)
    #expect(server.lines.count == 3)
    #expect(try await iterator.next() == nil)
  }

  @Test("Empty pages are followed, but one that links to itself is an error")
  func emptyPage() async throws {
    let server = SmallService.serve { _, _ in
      .json(
        #"{"@odata.context":"$metadata#Items","value":[],"@odata.nextLink":"Items?$skiptoken=64"}"#)
    }
    let service = try await ODataService.open(server.root)
    var iterator = service.entries("Items?$filter=ID%20gt%20100").makeAsyncIterator()
    let error = await failure { () throws(ODataClientError) in _ = try await iterator.next() }
    guard case .document(let document) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(document.code == .link)
    #expect(
      server.lines.dropFirst(2) == ["GET /Items?$filter=ID%20gt%20100", "GET /Items?$skiptoken=64"])
  }

  @Test("An object is read by its key, with its ETag from the entry or from the head")
  func byKey() async throws {
    let server = SmallService.serve { request, _ in
      request.target == "/Items(3)"
        ? .json(SmallService.item(3, "c", etag: #"W/\"1\""#))
        : .json(
          #"{"@odata.context":"$metadata#Parts/$entity","A":"x y","B":2}"#, [("ETag", "\"h\"")])
    }
    let service = try await ODataService.open(server.root)
    let item = try await service.entry(in: "Items", key: 3)
    #expect(item["Name"] == .string("c"))
    #expect(item.etag == #"W/"1""#)
    let part = try await service.entry(in: "Parts", key: ["A": .string("x y"), "B": .int32(2)])
    #expect(part.etag == "\"h\"")
    #expect(server.lines.last == "GET /Parts(A='x%20y',B=2)")
  }

  @Test("A key with the wrong parts, or of no set, is refused before anything is sent")
  func badKey() async throws {
    let server = SmallService.serve { _, _ in .status(500) }
    let service = try await ODataService.open(server.root)
    let wrong: [(String, ODataKey, String)] = [
      ("Parts", 3, "A, B"), ("Items", ["Name": .string("x")], "ID"), ("Nothing", 1, "Nothing"),
    ]
    for (set, key, word) in wrong {
      let error = await failure { () throws(ODataClientError) in
        _ = try await service.entry(in: set, key: key)
      }
      guard case .call(let problem) = error?.cause else {
        return #expect(Bool(false), "\(error as Any)")
      }
      #expect(problem.contains(word))
      #expect(error?.requestWasSent == false)
    }
    #expect(server.lines.count == 2)
  }

  @Test("A new object comes back as the service made it")
  func create() async throws {
    let server = SmallService.serve { _, _ in
      ScriptedService.Answer(
        status: 201, headers: [("Content-Type", "application/json")],
        body: SmallService.item(7, "made", etag: "1"))
    }
    let service = try await ODataService.open(server.root)
    let made = try await service.create(
      ODataEntry(["ID": .int32(7), "Name": .string("new")]), in: "Items")
    #expect(made["Name"] == .string("made"))
    #expect(made.etag == "1")
    let request = try #require(server.requests.last)
    #expect("\(request.method) \(request.target)" == "POST /Items")
    #expect(request.body.contains(#""Name":"new""#))
    #expect(request.headers["If-Match"] == nil)
  }

  @Test("A service that answers a create without a body is believed")
  func createQuietly() async throws {
    let server = SmallService.serve { _, _ in
      .status(204, "", [("OData-EntityId", "Items(8)"), ("ETag", "\"e\"")])
    }
    let service = try await ODataService.open(server.root)
    let made = try await service.create(ODataEntry(["ID": .int32(8)]), in: "Items")
    #expect(made.id == server.root + "Items(8)")
    #expect(made.etag == "\"e\"")
  }

  @Test(
    "A change is sent with the method that was chosen and the ETag of the entry",
    arguments: [
      (ODataUpdateMethod.automatic, "PATCH"), (.patch, "PATCH"), (.merge, "MERGE"), (.put, "PUT"),
    ])
  func update(_ method: ODataUpdateMethod, _ verb: String) async throws {
    let server = SmallService.serve { request, _ in
      request.method == "GET"
        ? .json(SmallService.item(3, "c", etag: "1")) : .status(204, "", [("ETag", "2")])
    }
    let service = try await ODataService.open(server.root)
    var item = try await service.entry(in: "Items", key: 3)
    item["Name"] = .string("new")
    let changed = try await service.update(item, method: method)
    #expect(changed.etag == "2")
    let request = try #require(server.requests.last)
    #expect("\(request.method) \(request.target)" == "\(verb) /Items(3)")
    #expect(request.headers.values("If-Match") == ["1"])
    #expect(request.body.contains(#""Name":"new""#))
  }

  @Test("A 412 is a conflict with mine, theirs and both ETags", .reference("adr/ETG-3"))
  func conflict() async throws {
    let server = SmallService.serve { request, number in
      request.method == "GET"
        ? .json(SmallService.item(3, number < 3 ? "old" : "theirs", etag: number < 3 ? "1" : "2"))
        : .status(412)
    }
    let service = try await ODataService.open(server.root)
    var item = try await service.entry(in: "Items", key: 3)
    item["Name"] = .string("mine")
    let sent = item
    let changed = await failure { () throws(ODataClientError) in
      _ = try await service.update(sent)
    }
    guard case .conflict(let conflict) = changed?.cause else {
      return #expect(Bool(false), "\(changed as Any)")
    }
    #expect(conflict.mine?["Name"] == .string("mine"))
    #expect(conflict.theirs?["Name"] == .string("theirs"))
    #expect(conflict.myETag == "1")
    #expect(conflict.theirETag == "2")
    #expect(changed?.isTransient == false)
    let deleted = await failure { () throws(ODataClientError) in try await service.delete(sent) }
    guard case .conflict(let second) = deleted?.cause else {
      return #expect(Bool(false), "\(deleted as Any)")
    }
    #expect(second.mine == nil)
    #expect(second.theirETag == "2")
    // Each change was sent once, and each state of theirs was read once.
    #expect(
      server.lines.dropFirst(3) == [
        "PATCH /Items(3)", "GET /Items(3)", "DELETE /Items(3)", "GET /Items(3)",
      ])
  }

  @Test("A delete is sent with the ETag of the entry, and without a body")
  func delete() async throws {
    let server = SmallService.serve { request, _ in
      request.method == "GET" ? .json(SmallService.item(3, "c", etag: "1")) : .status(204)
    }
    let service = try await ODataService.open(server.root)
    try await service.delete(try await service.entry(in: "Items", key: 3))
    let request = try #require(server.requests.last)
    #expect("\(request.method) \(request.target)" == "DELETE /Items(3)")
    #expect(request.headers["If-Match"] == "1")
    #expect(request.body.isEmpty)
  }

  @Test("An entry whose edit link leads to another host is not sent there")
  func strangeLink() async throws {
    let server = SmallService.serve { _, _ in .status(500) }
    let service = try await ODataService.open(server.root)
    var entry = ODataEntry(["ID": .int32(1)])
    entry.id = "http://127.0.0.2/Items(1)"
    let strange = entry
    let error = await failure { () throws(ODataClientError) in
      _ = try await service.update(strange)
    }
    guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(server.lines.count == 2)
  }

  @Test(
    "An HTTP error has code, text, headers, body and the OData error inside",
    .reference("ios/LSN-3", "ios/REQ-14", "adr/ERR-2")
  )
  func httpError() async throws {
    let server = SmallService.serve { _, _ in
      .status(
        404, #"{"error":{"code":"E17","message":"no such item"}}"#,
        [("Content-Type", "application/json"), ("X-Trace", "t1")])
    }
    let service = try await ODataService.open(server.root)
    let error = await failure { () throws(ODataClientError) in
      _ = try await service.entry(in: "Items", key: 9)
    }
    guard case .http(let http) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(http.status == 404)
    #expect(http.document?.code == "E17")
    #expect(http.document?.message == "no such item")
    #expect(http.response.headers["X-Trace"] == "t1")
    #expect(String(decoding: http.response.body, as: UTF8.self).contains("E17"))
    #expect(error?.isTransient == false)
    #expect("\(error as Any)".contains("GET \(server.root)Items(9)"))
  }

  @Test("A JSON object becomes an entry with the types of the metadata, and back")
  func json() async throws {
    let server = SmallService.serve { _, _ in .status(500) }
    let service = try await ODataService.open(server.root)
    let entry = try service.entry(json: Array(#"{"ID":7,"Name":"é"}"#.utf8), in: "Items")
    #expect(entry["ID"] == .int32(7))
    let text = String(decoding: try service.json(of: entry), as: UTF8.self)
    #expect(text.contains(#""ID":7"#) && text.contains(#""Name":"é""#))
    for bad in [#"{"ID":"x"}"#, #"{"ID":7"#, "", "[]"] {
      let error = await failure { () throws(ODataClientError) in
        _ = try service.entry(json: Array(bad.utf8), in: "Items")
      }
      guard case .document = error?.cause else {
        Issue.record("\(bad): \(error as Any)")
        continue
      }
      #expect(error?.requestWasSent == false)
    }
  }
}
