import FerryOData
import FerryODataCache
import FerryTestTraits
import Foundation
import Testing

@Suite("Search in the cache")
struct SearchTests {
  private func cache() throws -> ODataCache {
    let cache = try Service.cache()
    try cache.setEntries(
      [
        Service.flight("LH 400", "New York", note: "hidden words", gate: "B12"),
        Service.flight("LH 401", "Frankfurt am Main"),
        Service.flight("AF 010", "São Paulo"),
        Service.flight("NH 210", "\u{FF34}\u{FF4F}\u{FF4B}\u{FF59}\u{FF4F} (\u{6771}\u{4EAC})"),
        Service.flight("AY 007", "Newark; near York"),
      ], collection: "Flights")
    return cache
  }

  @Test(
    "Each word of the term begins a word of the entry, by default",
    .reference("adr/CAC-4", "adr/C-17", "ios/CAC-7", "ios/CAC-8")
  )
  func tokenizedPrefix() throws {
    let cache = try cache()
    #expect(cache.searchAlgorithm == .tokenizedPrefix)
    #expect(!cache.isRegexSearchEnabled)
    #expect(try cache.found("lh") == ["LH 400", "LH 401"])
    #expect(try cache.found("new yo") == ["LH 400", "AY 007"])
    #expect(try cache.found("yo NEW") == ["LH 400", "AY 007"])
    #expect(try cache.found("ew") == [])
    #expect(try cache.found("  main ") == ["LH 401"])
    #expect(try cache.found("") == cache.numbers())
    #expect(try cache.found("  ") == cache.numbers())
    #expect(try cache.found("(") == [])
    #expect(try cache.found("x", "Hotels") == [])
  }

  @Test("Five more algorithms, by number", .reference("adr/CAC-5"))
  func algorithms() throws {
    let cache = try cache()
    #expect(ODataSearchAlgorithm.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    cache.searchAlgorithm = .fullTermPrefix
    #expect(try cache.found("new y") == ["LH 400"])
    #expect(try cache.found("york") == [])
    #expect(try cache.found("lh 40") == ["LH 400", "LH 401"])
    cache.searchAlgorithm = .tokenizedContain
    #expect(try cache.found("ork zzz") == ["LH 400", "AY 007"])
    #expect(try cache.found("ork ank") == ["LH 400", "LH 401", "AY 007"])
    cache.searchAlgorithm = .fullTermContain
    #expect(try cache.found("ew york") == ["LH 400"])
    #expect(try cache.found("york ew") == [])
    cache.searchAlgorithm = .tokenizedContainAll
    #expect(try cache.found("ork ew") == ["LH 400", "AY 007"])
    #expect(try cache.found("ork zzz") == [])
    cache.searchAlgorithm = .regex
    #expect(cache.isRegexSearchEnabled)
    #expect(try cache.found("^LH 40[1-9]$") == ["LH 401"])
    #expect(try cache.found("York") == ["LH 400", "AY 007"])
    #expect(try cache.found("york") == [])
  }

  @Test("Regular expressions are off by default, and switched", .reference("ios/CAC-8"))
  func regexSwitch() throws {
    let cache = try cache()
    cache.isRegexSearchEnabled = true
    #expect(cache.searchAlgorithm == .regex)
    #expect(reason { _ = try cache.found("[") } == .pattern)
    #expect(reason { _ = try cache.found("(a)\\1") } == .pattern)
    cache.isRegexSearchEnabled = false
    #expect(cache.searchAlgorithm == .tokenizedPrefix)
  }

  @Test("A regular expression that explodes elsewhere answers here")
  func explosion() throws {
    let cache = try Service.cache()
    try cache.setEntry(
      Service.flight("1", String(repeating: "a", count: 5_000) + "!"), collection: "Flights")
    cache.isRegexSearchEnabled = true
    #expect(try cache.found("^(a+)+$") == [])
    #expect(try cache.found("^(a|aa)+!$") == ["1"])
    #expect(reason { _ = try cache.found("(a{1,500}){1,500}") } == .pattern)
  }

  @Test("Letters are found as people type them: case, accents and width", .reference("adr/CAC-4"))
  func folding() throws {
    let cache = try cache()
    for text in ["sao", "SÃO", "são p", "sa\u{303}o PAULO"] {
      #expect(try cache.found(text) == ["AF 010"], "\(text)")
    }
    for text in ["tokyo", "\u{FF34}\u{FF4F}", "\u{6771}", "\u{6771}\u{4EAC}"] {
      #expect(try cache.found(text) == ["NH 210"], "\(text)")
    }
    #expect(try cache.found("\u{4EAC}") == [])
  }

  @Test(
    "Searched is what the metadata names, in complex values too",
    .reference("adr/CAC-7", "ios/CAC-7"))
  func fields() throws {
    let cache = try cache()
    #expect(try cache.found("b12") == ["LH 400"])
    #expect(try cache.found("hidden") == [])
    #expect(try cache.found("7") == [])
    // Where it names nothing, all texts are.
    try cache.setEntries(
      [Service.agency(1, "Alpha"), Service.agency(2, "Beta")], collection: "Agencies")
    #expect(try cache.found("be", "Agencies") == ["Beta"])
    #expect(try cache.found("2", "Agencies") == [])
    // A schema that comes later decides from then on.
    let late = ODataCache()
    try late.setServiceDocument(Service.document)
    try late.setEntry(Service.flight("LH 1", note: "hidden"), collection: "Flights")
    #expect(try late.found("hidden") == ["LH 1"])
    try late.setSchema(Service.metadata)
    #expect(try late.found("hidden") == [])
    #expect(try late.found("lh") == ["LH 1"])
  }

  private struct Longest: ODataEntrySearch {
    func matches(_ entry: ODataEntry, term: String, schema: ODataEntitySchema?) -> Bool {
      schema?.type == "F.Flight" && (entry["City"]?.string?.count ?? 0) >= Int(term) ?? 0
    }
  }

  @Test("A search of the app's own takes the place of the algorithm", .reference("adr/CAC-6"))
  func custom() throws {
    let cache = try cache()
    cache.setEntrySearch(Longest())
    #expect(try cache.found("17") == ["LH 401", "AY 007"])
    cache.setEntrySearch(nil)
    #expect(try cache.found("17") == [])
    cache.setEntrySearch(Longest())
    cache.searchAlgorithm = .fullTermContain
    #expect(try cache.found("17") == [])
  }

  @Test("What is typed on is looked for where it was found; changes are seen at once")
  func typing() throws {
    let cache = try cache()
    for algorithm in ODataSearchAlgorithm.allCases where algorithm != .regex {
      cache.searchAlgorithm = algorithm
      for word in ["new york", "york near", "lh 401 main", "sao zz", "ork zz new"] {
        for end in word.indices {
          let text = String(word[...end])
          let found = try cache.found(text)
          // The same without what was found before.
          cache.searchAlgorithm = algorithm
          #expect(try cache.found(text) == found, "\(algorithm) \(text)")
        }
      }
    }
    cache.searchAlgorithm = .tokenizedPrefix
    #expect(try cache.found("ne") == ["LH 400", "AY 007"])
    try cache.setEntry(Service.flight("XX 1", "Nevers"), collection: "Flights")
    #expect(try cache.found("nev") == ["XX 1"])
    #expect(try cache.found("new") == ["LH 400", "AY 007"])
    cache.removeEntry(Service.id("LH 400"), collection: "Flights")
    #expect(try cache.found("new y") == ["AY 007"])
  }
}
