public import Ferry
import FerryCachePolicies
import FerryConnector
import FerryHTTPClient
import FerryLocalServer
public import FerryMemoryConnector
public import FerryModel
import FerrySQLiteStore
import FerryServer
public import FerryWire
import FerryWorld
import Foundation
import Synchronization

/// A server for the tests of an app: the very service that ships, over a business system in memory
/// and without a network.
///
/// Devices made by `database(user:)` log in, synchronize and replay as they would against `ferryd`,
/// in milliseconds and without a socket. In memory are the business system and the network; the
/// server's store and the devices' databases are files, as they are where they ship, in a temporary
/// folder, which goes with `stop()`.
///
/// ```swift
/// let server = try await TestServer(Travel.package)
/// try await server.insert(Booking.self, ["bookingID": 1, "agencyID": "A07", "passenger": "Ada"])
/// let database = try await server.database(user: "nancy", claims: ["agency": ["A07"]])
/// #expect(try Booking.findAll(in: database).map(\.passenger) == ["Ada"])
/// ```
///
/// May be used from every thread and task; tests that run side by side have a server each.
public final class TestServer: Sendable {
  public let package: Package
  /// The tables, and a history of every commit; for what `insert` and `refuse` do not offer.
  public let business: MemoryBusiness
  let rules: TestRules
  let doubts: TestDoubts
  let gate: TestGate
  let hosting: LocalHosting
  let users: TestUsers
  private let templates = Templates()
  let network: TestNetwork
  let folder: URL
  let clock: TestClock = TestClock()
  private let world: World
  private let databases = Mutex<[FerryDatabase]>([])
  var openDatabases: [FerryDatabase] { databases.withLock { $0 } }

  /// Starts a server whose tables are empty. `operations` says what the model's operations that are
  /// none of the three do (entities with `performs`), by the entity's name.
  ///
  /// Throws `FerryError` `.store` where the temporary folder cannot be written, or the model has
  /// what the server refuses; the message says which.
  public convenience init(
    _ package: Package, operations: [String: MemoryOperation] = [:]
  ) async throws(FerryError) {
    try await self.init(
      package, operations: operations, bigValueBytes: ServiceLimits.standard.bigValueBytes)
  }

