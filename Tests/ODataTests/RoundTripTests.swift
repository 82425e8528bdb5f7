import FerryOData
import FerryTestTraits
import Testing

/// What of an entry both formats carry, as text: easy to compare and to print.
func essence(_ entry: ODataEntry?) -> String {
  guard let entry else { return "none" }
  var lines = ["id \(entry.id ?? "")", "type \(entry.type ?? "")", "etag \(entry.etag ?? "")"]
  lines.append("media \(entry.media?.source ?? "") \(entry.media?.contentType ?? "")")
  for link in entry.relatedLinks.sorted(by: { ($0.navigation ?? "") < ($1.navigation ?? "") }) {
    guard let inline = link.inline else { continue }
    switch inline {
    case .entry(let inner): lines.append("\(link.navigation ?? ""): {\(essence(inner))}")
    case .feed(let feed):
      lines.append("\(link.navigation ?? ""): [\(feed.entries.map { essence($0) }.joined())]")
    }
  }
  return lines.joined(separator: "\n")
}

@Suite("Composition") struct RoundTripTests {
  static let shapes: [(ODataFormat, ODataVersion)] = [
    (.atom, .v2), (.atom, .v3), (.atom, .v4), (.json, .v2), (.json, .v3), (.json, .v4),
  ]

  @Test(
    "What is written and read again is equal, with random schemas and values",
    .reference("adr/PBX-9"),
    arguments: shapes)
  func roundTrip(_ format: ODataFormat, _ version: ODataVersion) throws {
    for seed in UInt64(1)...150 {
      var maker = Maker(seed, version)
      let entry = maker.entry()
      let composer = ODataComposer(format, version: version, metadata: maker.metadata)
      let body = try composer.body(entry, .archive)
      let options = ODataReadOptions(
        metadata: maker.metadata, type: "Random.Model.E", isStrict: true)
      let back = try ODataEntry.read(body, options)
      #expect(
        back.properties == entry.properties,
        "seed \(seed): \(String(decoding: body, as: UTF8.self))")
      #expect(essence(back) == essence(entry), "seed \(seed)")
      for (left, right) in zip(inlined(entry), inlined(back)) {
        #expect(left.properties == right.properties, "seed \(seed)")
      }
      #expect(inlined(entry).count == inlined(back).count, "seed \(seed)")
    }
  }

  private func inlined(_ entry: ODataEntry) -> [ODataEntry] {
    entry.relatedLinks.sorted { ($0.navigation ?? "") < ($1.navigation ?? "") }
      .flatMap { $0.inline?.entries ?? [] }.flatMap { [$0] + inlined($0) }
  }

  @Test(
    "Atom, and JSON of V4, tell their types without a schema",
    arguments: [(ODataFormat.atom, ODataVersion.v3), (.atom, .v4), (.json, .v4)])
  func withoutSchema(_ format: ODataFormat, _ version: ODataVersion) throws {
    for seed in UInt64(1)...100 {
      var maker = Maker(seed, version)
      let entry = maker.entry(0)
      let body = try ODataComposer(format, version: version).body(entry, .archive)
      let back = try ODataEntry.read(body)
      #expect(
        back.properties == entry.properties,
        "seed \(seed): \(String(decoding: body, as: UTF8.self))")
    }
  }

  @Test(
    "A feed keeps its entries, count, next and delta", .reference("ios/PAR-8"), arguments: shapes)
  func feeds(_ format: ODataFormat, _ version: ODataVersion) throws {
    var maker = Maker(7, version)
    var feed = ODataFeed([maker.entry(1), maker.entry(1), maker.entry(1)])
    feed.head.count = "12345678901"
    feed.head.next = "E?$skiptoken=3&x='<>"
    feed.head.delta = "delta"
    let composer = ODataComposer(format, version: version, metadata: maker.metadata)
    let back = try ODataFeed.read(
      composer.body(feed), ODataReadOptions(metadata: maker.metadata, type: "Random.Model.E"))
    #expect(back.entries.map(\.properties) == feed.entries.map(\.properties))
    #expect(back.count == feed.count && back.next == feed.next && back.delta == feed.delta)
  }

  @Test("A merge holds only what changed, without the key; none where nothing did")
  func merge() throws {
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes)
    var original = ODataEntry(
      type: "FLIGHT.Flight",
      ["carrid": .string("AA"), "SEATSMAX": .int32(1), "PRICE": .decimal(EdmDecimal("1.0")!)])
    original.etag = "W/\"1\""
    let composer = ODataComposer(.json, version: .v2, metadata: metadata)
    #expect(try composer.merge(original, changedFrom: original) == nil)
    var changed = original
    changed["SEATSMAX"] = .int32(2)
    let request = try #require(try composer.merge(changed, changedFrom: original))
    #expect(request.method == "MERGE")
    #expect(request.header("If-Match") == "W/\"1\"")
    #expect(request.text == #"{"__metadata":{"type":"FLIGHT.Flight"},"SEATSMAX":2}"#)
    let atom = try #require(
      try ODataComposer(.atom, version: .v2).merge(changed, changedFrom: original))
    #expect(
      atom.text.contains(
        "<m:properties><d:SEATSMAX m:type=\"Edm.Int32\">2</d:SEATSMAX></m:properties>"))
  }

  @Test("A patch of V4 holds only the changed part of a complex value", .reference("adr/PAX-6"))
  func patch() throws {
    let size = EdmComplex(type: "Shop.Model.Size", ["Width": .int32(1), "Height": .int32(2)])
    let original = ODataEntry(type: "Shop.Model.Product", ["Size": .complex(size)])
    var changed = original
    changed.properties.set(.int32(9), at: ["Size", "Height"])
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes)
    let request = try #require(
      try ODataComposer(.json, version: .v4, metadata: metadata).merge(
        changed, changedFrom: original))
    #expect(request.method == "PATCH")
    #expect(
      request.text
        == ##"{"@odata.type":"#Shop.Model.Product","Size":{"@odata.type":"#Shop.Model.Size","Height":9}}"##
    )
  }

  @Test("A deep insert holds new entries and bindings; a deep update the removed ones too")
  func deep() throws {
    var entry = ODataEntry(["Name": .string("order")])
    entry.links = [
      .related("Items", inline: .feed(ODataFeed([ODataEntry(["Name": .string("item")])]))),
      .bind("Customer", to: "Customers(1)"),
    ]
    let two = try ODataComposer(.json, version: .v2).create(entry)
    #expect(two.method == "POST")
    #expect(
      two.text
        == #"{"Name":"order","Items":[{"Name":"item"}],"Customer":{"__metadata":{"uri":"Customers(1)"}}}"#
    )
    let four = try ODataComposer(.json, version: .v4).create(entry)
    #expect(
      four.text
        == #"{"Name":"order","Items":[{"Name":"item"}],"Customer@odata.bind":"Customers(1)"}"#)
    let atom = try ODataComposer(.atom, version: .v2).create(entry)
    let back = try ODataEntry.read(atom.body)
    #expect(back.inline("Items")?.entries.first?["Name"] == .string("item"))
    #expect(back.relatedLink("Customer")?.href == "Customers(1)")
    let plain = try ODataComposer(.atom, version: .v2, writesInline: false).create(entry)
    #expect(!plain.text.contains("inline"))
    var items = ODataFeed([ODataEntry(["Name": .string("kept")])])
    items.items.append(.deleted(ODataDeletedEntry(id: "Items(3)", reason: "deleted")))
    entry.links = [.related("Items", inline: .feed(items))]
    #expect(
      try ODataComposer(.json, version: .v4).patch(entry).text
        == #"{"Name":"order","Items@odata.delta":[{"Name":"kept"},{"@removed":{"reason":"deleted"},"@odata.id":"Items(3)"}]}"#
    )
  }

  @Test("Links, media and actions are written for each version", .reference("ios/PAR-12"))
  func others() throws {
    #expect(
      try ODataComposer(.json, version: .v2).link(to: "C(1)", isCollection: true).text
        == #"{"uri":"C(1)"}"#)
    #expect(
      try ODataComposer(.json, version: .v4).link(to: "C(1)", isCollection: false).method == "PUT")
    #expect(
      try ODataComposer(.atom, version: .v2).link(to: "C(1)", isCollection: true).text.contains(
        "<uri "))
    let media = ODataComposer(.atom, version: .v2).media(
      [1, 2], contentType: "image/png", slug: "Bär 100%")
    #expect(media.header("Slug") == "B%C3%A4r 100%25")
    let change = ODataComposer(.atom, version: .v2).updateMedia(
      [1], of: ODataMedia(etag: "t"), contentType: "image/png")
    #expect(change.header("If-Match") == "t")
    #expect(try ODataComposer(.json, version: .v4).action(["n": .int64(5)]).text == #"{"n":5}"#)
  }

  @Test(
    "A subscription has its collection, address, filter, properties and kinds of change; by default all of them",
    .reference("ios/PAR-11")
  )
  func subscription() throws {
    let names = [
      "collection", "deliveryAddress", "filter", "select", "changeType", "persistNotifications",
    ]
    for version in [ODataVersion.v2, .v3] {
      let composer = ODataComposer(.atom, version: version)
      let all = try ODataEntry.read(
        composer.subscription(
          ODataSubscription(collection: "FlightCollection", deliveryAddress: "urn:x", title: "t")
        ).body)
      #expect(all.title == "t")
      #expect(
        names.map { all[$0]?.text } == [
          "FlightCollection", "urn:x", "", "*", "created,updated,deleted", "false",
        ])
      let some = ODataSubscription(
        collection: "FlightCollection", deliveryAddress: "https://h/push?a=1&b=2",
        filter: "carrid eq 'LH' and price lt 100", select: "carrid,price", changeType: "updated",
        persistsNotifications: true, type: "RMT.Subscription")
      let read = try ODataEntry.read(composer.subscription(some).body)
      #expect(read.type == "RMT.Subscription")
      #expect(
        names.map { read[$0]?.text } == [
          "FlightCollection", "https://h/push?a=1&b=2", "carrid eq 'LH' and price lt 100",
          "carrid,price", "updated", "true",
        ])
    }
  }

  @Test("What a format cannot say is refused, not dropped")
  func unwritable() throws {
    let control = ODataEntry(["a": .string("\u{1}")])
    #expect(throws: ODataError.self) { try ODataComposer(.atom, version: .v2).create(control) }
    #expect(try ODataComposer(.json, version: .v2).create(control).text == #"{"a":"\u0001"}"#)
    let list = ODataEntry(["a": .collection([])])
    #expect(throws: ODataError.self) { try ODataComposer(.json, version: .v2).create(list) }
    let date = ODataEntry(["a": .date(EdmDate(year: 2026, month: 1, day: 1)!)])
    #expect(throws: ODataError.self) { try ODataComposer(.json, version: .v2).create(date) }
    #expect(throws: ODataError.self) {
      try ODataComposer(.json, version: .v4).create(
        ODataEntry(["a": .time(EdmDuration(seconds: 1))]))
    }
  }
}
