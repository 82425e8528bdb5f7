import Ferry
import FerryHTTPClient
import FerryModel
import FerryWire
import FerryWorld
import Synchronization
import Testing

@testable import Ferry

/// A server that lets everybody log in, and answers requests with what it is given.
private final class AnsweringTransport: Transport {
  enum Answer: Sendable {
    case status(Int)
    case failure(WireFailure)
    case shore
  }

  private let answer: Mutex<Answer>
  private let shore: ShoreTransport
  private let count = Mutex(0)

  init(_ answer: Answer, _ shore: sending Shore) {
    self.answer = Mutex(answer)
    self.shore = ShoreTransport(shore) { _, _ in }
  }

  /// How often it was asked.
  var requests: Int { count.withLock { $0 } }

  func set(_ answer: Answer) { self.answer.withLock { $0 = answer } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    if request.url.hasSuffix("/login") { return try await shore.send(request) }
    count.withLock { $0 += 1 }
    switch answer.withLock({ $0 }) {
    case .shore: return try await shore.send(request)
    case .status(let status):
      return TransportResponse(status: status, headers: [:], body: WholeBody([]))
    case .failure(let failure):
      return TransportResponse(
        status: 200, headers: [:], body: WholeBody(Message.failure(failure).frame.encoded()))
    }
  }
}

@Suite("What does not get better by itself", .timeLimit(.minutes(60)))
struct NeedTests {
  private static let tooOld = WireFailure(
    .unknownPackage, "this server has no package Warehouse:1.0; it serves Warehouse:2.0",
    hint: "Update the app, or deploy its package on the server.")

  /// Keeps the folder.
  private let depot: Depot

  init() throws { depot = try Depot() }

  private func open(
    _ answer: AnsweringTransport.Answer, log: any Log = SilentLog()
  ) throws -> (FerryDatabase, AnsweringTransport) {
    let transport = AnsweringTransport(answer, Shore(depot.model))
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    let store = try Store(
      path: depot.folder.appending(path: "need.db").path, model: depot.model, world: world,
      durability: .application)
    let database = FerryDatabase(
      store, ConnectionProfile(server: "http://depot"), nil, transport, world)
    return (database, transport)
  }

  @Test("An app that is older than the server hears so once, and the status shows it")
  func tooOld() async throws {
    let (database, transport) = try open(.shore)
    let events = database.events
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    transport.set(.failure(Self.tooOld))
    for _ in 0..<3 {
      let error = await #expect(throws: FerryError.self) { try await database.synchronize() }
      #expect(error?.reaction == .updateApp)
    }
    #expect(transport.requests >= 3)
    let failure = try await database.status().failure
    #expect(failure?.reaction == .updateApp && failure?.message == Self.tooOld.message)
    // Better, and then again.
    transport.set(.shore)
    try await database.synchronize()
    #expect(try await database.status().failure == nil)
    transport.set(.failure(Self.tooOld))
    try? await database.synchronize()
    await database.close()
    var heard: [String] = []
    for await event in events {
      if case .helpNeeded(let error) = event { heard.append(error.message) }
    }
    #expect(heard == [Self.tooOld.message, Self.tooOld.message])
  }

  @Test("What passes by itself is no failure of the status, and no event")
  func passes() async throws {
    let (database, _) = try open(.status(503))
    let events = database.events
    try? await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    let error = await #expect(throws: FerryError.self) { try await database.synchronize() }
    #expect(error?.message == "the server is not ready (status 503)")
    #expect(error?.hint.contains("is starting") == true)
    #expect(try await database.status().failure == nil)
    await database.close()
    for await event in events { if case .helpNeeded = event { Issue.record("\(event)") } }
  }

  @Test("Background work without a subscription is a warning of the log, once, and in the status")
  func notSubscribed() async throws {
    let log = HeardLog()
    let (database, _) = try open(.shore, log: log)
    func warnings() -> Int {
      log.lines.filter { $0.contains("nothing is subscribed") }.count
    }
    try await database.onlineLogin(user: "nancy", password: "p")
    #expect(warnings() == 0)
    for _ in 0..<3 {
      database.startBackgroundSynchronization()
      #expect(await database.isBackground)
    }
    #expect(warnings() == 1)
    #expect(try await database.status().isSubscriptionNeeded)
    try database.subscribe()
    try await database.synchronize()
    #expect(try await database.status().isSubscriptionNeeded == false)
    await database.close()
  }
}
