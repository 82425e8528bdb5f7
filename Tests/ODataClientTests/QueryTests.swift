import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataAddress
import FerryODataClient
import Testing

/// The documents of a shop, of V4 or of V2.
enum ShopService {
  static func metadata(_ version: ODataVersion) -> String {
    let isOld = version < .v4
    let edmx =
      isOld
      ? "http://schemas.microsoft.com/ado/2007/06/edmx" : "http://docs.oasis-open.org/odata/ns/edmx"
    let edm =
      isOld
      ? "http://schemas.microsoft.com/ado/2008/09/edm" : "http://docs.oasis-open.org/odata/ns/edm"
    let lines =
      isOld
      ? """
      <NavigationProperty Name="Lines" Relationship="S.OrderLines" FromRole="Order" ToRole="Line"/>
      """
      : """
      <Property Name="Marks" Type="Collection(Edm.Guid)"/>
      <NavigationProperty Name="Lines" Type="Collection(S.Line)"/>
      """
    let ends =
      isOld
      ? """
      <Association Name="OrderLines"><End Role="Order" Type="S.Order" Multiplicity="1"/>
      <End Role="Line" Type="S.Line" Multiplicity="*"/></Association>
      """ : ""
    return """
      <edmx:Edmx Version="\(isOld ? "1.0" : "4.0")" xmlns:edmx="\(edmx)"><edmx:DataServices
       m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
      <Schema Namespace="S" xmlns="\(edm)">
      <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/><Property Name="Mark" Type="Edm.Guid"/>
      \(lines)</EntityType>
      <EntityType Name="Line"><Key><PropertyRef Name="No"/></Key>
      <Property Name="No" Type="Edm.Guid" Nullable="false"/>
      <Property Name="Price" Type="Edm.Decimal"/></EntityType>\(ends)
      <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.Order"/>
      <EntitySet Name="Lines" EntityType="S.Line"/></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """
  }

  static let document = """
    {"@odata.context":"$metadata","value":[{"name":"Orders","kind":"EntitySet","url":"Orders"}]}
    """
  static let oldDocument = """
    <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"><workspace>
    <collection href="Orders"><atom:title>Orders</atom:title></collection></workspace></service>
    """

  static func serve(
    _ version: ODataVersion = .v4,
    _ answer: @escaping @Sendable (ScriptedService.Request) -> ScriptedService.Answer
  ) -> ScriptedService {
    ScriptedService { request, _ in
      switch (request.method, request.target) {
      case ("GET", "/"): version < .v4 ? .xml(oldDocument) : .json(document)
      case ("GET", "/$metadata"): .xml(metadata(version))
      default: answer(request)
      }
    }
  }
}

@Suite("Requests by an address that is built")
struct QueryTests {
  private static let mark = "7b6a0000-0000-0000-0000-000000000001"
  private static let orders = ODataAddress().entitySet("Orders")

  private func open(_ server: ScriptedService) async throws -> ODataService {
    try await ODataService.open(server.root, session: ODataSession(SystemTransport.make()))
  }

  private enum Call: CaseIterable {
    case entries, rows, items, entry, count, value, request, create, update, delete
  }

  private static func send(
    _ call: Call, _ query: ODataAddress, _ service: ODataService
  ) async throws(ODataClientError) {
    switch call {
    case .entries: try await read(service.entries(query))
    case .rows: try await read(service.rows(query) { _ throws(ODataError) in 1 })
    case .items: try await read(service.items(query))
    case .entry: _ = try await service.entry(query)
    case .count: _ = try await service.count(query)
    case .value: _ = try await service.value(query)
    case .request: _ = try service.request(query)
    case .create: _ = try await service.create(ODataEntry(), at: query)
    case .update: _ = try await service.update(ODataEntry(), at: query)
    case .delete: try await service.delete(at: query)
    }
  }

  private static func read<Element>(
    _ pages: ODataPages<Element>
  ) async throws(ODataClientError) {
    var pages = pages.makeAsyncIterator()
    while try await pages.next() != nil {}
  }

