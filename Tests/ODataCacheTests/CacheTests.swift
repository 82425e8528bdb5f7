import FerryOData
import FerryODataAddress
import FerryODataCache
import FerryTestTraits
import Foundation
import Testing

@Suite("The cache")
struct CacheTests {
  @Test(
    "A cache holds its service document and schema",
    .reference("ios/CAC-1", "ios/CAC-4", "adr/CAC-1", "adr/CAC-2", "adr/C-20"))
  func documents() throws {
    let empty = ODataCache()
    #expect(empty.serviceDocument == nil && empty.schema == nil)
    #expect(!empty.removeServiceDocument())
    #expect(reason { try empty.setSchema(Service.metadata) } == .noServiceDocument)
    let made = ODataCache(serviceDocument: try ODataServiceDocument.read(Service.document))
    #expect(made.serviceDocument?.collections.count == 3)
    #expect(made.schema == nil)
    let cache = ODataCache()
    try cache.setServiceDocument(Service.document)
    try cache.setSchema(Service.metadata)
    #expect(cache.schema?.collection("Flights")?.entitySchema?.type == "F.Flight")
    #expect(throws: ODataError.self) { try cache.setServiceDocument(Array("<a".utf8)) }
    #expect(cache.schema != nil)
    try cache.setEntry(Service.flight("1"), collection: "Flights")
    #expect(cache.removeServiceDocument())
    #expect(cache.serviceDocument == nil)
    #expect(cache.count(collection: "Flights") == 0)
  }

  @Test("Any document is kept by its key", .reference("adr/CAC-1"))
  func anyDocument() throws {
    let cache = try Service.cache()
    let document = try ODataXMLDocument(Array("<a><b>text</b></a>".utf8))
    cache.setDocument(document, key: "k")
    #expect(cache.document("k")?.source == document.source)
    #expect(cache.document("other") == nil)
    cache.setDocument(document, key: "j")
    #expect(cache.documentKeys == ["j", "k"])
    #expect(cache.removeDocument("k"))
    #expect(!cache.removeDocument("k"))
    try cache.setEntry(Service.flight("1"), collection: "Flights")
    cache.removeStoredDocuments()
    #expect(cache.documentKeys.isEmpty)
    #expect(cache.count(collection: "Flights") == 1)
  }

  @Test("One entry is set, found by its id and removed", .reference("ios/CAC-5"))
  func entry() throws {
    let cache = try Service.cache()
    var flight = Service.flight("1", "Berlin")
    try cache.setEntry(flight, collection: "Flights")
    #expect(cache.entry(Service.id("1"), collection: "Flights") == flight)
    #expect(cache.entry(Service.id("2"), collection: "Flights") == nil)
    #expect(cache.entry(Service.id("1"), collection: "Agencies") == nil)
    flight["City"] = .string("Bern")
    try cache.setEntry(flight, collection: "Flights")
    #expect(cache.entry(Service.id("1"), collection: "Flights")?["City"] == .string("Bern"))
    #expect(cache.count(collection: "Flights") == 1)
    #expect(cache.removeEntry(Service.id("1"), collection: "Flights"))
    #expect(!cache.removeEntry(Service.id("1"), collection: "Flights"))
    #expect(cache.entry(Service.id("1"), collection: "Flights") == nil)
    flight.id = nil
    #expect(reason { try cache.setEntry(flight, collection: "Flights") } == .noID)
  }

  @Test(
    "Entries of a collection are set, listed in their order and removed", .reference("ios/CAC-6"))
  func entries() throws {
    let cache = try Service.cache()
    #expect(cache.entries(collection: "Flights").isEmpty)
    try cache.setEntries((1...5).map { Service.flight("\($0)") }, collection: "Flights")
    try cache.setEntries([Service.flight("3", "x"), Service.flight("6")], collection: "Flights")
    #expect(cache.numbers() == ["1", "2", "3", "4", "5", "6"])
    let picture = cache.entries(collection: "Flights")
    #expect(cache.removeEntries(collection: "Flights"))
    #expect(!cache.removeEntries(collection: "Flights"))
    // What was asked for stays as it was.
    #expect(picture.count == 6 && picture[2]["City"] == .string("x"))
    #expect(cache.numbers() == [])
  }

  @Test("Clearing removes all and leaves the limits", .reference("ios/CAC-3"))
  func clear() throws {
    let cache = try Service.cache()
    cache.capacity = 3
    cache.searchAlgorithm = .fullTermContain
    try cache.setEntry(Service.flight("1"), collection: "Flights")
    cache.setDocument(try ODataXMLDocument(Array("<a/>".utf8)), key: "k")
    cache.clear()
    #expect(cache.serviceDocument == nil && cache.documentKeys.isEmpty)
    #expect(cache.count(collection: "Flights") == 0)
    #expect(cache.capacity == 3 && cache.searchAlgorithm == .fullTermContain)
  }

