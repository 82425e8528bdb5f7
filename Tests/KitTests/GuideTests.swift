import FerryAppliedPreferences
import FerryCertificates
import FerryCrypto
import FerryHTTPClient
import FerryLogger
import FerryOData
import FerryODataCache
import FerryODataClient
import FerryPersistence
import FerryPreferences
import FerryTelemetry
import FerryTestTraits
import FerryTrace
import FerryVault
import FerryWorld
import Foundation
import Testing

/// The guide `Documentation/Kit.md`, run from its first line to its last.
@Suite("The guide to the device kit")
struct GuideTests {
  private static let file = URL(filePath: #filePath)

  @Test("Each snippet of the guide is in this file, word for word")
  func snippets() throws {
    let guide = Self.file.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Documentation/Kit.md")
    func lines(_ url: URL) throws -> [String] {
      try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    let own = try lines(Self.file)
    var snippet: [String]?
    var count = 0
    for line in try lines(guide) {
      if line == "```swift" {
        snippet = []
      } else if line == "```", let text = snippet {
        let isHere = own.indices.contains { own[$0...].starts(with: text) }
        #expect(isHere, "\(text.first ?? "")")
        count += 1
        snippet = nil
      } else {
        snippet?.append(line)
      }
    }
    #expect(count == 11)
  }

  @Test("The guide runs as it is printed", .reference("ios/FRM-1", "adr/SET-3"))
  func guide() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "guide-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }

    let vaults = DataVaults(folder: folder + "/vaults")
    let vault = try vaults.createVault("login", password: "s3cret!", salt: "anna")
    try vault.setString("token", value: "eyJhbGciOi")
    vault.lock()

    let again = try vaults.getVault("login")
    try again.unlock("s3cret!", salt: "anna")
    let token = try again.getString("token")
    #expect(token == "eyJhbGciOi")

    var policy = PasswordPolicy()
    policy.minLength = 6
    policy.hasSpecial = true
    policy.retryLimit = 10
    try again.setPasswordPolicy(policy)
    try again.unlock("s3cret!", salt: "anna")
    #expect(try again.getRetryLimit() == 10)

    let key = try Persistence.generateSecretKey()
    try again.setValue("store key", value: key)
    let store = try Persistence(folder: folder + "/store", key: key)
    try store.storeData([1, 2, 3], id: "photo")
    let photo = try store.loadData("photo")
    try store.storeSerializable(["theme": "dark"], id: "settings")
    let settings = try store.loadSerializable([String: String].self, "settings")
    #expect(photo == [1, 2, 3] && settings == ["theme": "dark"])

    try caching(store)
    try logging(folder)
    try tracing()
    try certificates()
  }

  private func caching(_ store: Persistence) throws {
    let serviceDocument = Array(
      """
      <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom">
      <workspace><atom:title>Data</atom:title>
      <collection href="Flights"><atom:title>Flights</atom:title></collection>
      </workspace></service>
      """.utf8)
    let metadata = Array(
      """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
      <edmx:DataServices><Schema Namespace="F" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      <EntityType Name="Flight"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.String" Nullable="false"/>
      <Property Name="City" Type="Edm.String"/></EntityType>
      <EntityContainer Name="C"><EntitySet Name="Flights" EntityType="F.Flight"/></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """.utf8)
    let feed = Array(
      """
      {"d":{"results":[{"__metadata":{"uri":"http://h/Flights('2')","type":"F.Flight"},
      "ID":"2","City":"Köln"}]}}
      """.utf8)

    let cache = ODataCache(uniqueID: "flights")
    try cache.setServiceDocument(serviceDocument, metadata: metadata)
    try cache.setEntries(try ODataFeed.read(feed).entries, collection: "Flights")
    let found = try cache.filterEntries(collection: "Flights", searchText: "koln")
    try cache.store(in: store)

    let later = ODataCache(uniqueID: "flights")
    try later.load(from: store)
    #expect(found.count == 1 && later.count(collection: "Flights") == 1)
  }

  private func logging(_ folder: String) throws {
    let preferences = try Preferences(
      PreferenceFile(path: folder + "/preferences"), world: .system())
    let theme = PreferenceKey<String>("theme", default: "light")
    let listening = try preferences.listen(to: theme) { print("the theme is now \($0)") }
    try preferences.set(theme, to: "dark")
    listening.cancel()
    #expect(preferences.value(of: theme) == "dark")

    let later = ODataCache(uniqueID: "flights")
    let applied = AppliedPreferences(preferences, world: .system())
    let session = ODataSession(applied.transport(), options: applied.options())
    try applied.follow(later)
    try preferences.set(KnownPreferences.connectTimeoutMilliseconds, to: 3500)
    try preferences.set(KnownPreferences.cacheCapacity, to: 500)
    try preferences.setText("SAPPASSPORT_ENABLED", to: "true")
    #expect(later.capacity == 500)
    #expect(applied.requestDefaults().deadlines.connect == .milliseconds(3500))
    #expect(applied.requestDefaults().headers["SAP-PASSPORT"]?.count == 460)
    _ = session

    let files = try LogFiles(folder: folder + "/log")
    let log = DeviceLog(world: .system(), handlers: [files])
    log.restore(files.earlier)
    log.level = .info
    log.info("flights loaded", tag: "Flights", correlationID: "c1")
    let bad = log.records(LogQuery(atLeast: .error))
    let export = try LogExport(header: log.header, records: log.records()).compressed()
    #expect(bad.isEmpty)
    #expect(try LogExport.text(of: export).contains("flights loaded correlation=c1"))
  }

  private func tracing() throws {
    let trace = TraceController(world: .system())
    trace.start(name: "Book a flight", clientHost: "phone")
    try trace.createStep().addUIAction("tap on Book")
    let request = try trace.createRequest(action: "POST Bookings")
    request.markSending()
    request.update(["status": "201"])
    request.markReceived()
    request.end()
    try trace.stop()
    let document = BusinessTransactionDocument.xml(try trace.record())
    #expect(document.contains("tap on Book"))

    let transport = TracedTransport(SystemTransport.make(), trace: trace)
    let collector = TransportReceiver(
      transport, address: "https://collector.example.com/v1/traces",
      deadlines: TransportReceiver.patience)
    _ = collector
  }

  private func certificates() throws {
    let enrolment = Enrolment(
      commonName: "anna", challenge: "7f2c", key: .p256(try P256Key.generate()))
    let certificateRequest = try enrolment.request()
    #expect(certificateRequest.first == 0x30)

    let seed = try SeedFile(Array("Server: relay.example.org\nPort: 443\n".utf8))
    let server = seed.connection.serverName
    #expect(server == "relay.example.org" && seed.connection.portNumber == 443)
  }
}
