import Ferry
import FerryHTTPClient
import FerryModel
import FerryReference
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// Holds each request of one kind back until the test lets it go on.
private final class GatedTransport: Transport {
  private let inner: ShoreTransport
  private let path: String
  private let gate = Mutex<AsyncStream<Void>.Continuation?>(nil)
  private let isHolding = Mutex(false)
  let arrived: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation

  init(_ inner: ShoreTransport, path: String) {
    self.inner = inner
    self.path = path
    (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
  }

  /// From now on.
  func hold() { isHolding.withLock { $0 = true } }

  func open() {
    isHolding.withLock { $0 = false }
    gate.withLock { $0?.finish() }
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    if request.url.hasSuffix(path), isHolding.withLock({ $0 }) {
      let (held, continuation) = AsyncStream.makeStream(of: Void.self)
      gate.withLock { $0 = continuation }
      arrival.yield()
      for await _ in held {}
    }
    return try await inner.send(request)
  }
}

private struct Listener: CallbackHandler {
  let told: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (told, continuation) = AsyncStream.makeStream(of: String.self) }

  func onLoginSuccess() { continuation.yield("login") }
  func onImportSuccess(group: String) { continuation.yield("imported") }

  func hears(_ wanted: String) async {
    for await line in told where line == wanted { return }
  }
}

@Suite("Waiting for the server", .timeLimit(.minutes(60)))
struct WaitingTests {
  private let depot: Depot
  private let listener = Listener()

  init() throws {
    let shore = Shore(Warehouse.package())
    shore.put(Maker.entity, [.integer(1), .text("Ada"), .text("Berlin"), .null])
    depot = try Depot(shore: shore)
  }

  private func gated(_ path: String) async throws -> (FerryDatabase, GatedTransport) {
    await depot.database.close()
    let gate = GatedTransport(depot.transport, path: path)
    let database = FerryDatabase(
      try Store(
        path: depot.path, model: depot.model, world: .system(), durability: .application),
      ConnectionProfile(server: "http://depot"), listener, gate, .system())
    return (database, gate)
  }

  private func code(of task: Task<Void, any Error>) async -> FerryError.Code? {
    do { try await task.value } catch { return (error as? FerryError)?.code }
    return nil
  }

  @Test(
    "Who waits for a synchronization and is cancelled stops waiting; it goes on",
    .reference("sync/R2"))
  func synchronization() async throws {
    let (database, gate) = try await gated("/exchange")
    try await database.onlineLogin(user: "nancy", password: "p")
    gate.hold()
    try database.subscribe()
    let waiting = Task { try await database.synchronize() }
    let patient = Task { try await database.synchronize(within: .seconds(600)) }
    for await _ in gate.arrived { break }
    waiting.cancel()
    #expect(await code(of: waiting) == .cancelled)
    gate.open()
    try await patient.value
    #expect(try await Maker.count(in: database) == 1)
    await database.close()
  }

  @Test(
    "Who waits for the end of the background synchronization has it, import and lock",
    .reference("facts/1.4", "facts/5.22")
  )
  func rest() async throws {
    let (database, gate) = try await gated("/exchange")
    try await database.stopBackgroundSynchronization(within: .seconds(600))
    try await database.onlineLogin(user: "nancy", password: "p")
    gate.hold()
    try database.subscribe()
    for await _ in gate.arrived { break }
    let short = Task {
      try await database.stopBackgroundSynchronization(within: .milliseconds(1))
    }
    #expect(await code(of: short) == .timedOut, "the exchange is under way")
    let impatient = Task {
      try await database.stopBackgroundSynchronization(within: .seconds(600))
    }
    impatient.cancel()
    #expect(await code(of: impatient) == .cancelled)
    let patient = Task {
      try await database.stopBackgroundSynchronization(within: .seconds(600))
      // What the exchange brought is there, and nobody has the lock.
      let lock = try Connection(
        path: database.store.path + "-session", busyTimeoutMilliseconds: 0)
      try lock.execute("BEGIN EXCLUSIVE")
      return try await Maker.count(in: database)
    }
    gate.open()
    #expect(try await patient.value == 1)
    await database.close()
    let late = Task { try await database.stopBackgroundSynchronization(within: .seconds(600)) }
    #expect(await code(of: late) == .closed)
  }

  @Test(
    "Who waits for a login and is cancelled stops waiting; the login goes on",
    .reference("sync/M14", "facts/5.1"))
  func login() async throws {
    let (database, gate) = try await gated("/login")
    gate.hold()
    let waiting = Task { try await database.onlineLogin(user: "nancy", password: "p") }
    for await _ in gate.arrived { break }
    waiting.cancel()
    #expect(await code(of: waiting) == .cancelled)
    gate.open()
    await listener.hears("login")
    await database.close()
  }

  @Test("A task that is cancelled already does not begin to wait")
  func before() async throws {
    let (database, gate) = try await gated("/login")
    gate.hold()
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await database.onlineLogin(user: "nancy", password: "p")
    }
    #expect(await code(of: waiting) == .cancelled)
    await database.close()
  }

  @Test(
    "A synchronization that a close ends says closed, as a later one does", .reference("facts/1.6"))
  func closed() async throws {
    let (database, gate) = try await gated("/exchange")
    try await database.onlineLogin(user: "nancy", password: "p")
    gate.hold()
    try database.subscribe()
    let waiting = Task { try await database.synchronize(within: .seconds(600)) }
    for await _ in gate.arrived { break }
    await database.close()
    #expect(await code(of: waiting) == .closed)
    let late = Task { try await database.synchronize() }
    #expect(await code(of: late) == .closed)
    gate.open()
  }

  @Test("A save waits 5 seconds for another process, as the guides say")
  func patience() throws {
    let depot = try Depot()
    let milliseconds = try depot.database.store.write { connection throws(FerryError) in
      try depot.database.store.sql { () throws(SQLiteError) in
        try connection.value("PRAGMA busy_timeout")
      }
    }
    #expect(milliseconds == .integer(5_000))
    var root = URL(filePath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    for guide in ["Sources/Circle/Device/Ferry.docc/Waiting.md", "Documentation/Rough.md"] {
      let text = try String(contentsOf: root.appending(path: guide), encoding: .utf8)
      #expect(text.contains(/for the other(?:'s transaction)? for 5 s(?:econds)?,? (?:and )?then/))
    }
  }
}