  @Test(
    "The capacity counts entries of a collection; the least recently used goes",
    .reference("ios/CAC-2", "adr/CAC-3", "adr/C-18")
  )
  func capacity() throws {
    let cache = try Service.cache()
    #expect(cache.capacity == 0)
    try cache.setEntries((1...500).map { Service.flight("\($0)") }, collection: "Flights")
    #expect(cache.count(collection: "Flights") == 500)
    cache.removeEntries(collection: "Flights")
    cache.capacity = 3
    try cache.setEntries((1...3).map { Service.flight("\($0)") }, collection: "Flights")
    try cache.setEntries((1...3).map { Service.agency($0, "a") }, collection: "Agencies")
    #expect(cache.count(collection: "Flights") == 3)
    // Asking counts as use, listing and searching do not.
    _ = cache.entry(Service.id("1"), collection: "Flights")
    _ = cache.numbers()
    _ = try cache.found("2")
    try cache.setEntry(Service.flight("4"), collection: "Flights")
    #expect(cache.numbers() == ["1", "3", "4"])
    try cache.setEntry(Service.flight("3", "again"), collection: "Flights")
    try cache.setEntry(Service.flight("5"), collection: "Flights")
    #expect(cache.numbers() == ["3", "4", "5"])
    #expect(cache.count(collection: "Agencies") == 3)
    cache.capacity = 1
    #expect(cache.numbers() == ["5"])
  }

  @Test(
    "The bytes of a collection are bounded too; what was set last stays", .reference("adr/CAC-3"))
  func byteLimit() throws {
    let cache = try Service.cache()
    #expect(cache.byteLimit == 0)
    cache.byteLimit = 10_000
    for number in 1...100 {
      try cache.setEntry(
        Service.flight("\(number)", String(repeating: "x", count: 400)), collection: "Flights")
    }
    let left = cache.numbers().compactMap(Int.init)
    #expect((10...12).contains(left.count))
    #expect(left == Array((101 - left.count)...100))
    try cache.setEntry(
      Service.flight("big", String(repeating: "x", count: 20_000)), collection: "Flights")
    #expect(cache.numbers() == ["big"])
    cache.byteLimit = 100
    #expect(cache.numbers() == [])
  }

  @Test("Pinned entries stay and do not count", .reference("adr/CAC-3"))
  func pinned() throws {
    let cache = try Service.cache()
    cache.capacity = 2
    try cache.setEntries((1...2).map { Service.flight("\($0)") }, collection: "Flights")
    #expect(cache.setPinned(true, Service.id("1"), collection: "Flights"))
    #expect(!cache.setPinned(true, Service.id("9"), collection: "Flights"))
    try cache.setEntries((3...5).map { Service.flight("\($0)") }, collection: "Flights")
    #expect(cache.numbers() == ["1", "4", "5"])
    // Set anew it stays pinned; let go it is the newest.
    try cache.setEntry(Service.flight("1", "anew"), collection: "Flights")
    #expect(cache.numbers() == ["1", "4", "5"])
    #expect(cache.setPinned(false, Service.id("1"), collection: "Flights"))
    #expect(cache.numbers() == ["1", "5"])
    #expect(cache.setPinned(true, Service.id("1"), collection: "Flights"))
    #expect(cache.removeEntry(Service.id("1"), collection: "Flights"))
    try cache.setEntries((6...8).map { Service.flight("\($0)") }, collection: "Flights")
    #expect(cache.numbers() == ["7", "8"])
  }

