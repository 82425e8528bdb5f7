import Ferry
import FerryHTTPClient
import FerryModel
import FerryReference
import FerrySQLite
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Callbacks", .timeLimit(.minutes(60)))
struct CallbackTests {
  @Test("They come in order on the actor that the app chose", .reference("sync/P22", "facts/1.7"))
  func onActor() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    let witness = Witness(isOnMain: true)
    depot.database.registerCallbackHandler(witness, on: MainActor.shared)
    try await depot.database.start()
    await witness.hears("imported default")
    let kinds = witness.heard.filter { !$0.hasPrefix("synchronize") && $0 != "message" }
    #expect(Array(kinds.prefix(3)) == ["connect", "connected", "login"])
    let imports = kinds.drop { !$0.hasPrefix("before") }
    #expect(
      Array(imports.prefix(3)) == ["before default", "import Maker 1 0 0", "imported default"])
    #expect(witness.heard.contains("message"))
    var article = try depot.article(7, "Nail")
    try article.submitPending()
    try await depot.database.synchronize()
    try await depot.database.synchronize()
    await witness.hears("accepted 7")
    await depot.database.close()
  }

  @Test(
    "Of two on one database one makes the callbacks, and what one of them leaves the other makes",
    .reference("sync/P22")
  )
  func shared() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    let open = { () throws in
      try Store(
        path: depot.path, model: depot.model, world: .system(), durability: .application)
    }
    var settings = SessionSettings()
    settings.isDatabaseShared = true
    let witness = Witness()
    let other = FerryDatabase(
      try open(), ConnectionProfile(server: "http://depot", session: settings), witness,
      ShoreTransport(Warehouse.stocked()) { _, _ in }, .system())
    try await depot.database.start()
    await witness.hears("imported default")
    // Whichever of the two brought it.
    let imports = witness.heard.filter { $0.hasPrefix("import") }
    #expect(imports == ["import Maker 1 0 0", "imported default"])
    await other.close()

    var article = try depot.article(7, "Nail")
    try article.submitPending()
    try await depot.database.synchronize()
    try await depot.database.synchronize()
    let owed = try notices(depot.database.store)
    #expect(owed > 0)
    let third = try open()
    try third.share()
    let observers = Observers()
    let clerk = Witness()
    observers.register(clerk)
    let elsewhere = ProcessLease(database: depot.path, for: .telling)
    #expect(try elsewhere.take())
    try observers.tellOwed(of: third)
    #expect(clerk.heard.isEmpty, "another process tells")
    elsewhere.release()
    try observers.tellOwed(of: third)
    #expect(clerk.heard.count == owed && clerk.heard.contains("accepted 7"))
    third.close()
    await depot.database.close()
  }

  @Test(
    "A partition that came afresh is told after its import, and a message that cannot be worked on with its reason",
    .reference("facts/1.7")
  )
  func resetAndException() throws {
    let shore = Shore(Shop.package)
    let device = try Device().loggedIn()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
    try device.exchange(shore)
    #expect(device.handler.resets.isEmpty)
    shore.resets = [1]
    try device.exchange(shore)
    #expect(device.handler.resets == ["default"])
    #expect(try device.orders().count == 1)
    let request = try #require(try device.request())
    device.session.received(status: 200, on: request.lane)
    #expect(throws: FerryError.self) {
      try device.session.received(Frame(.hello, Array("{}".utf8)).encoded(), on: request.lane)
    }
    #expect(device.handler.exceptions.map(\.code) == [.protocolViolation])
    #expect(try device.orders().count == 1)
  }

  @Test("What is owed waits for a handler, and after a crash for the next start")
  func owed() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    try await depot.database.start()
    let owed = try notices(depot.database.store)
    #expect(owed == 2)
    await depot.database.close()
    let again = FerryDatabase(
      try Store(
        path: depot.path, model: depot.model, world: .system(), durability: .application),
      ConnectionProfile(server: "http://depot"), nil,
      ShoreTransport(Warehouse.stocked()) { _, _ in },
      .system())
    #expect(try notices(again.store) == 2)
    let witness = Witness()
    again.registerCallbackHandler(witness)
    await witness.hears("imported default")
    #expect(witness.heard == ["import Maker 1 0 0", "imported default"])
    await again.close()
  }

  @Test("An app without a handler keeps few callbacks waiting: imports are joined")
  func crowd() async throws {
    let device = try Device().loggedIn()
    let store = device.store
    for number in 1...300 {
      try store.write { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in
          var changes = EntityChanges(entity: "Order")
          changes.inserted = 1
          try NoticeTable.owe([changes], group: "default", connection)
          try NoticeTable.owe(
            .replaySuccess, entity: "Order", object: Int64(number % 7),
            key: ObjectKey([.integer(1)]),
            content: "update", connection)
        }
      }
    }
    #expect(try notices(store) < 150)
    try device.session.tellOwed()
    let imports = device.handler.heard.filter { $0.hasPrefix("import Order") }
    let counts = imports.compactMap { Int($0.split(separator: " ")[2].dropFirst()) }
    #expect(counts.reduce(0, +) == 300)
    #expect(device.handler.heard.last?.hasPrefix("replaySuccess") == true)
    #expect(try notices(store) == 0)
  }

  @Test(
    "An entity's handler hears of it too: after the database's of an import, before it of a replay",
    .reference("sync/R22", "facts/1.7")
  )
  func ofEntity() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    let order = Mutex<[String]>([])
    struct Named: CallbackHandler {
      let name: String
      let write: @Sendable (String) -> Void
      func onImport(_ changes: EntityChanges) { write("\(name) import \(changes.entity)") }
      func onReplaySuccess(_ object: ReplayedObject) { write("\(name) replay \(object.entity)") }
    }
    let write: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
    depot.database.registerCallbackHandler(Named(name: "own", write: write), of: Maker.self)
    depot.database.registerCallbackHandler(Named(name: "all", write: write))
    try await depot.database.start()
    var ada = try #require(try Maker.findAll(in: depot.database).first)
    ada.record.set(2, "Rome")
    try ada.update()
    try ada.submitPending()
    _ = try await replayed(ada, depot.database)
    let lines = order.withLock { $0 }
    #expect(lines.prefix(2) == ["all import Maker", "own import Maker"])
    let replays = lines.filter { $0.hasSuffix("replay Maker") }
    #expect(replays == ["own replay Maker", "all replay Maker"])
    await depot.database.close()
  }

  @Test(
    "Cancel at the start sends nothing; otherwise the statuses come in order",
    .reference("sync/R15", "sync/R14"))
  func cancel() async throws {
    let depot = try Depot(shore: Warehouse.stocked())
    let refusing = Witness(.cancel)
    depot.database.registerCallbackHandler(refusing)
    let error = await #expect(throws: FerryError.self) { try await depot.database.start() }
    #expect(error?.code == .cancelled)
    #expect(try await Maker.count(in: depot.database) == 0)
    #expect(refusing.heard.contains("not synchronized cancelled"))
    let willing = Witness()
    depot.database.registerCallbackHandler(willing)
    try depot.database.subscribe()
    try await depot.database.synchronize()
    let statuses = willing.heard.filter { $0.hasPrefix("synchron") }
    #expect(
      Array(statuses.prefix(4)) == [
        "synchronize starting", "synchronize downloading", "synchronize finishing",
        "synchronized default",
      ])
    #expect(try await Maker.count(in: depot.database) == 1)
    await depot.database.close()
  }

  @Test("A transaction's end is told, once, and an undone one as undone")
  func transactions() async throws {
    let depot = try Depot()
    let witness = Witness()
    let database = depot.database
    database.registerCallbackHandler(witness)
    try await database.transaction { () throws(FerryError) in
      try database.transaction { () throws(FerryError) in }
    }
    try? await database.transaction { () throws(FerryError) in
      throw FerryError(.cancelled, "no", hint: "no")
    }
    try await database.transaction { () throws(FerryError) in try database.rollback() }
    try await database.transaction { () throws(FerryError) in }
    var heard: [String] = []
    for await line in witness.told where ["commit", "rollback"].contains(line) {
      heard.append(line)
      if heard.count == 4 { break }
    }
    #expect(heard == ["commit", "rollback", "rollback", "commit"])
    await database.close()
  }

  @Test("A transaction's end is told as it was, also while another thread's transaction waits")
  func twoThreads() async throws {
    let depot = try Depot()
    let witness = Witness()
    let database = depot.database
    database.registerCallbackHandler(witness)
    let rounds = 30
    for _ in 0..<rounds {
      let other = Mutex<Task<Void, any Error>?>(nil)
      try await database.transaction { () throws(FerryError) in
        try database.rollback()
        other.withLock { other in
          other = Task {
            try database.transaction { () throws(FerryError) in }
          }
        }
        // Long enough for the other one to come as far as it can while this one is open.
        for _ in 0..<200 { _ = try Article.findAll(in: database) }
      }
      try await other.withLock { $0 }?.value
    }
    var heard: [String] = []
    for await line in witness.told where ["commit", "rollback"].contains(line) {
      heard.append(line)
      if heard.count == 2 * rounds { break }
    }
    #expect(heard.filter { $0 == "commit" }.count == rounds)
    await database.close()
  }

  @Test(
    "Each message of the server is told with its size, however its bytes are cut",
    .reference("facts/1.7"))
  func messages() throws {
    let shore = Shore(Shop.package)
    let device = try Device().loggedIn()
    shore.put(Order.entity, [.integer(1), .text("ALFKI"), .text("Bremen"), .null])
    let request = try #require(try device.request())
    let frames = try shore.respond(to: request.body).map { $0.frame.encoded() }
    #expect(frames.count > 2)
    device.session.received(status: 200, on: request.lane)
    for byte in frames.joined() { try device.session.received([byte], on: request.lane) }
    #expect(device.handler.messages == frames.map(\.count))
  }

  @Test(
    "Of an actor that is far behind, messages are let go first, and a failed login last",
    .reference("facts/1.7"))
  func farBehind() async throws {
    let device = try Device()
    let observers = Observers()
    let witness = Witness(isOnMain: true)
    observers.register(witness, on: MainActor.shared)
    let refused = FerryError(.notLoggedIn, "no", hint: "no")
    observers.tell(.signInFailed(refused), .lasting)
    for _ in 0..<Observers.waitingLimit { observers.tell(.committed) }
    for _ in 0..<Observers.waitingLimit {
      observers.tell(.messageBegan(sizeBytes: 1), .passing)
    }
    try await observers.deliver(of: device.store)
    #expect(witness.heard.first == "login failed")
    #expect(witness.heard.filter { $0 == "commit" }.count == Observers.waitingLimit - 1)
    #expect(witness.heard.count == Observers.waitingLimit)
  }

  private func notices(_ store: Store) throws -> Int64 {
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM ferry_notice")?.integer ?? -1
      }
    }
  }

  private func replayed(
    _ maker: Maker, _ database: FerryDatabase
  ) async throws -> ReplayOutcome<Maker> {
    async let outcome = maker.replayOutcome(within: .seconds(600))
    for _ in 0..<3 { try await database.synchronize() }
    return try await outcome
  }
}