  @Test("A query is written for the service's version", arguments: [ODataVersion.v2, .v4])
  func version(_ version: ODataVersion) async throws {
    let isOld = version < .v4
    let server = ShopService.serve(version) { _ in
      isOld
        ? .xml(#"<feed xmlns="http://www.w3.org/2005/Atom"/>"#) : .json(#"{"value":[]}"#)
    }
    let service = try await open(server)
    let query = Self.orders.filter(Property("Name").contains("a&b ü")).orderBy("ID").counted()
    for try await _ in service.entries(query) {}
    for try await _ in service.rows(query, { row throws(ODataError) in try row.string("Name") }) {}
    let filter =
      isOld
      ? "$filter=substringof('a%26b%20%C3%BC',Name)&$orderby=ID&$inlinecount=allpages"
      : "$filter=contains(Name,'a%26b%20%C3%BC')&$orderby=ID&$count=true"
    #expect(server.lines.dropFirst(2) == ["GET /Orders?\(filter)", "GET /Orders?\(filter)"])
    let headers = try #require(server.requests.last).headers
    #expect(
      headers[isOld ? "MaxDataServiceVersion" : "OData-MaxVersion"] == (isOld ? "2.0" : "4.0"))
  }

  @Test("Entries behind a navigation property have the types of the metadata, on each page")
  func types() async throws {
    let server = ShopService.serve { request in
      let next = request.target.hasSuffix("p=2") ? "" : #","@odata.nextLink":"Lines?p=2""#
      return .json(#"{"value":[{"No":"\#(Self.mark)","Price":5}]\#(next)}"#)
    }
    let service = try await open(server)
    let lines = Self.orders.key(1).navigation("Lines")
    var found: [EdmValue?] = []
    for try await line in service.entries(lines) { found += [line["No"], line["Price"]] }
    let guid = EdmValue(text: Self.mark, type: .guid)
    #expect(found == [guid, .decimal(5), guid, .decimal(5)])
    var rows: [EdmGuid?] = []
    for try await number in service.rows(lines, { row throws(ODataError) in try row.guid("No") }) {
      rows.append(number)
    }
    #expect(rows.map { $0.map(EdmValue.guid) } == [guid, guid])
    #expect(server.lines[2...3] == ["GET /Orders(1)/Lines", "GET /Orders(1)/Lines?p=2"])
  }

  @Test("What the metadata contradicts is refused by name, and nothing is sent")
  func refused() async throws {
    let server = ShopService.serve { _ in .status(500) }
    let service = try await open(server)
    let wrong: [(ODataAddress, ODataError.Code)] = [
      (Self.orders.filter(Property("Nme") == "x"), .unknownName),
      (ODataAddress().entitySet("Ordrs"), .unknownName), (Self.orders.key("x"), .typeMismatch),
      (Self.orders.links("Lines"), .unwritable),
    ]
    for (query, code) in wrong {
      for call in Call.allCases {
        let error = await failure { () throws(ODataClientError) in
          try await Self.send(call, query, service)
        }
        guard case .document(let reason) = error?.cause else {
          return #expect(Bool(false), "\(error as Any)")
        }
        #expect(reason.code == code && error?.requestWasSent == false)
      }
    }
    let elsewhere = ODataAddress("http://127.0.0.2/").entitySet("Orders")
    let error = await failure { () throws(ODataClientError) in
      _ = try await service.entry(elsewhere)
    }
    guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    // After its refusal the sequence is at its end.
    var iterator = service.entries(wrong[0].0).makeAsyncIterator()
    _ = try? await iterator.next()
    #expect(try await iterator.next() == nil)
    #expect(server.lines == ["GET /", "GET /$metadata"])
  }

  @Test("A count is a number, with or without $count in the address")
  func count() async throws {
    let answers = [
      "/Orders/$count?$filter=ID%20gt%202": "\u{FEFF}12", "/Orders(1)/Lines/$count": " 3\n",
    ]
    let server = ShopService.serve { request in .status(200, answers[request.target] ?? "many") }
    let service = try await open(server)
    #expect(try await service.count(Self.orders.filter(Property("ID") > 2)) == 12)
    #expect(try await service.count(Self.orders.key(1).navigation("Lines").count) == 3)
    let error = await failure { () throws(ODataClientError) in
      _ = try await service.count(Self.orders)
    }
    guard case .document(let reason) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(reason.code == .unexpectedDocument && reason.message.contains("many"))
  }

  @Test("A property is read as a value of its type, null and lists included")
  func values() async throws {
    let server = ShopService.serve { request in
      switch request.target {
      case "/Orders(1)/Mark": .json(#"{"value":"\#(Self.mark)"}"#)
      case "/Orders(1)/Marks": .json(#"{"value":["\#(Self.mark)"]}"#)
      case "/Orders(2)/Marks": .json(#"{"value":[]}"#)
      case "/Orders(3)": .json(#"{"ID":3,"Name":"c"}"#)
      default: .status(204)
      }
    }
    let service = try await open(server)
    let guid = try #require(EdmValue(text: Self.mark, type: .guid))
    #expect(try await service.value(Self.orders.key(1).property("Mark")) == guid)
    #expect(try await service.value(Self.orders.key(1).property("Marks")) == .collection([guid]))
    #expect(try await service.value(Self.orders.key(2).property("Marks")) == .collection([]))
    #expect(try await service.value(Self.orders.key(1).property("Name")) == .null)
    for query in [Self.orders.key(3), Self.orders.key(1).property("Name").value] {
      let error = await failure { () throws(ODataClientError) in
        _ = try await service.value(query)
      }
      #expect(error != nil)
    }
  }

  @Test("A property of V2 is read from XML and from verbose JSON", arguments: ODataFormat.allCases)
  func oldValues(_ format: ODataFormat) async throws {
    let data = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    let server = ShopService.serve(.v2) { request in
      request.headers["Accept"]?.contains("json") == true
        ? .json(#"{"d":{"Mark":"\#(Self.mark)"}}"#)
        : .xml(#"<d:Mark xmlns:d="\#(data)">\#(Self.mark)</d:Mark>"#)
    }
    var service = try await open(server)
    service.format = format
    let value = try await service.value(Self.orders.key(1).property("Mark"))
    #expect(value == EdmValue(text: Self.mark, type: .guid))
  }

  @Test("An object is created, changed and deleted at an address, with the type of the metadata")
  func changes() async throws {
    let server = ShopService.serve { request in
      switch request.method {
      case "POST":
        .json(#"{"No":"\#(Self.mark)","Price":5,"@odata.etag":"W/\"1\""}"#)
      case "PATCH", "PUT": .status(204, "", [("ETag", "W/\"2\"")])
      default: .status(204)
      }
    }
    let service = try await open(server)
    let lines = Self.orders.key(1).navigation("Lines")
    var line = try await service.create(ODataEntry(type: nil, ["Price": .decimal(5)]), at: lines)
    #expect(line["No"] == EdmValue(text: Self.mark, type: .guid) && line.etag == "W/\"1\"")
    let one = ODataAddress().entitySet("Lines").key(try #require(line["No"]))
    line = try await service.update(line, at: one)
    #expect(line.etag == "W/\"2\"")
    _ = try await service.update(line, at: one, method: .put)
    try await service.delete(at: one, etag: line.etag)
    try await service.delete(at: one)
    #expect(
      server.lines.dropFirst(2) == [
        "POST /Orders(1)/Lines", "PATCH /Lines(\(Self.mark))", "PUT /Lines(\(Self.mark))",
        "DELETE /Lines(\(Self.mark))", "DELETE /Lines(\(Self.mark))",
      ])
    let tags = server.requests.dropFirst(2).map { $0.headers["If-Match"] }
    #expect(tags == [nil, "W/\"1\"", "W/\"2\"", "W/\"2\"", nil])
  }

  @Test("A feed of changes gives deleted entries, and where the next changes will be")
  func changeFeed() async throws {
    let server = ShopService.serve { request in
      request.target == "/Orders"
        ? .json(#"{"value":[{"ID":1}],"@odata.nextLink":"Orders?p=2"}"#)
        : request.target == "/Orders?p=2"
          ? .json(#"{"value":[{"ID":2}],"@odata.deltaLink":"Orders?$deltatoken=7"}"#)
          : .json(
            #"{"value":[{"@removed":{"reason":"deleted"},"@odata.id":"Orders(1)"},{"ID":3}],"#
              + #""@odata.deltaLink":"Orders?$deltatoken=8"}"#)
    }
    let service = try await open(server)
    var all = service.entries(Self.orders).makeAsyncIterator()
    while let entry = try await all.next() { #expect(entry["ID"]?.integer != 3) }
    let link = try #require(all.deltaLink)
    var changes = service.items(link).makeAsyncIterator()
    guard case .deleted(let gone) = try await changes.next() else {
      return #expect(Bool(false), "no deleted entry")
    }
    #expect(gone.id.hasSuffix("Orders(1)"))
    guard case .entry(let entry) = try await changes.next() else {
      return #expect(Bool(false), "no entry")
    }
    #expect(entry["ID"] == .int32(3))
    #expect(try await changes.next() == nil)
    #expect(changes.deltaLink?.hasSuffix("Orders?$deltatoken=8") == true)
    #expect(server.lines.last == "GET /Orders?$deltatoken=7")
  }
}
