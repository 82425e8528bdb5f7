import FerryOData
import FerryTestTraits
import Testing

extension Samples {
  static let service = """
    <?xml version="1.0" encoding="utf-8"?>
    <app:service xml:lang="en" xml:base="http://host/sap/FLIGHT/"
      xmlns:app="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"
      xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <app:workspace sap:semantics="things"><atom:title type="text">Things</atom:title>
      <app:collection sap:creatable="false" sap:requires-filter="true" sap:topLevel="false"
        sap:content-version="2" sap:display-order="7" sap:semantics="users"
        href="CarrierCollection">
        <atom:title type="text">Carriers</atom:title><sap:member-title>Carrier</sap:member-title>
        <app:accept>application/atom+xml</app:accept>
        <sap:icon href="icon.png" sap:size="16"/>
        <atom:link rel="search" href="CarrierCollection/OpenSearchDescription.xml"
          type="application/opensearchdescription+xml" title="searchCarrier"/>
        <atom:link rel="http://host/subscriptions" sap:semantics="subscriptions"
          href="SubscriptionCollection" title="subscribe"/>
      </app:collection>
    </app:workspace>
    <app:workspace><atom:title>Data</atom:title>
      <app:collection href="FlightCollection"><atom:title>Flights</atom:title></app:collection>
      <app:collection href="Unknown"/>
    </app:workspace>
    <atom:link rel="self" href="http://host/sap/FLIGHT/"/>
    </app:service>
    """

  static let openSearch = """
    <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"
      xmlns:flight="http://host/flight">
      <ShortName>Carriers</ShortName><Description>find airlines</Description><Tags>a b</Tags>
      <Url type="application/atom+xml" rel="results"
        template="http://host/C?search={searchTerms}&amp;$top={count?}&amp;plant={flight:plant}"/>
    </OpenSearchDescription>
    """
}

