import FerryOData
import FerryPersistence
import FerryTestTraits
import Foundation
import Testing

@testable import FerryODataCache

private final class Listener: ODataCacheLoadListener {
  var calls: [String] = []

  func serviceDocumentLoaded(_ cache: ODataCache, _ document: ODataServiceDocument) {
    calls.append("document \(document.collections.count) \(document.metadata != nil)")
  }

  func entriesLoaded(_ cache: ODataCache, collection: String, _ entries: [ODataEntry]) {
    let inCache = entries.allSatisfy { cache.entry($0.id ?? "", collection: collection) == $0 }
    calls.append("\(collection) \(entries.count) \(inCache)")
  }

  func loadFinished(_ cache: ODataCache) { calls.append("finished") }
}

@Suite("A stored cache")
struct StoredCacheTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "cache-\(UUID().uuidString)").path

  private func persistence() throws -> Persistence {
    try Persistence(folder: folder, key: [UInt8](1...32))
  }

  /// Deletes the folder when the test ends.
  private func clean() { try? FileManager.default.removeItem(atPath: folder) }

  /// An entry with everything that an entry can hold.
  private func full() throws -> ODataEntry {
    var entry = ODataEntry(type: "F.Task", ["ID": .int32(-1)])
    entry.id = "http://host/flights/Tasks(1)"
    entry.etag = "W/\"1\""
    entry.title = "Title"
    entry.summary = ""
    entry.author = "me"
    entry.updated = "2020-01-01T00:00:00Z"
    entry.published = "p"
    entry.rights = "r"
    entry.context = "$metadata#Tasks/$entity"
    entry.isReference = true
    entry.media = ODataMedia(contentType: "image/png", source: "s", editLink: nil, etag: "e")
    entry.operations = [
      ODataOperation(isFunction: true, metadata: "#F.Do", title: nil, target: "t")
    ]
    entry.annotations = ["a.b": .collection([.int32(1), .null])]
    var link = ODataLink.related(
      "Next", href: "Tasks(2)", inline: .entry(Service.flight("inner", "x")))
    link.attributes = ["semantics": "s"]
    link.etag = "le"
    link.method = "POST"
    var feed = ODataFeed([Service.flight("a")])
    feed.head.count = "3"
    feed.items.append(.deleted(ODataDeletedEntry(id: "gone", when: "w", reason: "deleted")))
    feed.items.append(
      .link(
        ODataChangedLink(isDeleted: true, source: "s", relationship: "r", target: "t")))
    feed.items.append(.value(.string("v")))
    entry.links = [
      link, ODataLink.related("All", inline: .feed(feed)),
      ODataLink.related("None", inline: .entry(nil)),
      ODataLink(relation: "edit", href: "Tasks(1)"), ODataLink(relation: "self", href: "Tasks(1)"),
      ODataLink(relation: "x", href: "", type: "t", title: "i", role: .stream("S")),
      ODataLink(relation: "x", href: "", role: .editStream("S")),
      ODataLink(relation: "x", href: "", role: .association("A")),
    ]
    for role: ODataLink.Role in [
      .next, .delta, .editMedia, .action, .callableEntities, .subscriptions, .search, .other,
    ] { entry.links.append(ODataLink(relation: "y", href: "h", role: role)) }
    let date = try #require(EdmDate(year: -44, month: 3, day: 15))
    let time = try #require(
      EdmTimeOfDay(hour: 23, minute: 59, second: 58, picoseconds: 123_456_789_012))
    let moment = EdmDateTime(date, time)
    let shapes: [EdmSpatial.Shape] = [
      .point([1.5, -2, 3]), .lineString([[0, 0], [1, 1]]), .polygon([[[0, 0], [1, 0], [0, 1]]]),
      .multiPoint([[1, 2]]), .multiLineString([[[1, 2], [3, 4]]]),
      .multiPolygon([[[[0, 0], [1, 0], [0, 1]]]]), .collection([.point([1, 2]), .collection([])]),
    ]
    let values: [EdmValue] =
      [
        .null, .boolean(true), .boolean(false), .byte(255), .sbyte(-128), .int16(.min),
        .int32(.max), .int64(.min), .single(-0.0), .single(.nan), .double(.infinity),
        .double(0.1), .decimal(try #require(EdmDecimal("-0.10"))), .string(""),
        .string("e\u{301}\0"), .binary([0, 255]), .binary([]), .guid(EdmGuid(high: 1, low: .max)),
        .dateTime(moment),
        .dateTimeOffset(try #require(EdmDateTimeOffset(moment, offsetMinutes: -330))),
        .time(EdmDuration(seconds: 1, picoseconds: 2, isNegative: true)),
        .duration(EdmDuration(seconds: .max)), .date(date), .timeOfDay(time),
        .enumeration("Red,Blue", type: "F.Color"), .invalid("x", .int32),
        .complex(
          EdmComplex(type: "F.Place", ["Gate": .string("g"), "In": .complex(EdmComplex([:]))])),
        .collection([.string("a"), .collection([.int64(5)]), .null]),
      ] + shapes.map { .spatial(EdmSpatial($0, isGeometry: true, srid: 0)) }
      + [.spatial(EdmSpatial(.point([1, 2])))]
    for (number, value) in values.enumerated() {
      entry.properties.append(
        ODataProperty(
          "P\(number)", value,
          type: number % 3 == 0 ? EdmTypeReference("F.T", isCollection: number % 2 == 0) : nil,
          annotations: number % 4 == 0 ? ["t": .int32(Int32(number))] : [:]))
    }
    return entry
  }

  @Test("An entry comes back with all that it held")
  func everything() throws {
    let cache = try Service.cache()
    let entry = try full()
    try cache.setEntry(entry, collection: "Tasks")
    let id = try #require(entry.id)
    let read = try #require(cache.entry(id, collection: "Tasks"))
    #expect(read == entry)
    for (one, other) in zip(read.properties, entry.properties) {
      #expect(one.type == other.type && one.annotations == other.annotations)
    }
    // The same digits, not only equal ones.
    #expect(read.properties.map(\.value.text) == entry.properties.map(\.value.text))
  }

  @Test(
    "A cache is stored under its id and loaded with its references",
    .reference("ios/PER-2", "ios/CAC-11", "adr/CAC-9"))
  func store() throws {
    defer { clean() }
    let cache = try Service.cache("mine")
    try cache.setEntries((1...3).map { Service.flight("\($0)", "Köln") }, collection: "Flights")
    try cache.setEntry(try full(), collection: "Tasks")
    cache.setPinned(true, Service.id("2"), collection: "Flights")
    let document = try ODataXMLDocument(Array("<a><b/></a>".utf8))
    cache.setDocument(document, key: "k")
    let persistence = try persistence()
    #expect(try cache.store(in: persistence) == "mine")
    #expect(try cache.store(in: persistence, key: "second") == "second")
    // Another process.
    let loaded = ODataCache(uniqueID: "mine")
    try loaded.setServiceDocument(Service.document)
    try loaded.setEntry(Service.agency(9, "goes"), collection: "Agencies")
    #expect(try !loaded.load(from: persistence, key: "third"))
    #expect(loaded.count(collection: "Agencies") == 1)
    #expect(try loaded.load(from: persistence))
    #expect(loaded.count(collection: "Agencies") == 0)
    #expect(
      Array(loaded.entries(collection: "Flights")) == Array(cache.entries(collection: "Flights")))
    let whole = try full()
    #expect(loaded.entry("http://host/flights/Tasks(1)", collection: "Tasks") == whole)
    #expect(loaded.document("k")?.source == document.source)
    // References: a collection has its schema, and what does not belong is refused again.
    #expect(loaded.collection("Flights")?.entitySchema?.type == "F.Flight")
    #expect(
      reason { try loaded.setEntry(Service.agency(1, "x"), collection: "Flights") } == .foreign)
    #expect(try loaded.found("koln") == ["1", "2", "3"])
    loaded.capacity = 1
    #expect(loaded.numbers() == ["2", "3"])
    // Stored again, it is the same.
    try loaded.store(in: persistence, key: "again")
    #expect(try ODataCache().load(from: persistence, key: "again"))
  }

  @Test(
    "Loading is told in three stages, each with what is in the cache",
    .reference("adr/PEA-8", "adr/PEB-2"))
  func stages() throws {
    defer { clean() }
    let cache = try Service.cache()
    try cache.setEntries((1...1_200).map { Service.flight("\($0)") }, collection: "Flights")
    try cache.setEntry(Service.agency(1, "a"), collection: "Agencies")
    let persistence = try persistence()
    try cache.store(in: persistence)
    let listener = Listener()
    #expect(try ODataCache().load(from: persistence, listener: listener))
    #expect(
      listener.calls == [
        "document 3 true", "Agencies 1 true", "Flights 512 true", "Flights 512 true",
        "Flights 176 true", "finished",
      ])
  }

  @Test("A memory warning saves where that was asked for; off by default", .reference("ios/CAC-10"))
  func memoryWarning() throws {
    defer { clean() }
    let cache = try Service.cache()
    try cache.setEntry(Service.flight("1"), collection: "Flights")
    let persistence = try persistence()
    #expect(!cache.shouldAutoSaveOnMemoryWarning)
    cache.savesTo(persistence)
    #expect(try !cache.handleMemoryWarning())
    #expect(try !persistence.isDataPersisted(cache.uniqueID))
    cache.shouldAutoSaveOnMemoryWarning = true
    #expect(try cache.handleMemoryWarning())
    let loaded = ODataCache()
    #expect(try loaded.load(from: persistence))
    #expect(loaded.numbers() == ["1"])
    cache.savesTo(nil)
    #expect(try !cache.handleMemoryWarning())
  }

  @Test("A document that was set without its bytes cannot be stored, and says so")
  func notStorable() throws {
    defer { clean() }
    let cache = ODataCache(serviceDocument: try ODataServiceDocument.read(Service.document))
    let persistence = try persistence()
    #expect(reason { try cache.store(in: persistence) } == .notStorable)
    #expect(try !persistence.isDataPersisted(cache.uniqueID))
  }

  @Test("Entries that stand too deep in each other are refused; 10,000 properties are taken")
  func extremes() throws {
    let cache = try Service.cache()
    var deep = Service.flight("0")
    for number in 1...120 {
      var outer = Service.flight("\(number)")
      outer.links = [.related("In", inline: .entry(deep))]
      deep = outer
      if number == 90 { try cache.setEntry(deep, collection: "Flights") }
    }
    #expect(reason { try cache.setEntry(deep, collection: "Flights") } == .tooDeep)
    #expect(cache.numbers() == ["90"])
    var wide = ODataEntry(type: "F.Task", [:])
    wide.id = "wide"
    for number in 0..<10_000 {
      wide.properties.append(ODataProperty("P\(number)", .int32(Int32(number))))
    }
    try cache.setEntry(wide, collection: "Tasks")
    #expect(cache.entry("wide", collection: "Tasks") == wide)
  }

  /// Hands over stored parts with one byte changed.
  private struct Bent: StorableCache {
    let uniqueID = "odata cache"
    let parts: [CachePart]
    func storeParts(_ store: (CachePart) throws -> Void) throws {
      for part in parts { try store(part) }
    }
    func loadPart(_ part: CachePart) throws {}
  }

  private final class Parts: StorableCache {
    let uniqueID = "odata cache"
    var parts: [CachePart] = []
    func storeParts(_ store: (CachePart) throws -> Void) throws {}
    func loadPart(_ part: CachePart) throws { if part != .finished { parts.append(part) } }
  }

  @Test("Every byte of a stored cache, flipped or cut, gives an error or a cache, never a crash")
  func everyByte() throws {
    defer { clean() }
    let cache = try Service.cache()
    try cache.setEntry(try full(), collection: "Tasks")
    let persistence = try persistence()
    try cache.store(in: persistence)
    let parts = Parts()
    #expect(try persistence.loadCache("odata cache", into: parts))
    guard case .entries(let bytes) = try #require(parts.parts.last) else { return }
    var failed = 0
    for place in bytes.indices {
      for variant in [0, 1] {
        var bent = variant == 0 ? Array(bytes[..<place]) : bytes
        if variant == 1 { bent[place] ^= 0x81 }
        let loaded = ODataCache()
        try loaded.loadPart(parts.parts[0], nil)
        do {
          try loaded.loadPart(.entries(bent), nil)
          for entry in loaded.entries(collection: "Tasks") { #expect(entry.id != nil) }
        } catch {
          #expect((error as? ODataCacheError)?.reason == .damaged, "\(error)")
          failed += 1
        }
      }
    }
    #expect(failed > bytes.count)
    // A later form is refused by name.
    guard case .serviceDocument(var head) = parts.parts[0] else { return }
    head[0] = 2
    try persistence.storeCache(Bent(parts: [.serviceDocument(head)]))
    let kept = try Service.cache()
    #expect(reason { _ = try kept.load(from: persistence) } == .damaged)
    #expect(kept.serviceDocument != nil)
  }
}
