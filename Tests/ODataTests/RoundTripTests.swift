import FerryOData
import Testing

/// Random numbers from a seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Makes schemas, entries and values of every kind that a version has.
struct Maker {
  var random: SeededGenerator
  let version: ODataVersion
  let metadata: EdmMetadata
  let types: [EdmStructuredType]

  init(_ seed: UInt64, _ version: ODataVersion) {
    random = SeededGenerator(seed)
    self.version = version
    var schema = EdmSchema(namespace: "Random.Model")
    var complex: [EdmStructuredType] = []
    for number in 0..<2 {
      var type = EdmStructuredType(.complex, namespace: "Random.Model", name: "C\(number)")
      type.properties = Self.properties(&random, version, complex.map(\.qualifiedName))
      complex.append(type)
    }
    var entity = EdmStructuredType(.entity, namespace: "Random.Model", name: "E")
    entity.properties =
      [EdmProperty("ID", EdmTypeReference("Edm.Int32"))]
      + Self.properties(&random, version, complex.map(\.qualifiedName))
    entity.keys = [EdmKeyReference(name: "ID")]
    entity.navigationProperties = [
      EdmNavigationProperty("One", EdmTypeReference("Random.Model.E")),
      EdmNavigationProperty("Many", EdmTypeReference("Random.Model.E", isCollection: true)),
    ]
    schema.entityTypes = [entity]
    schema.complexTypes = complex
    if version >= .v4 {
      schema.enumTypes = [
        EdmEnumType(
          namespace: "Random.Model", name: "Color", underlyingType: .int32, isFlags: true,
          members: [], annotations: [])
      ]
    }
    metadata = EdmMetadata(version: version, schemas: [schema])
    types = complex + [entity]
  }

  static func primitives(_ version: ODataVersion) -> [EdmPrimitive] {
    EdmPrimitive.allCases.filter {
      if $0 == .stream || $0 == .geography || $0 == .geometry || $0.since > version { return false }
      return version < .v4 || ($0 != .dateTime && $0 != .time)
    }
  }

  private static func properties(
    _ random: inout SeededGenerator, _ version: ODataVersion, _ complex: [String]
  ) -> [EdmProperty] {
    let all = primitives(version)
    return (0..<Int.random(in: 1...8, using: &random)).map { number in
      var name = all.randomElement(using: &random)?.rawValue ?? "Edm.String"
      let kind = Int.random(in: 0..<10, using: &random)
      if kind == 0, let found = complex.randomElement(using: &random) { name = found }
      if kind == 1, version >= .v4 { name = "Random.Model.Color" }
      let isCollection = version >= .v3 && Int.random(in: 0..<5, using: &random) == 0
      return EdmProperty("p\(number)_ä", EdmTypeReference(name, isCollection: isCollection))
    }
  }

  mutating func string() -> String {
    let pieces = ["a", "Z", " ", "<", "&", "\"", "'", "]]>", "\n", "\r", "\t", "é", "漢", "😀", "\\", "/"]
    return (0..<Int.random(in: 0...12, using: &random)).map { _ in
      pieces.randomElement(using: &random) ?? ""
    }.joined()
  }

  private mutating func digits(_ count: ClosedRange<Int>) -> String {
    (0..<Int.random(in: count, using: &random)).map { _ in
      String(Int.random(in: 0...9, using: &random))
    }.joined()
  }

  private mutating func date() -> EdmDate {
    EdmDate(daysSince1970: Int64.random(in: -700_000...2_900_000, using: &random))!
  }

  private mutating func time(_ fraction: UInt64) -> EdmTimeOfDay {
    EdmTimeOfDay(
      hour: UInt8.random(in: 0..<24, using: &random), minute: UInt8.random(in: 0..<60, using: &random),
      second: UInt8.random(in: 0..<60, using: &random),
      picoseconds: UInt64.random(in: 0..<(1_000_000_000_000 / fraction), using: &random) * fraction)!
  }

  private mutating func point() -> [Double] {
    [Double.random(in: -180...180, using: &random), Double.random(in: -90...90, using: &random)]
  }

