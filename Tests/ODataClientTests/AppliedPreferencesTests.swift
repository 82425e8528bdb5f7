import FerryAppliedPreferences
import FerryHTTP
import FerryHTTPClient
import FerryODataCache
import FerryODataClient
import FerryPersistence
import FerryPreferences
import FerryTelemetry
import FerryTestSupport
import FerryTestTraits
import FerryTrace
import FerryWorld
import Foundation
import Synchronization
import Testing

/// Preferences in memory, as an app has them on its disk.
private final class MemoryPreferences: PreferenceStore {
  private let bytes = Mutex<[UInt8]?>(nil)
  func read() throws(PreferencesError) -> [UInt8]? { bytes.withLock { $0 } }
  func replace(_ new: [UInt8]) throws(PreferencesError) { bytes.withLock { $0 = new } }
}

@Suite("Preferences reach the parts")
struct AppliedPreferencesTests {
  private let preferences: Preferences
  private let applied: AppliedPreferences

  init() throws {
    preferences = try Preferences(MemoryPreferences(), world: .system())
    applied = AppliedPreferences(preferences, world: .system())
  }

  private func session(_ transport: any Transport = SystemTransport.make()) -> ODataSession {
    ODataSession(applied.transport(transport), options: applied.options())
  }

  @Test(
    "What nobody has set is what each part has by itself", .reference("adr/PRF-1", "adr/PRF-13"))
  func defaults() throws {
    let defaults = applied.requestDefaults()
    let own = ODataSessionOptions()
    #expect(defaults.deadlines == own.deadlines && defaults.deadlines == TransportDeadlines())
    #expect(defaults.language == own.language)
    #expect(defaults.headers.fields.isEmpty && own.headers.fields.isEmpty)
    #expect(defaults.httpsPort == HTTPAddress("https://h/")?.port)
    let cache = ODataCache()
    #expect(Int(preferences.value(of: KnownPreferences.cacheCapacity)) == cache.capacity)
    try applied.follow(cache)
    #expect(cache.capacity == 0)
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let key = try Persistence.generateSecretKey()
    let store = try applied.openPersistence(folder: folder + "/a", key: key)
    #expect(store.isSecure && store.folder == folder + "/a")
    try preferences.set(KnownPreferences.isPersistenceSecure, to: false)
    try preferences.set(KnownPreferences.persistenceFolder, to: folder + "/b")
    let plain = try applied.openPersistence(folder: folder + "/a", key: nil)
    #expect(!plain.isSecure && plain.folder == folder + "/b")
  }

