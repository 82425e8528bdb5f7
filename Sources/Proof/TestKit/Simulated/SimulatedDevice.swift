public import Ferry
import FerryWorld
import Synchronization

/// A device of a simulated test.
///
/// Its database is a real one, with a file. Background synchronization ends with each action: the
/// test synchronizes devices itself.
public final class SimulatedDevice: Sendable, CustomStringConvertible {
  /// 1, 2, 3 …
  public let number: Int
  public let user: String
  private struct Parts {
    var database: FerryDatabase
    var network: SimulatedNetwork
    var process: SimulatedProcess
    var random: SimulatedRandom
    var isOffline = false
  }

  /// What is waited for comes, on a machine however slow: an end of this wait would be another step.
  static let patience: Duration = .seconds(300)

  private let parts: Mutex<Parts>
  private let server: TestServer
  private let chance: SimulatedRandom
  private let ledger: SimulatedLedger

  /// The database that is open now. After a kill it is another one, of the same file.
  public var database: FerryDatabase { parts.withLock { $0.database } }
  /// For what an action does by chance: the seed decides.
  public var random: SimulatedRandom { parts.withLock { $0.random } }
  /// Whether it has a network.
  public var isOnline: Bool { parts.withLock { !$0.isOffline } }
  public var description: String { "device \(number)" }

  /// Notes what the user was shown, for the invariants: `SimulatedRun.notes`. Other than the
  /// device, the note survives a kill. Call it after the save that it is about has returned.
  public func note(_ text: String) {
    if !process.isDead { ledger.note(text) }
  }

  var network: SimulatedNetwork { parts.withLock { $0.network } }
  var process: SimulatedProcess { parts.withLock { $0.process } }

  init(
    _ number: Int, _ user: SimulatedApp.User, on server: TestServer, settings: SessionSettings,
    seed: Int, ledger: SimulatedLedger
  ) async throws(FerryError) {
    self.number = number
    self.user = user.name
    self.server = server
    self.ledger = ledger
    chance = SimulatedRandom(seed, step: -number)
    server.users.add(user.name, claims: user.claims)
    let network = SimulatedNetwork(server)
    let process = SimulatedProcess(network)
    let database = try server.open(
      server.folder.appending(path: "device-\(number).db").path, settings: settings,
      network: network, chance: chance)
    database.store.listen(process)
    parts = Mutex(
      Parts(
        database: database, network: network, process: process,
        random: SimulatedRandom(seed, step: 0)))
    try await database.onlineLogin(user: user.name, password: "")
    try database.subscribe()
    try await database.synchronize()
    network.set(isOpen: false)
  }

  func set(random: SimulatedRandom) { parts.withLock { $0.random = random } }

  func set(isOffline: Bool) {
    parts.withLock { $0.isOffline = isOffline }
    network.set(isOffline: isOffline)
  }

  /// Waits until nothing is under way; background synchronization is off then.
  func becomeQuiet() async {
    // It was killed, or the app has closed it.
    try? await database.stopBackgroundSynchronization(within: SimulatedDevice.patience)
  }

  /// Opens the file again, after the database before was killed.
  func restart() async throws(FerryError) {
    let old = database
    process.kill()
    await old.close()
    server.forget(old)
    let network = SimulatedNetwork(server)
    let process = SimulatedProcess(network)
    let new = try server.open(
      old.store.path, settings: old.settings, network: network, chance: chance)
    new.store.listen(process)
    let isOffline = parts.withLock { parts in
      (parts.database, parts.network, parts.process) = (new, network, process)
      return parts.isOffline
    }
    network.set(isOffline: isOffline)
    network.set(isOpen: false)
  }

  /// Sends and fetches, and logs in again where the session has ended; returns whether it did.
  func synchronize(within limit: Duration) async throws -> Bool {
    let database = database
    database.networkIsBack()
    do throws(FerryError) {
      try await database.synchronize(awaitingAnswers: true, within: limit)
      return false
    } catch {
      guard error.code == .notLoggedIn else { throw error }
    }
    try await database.onlineLogin(user: user, password: "")
    try await database.synchronize(awaitingAnswers: true, within: limit)
    return true
  }
}

/// What actions have noted.
final class SimulatedLedger: Sendable {
  private let texts = Mutex<[String]>([])
  var notes: [String] { texts.withLock { $0 } }
  func note(_ text: String) { texts.withLock { $0.append(text) } }
}
