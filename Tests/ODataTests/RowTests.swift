import FerryOData
import FerryTestTraits
import Testing

@Suite("Rows") struct RowTests {
  private func reader(_ text: String, size: Int = .max) -> ODataFeedReader {
    let reader = ODataFeedReader()
    let bytes = text.bytes
    for start in stride(from: 0, to: bytes.count, by: min(size, bytes.count)) {
      reader.push(Array(bytes[start..<min(start + min(size, bytes.count), bytes.count)]))
    }
    reader.finish()
    return reader
  }

  private static let json = #"""
    {"d":{"__count":"2","results":[{"__metadata":{"uri":"http://host/1"},
      "Name":"A\u00e9","Count":385,"Big":"9223372036854775807","Price":"422.9400","Mass":0.125,
      "On":true,"Made":"\/Date(1795248000123)\/","Key":"01234567-89ab-cdef-0123-456789abcdef",
      "Empty":null,"Home":{"City":"Erfurt"},"Wrong":"many"}],"__next":"p2"}}
    """#

  private static let atom = Samples.atomFeed(
    entries: """
      <at:deleted-entry ref="x"/>
      <entry><id>http://host/1</id><content type="application/xml"><m:properties>
        <d:Name>A&#233;</d:Name><d:Count m:type="Edm.Int32"> 385 </d:Count>
        <d:Big m:type="Edm.Int64">9223372036854775807</d:Big>
        <d:Price m:type="Edm.Decimal">422.9400</d:Price><d:Mass>0.125</d:Mass><d:On>true</d:On>
        <d:Made>2026-11-21T08:00:00.123</d:Made>
        <d:Key>01234567-89ab-cdef-0123-456789abcdef</d:Key><d:Empty m:null="true"/>
        <d:Home><d:City>Erfurt</d:City></d:Home><d:Wrong>many</d:Wrong>
      </m:properties></content></entry>
      """, head: "<m:count>2</m:count><link rel=\"next\" href=\"p2\"/>")

  @Test(
    "A row gives each value as the type that is asked for, in any order", arguments: [atom, json])
  func values(_ text: String) throws {
    let reader = reader(text)
    let row = try #require(try reader.nextRow())
    #expect(try row.decimal("Price")?.text == "422.9400")
    #expect(try row.string("Name") == "Aé")
    #expect(try row.integer("Count") == 385)
    #expect(try row.integer("Big") == .max)
    #expect(try row.double("Mass") == 0.125)
    #expect(try row.double("Price") == 422.94)
    #expect(try row.boolean("On") == true)
    #expect(try row.dateTime("Made")?.milliseconds.value == 1_795_248_000_123)
    #expect(try row.dateTimeOffset("Made")?.secondsSince1970 == 1_795_248_000)
    #expect(try row.guid("Key")?.high == 0x0123_4567_89AB_CDEF)
    #expect(try row.value("Count", as: .int16) == .int16(385))
    #expect(try row.string("Empty") == nil)
    #expect(try row.integer("Missing") == nil)
    #expect(try row.string("Name") == "Aé")
    #expect(try row.entry().properties.count == 11)
    #expect(try reader.nextRow() == nil)
    #expect(reader.head.count == "2")
  }

  @Test(
    "What is none of the type that is asked for is refused with its place", arguments: [atom, json])
  func refusals(_ text: String) throws {
    let row = try #require(try reader(text).nextRow())
    for name in ["Wrong", "Home", "Name"] {
      let error = #expect(throws: ODataError.self) { try row.integer(name) }
      #expect(error?.code == .invalidValue)
      #expect(error?.message == "\(name) is not an Edm.Int64")
      #expect(error?.place?.path.hasSuffix("/" + name) == true)
      #expect(error?.place?.line ?? 0 > 1)
    }
  }

  @Test(
    "A row that is kept still gives its values when the reader has read on", arguments: [7, 4_096])
  func kept(_ size: Int) throws {
    let entries = (0..<2_000).map {
      "<entry><content><m:properties><d:N>\($0)</d:N></m:properties></content></entry>"
    }
    let objects = (0..<2_000).map { "{\"N\":\($0)}" }
    for text in [
      Samples.atomFeed(entries: entries.joined()),
      "{\"value\":[\(objects.joined(separator: ","))]}",
    ] {
      let reader = reader(text, size: size)
      var rows: [ODataRow] = []
      while let row = try reader.nextRow() { rows.append(row) }
      #expect(try rows.map { try $0.integer("N") } == (0..<2_000).map { Int64($0) })
    }
  }

  @Test(
    "Rows and entries of one feed are told alike, however it is cut", arguments: [1, 64, 8_192])
  func pieces(_ size: Int) throws {
    for text in [
      Samples.atomFeed(entries: Samples.flightEntry + Samples.flightEntry), Self.json,
      #"{"@odata.context":"c","value":[{"@odata.id":"1","a":1},{"@removed":{},"@id":"2"}]}"#,
      #"{"@odata.context":"c/$entity","a":1}"#, Samples.single,
    ] {
      let rows = reader(text, size: size)
      let whole = reader(text)
      while let entry = try whole.nextEntry() {
        #expect(try rows.nextRow()?.entry() == entry)
      }
      #expect(try rows.nextRow() == nil)
    }
  }

  @Test("Rows before an error in the stream are handed out, then the error is thrown each time")
  func inStreamError() throws {
    let fault = "<m:error><m:code>500</m:code><m:message>broken</m:message></m:error>"
    for text in [
      Samples.atomFeed(entries: "<entry><id>1</id></entry>" + fault),
      #"{"value":[{"a":1},{"error":{"code":"500","message":"broken"}}]}"#,
    ] {
      let reader = reader(text)
      #expect(try reader.nextRow() != nil)
      for _ in 0..<2 {
        #expect(#expect(throws: ODataError.self) { try reader.nextRow() }?.code == .service)
      }
    }
  }

  @Test(
    "The log counts bytes and entries, and takes its time from the clock it is given",
    .reference("adr/PAX-8", "adr/PBX-10")
  )
  func log() throws {
    var now = Duration.zero
    let reader = ODataFeedReader(clock: {
      now += .milliseconds(5)
      return now
    })
    let bytes = Self.atom.bytes
    reader.push(bytes)
    reader.finish()
    while try reader.next() != nil {}
    #expect(reader.performance.bytes == bytes.count)
    #expect(reader.performance.entries == 1 && reader.performance.others == 1)
    #expect(reader.performance.time == .milliseconds(15))
    #expect(reader.performance.description == "\(bytes.count) bytes, 1 entries, 0.01 s")
    #expect(ODataFeedReader().performance == ODataReadLog())
  }
}

extension Samples {
  static let single = """
    <entry xmlns="http://www.w3.org/2005/Atom"
      xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>1</id>
      <content type="application/xml"><m:properties><d:a m:type="Edm.Int32">1</d:a></m:properties>
      </content></entry>
    """
}
