import FerryOData
import FerryTestTraits
import Testing

/// The samples of the reference's parser chapters, named by their numbers in the inventories.
@Suite("Samples of the reference") struct ReferenceSampleTests {
  @Test(
    "The three kinds of answers are parsed in their order", .reference("ios/CS-52", "ios/CS-82"))
  func answers() throws {
    var serviceDocument: ODataServiceDocument? = try ODataParser.parseServiceDocument(
      Samples.service)
    let schema = try ODataParser.parseSchema(Samples.metadata2, &serviceDocument)
    let carriers = try #require(schema.collection("CarrierCollection"))
    let feed = Samples.atomFeed(
      entries: """
        <entry><content type="application/xml"><m:properties><d:carrid>LH</d:carrid>
        </m:properties></content></entry>
        """)
    let entries = try ODataParser.parseEntries(feed, carriers.entitySchema, serviceDocument)
    #expect(entries.map { $0["carrid"] } == [.string("LH")])
  }

  @Test(
    "Each convenience function is one call",
    .reference("ios/CS-81", "ios/PAR-7", "ios/1.O.EntryXML", "ios/1.O.FeedXML"))
  func functions() throws {
    var serviceDocument: ODataServiceDocument? = try ODataParser.parseServiceDocument(
      Samples.service)
    let schema = try ODataParser.parseSchema(Samples.metadata2, &serviceDocument)
    let error = try ODataParser.parseError("<error><code>1</code><message>m</message></error>")
    #expect(error.code == "1")
    let function = try #require(serviceDocument?.functionImports["CheckAvailability"])
    let result = try ODataParser.parseFunctionImportResult(
      #"{"d":{"CheckAvailability":{"City":"Erfurt"}}}"#, function)
    #expect(result.first?["City"] == .string("Erfurt"))
    #expect(try ODataParser.parseOpenSearchDescription(Samples.openSearch).shortName == "Carriers")
    let entry = ODataEntry(type: "FLIGHT.Carrier", ["carrid": .string("LH")])
    let payload = try ODataParser.buildEntry(
      entry, .create, serviceDocument, serializeInlinedEntries: true)
    #expect(payload.method == "POST" && payload.text.contains("<d:carrid>LH</d:carrid>"))
    let full = try ODataParser.buildEntry(
      entry, .updateFull, serviceDocument, serializeInlinedEntries: false)
    #expect(full.method == "PUT")
    let part = try ODataParser.buildEntry(
      entry, .updateIncremental, serviceDocument, serializeInlinedEntries: false)
    #expect(part.method == "MERGE")
    let kept = try ODataParser.buildFeed(
      [entry, entry], .archive, serviceDocument, serializeInlinedEntries: true)
    #expect(kept.method == nil)
    let schemaOfCarriers = schema.collection("CarrierCollection")?.entitySchema
    #expect(try ODataParser.parseEntries(kept.body, schemaOfCarriers).count == 2)
  }

  @Test(
    "The ETag of each entry, nil where there is none",
    .reference("ios/CS-83", "adr/A45", "adr/B14", "ios/PAR-9", "adr/ETG-1")
  )
  func etags() throws {
    let feed = Samples.atomFeed(entries: Samples.flightEntry + "<entry><id>2</id></entry>")
    let etags = try ODataFeed.read(feed.bytes).entries.map(\.etag)
    #expect(etags == ["W/\"7\"", nil])
  }

  @Test(
    "A feed or a single entry is a list, and an annotation is read dynamically",
    .reference("adr/A44", "adr/PAX-3", "adr/PAX-4")
  )
  func visibleInList() throws {
    let metadata = try EdmMetadata.read(
      Samples.metadata2.replacing(
        "sap:semantics=\"name\"", with: "sap:semantics=\"name\" sap:visible-in-list=\"false\""
      ).bytes)
    let type = try #require(metadata.entityType("FLIGHT.Carrier"))
    let property = try #require(metadata.property("CARRNAME", of: type))
    #expect(property.attributes["visible-in-list"] == "false")
    #expect(!property.sap.visibleInList)
    let single = "<entry xmlns=\"http://www.w3.org/2005/Atom\"><id>1</id></entry>"
    #expect(try ODataFeed.read(single.bytes).entries.count == 1)
  }

  @Test("A streamed answer is parsed while it arrives", .reference("adr/A48"))
  func streamed() throws {
    let bytes = Samples.atomFeed(entries: Samples.flightEntry).bytes
    let reader = ODataFeedReader()
    var found: [ODataEntry] = []
    for start in stride(from: 0, to: bytes.count, by: 1_024) {
      reader.push(Array(bytes[start..<min(start + 1_024, bytes.count)]))
      while let entry = try reader.nextEntry() { found.append(entry) }
    }
    reader.finish()
    while let entry = try reader.nextEntry() { found.append(entry) }
    #expect(found.first?["carrid"] == .string("AA"))
  }

  @Test("Any XML by routes, and the OData parses in their order", .reference("adr/B13"))
  func routes() throws {
    let document = try ODataParser.parseXML(Samples.service.bytes)
    #expect(document.value(route: "/service/1/workspace/1/collection/1/title/1") == "Carriers")
    let route = "/service/1/workspace/2/collection/1/href"
    #expect(document.attribute(route: route) == "FlightCollection")
    #expect(document.source == Samples.service.bytes)
  }
}
