import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWire
import FerryWorld
import Synchronization
import Testing

@testable import Ferry

/// The handler that the reference recommends: subscribes at the first login, synchronizes later.
private final class Recommended: CallbackHandler {
  let database = Mutex<FerryDatabase?>(nil)
  private let calls = Mutex<[String]>([])
  private let (imports, imported) = AsyncStream.makeStream(of: Void.self)

  /// What it asked for.
  var asked: [String] { calls.withLock { $0 } }

  func waitForImport() async { for await _ in imports { return } }

  func onLoginSuccess() {
    guard let database = database.withLock({ $0 }) else { return }
    do throws(FerryError) {
      if try database.isSubscribed {
        calls.withLock { $0.append("synchronize") }
        database.beginSynchronize()
      } else {
        calls.withLock { $0.append("subscribe") }
        try database.subscribe()
      }
    } catch {
      calls.withLock { $0.append(error.description) }
    }
  }

  func onImportSuccess(group: String) { imported.yield() }
}

/// Asks for another synchronization while the first one begins.
private final class Eager: CallbackHandler {
  let witness = Witness()
  let database = Mutex<FerryDatabase?>(nil)

  func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction {
    if context.status == .starting {
      database.withLock { database in
        database?.beginSynchronize()
        database = nil
      }
    }
    return witness.onSynchronize(groups: groups, context: context)
  }

  func onSynchronizeSuccess(groups: [String]) { witness.onSynchronizeSuccess(groups: groups) }
}

@Suite("A synchronization from its start to its end", .timeLimit(.minutes(60)))
struct SynchronizationTests {
  /// The other shore, with makers of these numbers.
  private func shore(_ ids: [Int64]) -> Shore {
    let shore = Shore(Warehouse.package())
    for id in ids { shore.put(Maker.entity, [.integer(id), .text("Ada"), .null, .null]) }
    return shore
  }

  private let whole = [
    "synchronize starting", "synchronize downloading", "synchronize finishing",
    "synchronized default",
  ]

  @Test("Finishing comes once, as the last status", .reference("sync/R10"))
  func finishing() async throws {
    let depot = try Depot(shore: shore([1]))
    let witness = Witness()
    depot.database.registerCallbackHandler(witness)
    try await depot.database.onlineLogin(user: "nancy", password: "p")
    await witness.hears("synchronized default")
    try depot.database.subscribe()
    await witness.hears("synchronized default")
    await depot.database.close()
    #expect(witness.heard.filter { $0.hasPrefix("synchron") } == whole + whole)
    #expect(witness.heard.contains("imported default"))
  }

  @Test(
    "Who asks while one is under way gets one of its own behind it, finishing too",
    .reference("sync/RC3"))
  func oneAfterTheOther() async throws {
    let depot = try Depot(shore: shore([1]))
    let eager = Eager()
    eager.database.withLock { $0 = depot.database }
    depot.database.registerCallbackHandler(eager)
    try await depot.database.onlineLogin(user: "nancy", password: "p")
    for _ in 0..<2 { await eager.witness.hears("synchronized default") }
    await depot.database.close()
    #expect(eager.witness.heard == whole + whole)
  }

  @Test(
    "beginSynchronize asks for the answers where asyncReplay is off, and else does not",
    .reference("sync/R4"),
    arguments: [true, false])
  func begun(asyncReplay: Bool) async throws {
    let device = try Device()
    var profile = ConnectionProfile(server: "http://shore")
    profile.session.asyncReplay = asyncReplay
    let database = FerryDatabase(device.store, profile, nil, SilentTransport(), .system())
    database.beginSynchronize()
    let awaits = Mutex<Bool?>(nil)
    try await database.runner.act { session in
      awaits.withLock { $0 = session.machine.awaitsAnswers }
    }
    #expect(awaits.withLock { $0 } == !asyncReplay)
    await database.close()
  }