  @Test(
    "What does not belong to the service is refused, and nothing changes", .reference("adr/CAC-8"))
  func foreign() throws {
    let cache = ODataCache()
    let flight = Service.flight("1")
    #expect(reason { try cache.setEntry(flight, collection: "Flights") } == .noServiceDocument)
    try cache.setServiceDocument(Service.document)
    try cache.setEntry(flight, collection: "Flights")
    #expect(reason { try cache.setEntry(flight, collection: "Hotels") } == .foreign)
    try cache.setSchema(Service.metadata)
    #expect(reason { try cache.setEntry(flight, collection: "Agencies") } == .foreign)
    var derived = Service.flight("2")
    derived.type = "F.Charter"
    derived["Owner"] = .string("me")
    try cache.setEntry(derived, collection: "Flights")
    var unknown = Service.flight("3")
    unknown["Owner"] = .string("me")
    #expect(
      reason { try cache.setEntries([Service.flight("4"), unknown], collection: "Flights") }
        == .foreign)
    // An open type takes any property.
    var task = ODataEntry(type: "F.Task", ["ID": .int32(1), "Anything": .string("x")])
    task.id = "t"
    try cache.setEntry(task, collection: "Tasks")
    #expect(cache.numbers() == ["1", "2"])
    // Documents of another service.
    let other = String(decoding: Service.document, as: UTF8.self).replacing(
      "Flights", with: "Trips")
    #expect(reason { try cache.setServiceDocument(Array(other.utf8)) } == .foreign)
    let otherSchema = String(decoding: Service.metadata, as: UTF8.self)
      .replacing("\"Flights\"", with: "\"Trips\"")
    #expect(reason { try cache.setSchema(Array(otherSchema.utf8)) } == .foreign)
    #expect(cache.schema?.collection("Flights")?.entitySchema != nil)
    #expect(cache.numbers() == ["1", "2"])
  }

  @Test("Collections and workspaces are looked up by name and meaning", .reference("ios/CAC-9"))
  func lookups() throws {
    let cache = try Service.cache()
    #expect(cache.workspaces.map(\.title) == ["Data", "Tasks"])
    #expect(cache.workspaces(.worklists).map(\.title) == ["Tasks"])
    #expect(cache.workspaces(.things).isEmpty)
    #expect(cache.collections(workspace: "Data").map(\.name) == ["Flights", "Agencies"])
    #expect(cache.collection("Agencies")?.entitySchema?.type == "F.Agency")
    #expect(cache.collection("Hotels") == nil)
    #expect(ODataCache().workspaces.isEmpty)
  }

  @Test(
    "A query is computed over the entries, and refused by name where it cannot be",
    .reference("ios/CAC-7"))
  func query() throws {
    let cache = try Service.cache()
    try cache.setEntries(
      ["c", "a", "b"].map { Service.flight($0, $0 == "c" ? "Rome" : "Oslo") },
      collection: "Flights")
    func numbers(_ options: String) throws -> [String?] {
      let address = try ODataAddress(parsing: "Flights?" + options)
      return try cache.entries(collection: "Flights", address.options).map { $0["Number"]?.string }
    }
    #expect(try numbers("$filter=City eq 'Oslo'&$orderby=Number") == ["a", "b"])
    #expect(try numbers("$orderby=Number desc&$top=1&$skip=1") == ["b"])
    #expect(reason { _ = try numbers("$search=x") } == .condition)
  }

  @Test("Threads set, find, search and remove at the same time")
  func threads() throws {
    let cache = try Service.cache()
    cache.capacity = 200
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        for round in 0..<150 {
          try cache.setEntry(
            Service.flight("\(thread)-\(round)", "city"), collection: "Flights")
          _ = cache.entry(Service.id("\(thread)-\(round / 2)"), collection: "Flights")
          let found = try cache.found("cit")
          #expect(!found.isEmpty && found.count <= 200)
          if round % 3 == 0 {
            cache.removeEntry(Service.id("\(thread)-\(round)"), collection: "Flights")
          }
        }
      } catch {
        Issue.record("\(error)")
      }
    }
    #expect(cache.count(collection: "Flights") <= 200)
    for number in cache.numbers() {
      #expect(cache.entry(Service.id(number), collection: "Flights")?["Number"]?.string == number)
    }
  }

  @Test("A cache that is set and removed at random holds what a plain dictionary does")
  func model() throws {
    let cache = try Service.cache()
    var model: [(String, String)] = []
    var state: UInt64 = 42
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for round in 0..<6_000 {
      let number = "\(random(900))"
      if random(3) == 0 {
        let isThere = model.contains { $0.0 == number }
        #expect(cache.removeEntry(Service.id(number), collection: "Flights") == isThere)
        model.removeAll { $0.0 == number }
      } else {
        let city = String(repeating: "c", count: random(300))
        try cache.setEntry(Service.flight(number, city), collection: "Flights")
        if let index = model.firstIndex(where: { $0.0 == number }) {
          model[index].1 = city
        } else {
          model.append((number, city))
        }
      }
      guard round % 500 == 499 else { continue }
      #expect(cache.numbers() == model.map(\.0))
      for (number, city) in model {
        #expect(
          cache.entry(Service.id(number), collection: "Flights")?["City"] == .string(city))
      }
    }
    // Room that was given back was used again.
    #expect(cache.memoryBytes < 3 << 20)
  }
}
