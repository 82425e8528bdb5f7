import Ferry
import FerryHTTPClient
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWorld
import Synchronization
import Testing

@testable import Ferry

/// A network that can be switched off.
private final class SwitchedTransport: Transport {
  private let isOff = Mutex(false)
  private let shore: ShoreTransport

  init(_ shore: sending Shore) { self.shore = ShoreTransport(shore) { _, _ in } }

  func set(off: Bool) { isOff.withLock { $0 = off } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    if isOff.withLock({ $0 }) {
      throw TransportError(
        code: .cannotConnect, message: "nobody is there", hint: "later", isTransient: true,
        requestWasSent: false)
    }
    return try await shore.send(request)
  }
}

@Suite("What is told of the connection and of a synchronization", .timeLimit(.minutes(60)))
struct ConnectionTests {
  @Test(
    "A connection that is lost is told as disconnected, and its session as an error",
    .reference("facts/1.7"))
  func lost() async throws {
    let depot = try Depot()
    let network = SwitchedTransport(Warehouse.stocked())
    let witness = Witness()
    let database = FerryDatabase(
      depot.database.store, ConnectionProfile(server: "http://depot"), witness, network, .system())
    try await database.start()
    network.set(off: true)
    let before = witness.heard.count
    let error = await #expect(throws: FerryError.self) { try await database.synchronize() }
    #expect(error?.code == .offline)
    await witness.hears("not synchronized offline")
    let told = witness.heard[before...].filter { $0 != "message" }
    #expect(told.prefix(2) == ["synchronize starting", "disconnected"])
    let ends = told.filter { $0.hasSuffix("error") || $0.hasSuffix("finishing") }
    // It may have been tried again meanwhile.
    #expect(
      Set(ends) == ["synchronize error"], "never finishing: that is a session that came to its end")
    network.set(off: false)
    database.networkIsBack()
    try await database.synchronize()
    let lines = witness.heard.filter { $0.hasSuffix("connected") }
    #expect(lines == ["connected", "disconnected", "connected"])
    #expect(try await Maker.count(in: database) == 1)
    await database.close()
  }

  @Test("Who has the older model lets go of the session, so that the newer one can synchronize")
  func olderLetsGo() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    try await depot.database.start()
    await depot.database.close()
    let newModel = Package(
      name: depot.model.name, version: "9.0", entities: depot.model.entities,
      groups: depot.model.groups)
    var settings = SessionSettings()
    settings.isDatabaseShared = true
    let log = HeardLog()
    let world = World.system(log: log)
    let open = { (model: Package) throws in
      FerryDatabase(
        try Store(path: depot.path, model: model, world: world, durability: .application),
        ConnectionProfile(server: "http://depot", session: settings), Witness(),
        ShoreTransport(Warehouse.stocked()) { _, _ in }, world)
    }
    let older = try open(depot.model)
    let newer = try open(newModel)
    older.startBackgroundSynchronization()
    while !log.lines.contains(where: { $0.contains("cannot go on") }) { await Task.yield() }
    do { try await newer.synchronize() } catch { #expect(error.code != .inUse, "\(error)") }
    await older.close()
    await newer.close()
  }

  /// Counts what the database shows while it is told.
  private final class Looker: CallbackHandler {
    let database = Mutex<FerryDatabase?>(nil)
    let seen = Mutex<[String]>([])

    private func look(_ moment: String) {
      guard let database = database.withLock({ $0 }) else { return }
      let cities = try? Maker.findAll(in: database).map { $0.record.get(2) as String? ?? "-" }
      seen.withLock { $0.append("\(moment) \((cities ?? ["?"]).joined(separator: ","))") }
    }

    func beforeImport(group: String) { look("before") }
    func onImport(_ changes: EntityChanges) { look("import") }
    func onImportSuccess(group: String) { look("success") }
  }

  @Test(
    "At beforeImport the database shows nothing of what comes, at onImport all of it",
    .reference("facts/1.7"))
  func beforeImport() async throws {
    let looker = Looker()
    let depot = try Depot(
      handler: looker, shore: Warehouse.stocked(),
      decide: { shore, operation in
        // Another user was there first.
        shore.put(Maker.entity, [.integer(1), .text("Ada"), .text("Bremen"), .null])
        shore.accept(operation.id)
      })
    looker.database.withLock { $0 = depot.database }
    try await depot.database.start()
    let first = looker.seen.withLock { $0 }
    #expect(first.prefix(3) == ["before ", "import Berlin", "success Berlin"])
    looker.seen.withLock { $0 = [] }
    var nail = try depot.article(7, "Nail")
    try nail.submitPending()
    while try Maker.count(where: Maker.Attributes.city == "Bremen", in: depot.database) == 0 {
      try await depot.database.synchronize()
    }
    let seen = looker.seen.withLock { $0 }
    #expect(seen.first == "before Berlin")
    #expect(seen.contains("import Bremen"))
    looker.database.withLock { $0 = nil }
    await depot.database.close()
  }
}
