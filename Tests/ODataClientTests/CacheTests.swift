import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryPersistence
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("The download cache")
struct CacheTests {
  /// A service whose answers change with each load, and that knows its last ETag.
  private static func service(
    _ headers: [(String, String)] = [("ETag", "\"1\"")]
  ) -> ScriptedService {
    ScriptedService { request, number in
      request.headers["If-None-Match"] == "\"1\"" || request.headers["If-Modified-Since"] != nil
        ? .status(304, "", headers) : .status(200, "load \(number)", headers)
    }
  }

  private static func session(
    _ cache: ODataDownloadCache?, _ policy: ODataCachePolicy = .askServerIfModified,
    user: String? = nil
  ) -> ODataSession {
    var options = ODataSessionOptions()
    options.cache = cache
    options.cachePolicy = policy
    options.credentials = user.map { .basic(user: $0, password: "") }
    options.presentsCredentialsBeforeChallenge = true
    return ODataSession(SystemTransport.make(), options: options)
  }

  @Test(
    "There is none unless one is given, to the session or to one request",
    .reference("ios/REQ-2", "ios/REQ-3", "ios/CS-122")
  )
  func none() async throws {
    let service = Self.service()
    #expect(ODataSessionOptions().cache == nil)
    let session = Self.session(nil)
    for _ in 0..<2 { #expect(try await !session.send(ODataRequest(service.root)).isFromCache) }
    var own = ODataRequest(service.root)
    own.cache = ODataDownloadCache()
    #expect(try await !session.send(own).isFromCache)
    #expect(try await session.send(own).isFromCache)
    #expect(service.requests.map { $0.headers["If-None-Match"] } == [nil, nil, nil, "\"1\""])
  }

  @Test("The policy of one request goes before the session's", .reference("ios/REQ-2"))
  func ofOneRequest() async throws {
    let service = Self.service([("ETag", "\"1\"")])
    let session = Self.session(ODataDownloadCache())
    var request = ODataRequest(service.root)
    request.cachePolicy = .doNotWriteToCache
    #expect(try await session.send(request).text == "load 0")
    request.cachePolicy = .dontLoad
    let missing = await failure { [request] () throws(ODataClientError) in
      _ = try await session.send(request)
    }
    guard case .notCached = missing?.cause else { return #expect(Bool(false), "\(missing as Any)") }
    request.cachePolicy = nil
    #expect(try await session.send(request).text == "load 1")
    request.cachePolicy = .onlyLoadIfNotCached
    let kept = try await session.send(request)
    #expect(kept.text == "load 1" && kept.isFromCache && service.lines.count == 2)
    request.cachePolicy = .doNotReadFromCache
    #expect(try await session.send(request).text == "load 2")
  }

  @Test("The service is asked whether it has changed by default", .reference("ios/CON-11"))
  func byDefault() async throws {
    #expect(ODataSessionOptions().cachePolicy == .askServerIfModified)
    let service = Self.service([("ETag", "\"1\""), ("Cache-Control", "max-age=1000")])
    let session = Self.session(ODataDownloadCache())
    let texts = [
      try await session.send(ODataRequest(service.root)).text,
      try await session.send(ODataRequest(service.root)).text,
    ]
    #expect(texts == ["load 0", "load 0"])
    #expect(service.lines.count == 2)
  }

  @Test("Where there is no ETag, the date of the last change is asked by")
  func date() async throws {
    let service = Self.service([("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")])
    let session = Self.session(ODataDownloadCache())
    for _ in 0..<2 { #expect(try await session.send(ODataRequest(service.root)).text == "load 0") }
    #expect(service.requests[1].headers["If-Modified-Since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  /// What a second GET gives, and how often the service was asked in all.
  private static func second(
    _ policy: ODataCachePolicy, _ headers: [(String, String)] = []
  ) async throws -> (text: String, isFromCache: Bool, asked: Int) {
    let service = Self.service(headers)
    let cache = ODataDownloadCache()
    _ = try await session(cache).send(ODataRequest(service.root))
    let answer = try await session(cache, policy).send(ODataRequest(service.root))
    return (answer.text, answer.isFromCache, service.lines.count)
  }

  @Test("Each of the seven policies does what it says", .reference("ios/CON-11"))
  func policies() async throws {
    #expect(ODataCachePolicy.allCases.count == 7)
    #expect(try await Self.second(.askServerIfModified) == ("load 1", false, 2))
    #expect(try await Self.second(.onlyLoadIfNotCached) == ("load 0", true, 1))
    #expect(try await Self.second(.dontLoad) == ("load 0", true, 1))
    #expect(try await Self.second(.doNotReadFromCache, [("ETag", "\"1\"")]) == ("load 1", false, 2))
    let fresh = [("Cache-Control", "max-age=600")]
    #expect(try await Self.second(.askServerIfModifiedWhenStale, fresh) == ("load 0", true, 1))
    #expect(try await Self.second(.askServerIfModifiedWhenStale) == ("load 1", false, 2))
    let past = [("Expires", "Sun, 06 Nov 1994 08:49:37 GMT"), ("ETag", "\"1\"")]
    #expect(try await Self.second(.askServerIfModifiedWhenStale, past) == ("load 0", true, 2))
    #expect(try await Self.second(.fallbackToCacheIfLoadFails) == ("load 1", false, 2))
  }

  @Test(
    "Nothing cached and nothing to be loaded is an error by name; nothing is written where that is forbidden"
  )
  func forbidden() async throws {
    let service = Self.service()
    let cache = ODataDownloadCache()
    let error = await failure { () throws(ODataClientError) in
      _ = try await Self.session(cache, .dontLoad).send(ODataRequest(service.root))
    }
    guard case .notCached = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    #expect(error?.requestWasSent == false && service.lines.isEmpty)
    _ = try await Self.session(cache, .doNotWriteToCache).send(ODataRequest(service.root))
    #expect(await cache.count == 0)
  }

  @Test("What is kept stands in where no answer comes, if the policy says so")
  func fallback() async throws {
    let cache = ODataDownloadCache()
    let isDown = Mutex(false)
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      guard !isDown.withLock({ $0 }) else { return }
      line.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood")
    }
    defer { server.close() }
    let request = ODataRequest(server.url)
    _ = try await Self.session(cache).send(request)
    isDown.withLock { $0 = true }
    let answer = try await Self.session(cache, .fallbackToCacheIfLoadFails).send(request)
    #expect(answer.text == "good" && answer.isFromCache)
    let error = await failure { () throws(ODataClientError) in
      _ = try await Self.session(cache).send(request)
    }
    #expect(error != nil)
  }

  @Test("no-store is kept by neither side, Vary tells answers apart, and so does the user")
  func apart() async throws {
    let service = ScriptedService { request, number in
      let control = request.target == "/secret" ? "no-store" : "max-age=600"
      let user = request.headers["Authorization"] ?? "nobody"
      let language = request.headers["Accept-Language"] ?? ""
      return .status(
        200, "\(user) \(language) \(number)",
        [("Cache-Control", control), ("Vary", "Accept-Language")])
    }
    let cache = ODataDownloadCache()
    func get(_ path: String, _ user: String?, _ language: String) async throws -> ODataResponse {
      var request = ODataRequest(service.root + path)
      request.headers["Accept-Language"] = language
      return try await Self.session(cache, .onlyLoadIfNotCached, user: user).send(request)
    }
    #expect(try await !get("secret", nil, "de").isFromCache)
    #expect(try await !get("secret", nil, "de").isFromCache)
    #expect(await cache.count == 0)
    for (user, language) in [("a", "de"), ("a", "fr"), ("b", "de")] {
      #expect(try await !get("x", user, language).isFromCache)
    }
    for (user, language, number) in [("a", "de", 2), ("a", "fr", 3), ("b", "de", 4)] {
      let answer = try await get("x", user, language)
      #expect(answer.isFromCache && answer.text.hasSuffix(" \(language) \(number)"))
    }
    var secret = ODataRequest(service.root + "y")
    secret.headers["Cache-Control"] = "no-store"
    _ = try await Self.session(cache).send(secret)
    #expect(await cache.count == 3)
    await cache.clear()
    #expect(try await !get("x", "a", "de").isFromCache)
  }

  @Test("It is bounded, and what was used longest ago goes first")
  func bounded() async throws {
    let service = ScriptedService { _, _ in
      .status(200, String(repeating: "x", count: 1000))
    }
    let cache = ODataDownloadCache(limitBytes: 3500)
    let session = Self.session(cache, .onlyLoadIfNotCached)
    for name in ["a", "b", "c", "a", "d"] {
      _ = try await session.send(ODataRequest(service.root + name))
    }
    #expect(await cache.usedBytes == 3000)
    for name in ["a", "c", "d"] {
      #expect(try await session.send(ODataRequest(service.root + name)).isFromCache, "\(name)")
    }
    #expect(try await !session.send(ODataRequest(service.root + "b")).isFromCache)
    let small = ODataDownloadCache(limitBytes: 1500)
    _ = try await Self.session(small).send(ODataRequest(service.root))
    #expect(await small.count == 0)
  }

  @Test(
    "In a store of the device it lasts beyond the app, and a lost file is loaded again",
    .reference("ios/REQ-26")
  )
  func forGood() async throws {
    let service = Self.service([("ETag", "\"1\""), ("X-More", "a b")])
    let store = ODataMemoryStore()
    _ = try await Self.session(ODataDownloadCache(store: store)).send(ODataRequest(service.root))
    let later = try await Self.session(ODataDownloadCache(store: store), .dontLoad).send(
      ODataRequest(service.root))
    #expect(later.text == "load 0" && later.headers["X-More"] == "a b" && later.status == 200)
    let broken = LosingStore(store)
    let again = try await Self.session(ODataDownloadCache(store: broken)).send(
      ODataRequest(service.root))
    #expect(again.text == "load 1" && !again.isFromCache)
  }

  @Test(
    "Kept for good in the device kit's store, sealed unless that is switched off, and found by the next process",
    .reference("ios/REQ-26"),
    arguments: [true, false])
  func sealed(isSecure: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let service = Self.service([("ETag", "\"1\""), ("X-More", "a header")])
    let key = try Persistence.generateSecretKey()
    func cache() throws -> ODataDownloadCache {
      ODataDownloadCache(
        store: ODataSealedStore(try Persistence(folder: folder, isSecure: isSecure, key: key)))
    }
    _ = try await Self.session(try cache()).send(ODataRequest(service.root + "Secrets"))
    let later = try await Self.session(try cache(), .dontLoad).send(
      ODataRequest(service.root + "Secrets"))
    #expect(later.text == "load 0" && later.isFromCache && later.headers["X-More"] == "a header")
    var shows = false
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let bytes = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
      for plain in ["load 0", "a header", "Secrets"] {
        if bytes.range(of: Data(plain.utf8)) != nil { shows = true }
      }
    }
    #expect(shows != isSecure)

    // Damaged files are loaded again.
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where !file.contains("store") {
      var bytes = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
      guard !bytes.isEmpty else { continue }
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: URL(filePath: "\(folder)/\(file)"))
    }
    if isSecure {
      let again = try await Self.session(try cache(), .onlyLoadIfNotCached).send(
        ODataRequest(service.root + "Secrets"))
      #expect(!again.isFromCache && again.text == "load 1")
    }
    let emptied = try cache()
    await emptied.clear()
    #expect(await emptied.count == 0)
  }

  /// Loses everything but the index.
  private struct LosingStore: ODataDownloadStore {
    let store: ODataMemoryStore
    init(_ store: ODataMemoryStore) { self.store = store }
    func load(_ name: String) async -> [UInt8]? { name == "index" ? await store.load(name) : nil }
    func save(_ bytes: [UInt8], _ name: String) async { await store.save(bytes, name) }
    func remove(_ name: String) async { await store.remove(name) }
  }

  @Test("After a change what is kept of the address is no longer good")
  func changed() async throws {
    let service = Self.service()
    let cache = ODataDownloadCache()
    let session = Self.session(cache, .onlyLoadIfNotCached)
    _ = try await session.send(ODataRequest(service.root))
    _ = try await session.send(ODataRequest(service.root, method: .put, body: [1]))
    #expect(try await !session.send(ODataRequest(service.root)).isFromCache)
  }

  @Test("An app that asks by an ETag of its own sees the 304")
  func ownETag() async throws {
    let service = Self.service()
    let session = Self.session(ODataDownloadCache())
    _ = try await session.send(ODataRequest(service.root))
    var request = ODataRequest(service.root)
    request.setETag("\"1\"", match: .ifNoneMatch)
    #expect(try await session.send(request).status == 304)
  }
}
