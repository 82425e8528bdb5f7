import FerryHTTPClient
public import FerryModel
import FerrySQLite
public import FerryWorld
import Synchronization

/// A package's objects on this device, and their synchronization with one server for one user.
///
/// May be used from every thread and task. Reading and saving never wait for the network.
///
/// ```swift
/// let database = try Sales.open(at: path, profile: ConnectionProfile(server: "https://ferry.example.com"))
/// try await database.onlineLogin(user: "nancy", password: "…")
/// try database.subscribe()
/// try await database.synchronize()
/// ```
public final class Database: Sendable {
  package let store: Store
  private let runner: SessionRunner
  package let live: LiveQueries
  private let observers: Observers
  private let settings: SessionSettings

  /// Opens the local database and makes it when it is not there (sync/M6); what an existing one
  /// holds stays (sync/M7). Nothing is sent before `subscribe`, `synchronize` or
  /// `startBackgroundSynchronization`.
  ///
  /// With a `key` the database is sealed (see Documentation/Encryption.md), and opens with that key
  /// only: anything else is `.wrongKey`, and touches nothing. A passphrase takes a good part of a
  /// second.
  public static func open(
    at path: String, key: DatabaseKey? = nil, package: Package, profile: ConnectionProfile,
    durability: Durability = .application, callbackHandler: (any CallbackHandler)? = nil,
    world: World = .system()
  ) throws(FerryError) -> Database {
    try Database(
      Store(path: path, model: package, world: world, durability: durability, key: key), profile,
      callbackHandler, SystemTransport.make(), world)
  }

  package init(
    _ store: Store, _ profile: ConnectionProfile, _ handler: (any CallbackHandler)?,
    _ transport: any Transport, _ world: World
  ) {
    self.store = store
    live = LiveQueries(store.rowWatch)
    settings = profile.session
    let observers = Observers()
    self.observers = observers
    if let handler { observers.register(handler) }
    let session = Session(store: store, observers: observers, settings: profile.session)
    let runner = SessionRunner(
      session: session, transport: transport, profile: profile, world: world)
    self.runner = runner
    store.bell.onRing { [weak runner] in
      guard let runner else { return }
      Task { await runner.run() }
    }
    Task { await runner.start() }
  }

  /// Ends the session and closes the file (the reference's `closeConnection`, facts/1.6). What is
  /// pending stays in it; objects in the app's hands keep their values and throw `closed` at
  /// everything else.
  public func close() async {
    live.end()
    await runner.stop()
    store.close()
  }

  /// Tells `handler` of everything that happens from now on, instead of the one before (sync/M2).
  public func registerCallbackHandler(_ handler: any CallbackHandler) {
    observers.register(handler)
  }

  // Login.

  /// Logs in without waiting; `onLoginSuccess` or `onLoginFailure` tells (sync/M14, M15).
  ///
  /// The password is kept in memory until the server has answered; afterwards the device has a
  /// token that is renewed by itself.
  public func beginOnlineLogin(user: String, password: String) {
    act { session in session.login(Credentials(user: user, password: password)) }
  }

  /// Logs in and waits for the server's word.
  public func onlineLogin(user: String, password: String) async throws(FerryError) {
    try await runner.act { session in session.login(Credentials(user: user, password: password)) }
    try await runner.synchronize(awaitsAnswers: false)
  }

  // Synchronization.

  /// Asks the server for the data of this user; `onSubscribeSuccess` or `onSubscribeFailure` tells.
  /// Asking twice is like asking once (sync/M23).
  public func subscribe() throws(FerryError) {
    if try store.beginSubscription() { beginSynchronize() }
  }

  /// Whether the server has accepted the subscription; true for ever after (sync/M25).
  public var isSubscribed: Bool {
    get throws(FerryError) {
      try store.read { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try Settings.get(.subscribed, connection) != nil }
      }
    }
  }

  /// Keeps the data fresh and sends what is submitted, until stopped: over an open channel, or by
  /// asking every `pollInterval` where a proxy keeps the channel back.
  public func startBackgroundSynchronization() { act { session in session.setBackground(true) } }

  public func stopBackgroundSynchronization() { act { session in session.setBackground(false) } }

  /// Sends what is submitted and fetches what is new, without waiting (sync/R3).
  public func beginSynchronize() { act { session in session.requestExchange() } }

  /// Sends what is submitted, fetches what is new and returns when it is visible (sync/R2). With
  /// `asyncReplay` off it also waits for the answers to what was sent (sync/R8).
  ///
  /// `notSubscribed` before `subscribe` was called.
  public func synchronize() async throws(FerryError) {
    guard try store.wantsData() else {
      throw FerryError(
        .notSubscribed, "nothing is subscribed on this device", hint: "Call subscribe first.")
    }
    try await runner.synchronize(awaitsAnswers: !settings.asyncReplay)
  }

  /// The network came back: try at once instead of at the next retry.
  public func networkIsBack() { act { session in session.wake() } }

  private func act(_ body: @escaping @Sendable (Session) throws(FerryError) -> Void) {
    let log = store.world.log
    Task { [runner] in
      do throws(FerryError) { try await runner.act(body) } catch {
        log.error("a request to the session failed", ("reason", error.description))
      }
    }
  }

  // Pending operations.

  public var hasPendingOperations: Bool {
    get throws(FerryError) {
      try store.read { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in
          try connection.value("SELECT 1 FROM ferry_operation WHERE state <> 'withdrawn' LIMIT 1")
            != nil
        }
      }
    }
  }

  /// Submits everything that is pending, of every entity.
  public func submitPendingOperations() throws(FerryError) {
    for entity in store.model.entities { try store.submitAll(entity) }
  }

  /// Cancels everything that is pending, of every entity.
  public func cancelPendingOperations() throws(FerryError) {
    for entity in store.model.entities { try store.cancelAll(entity) }
  }

  /// Every log record that the app has not dealt with, oldest first.
  public func logRecords() throws(FerryError) -> [LogRecord] { try store.logRecords("", []) }

  /// Runs `body` in one transaction: all of its changes are saved, or none where it throws.
  ///
  /// What it changed is replayed as one, too: the business system takes all of it or refuses all of
  /// it, where it has transactions. Inside another transaction it is a savepoint, undone alone where
  /// it throws and else part of the outer one. Other threads' changes wait meanwhile.
  public func transaction<Result>(
    _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    let result = try store.transaction(body)
    // What was submitted inside can be seen by the session only now.
    store.bell.ring()
    return result
  }

  /// Inside a transaction: undoes what this transaction (or savepoint) changed when its body
  /// returns, without an error (facts/1.4).
  public func rollback() { store.rollback() }

  /// Whether a first import of this synchronization group is complete.
  public func isSynchronized(group: String) throws(FerryError) -> Bool {
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        let version = try connection.value(
          "SELECT version FROM ferry_checkpoint WHERE grp = ? AND era IS NOT NULL", .text(group))
        return version != nil
      }
    }
  }
}
