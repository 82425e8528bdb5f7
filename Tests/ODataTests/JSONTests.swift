import FerryOData
import FerryODataShell
import FerryTestTraits
import Testing

@Suite("JSON") struct JSONTests {
  @Test("Verbose JSON of V2 gives the same kinds of things as Atom", .reference("ios/PAR-13"))
  func verbose() throws {
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)
    let text = #"""
      {"d":{"__count":"3","results":[{
        "__metadata":{"uri":"http://host/FlightCollection('AA')","type":"FLIGHT.Flight",
          "etag":"W/\"7\"","media_src":"m","content_type":"image/png","edit_media":"e",
          "media_etag":"t"},
        "carrid":"AA","fldate":"\/Date(1795248000123)\/","PRICE":"422.9400","MILES":"9007199254740993",
        "SEATSMAX":385,"DURATION":"PT8H","CURRENCY":null,
        "Carrier":{"__deferred":{"uri":"http://host/Carrier"}},
        "Stops":{"results":[{"__metadata":{"uri":"s1"},"a":1}],"__next":"n2"},
        "Home":{"__metadata":{"type":"FLIGHT.Address"},"City":"Erfurt","Zip":null}
      }],"__next":"http://host/p2"}}
      """#
    let feed = try ODataFeed.read(
      text.bytes, ODataReadOptions(metadata: metadata, set: "FlightCollection"))
    #expect(feed.count == "3" && feed.next == "http://host/p2")
    let entry = try #require(feed.entries.first)
    #expect(entry.id == "http://host/FlightCollection('AA')")
    #expect(entry.etag == "W/\"7\"")
    #expect(entry["fldate"]?.text == "2026-11-21T08:00:00.123")
    #expect(entry["PRICE"]?.text == "422.9400")
    #expect(entry["MILES"] == .int64(9_007_199_254_740_993))
    #expect(entry["CURRENCY"] == .null)
    #expect(
      entry.media == ODataMedia(contentType: "image/png", source: "m", editLink: "e", etag: "t"))
    #expect(entry.relatedLink("Carrier")?.href == "http://host/Carrier")
    #expect(entry.inline("Carrier") == nil)
    #expect(entry.inline("Stops")?.feed?.next == "n2")
    #expect(entry.inline("Stops")?.entries.first?["a"] == .int32(1))
    #expect(entry[path: "Home/City"] == .string("Erfurt"))
    #expect(entry.properties.names.contains("Home"))
  }

  @Test("JSON of V4 gives typed values, streams, bindings, counts and links of changes")
  func version4() throws {
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes)
    let text = #"""
      {"@odata.context":"$metadata#Products","@odata.count":2,"value":[
       {"ID":"01234567-89ab-cdef-0123-456789abcdef","Name":"Ha\u00e9\ud83d\ude00","Price":1.10,
        "Big":9223372036854775807,"Ratio":"-INF","Color":"Red,Green","Tags":["a","b"],
        "Size":{"Width":1,"Height":null},"Sizes":[{"Width":2,"Height":3}],
        "Place":{"type":"Point","coordinates":[11.03,50.97]},
        "Stamp":"2026-11-21T08:00:00.1234567+01:00","Day":"2026-11-21","Open":"08:00:00.5",
        "Span":"P1DT1S","Blob":"_-8","Free":12345678901234567890.5,"Free@odata.type":"#Decimal",
        "Photo@odata.mediaReadLink":"p","Photo@odata.mediaContentType":"image/png",
        "Weight":2.500,"Name@Core.Note":"n",
        "Parts@odata.count":1,"Parts@odata.nextLink":"more","Parts":[{"Name":"x"}],
        "Whole":null,"Whole@odata.navigationLink":"Products(1)/Whole",
        "@odata.etag":"W/\"1\"","@odata.id":"Products(1)","#Shop.Model.Top":{"title":"t"},
        "@odata.type":"#Shop.Model.Product"},
       {"@odata.context":"#Products/$deletedEntity","id":"Products(9)","reason":"deleted"},
       {"@removed":{"reason":"changed"},"@id":"Products(8)"},
       {"@odata.context":"#Products/$link","source":"a","relationship":"Parts","target":"b"}
      ],"@odata.deltaLink":"d1"}
      """#
    let feed = try ODataFeed.read(text.bytes, ODataReadOptions(metadata: metadata, set: "Products"))
    #expect(feed.count == "2" && feed.delta == "d1")
    let entry = try #require(feed.entries.first)
    #expect(entry["Name"] == .string("Haé😀"))
    #expect(
      entry.operations == [
        ODataOperation(isFunction: false, metadata: "#Shop.Model.Top", title: "t")
      ])
    #expect(entry["#Shop.Model.Top"] == nil)
    #expect(entry["Price"]?.text == "1.10")
    #expect(entry["Big"] == .int64(.max))
    #expect(entry["Ratio"] == .double(-.infinity))
    #expect(entry["Color"] == .enumeration("Red,Green", type: "Shop.Model.Color"))
    #expect(entry["Tags"] == .collection([.string("a"), .string("b")]))
    #expect(entry[path: "Size/Width"] == .int32(1))
    #expect(entry["Place"] == .spatial(EdmSpatial(.point([11.03, 50.97]))))
    #expect(entry["Stamp"]?.text == "2026-11-21T08:00:00.1234567+01:00")
    #expect(entry["Open"]?.text == "08:00:00.5")
    #expect(entry["Blob"] == .binary([0xFF, 0xEF]))
    #expect(entry["Free"]?.text == "12345678901234567890.5")
    #expect(entry["Weight"]?.text == "2.500")
    #expect(entry.properties.property("Name")?.annotations["Core.Note"] == .string("n"))
    #expect(entry.inline("Parts")?.feed?.count == "1")
    #expect(entry.inline("Parts")?.feed?.next == "more")
    #expect(entry.inline("Whole") == .entry(nil))
    #expect(entry.relatedLink("Whole")?.href == "Products(1)/Whole")
    #expect(entry.mediaLinksForReading.first?.href == "p")
    #expect(feed.deletedEntries.map(\.id) == ["Products(9)", "Products(8)"])
    #expect(
      feed.items.last
        == .link(
          ODataChangedLink(isDeleted: false, source: "a", relationship: "Parts", target: "b")))
  }

  @Test("What has parentheses in the context is an entity, without metadata too")
  func expandedByContext() throws {
    let text = #"""
      {"@odata.context":"http://h/s/$metadata#Items(ID,Product(Name,Maker(Name)),Notes(),Home/Land(N))",
       "value":[{"ID":1,"Product":{"Name":"a","Maker":{"Name":"m"},"Size":{"Width":1}},
         "Notes":[{"Text":"x"},{"Text":"y"}],"Home":{"City":"E","Land":{"N":"D"}},"Tag":{"a":1}},
        {"ID":2,"Product":null,"Notes":[],"Home":null}]}
      """#
    let feed = try ODataFeed.read(text.bytes)
    let entry = try #require(feed.entries.first)
    #expect(entry.properties.names == ["ID", "Home", "Tag"])
    let product = try #require(entry.inline("Product")?.entries.first)
    #expect(product["Name"] == .string("a") && product[path: "Size/Width"] == .int32(1))
    #expect(product.inline("Maker")?.entries.first?["Name"] == .string("m"))
    #expect(entry.inline("Notes")?.entries.count == 2)
    let home = try #require(entry["Home"]?.complex)
    #expect(home.links.first?.inline?.entries.first?["N"] == .string("D"))
    #expect(feed.entries.last?.inline("Product") == .entry(nil))
    #expect(feed.entries.last?.inline("Notes")?.feed?.items.isEmpty == true)
    #expect(try ODataDescriber.describe(text.bytes).counts["entriesIncludingInline"] == 6)
    let reader = ODataFeedReader()
    reader.push(text.bytes)
    reader.finish()
    #expect(try reader.nextRow()?.entry() == entry)
  }

  @Test(
    "The context names what is expanded in a feed, an entry, a member and behind a key with brackets",
    arguments: [
      ("http://h/s/$metadata#Items(Product(Name))", true),
      ("http://h/s/$metadata#Items(Product())", true),
      ("http://h/s/$metadata#Items(Product+)", true),
      ("http://h/s/$metadata#Items(S.Special/Product(Name))/$entity", true),
      ("http://h/s/$metadata#Shops('a)(b')/Items(ID,Product+(Name))/$delta", true),
      ("http://h/s/$metadata#Items(Product)", false), ("http://h/s/$metadata#Items", false),
      ("http://h/s/$metadata#Items(Product('a'))/Name", false),
      ("http://h/s/$metadata#Items(" + String(repeating: "A(", count: 200_000), false),
      ("http://h/s/$metadata#Items(Product/Name)", false), ("#)(Product()", false),
    ])
  func contexts(_ context: String, _ isExpanded: Bool) throws {
    let one = #"{"ID":1,"Product":{"Name":"a"}}"#
    for text in [
      #"{"@odata.context":"\#(context.replacing("/$entity", with: ""))","value":[\#(one)]}"#,
      #"{"value":[{"@odata.context":"\#(context)","Product":{"Name":"a"}}]}"#,
      #"{"@odata.context":"\#(context)","ID":1,"Product":{"Name":"a"}}"#,
      #"{"Item@odata.context":"\#(context)","Item":\#(one),"A":1}"#,
    ] {
      var entry = try #require(try ODataFeed.read(text.bytes).entries.first)
      entry = entry.inline("Item")?.entries.first ?? entry
      #expect((entry.inline("Product") != nil) == isExpanded, "\(text.prefix(200))")
      #expect((entry["Product"] == nil) == isExpanded)
    }
  }

  @Test("A feed whose context names what is expanded goes to Atom")
  func expandedToAtom() throws {
    let text = #"""
      {"@odata.context":"http://h/s/$metadata#Items(Product(Name,Maker(Name)))","value":[
       {"ID":1,"Product":{"Name":"a","Maker@odata.navigationLink":"P(1)/Maker","Maker":{"Name":"m"}}}]}
      """#
    let atom = try ODataConversion.convert(text.bytes, to: .atom)
    let back = try #require(try ODataFeed.read(atom).entries.first)
    let product = try #require(back.inline("Product")?.entries.first)
    #expect(product["Name"] == .string("a"))
    #expect(product.inline("Maker")?.entries.first?["Name"] == .string("m"))
  }

  @Test(
    "A next link may be an object with an address; what is neither is told",
    arguments: [
      (#""n""#, "n", 0), (#"{"uri":"n"}"#, "n", 0), ("null", nil, 0), ("5", nil, 1),
      (#"{"url":"n"}"#, nil, 1), (#"["n"]"#, nil, 1), ("true", nil, 1), (#"{"uri":5}"#, nil, 1),
    ])
  func nextObjects(_ spelled: String, _ next: String?, _ faults: Int) throws {
    let inner = #"{"results":[{"__metadata":{"uri":"b"}}],"__next":\#(spelled)}"#
    let light = #"{"ID":1,"Parts":[{"ID":2}],"Parts@odata.nextLink":\#(spelled)}"#
    for text in [
      #"{"d":{"results":[{"__metadata":{"uri":"a"},"x":1}],"__next":\#(spelled)}}"#,
      #"{"d":{"__next":\#(spelled),"results":[{"__metadata":{"uri":"a"},"x":1}]}}"#,
      #"{"value":[{"ID":1}],"@odata.nextLink":\#(spelled)}"#,
      #"{"d":{"results":[{"__metadata":{"uri":"a"},"Parts":\#(inner)}]}}"#,
      #"{"value":[\#(light)]}"#,
    ] {
      let reader = ODataFeedReader()
      reader.push(text.bytes)
      reader.finish()
      var inlined: String?
      while let entry = try reader.nextEntry() {
        inlined = entry.inline("Parts")?.feed?.next
      }
      #expect(reader.head.next ?? inlined == next, "\(text)")
      #expect(reader.diagnostics.count == faults, "\(text)")
      #expect(reader.diagnostics.allSatisfy { $0.message.contains("is not an address") })
      let strict = ODataReadOptions(isStrict: true)
      #expect((try? ODataFeed.read(text.bytes, strict)) == nil || faults == 0, "\(text)")
    }
  }

  @Test(
    "A fault in JSON is told with the whole path to it",
    arguments: [
      (#"{"value":[{"x":1},{"P":[{"I":1},{"I@odata.type":"Byte","I":"z"}]}]}"#, "/value[2]/P[2]/I"),
      (
        #"{"d":{"results":[{"a":{"b":"\/Date(x)\/","__metadata":{"type":"S.T"}}}]}}"#,
        "/d/results[1]/a/b"
      ),
      (#"{"d":[{"a":{"b":"z","__metadata":{"type":"S.T"}}}]}"#, "/d[1]/a/b"),
      (#"{"d":{"a":{"b":"z","__metadata":{"type":"S.T"}}}}"#, "/d/a/b"),
      (#"{"a":1,"I@odata.type":"Byte","I":"z"}"#, "/I"),
      (#"{"I@odata.type":"Collection(Byte)","I":[1,"z"],"a":1}"#, "/I[2]"),
      (#"[{"I@odata.type":"Byte","I":"z"}]"#, "[1]/I"),
      (#"{"d":{"results":[],"__next":5}}"#, "/d/__next"),
      (
        #"{"d":{"results":[{"P":{"results":[{"__metadata":{"uri":"u"}}],"__next":5}}]}}"#,
        "/d/results[1]/P/__next"
      ),
    ])
  func paths(_ text: String, _ path: String) throws {
    var schema = EdmSchema(namespace: "S")
    var type = EdmStructuredType(.complex, namespace: "S", name: "T")
    type.properties = [EdmProperty("b", EdmTypeReference("Edm.Byte"))]
    schema.complexTypes = [type]
    let options = ODataReadOptions(metadata: EdmMetadata(version: .v3, schemas: [schema]))
    let reader = ODataFeedReader(options)
    reader.push(text.bytes)
    reader.finish()
    while try reader.next() != nil {}
    #expect(reader.diagnostics.map(\.place.path) == [path], "\(text)")
    let rows = ODataFeedReader(options)
    rows.push(#"{"d":{"results":[{"a":1},{"a":"z"}]}}"#.bytes)
    rows.finish()
    _ = try rows.nextRow()
    let row = try #require(try rows.nextRow())
    _ = try? rows.nextRow()
    let error = #expect(throws: ODataError.self) { try row.integer("a") }
    #expect(error?.place?.path == "/d/results[2]/a")
  }

  @Test("Light JSON of V3 is read with its controls")
  func light() throws {
    let text = #"""
      {"odata.metadata":"http://h/$metadata#Products","odata.count":"5","value":[
        {"odata.type":"NS.Product","odata.id":"http://h/P(1)","odata.etag":"e",
         "odata.editLink":"P(1)","Whole@odata.navigationLinkUrl":"P(1)/Whole","ID":1,
         "Big@odata.type":"Edm.Int64","Big":"5"}],"odata.nextLink":"n"}
      """#
    let feed = try ODataFeed.read(text.bytes)
    #expect(feed.count == "5" && feed.next == "http://h/n")
    let entry = try #require(feed.entries.first)
    #expect(entry.type == "NS.Product" && entry.id == "http://h/P(1)")
    #expect(entry.editLink == "http://h/P(1)")
    #expect(entry["Big"] == .int64(5))
    #expect(entry.relatedLink("Whole")?.href == "http://h/P(1)/Whole")
  }

  @Test(
    "A document that is one entry, or one value, is told from a feed",
    arguments: [
      (#"{"d":{"__metadata":{"uri":"u"},"results":{"results":[1]},"a":1}}"#, false, true),
      (#"{"@odata.context":"$metadata#P/$entity","ID":1,"value":[1,2]}"#, false, true),
      (#"{"@odata.context":"$metadata#P/$entity","value":[1,2],"ID":1}"#, false, true),
      (#"{"@odata.context":"$metadata#Edm.Int32","value":7}"#, false, false),
      (#"{"d":[{"__metadata":{"uri":"u"},"a":1}]}"#, true, true),
      (#"{"d":{"results":[]}}"#, true, false), (#"[{"a":1}]"#, true, true),
      (#"{"value":[]}"#, true, false),
    ])
  func shapes(_ text: String, _ isFeed: Bool, _ hasEntry: Bool) throws {
    let reader = ODataFeedReader()
    reader.push(text.bytes)
    reader.finish()
    let entry = try reader.nextEntry()
    #expect((entry != nil) == hasEntry)
    #expect(reader.isFeed == isFeed)
  }

  @Test("A feed cut into pieces of any size gives the same entries", arguments: [1, 2, 3, 17, 512])
  func pieces(_ size: Int) throws {
    let entry = #"{"__metadata":{"uri":"u"},"a":"\u00e9\ud83d\ude00\\","b":[1,2,{"c":-1.5e3}]}"#
    let bytes =
      "{\"d\" : {\"__count\":\"2\", \"results\":[\(entry) , \(entry)], \"__next\":\"n\"}}\n".bytes
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
    #expect(reader.head.next == "n")
  }

  @Test("An asynchronous sequence of pieces gives entries as they arrive")
  func asynchronous() async throws {
    let pieces = AsyncStream<[UInt8]> { continuation in
      for piece in [#"{"value":[{"a":1}"#, #",{"a":2}"#, "]}"] { continuation.yield(piece.bytes) }
      continuation.finish()
    }
    var seen: [EdmValue?] = []
    for try await item in ODataEntrySequence(pieces) {
      if case .entry(let entry) = item { seen.append(entry["a"]) }
    }
    #expect(seen == [.int32(1), .int32(2)])
  }

  @Test("An error in the stream of JSON is thrown after the entries before it")
  func inStreamError() throws {
    let reader = ODataFeedReader()
    reader.push(#"{"value":[{"a":1},{"error":{"code":"x","message":"broken"}}]}"#.bytes)
    reader.finish()
    #expect(try reader.nextEntry() != nil)
    #expect(throws: ODataError.self) { try reader.next() }
  }
}
