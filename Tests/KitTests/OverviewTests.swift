import FerryLogger
import FerryOData
import FerryODataCache
import FerryPersistence
import FerryPreferences
import FerryTestTraits
import FerryTrace
import FerryVault
import FerryWorld
import Foundation
import Testing

/// What the guide's overview promises of each part, in one go.
@Suite("The parts of the device kit")
struct OverviewTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "overview-\(UUID().uuidString)")

  private static let document = """
    <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom">
    <workspace><atom:title>W</atom:title><collection href="Flights"><atom:title>Flights</atom:title>
    </collection></workspace></service>
    """

  private static let metadata = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <EntityType Name="Flight"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="City" Type="Edm.String" sap:searchable="true"/></EntityType>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
    <EntitySet Name="Flights" EntityType="S.Flight"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  private func flight(_ number: Int, _ city: String) -> ODataEntry {
    var entry = ODataEntry(
      type: "S.Flight", ["ID": .int32(Int32(number)), "City": .string(city)])
    entry.id = "Flights(\(number))"
    return entry
  }

  @Test(
    "The cache holds documents and entries in memory, finds them by their words, and has a size",
    .reference("ios/FRM-3")
  )
  func cache() throws {
    let cache = ODataCache()
    try cache.setServiceDocument(Array(Self.document.utf8), metadata: Array(Self.metadata.utf8))
    #expect(cache.collection("Flights")?.entitySchema != nil)
    try cache.setEntries(
      [flight(1, "Kiel"), flight(2, "Köln"), flight(3, "Rom")], collection: "Flights")
    let found = try cache.filterEntries(collection: "Flights", searchText: "koln")
    #expect(found.map(\.id) == ["Flights(2)"])
    let full = cache.memoryBytes
    cache.capacity = 1
    #expect(cache.entries(collection: "Flights").count == 1 && cache.memoryBytes < full)
  }

  @Test(
    "The store keeps objects and raw data, sealed, for a start without a network",
    .reference("ios/FRM-4"))
  func persistence() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = try Persistence.generateSecretKey()
    let store = try Persistence(folder: folder.path, key: key)
    try store.storeSerializable(["city": "Heligoland"], id: "settings")
    try store.storeData(Array("raw Heligoland".utf8), id: "photo")
    let later = try Persistence(folder: folder.path, key: key)
    #expect(
      try later.loadSerializable([String: String].self, "settings") == ["city": "Heligoland"])
    #expect(try later.loadData("photo") == Array("raw Heligoland".utf8))
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let bytes = FileManager.default.contents(atPath: folder.appending(path: file).path) ?? Data()
      #expect(bytes.range(of: Data("Heligoland".utf8)) == nil, "\(file)")
    }
  }

  @Test(
    "Errors of all parts have domain, code, cause and cure; a log and passports find a request again",
    .reference("ios/FRM-5")
  )
  func support() throws {
    func described(_ body: () throws -> Void) -> (any NumberedError)? {
      do { try body() } catch { return error as? any NumberedError }
      return nil
    }
    let preferences = described {
      _ = try Preferences(PreferenceFile(path: "/dev/null/x"), world: .system()).set(
        KnownPreferences.httpsPort, to: 0)
    }
    let trace = TraceController(world: .system())
    for error in [preferences, described { try trace.stop() }] {
      let found = try #require(error)
      #expect(found.code.rawValue > 0 && !found.message.isEmpty)
      #expect(!found.code.cause.isEmpty && !found.code.cure.isEmpty)
    }
    trace.start()
    try trace.createStep()
    let request = try trace.createRequest()
    let log = DeviceLog(world: .system())
    log.level = .info
    log.info("sent", tag: "Flights", correlationID: request.id.hexadecimal)
    var query = LogQuery()
    query.correlationID = request.id.hexadecimal
    let records = log.records(query)
    #expect(records.map(\.message) == ["sent"])
    #expect(trace.find(passport: request.passport.header) == request.location)
  }
}
