import Ferry
import FerryHTTPClient
import FerryReference
import FerryTestKit
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// The documented start of an app with a message-based database, and the samples beside it.
@Suite("Starting up in the documented order", .timeLimit(.minutes(60)))
struct StartTests: TradeSuite {
  private let steps = StepWitness()

  @Test(
    "The documented start connects, logs in, subscribes and then hears changes by itself",
    .reference("sync/M1", "sync/M8", "sync/I5", "sync/S1-b", "sync/S4-c")
  )
  func start() async throws {
    let server = try await Trade.server()
    // The profile is there, the database is made, its handler is registered, background work begins.
    let database = try server.newDatabase(user: "nancy")
    database.registerCallbackHandler(steps)
    database.startBackgroundSynchronization()
    await steps.hears("loginFailure notLoggedIn")
    #expect(try Trade.Order.findAll(in: database).isEmpty, "nothing comes before the login")
    steps.onLogin { try? database.subscribe() }
    try await database.onlineLogin(user: "nancy", password: "")
    await steps.hears("importSuccess orders")
    #expect(
      steps.heard.filter { !$0.hasPrefix("import") } == [
        "loginFailure notLoggedIn", "connect", "loginSuccess", "subscribeSuccess",
      ])
    #expect(try database.isSubscribed)
    #expect(try Trade.Order.findAll(in: database).map(\.city) == ["Bonn"])
    // Nobody asks from here on: the server pushes.
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    await steps.hears("importSuccess orders", times: 2)
    #expect(try Trade.Order.findAll(in: database).compactMap(\.city).sorted() == ["Bonn", "Ulm"])
    await server.stop()
  }

  @Test(
    "With a setting missing, no database is made and no request is sent",
    .reference("sync/M4", "sync/M5"))
  func settingMissing() async throws {
    let network = CountingTransport()
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db")
    #expect { try open(path.path, ConnectionProfile(server: ""), network) } throws: { error in
      (error as? FerryError)?.code == .badAddress
    }
    #expect(!FileManager.default.fileExists(atPath: path.path))
    #expect(network.count == 0)
  }

  @Test("Starting a database that is closed is an error, and sends nothing", .reference("sync/M9"))
  func closed() async throws {
    let network = CountingTransport()
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db")
    let database = try open(path.path, ConnectionProfile(server: "http://localhost"), network)
    defer { try? FerryDatabase.delete(at: path.path) }
    await database.close()
    database.startBackgroundSynchronization()
    await #expect { try await database.onlineLogin(user: "a", password: "b") } throws: { error in
      (error as? FerryError)?.code == .closed
    }
    await #expect { try await database.synchronize() } throws: { error in
      (error as? FerryError)?.code == .closed
    }
    #expect { try database.subscribe() } throws: { ($0 as? FerryError)?.code == .closed }
    #expect(network.count == 0)
  }

  @Test(
    "Opening and starting from several threads at once makes one whole database",
    .reference("sync/RC14"))
  func openedAtOnce() async throws {
    let server = try await Trade.server()
    server.users.add("nancy", claims: [:])
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db")
    defer { try? FerryDatabase.delete(at: path.path) }
    var profile = ConnectionProfile(server: "http://localhost")
    profile.session.isDatabaseShared = true
    let databases = try await withThrowingTaskGroup(of: FerryDatabase.self) { group in
      for _ in 0..<4 {
        group.addTask { [profile] in
          let database = try open(path.path, profile, server.network)
          database.startBackgroundSynchronization()
          try database.subscribe()
          return database
        }
      }
      var opened: [FerryDatabase] = []
      for try await database in group { opened.append(database) }
      return opened
    }
    let login = Task { try await databases[0].onlineLogin(user: "nancy", password: "") }
    let patience = Patience()
    while try Trade.Order.findAll(in: databases[0]).isEmpty, await patience.lasts() {}
    for database in databases {
      #expect(try Trade.Order.findAll(in: database).map(\.city) == ["Bonn"])
    }
    _ = try? await login.value
    for database in databases { await database.close() }
    await server.stop()
  }

  @Test(
    "Callbacks come on another thread or the handler's actor, and readers see whole states",
    .reference("sync/RC12"),
    arguments: [false, true])
  func threads(isOnMainActor: Bool) async throws {
    let server = try await Trade.server()
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Bonn"])
    let database = try await server.database(user: "nancy")
    let calls = Mutex(0)
    steps.onImport {
      if isOnMainActor { MainActor.preconditionIsolated("a callback is off the main actor") }
      calls.withLock { $0 += Thread.isMainThread && !isOnMainActor ? 100 : 1 }
    }
    database.registerCallbackHandler(steps, on: isOnMainActor ? MainActor.shared : nil)
    let reading = Task.detached {
      var seen: Set<Set<String>> = []
      while !Task.isCancelled {
        seen.insert(Set(try Trade.Order.findAll(in: database).compactMap(\.city)))
        // Without a pause two of these would occupy every thread of tasks on a machine of two cores.
        await Task.yield()
      }
      return seen
    }
    for city in ["Kiel", "Ulm", "Rom"] {
      #expect(
        server.business.changeByOther { transaction in
          for id in [10, 11] as [Int64] {
            transaction.write(
              "Order", ObjectKey([.integer(id)]), [.integer(id), .integer(1), .text(city)])
          }
        } == nil)
      await server.reload()
      try await database.synchronize()
    }
    await steps.hears("importSuccess orders", times: 3)
    reading.cancel()
    let seen = try await reading.value
    #expect(seen.allSatisfy { $0.count == 1 }, "no reader sees half of an import: \(seen)")
    #expect((3..<100).contains(calls.withLock { $0 }), "never on the main thread by itself")
    await server.stop()
  }

  @Test(
    "A new object is pending, and sent when it or all of its entity is submitted",
    .reference("sync/S3-a"))
  func created() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
    var first = Trade.order(of: 1, "Jena", in: database)
    try first.create()
    var second = Trade.order(of: 1, "Gera", in: database)
    try second.create()
    try await database.synchronize(awaitingAnswers: true)
    #expect(server.rows(of: Trade.Order.self).count == 1, "nothing is sent before it is submitted")
    try first.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try cities(server) == ["Bonn", "Jena"])
    try Trade.Order.submitPendingOperations(in: database)
    try await database.synchronize(awaitingAnswers: true)
    #expect(try cities(server) == ["Bonn", "Gera", "Jena"])
    #expect(try !database.hasPendingOperations)
    await server.stop()
  }

  @Test(
    "The log records of a refused object are read and printed field by field",
    .reference("sync/S3-b"))
  func logRecords() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
    server.refuse(Trade.Order.self, code: 412, "no lorry goes there")
    try move("Kiel", in: database)
    try await database.synchronize(awaitingAnswers: true)
    let order = try #require(
      try await Trade.Order.find(key: ObjectKey([.integer(10)]), in: database))
    let printed = try order.logRecords.map { record in
      "\(record.component) \(record.entityKey) \(record.code) \(record.message) "
        + "\(record.operation?.rawValue ?? "-") \(record.level.rawValue)"
    }
    #expect(printed == ["Order 10 412 no lorry goes there update error"])
    #expect(try order.logRecords.allSatisfy { $0.timestamp > 1_700_000_000_000 })
    await server.stop()
  }

  @Test("The blocking call returns with the data, the other one before it", .reference("sync/S4-d"))
  func bothForms() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy", settings: Trade.replication)
    database.submitsAutomatically = false
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    try await database.synchronize()
    #expect(try Trade.Order.findAll(in: database).count == 2)
    let witness = StatusWitness()
    database.registerCallbackHandler(witness)
    try await server.insert(Trade.Order.self, ["id": 12, "customer": 1, "city": "Rom"])
    await server.setReachable(false)
    database.beginSynchronize()
    #expect(try Trade.Order.findAll(in: database).count == 2, "it has returned without the data")
    await witness.hears(.error)
    await server.setReachable(true)
    database.beginSynchronize()
    await witness.hears(.finishing)
    #expect(try Trade.Order.findAll(in: database).count == 3)
    await server.stop()
  }

  @Test("Each replay is reported with its object, accepted or refused", .reference("sync/S4-h"))
  func replayCallbacks() async throws {
    let server = try await Trade.server()
    let database = try await server.database(
      user: "nancy", handler: steps, settings: Trade.replication)
    server.refuse(
      Trade.Order.self, code: 422, "no lorry goes there",
      when: { try $0["city"] as String? == "Rom" })
    for city in ["Jena", "Rom"] {
      var order = Trade.order(of: 1, city, in: database)
      try order.create()
      try order.submitPending()
    }
    try await database.synchronize(awaitingAnswers: true)
    let replays = steps.heard.filter { $0.hasPrefix("replay") }
    #expect(replays.sorted() == ["replayFailure Rom pending", "replaySuccess Jena not pending"])
    await server.stop()
  }

  private func cities(_ server: TestServer) throws -> [String] {
    try server.rows(of: Trade.Order.self).map { try $0["city"] as String }.sorted()
  }

  private func open(
    _ path: String, _ profile: ConnectionProfile, _ transport: any Transport
  ) throws(FerryError) -> FerryDatabase {
    try FerryDatabase.open(
      at: path, package: Trade.package, profile: profile, handler: steps,
      transport: transport)
  }
}

