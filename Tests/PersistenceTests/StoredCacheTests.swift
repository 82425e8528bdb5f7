import FerryPersistence
import FerryTestTraits
import Foundation
import Testing

/// An app's own cache: a list of words.
private final class WordCache: StorableCache {
  let uniqueID: String
  var title = ""
  var words: [String] = []
  var calls: [String] = []
  var refuses = false

  init(_ uniqueID: String = "words") { self.uniqueID = uniqueID }

  func storeParts(_ store: (CachePart) throws -> Void) throws {
    try store(.serviceDocument(Array(title.utf8)))
    for word in words {
      if refuses { throw CancellationError() }
      try store(.entries(Array(word.utf8)))
    }
  }

  func loadPart(_ part: CachePart) throws {
    switch part {
    case .serviceDocument(let bytes):
      title = String(decoding: bytes, as: UTF8.self)
      calls.append("head")
    case .entries(let bytes):
      words.append(String(decoding: bytes, as: UTF8.self))
      calls.append("entries")
    case .finished: calls.append("finished")
    }
  }
}

@Suite("Stored caches")
struct StoredCacheTests {
  @Test(
    "A cache is stored under its id or a name, and loaded",
    .reference("ios/PER-2", "ios/CAC-11", "adr/SET-4"))
  func caches() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let cache = WordCache()
    cache.title = "Title"
    cache.words = ["a", "", String(repeating: "long", count: 50_000)]
    #expect(try store.storeCache(cache) == "words")
    #expect(try store.storeCache(WordCache(), key: "second") == "second")
    let loaded = WordCache()
    #expect(try store.loadCache("words", into: loaded))
    #expect(loaded.title == "Title")
    #expect(loaded.words == cache.words)
    #expect(try !store.loadCache("third", into: loaded))
    #expect(try store.loadCache("second", into: loaded))
    #expect(reason { _ = try store.loadData("words") } == .dataType)
    #expect(try store.removeCache("words"))
    #expect(try !store.removeCache("words"))
    #expect(try !store.loadCache("words", into: loaded))
  }

  @Test(
    "Loading comes in three stages: document, entries, finished",
    .reference("adr/PEA-8", "adr/C-13"))
  func stages() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let cache = WordCache()
    cache.words = ["a", "b"]
    try store.storeCache(cache)
    let loaded = WordCache()
    #expect(try store.loadCache("words", into: loaded))
    #expect(loaded.calls == ["head", "entries", "entries", "finished"])
  }

  @Test("A cache that refuses to be stored leaves the one before", .reference("adr/PEA-1"))
  func refusing() throws {
    let fixture = PersistenceFixture()
    let store = try fixture.open()
    let cache = WordCache()
    cache.words = ["a"]
    try store.storeCache(cache)
    cache.refuses = true
    #expect(throws: CancellationError.self) { try store.storeCache(cache) }
    let loaded = WordCache()
    #expect(try store.loadCache("words", into: loaded))
    #expect(loaded.words == ["a"])
    #expect(try fixture.contents().count == 2)
  }
}