  @Test(
    "A session's next request has the header that names the app, and the language",
    .reference("adr/APH-1"))
  func headers() async throws {
    let server = ScriptedService { _, _ in .status(200) }
    let session = session()
    _ = try await session.send(ODataRequest(server.root))
    try preferences.set(KnownPreferences.applicationIDHeader, to: "MyApp.2.3.0.0")
    try preferences.set(KnownPreferences.language, to: "pt-BR")
    _ = try await session.send(ODataRequest(server.root))
    _ = try await session.send(
      ODataRequest(server.root, headers: ["X-Application-ID": "own", "sap-language": "de"]))
    try preferences.resetAll()
    _ = try await session.send(ODataRequest(server.root))
    let sent = server.requests.map(\.headers)
    #expect(sent.map { $0["X-Application-ID"] } == [nil, "MyApp.2.3.0.0", "own", nil])
    let system = SystemLanguage.preferred
    #expect(sent.map { $0["sap-language"] } == [system, "pt-BR", "de", system])
    #expect(sent.map { $0["Accept-Language"] } == [system, "pt-BR", "pt-BR", system])
    let other = AppliedPreferences(preferences, applicationHeader: "X-App", world: .system())
    try preferences.set(KnownPreferences.applicationIDHeader, to: "a.1")
    let named = ODataSession(SystemTransport.make(), options: other.options())
    _ = try await named.send(ODataRequest(server.root))
    #expect(server.requests.last?.headers["X-App"] == "a.1")
    for bad in ["a\r\nCookie: x", "ä"] {
      #expect(throws: PreferencesError.self) {
        try preferences.set(KnownPreferences.applicationIDHeader, to: bad)
      }
    }
    #expect(throws: PreferencesError.self) {
      try preferences.set(KnownPreferences.language, to: "de\n")
    }
  }

  @Test(
    "A time-out that is set ends the next request; one of the request's own goes first",
    .reference("adr/B17")
  )
  func timeouts() async throws {
    let transport = RecordingTransport { _ in (200, [:]) }
    let recorded = session(transport)
    _ = try await recorded.send(ODataRequest("https://h/"))
    try preferences.setText("CONNECTION_TIMEOUT_MS", to: "3500")
    try preferences.setText("SDM_CONNECTIVITY_SCONNTIMEOUT", to: "7000")
    _ = try await recorded.send(ODataRequest("https://h/"))
    var own = ODataRequest("https://h/")
    own.deadlines = TransportDeadlines(connect: .seconds(1))
    _ = try await recorded.send(own)
    #expect(
      transport.requests.map(\.deadlines.connect) == [
        .seconds(10), .milliseconds(3500), .seconds(1),
      ])
    #expect(transport.requests.map(\.deadlines.idle) == [.seconds(60), .seconds(7), .seconds(60)])

    let silent = ScriptedServer { line in
      _ = line.receiveHead()
      _ = line.waitForEnd()
    }
    defer { silent.close() }
    try preferences.set(KnownPreferences.socketTimeoutMilliseconds, to: 200)
    let session = session()
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest(silent.url))
    }
    guard case .transport(let reason) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(reason.code == .timedOut && reason.requestWasSent)
  }

  @Test(
    "Passports are off, go with each request once they are on, and end again",
    .reference("adr/PAS-1", "adr/A51"))
  func passports() async throws {
    let server = ScriptedService { _, _ in .status(200) }
    let session = session()
    func send() async throws -> HTTPHeaders {
      _ = try await session.send(ODataRequest(server.root))
      return try #require(server.requests.last).headers
    }
    #expect(try await send()["SAP-PASSPORT"] == nil)
    try preferences.setText("SAPPASSPORT_ENABLED", to: "true")
    let sent = [try await send(), try await send()]
    let passports = try sent.map { try Passport(header: try #require($0["SAP-PASSPORT"])) }
    #expect(passports[0].rootID == passports[1].rootID, "one session of the app")
    #expect(passports[0].transactionID != passports[1].transactionID, "one id for each request")
    #expect(sent.map { $0["X-CorrelationID"] } == passports.map(\.correlationID))
    try preferences.setText("SDM_TRACEING_ENABLED", to: "false")
    #expect(try await send()["SAP-PASSPORT"] == nil)

    // A trace has its own, whatever the preference says.
    let trace = TraceController(world: .system())
    let traced = ODataSession(
      TracedTransport(SystemTransport.make(), trace: trace), options: applied.options())
    let root = trace.start()
    _ = try await traced.send(ODataRequest(server.root))
    let header = try #require(server.requests.last?.headers["SAP-PASSPORT"])
    #expect(try Passport(header: header).rootID == root)
  }

  @Test("An HTTPS address without a port has the preferred one")
  func port() async throws {
    let transport = RecordingTransport { _ in (200, [:]) }
    let session = session(transport)
    try preferences.set(KnownPreferences.httpsPort, to: 8443)
    let addresses = [
      "https://h/a?b=https://x/", "HTTPS://h", "https://h:1/", "https://[::1]/a",
      "https://[::1]:7/a",
      "http://h/a",
    ]
    for address in addresses { _ = try await session.send(ODataRequest(address)) }
    #expect(
      transport.requests.map(\.url) == [
        "https://h:8443/a?b=https://x/", "HTTPS://h:8443", "https://h:1/", "https://[::1]:8443/a",
        "https://[::1]:7/a", "http://h/a",
      ])
  }

  @Test("The name of a handler says which transport sends; an unknown one is an error")
  func handlers() async throws {
    let (standard, relay) = (
      RecordingTransport { _ in (200, [:]) }, RecordingTransport { _ in (202, [:]) }
    )
    let session = ODataSession(
      applied.transport(standard, named: ["relay": relay]), options: applied.options())
    #expect(try await session.send(ODataRequest("https://h/")).status == 200)
    try preferences.set(KnownPreferences.handlerName, to: "relay")
    #expect(try await session.send(ODataRequest("https://h/")).status == 202)
    try preferences.set(KnownPreferences.handlerName, to: "other")
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.send(ODataRequest("https://h/"))
    }
    #expect(error?.message.contains("other") == true && error?.requestWasSent == false)
    #expect(error?.hint.contains("SDM_CONNECTIVITY_HANDLER_CLASS_NAME") == true)
    #expect(standard.requests.count == 1 && relay.requests.count == 1)
  }

  @Test("A cache has the capacity that is set, until it no longer follows")
  func cache() throws {
    let cache = ODataCache()
    try preferences.set(KnownPreferences.cacheCapacity, to: 7)
    let following = try applied.follow(cache)
    #expect(cache.capacity == 7)
    try preferences.setText("CACHE_MAX_ELEMENT_NR", to: "3")
    #expect(cache.capacity == 3)
    following.cancel()
    try preferences.set(KnownPreferences.cacheCapacity, to: 5)
    #expect(cache.capacity == 3)
  }
}