@Suite("Service documents and the reference's words") struct ServiceTests {
  @Test(
    "An Atom service document gives workspaces, flags, icons and links",
    .reference("ios/PAR-1", "ios/1.O.ServiceDocument", "ios/1.O.Workspace", "ios/1.O.Collection")
  )
  func atom() throws {
    let document = try ODataServiceDocument.read(Samples.service.bytes)
    #expect(document.serverType == .gateway && document.documentLanguage == "en")
    #expect(document.baseURL == "http://host/sap/FLIGHT/")
    #expect(document.workspaces.map(\.semantic) == [.things, .data])
    let carriers = try #require(document.collections.first)
    #expect(!carriers.isCreatable && carriers.isUpdatable && carriers.isDeletable)
    #expect(!carriers.isTopLevel && carriers.requiresFilter && carriers.isSearchable)
    #expect(
      carriers.contentVersion == 2 && carriers.displayOrder == 7 && carriers.semantic == .users)
    #expect(carriers.title == "Carriers" && carriers.memberTitle == "Carrier")
    #expect(
      carriers.icons.first?.href == "icon.png" && carriers.icons.first?.attributes["size"] == "16")
    #expect(carriers.subscriptionLink?.href == "SubscriptionCollection")
    #expect(carriers.openSearchLink?.title == "searchCarrier")
    #expect(carriers.accepts == ["application/atom+xml"])
    #expect(document.collections.dropFirst().first?.flags == .standard)
  }

  @Test(
    "JSON service documents of V2, V3 and V4 list the same",
    arguments: [
      #"{"d":{"EntitySets":["A","B"]}}"#,
      #"{"odata.metadata":"http://h/$metadata","value":[{"name":"A","url":"A"},{"name":"B","url":"B"}]}"#,
      #"{"@odata.context":"http://h/$metadata","value":[{"name":"A","url":"A","kind":"EntitySet"},{"name":"B","url":"B","kind":"Singleton","title":"Best"}]}"#,
    ])
  func json(_ text: String) throws {
    let document = try ODataServiceDocument.read(text.bytes)
    #expect(document.collections.map(\.name) == ["A", "B"])
    #expect(throws: ODataError.self) { try ODataServiceDocument.read(#"{"value":[1]}"#.bytes) }
  }

  @Test(
    "Metadata matched with the service document gives every collection its schema",
    .reference(
      "ios/PAR-2", "ios/1.O.Schema", "ios/1.O.EntitySchema", "ios/1.O.PropertyInfo", "adr/PBX-7")
  )
  func schema() throws {
    var document: ODataServiceDocument? = try ODataParser.parseServiceDocument(Samples.service)
    let metadata = Samples.metadata2.replacing(
      "sap:semantics=\"name\"", with: "sap:semantics=\"name\" sap:visible-in-detail=\"false\"")
    let schema = try ODataParser.parseSchema(metadata, &document)
    #expect(schema.workspaces(.things).count == 1)
    let found = try #require(schema.collectionInWorkspace("FlightCollection"))
    #expect(found.workspace.title == "Data")
    let flights = try #require(found.collection.entitySchema)
    #expect(flights.flags.contains([.requiresFilter, .hasMedia, .queryable]))
    #expect(!flights.flags.contains(.creatable))
    let carriers = try #require(schema.collection("CarrierCollection")?.entitySchema)
    #expect(carriers.navigationMap == ["Flights": "FlightCollection"])
    let name = try #require(carriers.root.property(path: "CARRNAME"))
    #expect(name.semantics.kind == .name && name.maxLength == 20 && name.isNullable && !name.isKey)
    let key = try #require(carriers.root.property(path: "carrid"))
    #expect(key.isKey && !key.isUpdatable && !key.isNullable && key.label == "Airline")
    #expect(carriers.root.property(path: "Home\\City")?.name == "City")
    #expect(
      carriers.visibleInListPathsInOrder == ["carrid", "CARRNAME", "Home\\City", "Home\\Zip"])
    #expect(
      carriers.visibleInDetailPathsInOrder == ["carrid", "Home\\City", "Home\\Zip"])
    #expect(document?.diagnostics.map(\.message) == ["the metadata has no entity set Unknown"])
    var none: ODataServiceDocument?
    let error = #expect(throws: ODataError.self) {
      try ODataParser.parseSchema(Samples.metadata2, &none)
    }
    #expect(error?.code == .noServiceDocument)
  }

  @Test(
    "Entries inline only with a service document, and never without a schema",
    .reference("ios/PAR-3"))
  func entries() throws {
    var document: ODataServiceDocument? = try ODataParser.parseServiceDocument(Samples.service)
    let schema = try ODataParser.parseSchema(Samples.metadata2, &document)
    let flights = schema.collection("FlightCollection")?.entitySchema
    let text = Samples.atomFeed(entries: Samples.flightEntry)
    #expect(try ODataParser.parseEntries(text, flights).first?.inline("Carrier") == nil)
    #expect(try ODataParser.parseEntries(text, flights, document).first?.inline("Carrier") != nil)
    let error = #expect(throws: ODataError.self) { try ODataParser.parseEntries(text, nil) }
    #expect(error?.code == .noEntitySchema)
  }

  @Test("Semantics of properties have the reference's numbers")
  func semantics() {
    #expect(ODataPropertySemantics("tel;type=cell,work").types == 0x42)
    #expect(ODataPropertySemantics("email;type=pref").kind == .email)
    #expect(ODataPropertySemantics("zip").types == 0x140)
    #expect(ODataPropertySemantics("dtstart").types == 4)
    #expect(ODataPropertySemantics("currency-code").kind == .userDefined)
  }

  @Test("Annotations of V2 and vocabularies of V4 are read through one view")
  func annotations() throws {
    let two = try EdmMetadata.read(Samples.metadata2.bytes)
    let carrier = try #require(two.entityType("FLIGHT.Carrier"))
    let carrid = try #require(two.property("carrid", of: carrier))
    let key = two.view(of: carrid, in: carrier)
    #expect(key.label == "Airline" && key.textPath == "CARRNAME" && !key.isUpdatable)
    let four = try EdmMetadata.read(Samples.metadata4.bytes)
    let product = try #require(four.entityType("self.Product"))
    let property = try #require(four.property("Name", of: product))
    let name = four.view(of: property, in: product)
    #expect(name.label == "Name of it" && name.isSortable)
    #expect(name.valueList?.collection == "Products")
    #expect(name.valueList?.parameters.first?.local == "Name")
  }

  @Test(
    "A function import builds its address with literals and reads all six kinds of results",
    .reference("ios/PAR-5", "ios/1.O.FunctionImport")
  )
  func functions() throws {
    func function(_ returns: String, _ set: String = "") throws -> ODataFunctionImport {
      let text = Samples.metadata2.replacing(
        #"ReturnType="FLIGHT.Address" m:HttpMethod"#,
        with: returns.isEmpty ? "m:HttpMethod" : "ReturnType=\"\(returns)\" \(set) m:HttpMethod")
      let metadata = try EdmMetadata.read(text.bytes)
      let declared = try #require(metadata.functionImport("CheckAvailability"))
      return ODataFunctionImport(declared, in: metadata)
    }
    let none = try function("")
    #expect(
      try none.url(
        base: "http://host", parameters: ["airlineid": .string("O'x"), "seats": .int32(2)])
        == "http://host/CheckAvailability?airlineid='O''x'&seats=2")
    #expect(none.actionFor == "FLIGHT.Flight" && none.httpMethod == "GET")
    #expect(none.writableParameters["seats"]?.type.name == "Edm.Int32")
    #expect(try none.entries(of: []).isEmpty)
    let d =
      "xmlns:d=\"http://schemas.microsoft.com/ado/2007/08/dataservices\" xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\""
    let simple = try function("Edm.Int32")
    #expect(simple.returnTypeSchema?.root.name == "element")
    #expect(simple.flags == .simpleType)
    #expect(
      try simple.entries(of: "<d:C \(d) m:type=\"Edm.Int32\">5</d:C>".bytes).first?["element"]
        == .int32(5))
    #expect(
      try simple.entries(of: #"{"d":{"CheckAvailability":5}}"#.bytes).first?["element"] == .int32(5)
    )
    let complex = try function("FLIGHT.Address")
    #expect(
      try complex.entries(of: "<d:C \(d)><d:City>Erfurt</d:City></d:C>".bytes).first?["City"]
        == .string("Erfurt"))
    #expect(
      try complex.entries(of: #"{"d":{"CheckAvailability":{"City":"Erfurt"}}}"#.bytes).first?[
        "City"]
        == .string("Erfurt"))
    let list = try function("Collection(Edm.String)")
    #expect(list.flags == [.simpleType, .returnsCollection])
    #expect(
      try list.entries(of: "<d:C \(d)><d:element>a</d:element><d:element>b</d:element></d:C>".bytes)
        .map { $0["element"] } == [.string("a"), .string("b")])
    #expect(try list.entries(of: #"{"d":{"results":["a","b"]}}"#.bytes).count == 2)
    let complexes = try function("Collection(FLIGHT.Address)")
    #expect(
      try complexes.entries(
        of: "<d:C \(d)><d:element><d:City>a</d:City></d:element></d:C>".bytes
      ).first?["City"] == .string("a"))
    let entry = try function("FLIGHT.Flight", "EntitySet=\"FlightCollection\"")
    #expect(entry.flags == .entitySet)
    let text = Samples.atomFeed(entries: Samples.flightEntry)
    #expect(try entry.entries(of: text.bytes).first?["SEATSMAX"] == .int32(385))
    let feed = try function("Collection(FLIGHT.Flight)", "EntitySet=\"FlightCollection\"")
    #expect(feed.flags == [.entitySet, .returnsCollection])
    #expect(try feed.entries(of: text.bytes).count == 1)
  }

  @Test(
    "An OpenSearch description fills its templates", .reference("ios/PAR-6", "ios/1.O.OpenSearch"))
  func openSearch() throws {
    let description = try ODataParser.parseOpenSearchDescription(Samples.openSearch)
    #expect(description.shortName == "Carriers" && description.tags == ["a", "b"])
    let template = try #require(description.urlTemplates.first)
    #expect(template.parameters.map(\.name) == ["searchTerms", "count", "flight:plant"])
    #expect(
      try template.url(["searchTerms": "a b&c", "flight:plant": "7"])
        == "http://host/C?search=a%20b%26c&$top=&plant=7")
    #expect(throws: ODataError.self) { try template.url([:]) }
  }

  @Test("Action links give their parameters and build addresses", .reference("ios/1.O.Link"))
  func actionLinks() {
    let link = ODataActionLink(ODataLink(relation: "action", href: "Book?carrid='AA'&n=1"))
    #expect(link.parameters == ["carrid", "n"])
    #expect(link.defaultParameterValues["carrid"] == "'AA'")
    #expect(link.url(["n": "2"]) == "Book?carrid='AA'&n=2")
  }

  @Test(
    "Error documents of every version are read", .reference("ios/PAR-4", "ios/1.O.Error"),
    arguments: [
      """
      <error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>C/1</code>
      <message xml:lang="en">broken</message><innererror><transactionid>T</transactionid>
      <errordetails><errordetail><code>D</code><message>detail</message><propertyref>p</propertyref>
      <severity>error</severity></errordetail></errordetails></innererror></error>
      """,
      #"{"error":{"code":"C/1","message":{"lang":"en","value":"broken"},"innererror":{"transactionid":"T","errordetails":[{"code":"D","message":"detail","propertyref":"p"}]}}}"#,
      #"{"error":{"code":"C/1","message":"broken","details":[{"code":"D","message":"detail","target":"p"}],"innererror":{"transactionid":"T"}}}"#,
      #"{"odata.error":{"code":"C/1","message":{"lang":"en","value":"broken"},"innererror":{"transactionid":"T","errordetails":[{"code":"D","message":"detail","target":"p"}]}}}"#,
    ])
  func errors(_ text: String) throws {
    let error = try ODataParser.parseError(text)
    #expect(error.code == "C/1" && error.message == "broken")
    #expect(error.innerError["transactionid"] == "T")
    #expect(error.details.first?.target == "p" && error.details.first?.message == "detail")
  }

  @Test("A login page is told as that, whatever was asked for")
  func loginPage() {
    let page = "<!DOCTYPE html><html><body><form>Sign in</form></body></html>".bytes
    let readers: [([UInt8]) throws -> Void] = [
      { _ = try ODataFeed.read($0) }, { _ = try EdmMetadata.read($0) },
      { _ = try ODataErrorDocument.read($0) }, { _ = try ODataServiceDocument.read($0) },
      { _ = try ODataOpenSearchDescription.read($0) },
    ]
    for read in readers {
      let error = #expect(throws: ODataError.self) { try read(page) }
      #expect(error?.code == .htmlPage)
    }
  }

  @Test(
    "Value objects judge their values, and can be told not to",
    .reference("ios/1.O.PropertyValueObject"))
  func validation() throws {
    var info = ODataPropertyInfo("PRICE", type: EdmTypeReference("Edm.Decimal"))
    info.precision = 5
    info.scale = .fixed(2)
    var object = ODataPropertyValueObject(info)
    #expect(object.isValid)
    object.setText("123.45")
    #expect(object.isValid && object.value == .decimal(EdmDecimal("123.45")!))
    object.setText("1234.56")
    #expect(object.problem == "PRICE has more than 5 digits")
    object.setText("1.234")
    #expect(!object.isValid)
    object.setText("dear")
    #expect(!object.isValid)
    object.isValidationDisabled = true
    #expect(object.isValid)
    info = ODataPropertyInfo("N", type: EdmTypeReference("Edm.String"))
    info.maxLength = 2
    info.flags.remove(.nullable)
    #expect(ODataPropertyValueObject(info, value: .string("<b")).htmlEncodedText == "&lt;b")
    #expect(!ODataPropertyValueObject(info, value: .string("abc")).isValid)
    #expect(!ODataPropertyValueObject(info, value: .null).isValid)
    #expect(!ODataPropertyValueObject(info, value: .int32(1)).isValid)
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)
    let set = try #require(metadata.entitySet("CarrierCollection"))
    let schema = try #require(ODataEntitySchema(of: set, in: metadata))
    #expect(schema.problems(of: ODataEntry(["carrid": .string("AAAA")])).count == 1)
    #expect(schema.problems(of: ODataEntry(["carrid": .string("AA")])).isEmpty)
  }

  @Test("Next links that loop or lead elsewhere are not followed")
  func nextLinks() throws {
    var links = ODataNextLinks(start: "https://host/service/Set?$top=1")
    #expect(try links.follow("Set?$skiptoken=1") == "https://host/service/Set?$skiptoken=1")
    #expect(try links.follow("https://HOST:443/other") == "https://HOST:443/other")
    #expect(throws: ODataError.self) { try links.follow("Set?$skiptoken=1") }
    #expect(throws: ODataError.self) { try links.follow("Set?$top=1") }
    #expect(throws: ODataError.self) { try links.follow("https://elsewhere/Set") }
    #expect(throws: ODataError.self) { try links.follow("http://host/Set") }
    #expect(throws: ODataError.self) { try links.follow("//elsewhere/Set") }
  }

  @Test(
    "Any XML is read without loss and reached by routes",
    .reference("adr/PBX-1", "adr/PBX-2", "adr/PBX-3", "adr/PAX-2"))
  func generic() throws {
    let text = "<a xmlns:p=\"urn:p\"><b k=\"1\"/>x<b p:k=\"2\"><c>&lt;deep&gt;</c></b>y</a>"
    let document = try ODataParser.parseXML(text.bytes)
    #expect(document.value(route: "/a/1/b/2/c/1") == "<deep>")
    #expect(document.value(route: "/a/1") == "xy")
    #expect(document.value(route: "/a/1/b/3") == nil)
    #expect(document.value(route: "/a") == nil)
    #expect(document.attribute(route: "/a/1/b/2/k", namespace: "urn:p") == "2")
    #expect(document.attribute(route: "/a/1/b/1/k") == "1")
    let again = try ODataXMLDocument(document.xml())
    #expect(again.root == document.root)
  }
}