  /// A database that is logged in at a server which still loads for so many checkpoints. The device
  /// keeps its folder.
  private func loading(
    _ ids: [Int64], checkpoints: Int, load: LoadStanding? = nil
  ) async throws -> (device: Device, database: FerryDatabase) {
    let shore = shore(ids)
    shore.loadingCheckpoints = checkpoints
    shore.loadStanding = load
    let device = try Device(Warehouse.package())
    var profile = ConnectionProfile(server: "http://shore")
    profile.session.firstRetry = .milliseconds(1)
    // Its time goes on, unlike that of the device's own store: what is tried again waits for it.
    let store = try Store(
      path: device.path + "2", model: device.model, world: .system(), durability: .application)
    let database = FerryDatabase(
      store, profile, nil, ShoreTransport(shore) { _, _ in }, .system())
    try await database.onlineLogin(user: "nancy", password: "p")
    return (device, database)
  }

  @Test("The first synchronization waits while the server loads, and ends with the data")
  func serverLoads() async throws {
    let (device, database) = try await loading([1, 2], checkpoints: 3)
    defer { withExtendedLifetime(device) {} }
    let states = database.states
    let told = Task { await states.contains { $0.isServerLoading } }
    try database.subscribe()
    try await database.synchronize()
    #expect(try await Maker.count(in: database) == 2)
    await database.close()
    #expect(await told.value, "who follows the state sees that the server loads")
  }

  @Test("Who waits for a server's first load sees its fraction and time, until the data is there")
  func serverLoad() async throws {
    let (device, database) = try await loading(
      [1], checkpoints: 3, load: LoadStanding(permille: 250, remainingSeconds: 90))
    defer { withExtendedLifetime(device) {} }
    let states = database.states
    let told = Task {
      await states.first { $0.serverLoad != nil }?.serverLoad
    }
    try database.subscribe()
    try await database.synchronize()
    #expect(database.state.serverLoad == nil)
    #expect(try await database.status().serverLoad == nil)
    await database.close()
    let load = await told.value
    #expect(load?.fraction == 0.25 && load?.remaining == .seconds(90), "\(load as Any)")
  }

  @Test("The status has the server's load; values that no server should send stay in their range")
  func serverLoadInStatus() async throws {
    let (device, database) = try await loading(
      [1], checkpoints: .max, load: LoadStanding(permille: -3, remainingSeconds: .max))
    defer { withExtendedLifetime(device) {} }
    try database.subscribe()
    var load: ServerLoad?
    for try await status in database.liveStatus where status.serverLoad != nil {
      load = status.serverLoad
      break
    }
    #expect(load?.fraction == 0 && load?.remaining == .seconds(365 * 86_400), "\(load as Any)")
    #expect(ServerLoad(LoadStanding(permille: 1_001, remainingSeconds: nil))?.fraction == 1)
    await database.close()
  }

  @Test("A server that loads for longer than the app waits is told as such")
  func serverLoadsLong() async throws {
    let (device, database) = try await loading([1], checkpoints: .max)
    defer { withExtendedLifetime(device) {} }
    let states = database.states
    try database.subscribe()
    #expect(await states.contains { $0.isServerLoading })
    await #expect { try await database.synchronize(within: .milliseconds(1)) } throws: { error in
      (error as? FerryError)?.code == .timedOut
        && (error as? FerryError)?.hint.contains("has not loaded all") == true
    }
    #expect(database.state.isServerLoading)
    await database.close()
  }

  @Test(
    "The recommended handler subscribes at the first login, synchronizes later",
    .reference("sync/M17", "sync/M24", "sync/S1-a", "sync/S1-c", "sync/S1-d", "sync/S1-e")
  )
  func recommended() async throws {
    let depot = try Depot(shore: shore([1]))
    let first = Recommended()
    first.database.withLock { $0 = depot.database }
    depot.database.registerCallbackHandler(first)
    depot.database.beginOnlineLogin(user: "nancy", password: "p")
    await first.waitForImport()
    #expect(try await Maker.count(in: depot.database) == 1)
    await depot.database.close()
    #expect(first.asked == ["subscribe"])

    let second = Recommended()
    let database = FerryDatabase(
      try Store(path: depot.path, model: depot.model, world: .system(), durability: .application),
      ConnectionProfile(server: "http://depot"), nil, ShoreTransport(shore([1, 2])) { _, _ in },
      .system())
    second.database.withLock { $0 = database }
    database.registerCallbackHandler(second)
    database.beginOnlineLogin(user: "nancy", password: "p")
    await second.waitForImport()
    #expect(try await Maker.count(in: database) == 2)
    await database.close()
    #expect(second.asked == ["synchronize"])
    for handler in [first, second] { handler.database.withLock { $0 = nil } }
  }
}