  /// With another limit for big values.
  package init(
    _ package: Package, operations: [String: MemoryOperation] = [:], bigValueBytes: Int64
  ) async throws(FerryError) {
    var bounds = ServiceLimits.standard
    bounds.bigValueBytes = bigValueBytes
    let limits = bounds
    self.package = package
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-test-\(UUID().uuidString)")
    self.folder = folder
    let rules = TestRules()
    self.rules = rules
    let business = MemoryBusiness(
      package: package, rules: [rules.rule], operations: operations)
    self.business = business
    let users = TestUsers()
    self.users = users
    let doubts = TestDoubts()
    self.doubts = doubts
    let gate = TestGate()
    self.gate = gate
    var zoned = World(clock: clock, chance: SystemChance(), log: SilentLog())
    zoned.zone = SystemZones.offset
    let world = zoned
    self.world = world
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw FerryError(
        .store, "the folder \(folder.path) cannot be made: \(error.localizedDescription)",
        hint: "The tests need a temporary folder that they may write.", cause: error)
    }
    let doorkeeper = Doorkeeper(users, templates: templates, world: world)
    do throws(ServerError) {
      hosting = try await LocalHosting(SystemClock()) { () async throws(ServerError) in
        try await PackageHost.start(
          package, folder: folder.appending(path: "server").path, doorkeeper: doorkeeper,
          world: world, limits: limits
        ) { TestConnector(business, doubts, gate) }
      }
    } catch { throw TestServer.error(error) }
    network = TestNetwork(hosting)
    await reload()
  }

  /// A device's database of this user, subscribed and with everything imported that the user may
  /// see. The password is not looked at.
  ///
  /// `claims` are what partition rules ask for; they hold for the user from now on, on all of
  /// their devices. The session is as the app's is with the same `settings`: without a word
  /// `synchronize()` does not wait for answers, and `synchronize(awaitingAnswers: true)` does.
  public func database(
    user: String, claims: [String: [String]] = [:], handler: (any StepHandler)? = nil,
    settings: SessionSettings = SessionSettings()
  ) async throws(FerryError) -> FerryDatabase {
    users.add(user, claims: claims)
    let path = folder.appending(path: "\(UUID().uuidString).db").path
    let database = try open(path, handler, settings)
    try await database.onlineLogin(user: user, password: "")
    try database.subscribe()
    try await database.synchronize()
    return database
  }

  /// A new, empty database of this user, as at the first start of the app: nobody has logged in,
  /// subscribed or synchronized.
  public func newDatabase(
    user: String, claims: [String: [String]] = [:], handler: (any StepHandler)? = nil,
    settings: SessionSettings = SessionSettings()
  ) throws(FerryError) -> FerryDatabase {
    users.add(user, claims: claims)
    return try open(
      folder.appending(path: "\(UUID().uuidString).db").path, handler, settings)
  }

  /// Closes a database of this server and opens its file again, as when the app is started anew: what
  /// was saved and submitted is there, and nobody need log in. Objects of the closed one keep their
  /// values and throw `closed`.
  public func reopen(
    _ database: FerryDatabase, handler: (any StepHandler)? = nil
  ) async throws(FerryError) -> FerryDatabase {
    await database.close()
    forget(database)
    return try open(database.store.path, handler, database.settings)
  }

  /// Opens a copy of a device's file that an older version of the app has left, with the model of this
  /// server: what the first start after an update does. The file itself stays as it is.
  ///
  /// The copy forgets the server that it came from. Nothing is asked of this one yet, so that the
  /// test can look at what was migrated and is pending; then `onlineLogin(user:password:)` with any
  /// password, and `synchronize()`. `user` is whose file it is. A file for this is one that an app of
  /// the older version wrote, or that of a database of another `TestServer` with the older model:
  /// `file(of:)`.
  ///
  /// Throws what `FerryDatabase.open` throws: `.incompatibleModel` where something would be lost that
  /// `migration` does not let go.
  public func open(
    copyOf path: String, user: String, claims: [String: [String]] = [:], key: DatabaseKey? = nil,
    migration: MigrationPolicy = .keepPending, handler: (any StepHandler)? = nil
  ) throws(FerryError) -> FerryDatabase {
    users.add(user, claims: claims)
    let copy = folder.appending(path: "\(UUID().uuidString).db").path
    do {
      // With what was committed and not yet moved to its place.
      for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: path + ending) {
        try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
      }
    } catch {
      throw FerryError(
        .store, "\(path) cannot be copied: \(error.localizedDescription)",
        hint: "Look whether the tests may read it.", cause: error)
    }
    guard FileManager.default.fileExists(atPath: copy) else {
      throw FerryError(
        .store, "there is no file \(path)", hint: "Name a device's database that was closed.")
    }
    return try open(
      copy, handler, SessionSettings(), key: key, migration: migration, isForeign: true)
  }

  /// The file of a database that this server made; it goes with `stop()`.
  public func file(of database: FerryDatabase) -> String { database.store.path }

  /// It was closed.
  func forget(_ database: FerryDatabase) {
    databases.withLock { $0.removeAll { $0 === database } }
  }

  /// A device of a simulated test, with chance and a way to the server of its own.
  func open(
    _ path: String, settings: SessionSettings, network: any Transport, chance: any Chance
  ) throws(FerryError) -> FerryDatabase {
    try open(
      path, nil, settings, on: network, World(clock: clock, chance: chance, log: SilentLog()))
  }

  private func open(
    _ path: String, _ handler: (any StepHandler)?, _ settings: SessionSettings,
    key: DatabaseKey? = nil, migration: MigrationPolicy = .keepPending, isForeign: Bool = false,
    on transport: (any Transport)? = nil, _ world: World? = nil
  ) throws(FerryError) -> FerryDatabase {
    let world = world ?? self.world
    let store = try Store(
      path: path, model: package, world: world, durability: .application, key: key,
      migration: migration)
    if isForeign {
      try store.withTransaction { transaction throws(FerryError) in
        try ServerAdoption(transaction).run()
      }
    }
    let database = FerryDatabase(
      store, ConnectionProfile(server: "http://test.invalid", session: settings), handler,
      transport ?? network, world)
    databases.withLock { $0.append(database) }
    return database
  }

  /// From now on this user's logins are refused, with any password: `onlineLogin` throws
  /// `notLoggedIn`. A device that is logged in stays so.
  public func refuseLogin(user: String) { users.setRefused(user, true) }

  /// Logins of this user are taken again, with any password.
  public func acceptLogin(user: String) { users.setRefused(user, false) }

  /// With false every request of a device fails as without a network, and open lines break; with
  /// true again `networkIsBack()` of a database makes it try at once.
  public func setReachable(_ isReachable: Bool) async {
    network.setReachable(isReachable)
    if !isReachable { await host.hangUp() }
  }

  /// From now on each device is registered by this connection template, and hears of its settings:
  /// `"custom.color": .text("green")`.
  public func setTemplate(
    _ name: String, _ settings: [String: SettingValue]
  ) async {
    await set([ConnectionTemplate(name: name, values: settings)])
  }

  func set(_ all: [ConnectionTemplate]) async {
    templates.set(all)
    await host.templatesChanged()
  }

  /// From now on the business system takes its time: operations are stored by the server and
  /// performed after `releaseReplays()`.
  public func holdReplays() { gate.set(room: 0) }

  /// Ends `holdReplays()`; with `count`, only that many business transactions are performed.
  public func releaseReplays(_ count: Int? = nil) { gate.set(room: count) }

  /// With false the server cannot ask the business system for changes of others, until true again.
  public func setBusinessReachable(_ isReachable: Bool) { gate.set(isAway: !isReachable) }

  /// Reads the tables into the server, so that the next `synchronize()` of a device brings them.
  func reload() async { await host.reload() }

  /// Closes the databases that it made, ends and removes its folder.
  public func stop() async {
    releaseReplays()
    for database in openDatabases { await database.close() }
    await host.stop()
    try? FileManager.default.removeItem(at: folder)
  }
}
