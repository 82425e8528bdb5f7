import FerryOData
import FerryTestTraits
import Testing

extension Samples {
  static func atomFeed(entries: String, head: String = "") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom"
      xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
      xmlns:sap="http://www.sap.com/Protocols/SAPData"
      xmlns:at="http://purl.org/atompub/tombstones/1.0" xml:base="http://host/service/">
    <id>http://host/service/CarrierCollection</id><title type="text">CarrierCollection</title>
    <updated>2026-11-21T08:00:00Z</updated>\(head)
    \(entries)
    </feed>
    """
  }

  static let flightEntry = """
    <entry m:etag="W/&quot;7&quot;">
      <id>http://host/service/FlightCollection('AA')</id>
      <title type="text">Flight</title><updated>2026-11-21T08:00:00Z</updated>
      <author><name>nobody</name></author>
      <link rel="edit" title="Flight" href="FlightCollection('AA')"/>
      <link rel="edit-media" href="FlightCollection('AA')/$value" m:etag="W/&quot;media&quot;"/>
      <link rel="http://host/rel/action" sap:semantics="action" title="Book" href="Book?a=1"/>
      <link rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/Carrier"
        type="application/atom+xml;type=entry" title="Carrier" href="FlightCollection('AA')/Carrier">
        <m:inline><entry m:etag="c">
          <category term="FLIGHT.Carrier"
            scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
          <link rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/Flights"
            type="application/atom+xml;type=feed" title="Flights" href="x">
            <m:inline><feed><entry><content type="application/xml"><m:properties>
              <d:connid>17</d:connid></m:properties></content></entry></feed></m:inline></link>
          <content type="application/xml"><m:properties><d:carrid>AA</d:carrid>
            <d:Home m:type="FLIGHT.Address"><d:City>Erfurt</d:City><d:Zip m:null="true"/></d:Home>
          </m:properties></content></entry></m:inline>
      </link>
      <category term="FLIGHT.Flight"
        scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
      <content type="image/png" src="FlightCollection('AA')/$value"/>
      <m:properties>
        <d:carrid>AA</d:carrid>
        <d:fldate m:type="Edm.DateTime">2026-11-21T08:00:00.1234567</d:fldate>
        <d:PRICE m:type="Edm.Decimal">422.9400</d:PRICE>
        <d:SEATSMAX m:type="Edm.Int32">385</d:SEATSMAX>
        <d:MILES>9223372036854775807</d:MILES>
        <d:DURATION>PT8H</d:DURATION>
        <d:CURRENCY m:null="true"/>
        <d:Undeclared m:type="Edm.Double">INF</d:Undeclared>
      </m:properties>
    </entry>
    """
}

@Suite("Atom") struct AtomTests {
  let metadata: EdmMetadata
  init() throws { metadata = try EdmMetadata.read(Samples.metadata2.bytes) }

  @Test(
    "An entry gives typed values, media, ETags, links and inlined content",
    .reference("ios/PAR-3", "ios/PAR-12", "ios/1.O.Entry")
  )
  func entry() throws {
    let feed = try ODataFeed.read(
      Samples.atomFeed(
        entries: Samples.flightEntry, head: "<m:count>12</m:count><link rel=\"next\" href=\"p2\"/>"
      ).bytes, ODataReadOptions(metadata: metadata, set: "FlightCollection"))
    #expect(feed.count == "12")
    #expect(feed.next == "http://host/service/p2")
    let entry = try #require(feed.entries.first)
    #expect(entry.etag == "W/\"7\"")
    #expect(entry.type == "FLIGHT.Flight")
    #expect(entry["PRICE"] == EdmDecimal("422.9400").map { .decimal($0) })
    #expect(entry["PRICE"]?.text == "422.9400")
    #expect(entry["fldate"]?.text == "2026-11-21T08:00:00.1234567")
    #expect(entry["SEATSMAX"] == .int32(385))
    #expect(entry["MILES"] == .int64(.max))
    #expect(entry["DURATION"] == .time(EdmDuration(seconds: 28_800)))
    #expect(entry["CURRENCY"] == .null)
    #expect(entry["Undeclared"] == .double(.infinity))
    #expect(entry["nothing"] == nil)
    #expect(entry.media?.contentType == "image/png")
    #expect(entry.media?.etag == "W/\"media\"")
    #expect(entry.mediaLinksForEditing.count == 1 && entry.mediaLinksForReading.count == 1)
    #expect(entry.actionLinks.first?.title == "Book")
    #expect(entry.actionLinks.first?.semantic == .action)
    let carrier = try #require(entry.inline("Carrier")?.entry)
    #expect(carrier[path: "Home\\City"] == .string("Erfurt"))
    #expect(carrier[path: "Home/Zip"] == .null)
    #expect(carrier.inline("Flights")?.entries.first?["connid"] == .string("17"))
  }

  @Test("Inlined content is passed over when asked to")
  func withoutInline() throws {
    let feed = try ODataFeed.read(
      Samples.atomFeed(entries: Samples.flightEntry).bytes, ODataReadOptions(readsInline: false))
    let entry = try #require(feed.entries.first)
    let carrier = "http://host/service/FlightCollection('AA')/Carrier"
    #expect(entry.relatedLink("Carrier")?.href == carrier)
    #expect(entry.inline("Carrier") == nil)
  }

  @Test("A customised feed gives the values that stand outside the properties")
  func customised() throws {
    let text = Samples.atomFeed(
      entries: """
        <entry><title>Lufthansa</title><category term="FLIGHT.Carrier"
          scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
        <content type="application/xml"><m:properties><d:carrid>LH</d:carrid></m:properties></content>
        </entry>
        """)
    let feed = try ODataFeed.read(text.bytes, ODataReadOptions(metadata: metadata))
    #expect(feed.entries.first?["CARRNAME"] == .string("Lufthansa"))
  }

  @Test("Deleted entries, delta links and a value that is none of its type are kept and told")
  func changes() throws {
    let text = Samples.atomFeed(
      entries: """
        <at:deleted-entry ref="http://host/1" when="2026-01-01T00:00:00Z"/>
        <entry><id>2</id><content type="application/xml"><m:properties>
          <d:n m:type="Edm.Int32">many</d:n></m:properties></content></entry>
        """, head: "<link rel=\"delta\" href=\"d2\"/>")
    let reader = ODataFeedReader()
    reader.push(text.bytes)
    reader.finish()
    guard case .deleted(let gone)? = try reader.next() else {
      Issue.record("no deleted entry")
      return
    }
    #expect(gone.id == "http://host/1" && gone.when == "2026-01-01T00:00:00Z")
    #expect(try reader.nextEntry()?["n"] == .invalid("many", .int32))
    #expect(try reader.next() == nil)
    #expect(reader.head.delta == "http://host/service/d2")
    #expect(reader.diagnostics.first?.message == "\"many\" is not an Edm.Int32")
    #expect(reader.diagnostics.first?.place.path == "/feed/entry/content/properties/n")
    #expect(throws: ODataError.self) {
      try ODataFeed.read(text.bytes, ODataReadOptions(isStrict: true))
    }
  }

  @Test("Entries before an error in the stream are handed out, then the error is thrown")
  func inStreamError() throws {
    let text = Samples.atomFeed(
      entries: """
        <entry><id>1</id></entry>
        <m:error><m:code>500</m:code><m:message xml:lang="en">broken</m:message></m:error>
        """)
    let reader = ODataFeedReader()
    reader.push(text.bytes)
    reader.finish()
    #expect(try reader.next() != nil)
    let error = #expect(throws: ODataError.self) { try reader.next() }
    #expect(error?.code == .service)
    #expect(error?.message.contains("broken") == true)
  }

  @Test(
    "A feed cut into pieces of any size gives the same entries", .reference("adr/PAX-10"),
    arguments: [1, 2, 7, 64, 4_096])
  func pieces(_ size: Int) throws {
    let bytes = Samples.atomFeed(entries: Samples.flightEntry + Samples.flightEntry).bytes
    let whole = try ODataFeed.read(bytes)
    let reader = ODataFeedReader()
    var items: [ODataItem] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      reader.push(Array(bytes[start..<min(start + size, bytes.count)]))
      while let item = try reader.next() { items.append(item) }
    }
    reader.finish()
    while let item = try reader.next() { items.append(item) }
    #expect(items == whole.items)
    #expect(items.count == 2)
  }

  @Test("Shapes of GML are read, latitude first for geography")
  func shapes() throws {
    let text = Samples.atomFeed(
      entries: """
        <entry><content type="application/xml"><m:properties>
        <d:p m:type="Edm.GeographyPoint"><gml:Point xmlns:gml="http://www.opengis.net/gml"
          gml:srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><gml:pos>50.97 11.03</gml:pos>
          </gml:Point></d:p></m:properties></content></entry>
        """)
    let value = try #require(try ODataFeed.read(text.bytes).entries.first?["p"])
    #expect(value == .spatial(EdmSpatial(.point([11.03, 50.97]), srid: 4_326)))
  }
}