/// A network that nobody answers on, and that counts who asks.
private final class CountingTransport: Transport {
  private let requests = Mutex(0)
  var count: Int { requests.withLock { $0 } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    requests.withLock { $0 += 1 }
    throw TransportError(
      code: .cannotConnect, message: "nobody is there", hint: "It is a test.", isTransient: true,
      requestWasSent: false)
  }
}

/// Writes down the steps of a start, in the order in which the app hears of them.
final class StepWitness: CallbackHandler {
  private let lines = Mutex<[String]>([])
  private let login = Mutex<(@Sendable () -> Void)?>(nil)
  private let imported = Mutex<(@Sendable () -> Void)?>(nil)

  var heard: [String] { lines.withLock { $0 } }
  private func hear(_ line: String) { lines.withLock { $0.append(line) } }
  func onLogin(_ act: @escaping @Sendable () -> Void) { login.withLock { $0 = act } }
  func onImport(_ act: @escaping @Sendable () -> Void) { imported.withLock { $0 = act } }

  /// Waits until a line has come so many times.
  func hears(_ line: String, times: Int = 1) async {
    let patience = Patience()
    while heard.count(where: { $0 == line }) < times, await patience.lasts() {}
  }

  func onConnect() { hear("connect") }
  func onLoginSuccess() {
    hear("loginSuccess")
    login.withLock { $0 }?()
  }
  func onLoginFailure(_ error: FerryError) { hear("loginFailure \(error.code.rawValue)") }
  func onSubscribeSuccess() { hear("subscribeSuccess") }
  func onImport(_ changes: EntityChanges) { imported.withLock { $0 }?() }
  func onImportSuccess(group: String) { hear("importSuccess \(group)") }
  func onReplaySuccess(_ object: ReplayedObject) { hear("replaySuccess \(text(object))") }
  func onReplayFailure(_ object: ReplayedObject) { hear("replayFailure \(text(object))") }

  private func text(_ object: ReplayedObject) -> String {
    let order = object.as(Trade.Order.self)
    return "\(order?.city ?? "-") \(order?.isPending == true ? "pending" : "not pending")"
  }
}