  private mutating func points() -> [[Double]] {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in point() }
  }

  private mutating func shape(_ type: EdmPrimitive) -> EdmSpatial {
    let shape: EdmSpatial.Shape =
      switch type {
      case .geographyPoint, .geometryPoint: .point(point())
      case .geographyLineString, .geometryLineString: .lineString(points())
      case .geographyPolygon, .geometryPolygon: .polygon([points(), points()])
      case .geographyMultiPoint, .geometryMultiPoint: .multiPoint(points())
      case .geographyMultiLineString, .geometryMultiLineString: .multiLineString([points()])
      case .geographyMultiPolygon, .geometryMultiPolygon: .multiPolygon([[points()], [points()]])
      default: .collection([.point(point()), .lineString(points())])
      }
    return EdmSpatial(
      shape, isGeometry: type.isGeometry, srid: Bool.random(using: &random) ? 4_326 : nil)
  }

  mutating func primitive(_ type: EdmPrimitive) -> EdmValue {
    switch type {
    case .boolean: return .boolean(Bool.random(using: &random))
    case .byte: return .byte(UInt8.random(in: .min ... .max, using: &random))
    case .sbyte: return .sbyte(Int8.random(in: .min ... .max, using: &random))
    case .int16: return .int16(Int16.random(in: .min ... .max, using: &random))
    case .int32: return .int32(Int32.random(in: .min ... .max, using: &random))
    case .int64: return .int64(Int64.random(in: .min ... .max, using: &random))
    case .single:
      let value = Float(bitPattern: UInt32.random(in: .min ... .max, using: &random))
      return .single(value)
    case .double:
      return .double(Double(bitPattern: UInt64.random(in: .min ... .max, using: &random)))
    case .decimal:
      return .decimal(
        EdmDecimal((Bool.random(using: &random) ? "-" : "") + digits(1...20) + "." + digits(1...12))!)
    case .string: return .string(string())
    case .binary: return .binary(Array(string().utf8))
    case .guid:
      return .guid(
        EdmGuid(
          high: UInt64.random(in: .min ... .max, using: &random),
          low: UInt64.random(in: .min ... .max, using: &random)))
    case .dateTime: return .dateTime(EdmDateTime(date(), time(100_000)))
    case .dateTimeOffset:
      return .dateTimeOffset(
        EdmDateTimeOffset(
          EdmDateTime(date(), time(100_000)), offsetMinutes: Int16.random(in: -840...840, using: &random))!)
    case .date: return .date(date())
    case .timeOfDay: return .timeOfDay(time(1))
    case .time:
      return .time(EdmDuration(seconds: UInt64.random(in: 0..<86_400, using: &random), picoseconds: 5))
    case .duration:
      return .duration(
        EdmDuration(
          seconds: UInt64.random(in: 0...UInt64(Int64.max), using: &random),
          picoseconds: UInt64.random(in: 0..<1_000_000_000_000, using: &random),
          isNegative: Bool.random(using: &random)))
    default: return .spatial(shape(type))
    }
  }

  mutating func value(_ type: EdmTypeReference) -> EdmValue {
    if type.isCollection {
      return .collection(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in single(type.name) })
    }
    if Int.random(in: 0..<8, using: &random) == 0 { return .null }
    return single(type.name)
  }

  private mutating func single(_ name: String) -> EdmValue {
    if let primitive = EdmPrimitive(rawValue: name) { return self.primitive(primitive) }
    if name.hasSuffix("Color") { return .enumeration("Red,Green", type: name) }
    guard let type = types.first(where: { $0.qualifiedName == name }) else { return .null }
    return .complex(EdmComplex(type: name, properties(type)))
  }

  mutating func properties(_ type: EdmStructuredType) -> ODataProperties {
    var list: [ODataProperty] = []
    for property in type.properties {
      list.append(ODataProperty(property.name, value(property.type), type: property.type))
    }
    return ODataProperties(list)
  }

  mutating func entry(_ depth: Int = 2) -> ODataEntry {
    var entry = ODataEntry(type: "Random.Model.E", properties(types[2]))
    entry.properties["ID"] = .int32(Int32.random(in: 0..<1_000, using: &random))
    entry.id = "http://host/E(\(Int.random(in: 0..<1_000, using: &random)))"
    if Bool.random(using: &random) { entry.etag = "W/\"\(string().filter { $0 != "\n" && $0 != "\r" && $0 != "\t" })\"" }
    if Int.random(in: 0..<4, using: &random) == 0 {
      entry.media = ODataMedia(contentType: "image/png", source: "E(1)/$value")
    }
    if depth > 0 {
      if Bool.random(using: &random) {
        entry.links.append(
          .related("One", href: "E(1)/One", inline: .entry(Bool.random(using: &random) ? nil : self.entry(depth - 1))))
      }
      if Bool.random(using: &random) {
        let many = (0..<Int.random(in: 0...2, using: &random)).map { _ in self.entry(depth - 1) }
        entry.links.append(.related("Many", href: "E(1)/Many", inline: .feed(ODataFeed(many))))
      }
    }
    return entry
  }
}

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

  @Test("What is written and read again is equal, with random schemas and values", arguments: shapes)
  func roundTrip(_ format: ODataFormat, _ version: ODataVersion) throws {
    for seed in UInt64(1)...150 {
      var maker = Maker(seed, version)
      let entry = maker.entry()
      let composer = ODataComposer(format, version: version, metadata: maker.metadata)
      let body = try composer.body(entry, .archive)
      let options = ODataReadOptions(metadata: maker.metadata, type: "Random.Model.E", isStrict: true)
      let back = try ODataEntry.read(body, options)
      #expect(back.properties == entry.properties, "seed \(seed): \(String(decoding: body, as: UTF8.self))")
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

  @Test("Atom, and JSON of V4, tell their types without a schema",
    arguments: [(ODataFormat.atom, ODataVersion.v3), (.atom, .v4), (.json, .v4)])
  func withoutSchema(_ format: ODataFormat, _ version: ODataVersion) throws {
    for seed in UInt64(1)...100 {
      var maker = Maker(seed, version)
      let entry = maker.entry(0)
      let body = try ODataComposer(format, version: version).body(entry, .archive)
      let back = try ODataEntry.read(body)
      #expect(back.properties == entry.properties, "seed \(seed): \(String(decoding: body, as: UTF8.self))")
    }
  }

  @Test("A feed keeps its entries, count, next and delta", arguments: shapes)
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
    #expect(atom.text.contains("<m:properties><d:SEATSMAX m:type=\"Edm.Int32\">2</d:SEATSMAX></m:properties>"))
  }

  @Test("A patch of V4 holds only the changed part of a complex value")
  func patch() throws {
    let size = EdmComplex(type: "Shop.Model.Size", ["Width": .int32(1), "Height": .int32(2)])
    let original = ODataEntry(type: "Shop.Model.Product", ["Size": .complex(size)])
    var changed = original
    changed.properties.set(.int32(9), at: ["Size", "Height"])
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes)
    let request = try #require(
      try ODataComposer(.json, version: .v4, metadata: metadata).merge(changed, changedFrom: original))
    #expect(request.method == "PATCH")
    #expect(
      request.text
        == ##"{"@odata.type":"#Shop.Model.Product","Size":{"@odata.type":"#Shop.Model.Size","Height":9}}"##)
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
        == #"{"Name":"order","Items":[{"Name":"item"}],"Customer":{"__metadata":{"uri":"Customers(1)"}}}"#)
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
        == #"{"Name":"order","Items@odata.delta":[{"Name":"kept"},{"@removed":{"reason":"deleted"},"@odata.id":"Items(3)"}]}"#)
  }

  @Test("Links, media, actions and subscriptions are written for each version (ios/PAR-11, PAR-12)")
  func others() throws {
    #expect(try ODataComposer(.json, version: .v2).link(to: "C(1)", isCollection: true).text == #"{"uri":"C(1)"}"#)
    #expect(try ODataComposer(.json, version: .v4).link(to: "C(1)", isCollection: false).method == "PUT")
    #expect(try ODataComposer(.atom, version: .v2).link(to: "C(1)", isCollection: true).text.contains("<uri "))
    let media = ODataComposer(.atom, version: .v2).media([1, 2], contentType: "image/png", slug: "Bär 100%")
    #expect(media.header("Slug") == "B%C3%A4r 100%25")
    let change = ODataComposer(.atom, version: .v2).updateMedia(
      [1], of: ODataMedia(etag: "t"), contentType: "image/png")
    #expect(change.header("If-Match") == "t")
    #expect(try ODataComposer(.json, version: .v4).action(["n": .int64(5)]).text == #"{"n":5}"#)
    let subscription = try ODataComposer(.atom, version: .v2).subscription(
      ODataSubscription(collection: "FlightCollection", deliveryAddress: "urn:x", title: "t"))
    let back = try ODataEntry.read(subscription.body)
    #expect(back["collection"] == .string("FlightCollection") && back.title == "t")
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
      try ODataComposer(.json, version: .v4).create(ODataEntry(["a": .time(EdmDuration(seconds: 1))]))
    }
  }
}
