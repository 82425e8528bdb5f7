public import FerryHTTPClient
public import FerryModel
import FerrySQLite
public import FerryWire
public import FerryWorld
import Synchronization

/// A package's objects on this device, and their synchronization with one server for one user.
///
/// May be used from every thread and task. Reading and saving never wait for the network. Reading
/// waits for nobody; a save waits while another one, or an import, is written: usually a few
/// milliseconds, and seconds for the first import of a million rows. The asynchronous forms wait on a
/// thread of Ferry's own; see <doc:Waiting>.
///
/// ```swift
/// let database = try Sales.open(at: path, profile: ConnectionProfile(server: "https://ferry.example.com"))
/// try await database.onlineLogin(user: "nancy", password: "…")
/// try database.subscribe()
/// try await database.synchronize()
/// ```
public final class Database: Sendable {
  package let store: Store
  let runner: SessionRunner
  package let live: LiveQueries
  let observers: Observers
  let statusBoard: StatusBoard
  package let settings: SessionSettings
  /// What the database was opened with.
  let connection: ConnectionProfile
  /// Of the synchronization profile; never written to a disk.
  let password = Mutex<String?>(nil)
  /// Hears what other processes change.
  private let following = Mutex<Task<Void, Never>?>(nil)

  /// Opens the local database and makes it when it is not there (sync/M6); what an existing one
  /// holds stays (sync/M7). Nothing is sent before `subscribe`, `synchronize` or
  /// `startBackgroundSynchronization`.
  ///
  /// A database of an older model is brought to this one. An attribute that is new and must have a
  /// value has its default everywhere; without a default it is null in what was downloaded before,
  /// until it is downloaded again, and stands in the way of no change of something else. Pending
  /// changes that the new model cannot express or that it would not let be saved (too long, without
  /// what must have a value, an operation that it no longer allows), and values of client-only
  /// attributes that it has no place for, stop that with `.incompatibleModel`, which names them, and
  /// leave the file as it is, unless `migration` lets them go. What was submitted is the server's to
  /// judge. A database of a newer model, or of a newer Ferry, is refused with the same code; one of
  /// another program with `.otherOwner`, and none of its bytes changes.
  ///
  /// One `Database` for each file of a process is enough: it may be used from everywhere. A second
  /// one, as an app and its extension have in processes of their own, needs
  /// `SessionSettings.isDatabaseShared` in both for live queries that hear of each other and
  /// callbacks that are made once; the log warns where it is not set. What they save is safe.
  ///
  /// With a `key` the database is sealed (see Documentation/Encryption.md), and opens with that key
  /// only: anything else is `.wrongKey`, and touches nothing. A passphrase takes a good part of a
  /// second.
  ///
  /// `transport` carries the requests in place of the system's own, as a traced one does.
  public static func open(
    at path: String, key: DatabaseKey? = nil, package: Package, profile: ConnectionProfile,
    durability: Durability = .application, callbackHandler: (any CallbackHandler)? = nil,
    migration: MigrationPolicy = .keepPending, transport: (any Transport)? = nil,
    world: World = .system()
  ) throws(FerryError) -> Database {
    try profile.check()
    if let wipe = Wipe.begun(at: path) { try wipe.destroy(profile.secrets) }
    if !profile.session.isDatabaseShared, OpenFile.isOpen(path: path) {
      world.log.warn(
        "the database is open in this process already: nothing is lost, but the live queries of one "
          + "do not hear what the other changes, and a callback may be made twice; use one "
          + "`Database`, or set SessionSettings.isDatabaseShared for both", ("database", path))
    }
    return try Database(
      Store(
        path: path, model: package, world: world, durability: durability, key: key,
        migration: migration), profile, callbackHandler,
      transport ?? SystemTransport.make(profile.transport), world)
  }

  package init(
    _ store: Store, _ profile: ConnectionProfile, _ handler: (any CallbackHandler)?,
    _ transport: any Transport, _ world: World
  ) {
    self.store = store
    live = LiveQueries(store.rowWatch)
    settings = profile.session
    connection = profile
    store.submitsAutomatically.withLock { $0 = profile.session.submitsAutomatically }
    let observers = Observers()
    self.observers = observers
    if let handler { observers.register(handler) }
    let session = Session(
      store: store, observers: observers, settings: profile.session, secrets: profile.secrets)
    let statusBoard = StatusBoard()
    self.statusBoard = statusBoard
    store.listen(statusBoard)
    session.states.onChange { [weak statusBoard] in statusBoard?.ring() }
    let runner = SessionRunner(
      session: session, transport: transport, profile: profile, world: world)
    self.runner = runner
    store.bell.onRing { [weak runner] in
      guard let runner else { return }
      Task { await runner.run() }
    }
    store.contentFetcher.withLock { fetcher in
      fetcher = { [weak runner, path = store.path] place throws(FerryError) in
        guard let runner else { throw Store.closed(path) }
        try await runner.fetch(place)
      }
    }
    observers.onWork { [weak runner] in
      guard let runner else { return }
      Task { await runner.deliver() }
    }
    Task { await runner.start() }
    if profile.session.isDatabaseShared { followOthers() }
  }

  /// How soon a live query shows what another process changed.
  private static let othersInterval: Duration = .milliseconds(250)

  /// Looks for what other processes changed, until the database is closed.
  private func followOthers() {
    do throws(FerryError) { try store.share() } catch {
      store.world.log.error(
        "changes of other processes are not seen", ("reason", error.description))
      return
    }
    let task = Task { [weak store, weak statusBoard] in
      while !Task.isCancelled {
        do { try await Task.sleep(for: Database.othersInterval) } catch { return }
        guard let store, !store.isClosed else { return }
        statusBoard?.ring()
        do throws(FerryError) { try store.hearOthers() } catch {
          store.world.log.warn("other processes were not heard", ("reason", error.description))
        }
      }
    }
    following.withLock { $0 = task }
  }

  /// Ends the session and closes the file (the reference's `closeConnection`, facts/1.6). What is
  /// pending stays in it; objects in the app's hands keep their values and throw `closed` at
  /// everything else.
  public func close() async {
    live.end()
    statusBoard.end()
    following.withLock { $0?.cancel() }
    await runner.stop()
    runner.states.close()
    observers.events.close()
    store.contentFetcher.withLock { $0 = nil }
    store.close()
  }

  /// Tells `handler` of everything that happens from now on, instead of the one before, and of what
  /// was owed while there was none (sync/M2, facts/1.7).
  ///
  /// Its functions are called on `actor`, one after the other; nil is the session's own thread, where
  /// a callback that takes long holds the synchronization up.
  public func registerCallbackHandler(
    _ handler: any CallbackHandler, on actor: (any Actor)? = nil
  ) {
    observers.register(handler, on: actor)
    act { session throws(FerryError) in try session.tellOwed() }
  }

  /// Tells `handler` of imports and replays of one entity, besides the handler of the database
  /// (facts/1.7). Of an import the database's handler hears first, of a replay this one.
  ///
  /// What is owed is forgotten when the handler of the database has heard it. So register the
  /// handlers of entities before that one: they hear at once what is owed of them, each time once.
  /// One that comes later, as with `callbackHandler:` of `open`, hears what happens from then on.
  public func registerCallbackHandler<Object: BusinessObject>(
    _ handler: any CallbackHandler, of type: Object.Type, on actor: (any Actor)? = nil
  ) {
    observers.register(handler, of: Object.entity.name, on: actor)
    act { session throws(FerryError) in try session.tellOwed() }
  }

  // Login.

  /// Logs in without waiting; `onLoginSuccess` or `onLoginFailure` tells (sync/M14, M15).
  ///
  /// The password is kept in memory until the server has answered; afterwards the device has a
  /// token that is renewed by itself.
  public func beginOnlineLogin(user: String, password: String) {
    act { session in session.login(Credentials(user: user, password: password)) }
  }

  /// Logs in and waits for the server's word, at most `SessionSettings.patience`. Cancelling the task
  /// ends the wait with `cancelled`; the login goes on, and a handler hears of it.
  public func onlineLogin(user: String, password: String) async throws(FerryError) {
    try await runner.act { session in session.login(Credentials(user: user, password: password)) }
    try await runner.synchronize(awaitsAnswers: false, within: settings.patience)
  }

  // Synchronization.

  /// Asks the server for the data of this user; `onSubscribeSuccess` or `onSubscribeFailure` tells.
  /// Asking twice is like asking once (sync/M23).
  ///
  /// In a replication-based database it brings no rows: it only lets the server know what this
  /// device asks for (sync/I6), and `synchronize` brings them.
  public func subscribe() throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).begin()
    }
    if isNew { act { session in session.requestExchange() } }
  }

  /// Whether the server has accepted the subscription; true until `unsubscribe` (sync/M25).
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

  /// Closes the channel and asks for nothing by itself any more. Returns at once; an exchange that is
  /// under way is brought to its end. Operations that are submitted still go, each as soon as it can;
  /// of big values only the piece that is under way. The rest of them follows after
  /// `startBackgroundSynchronization`, `beginSynchronize` or `synchronize`, or at once where somebody
  /// waits for answers, in a `synchronize(awaitingAnswers: true)` or a `replayOutcome`.
  ///
  /// To be called before an app is suspended whose database is shared with an extension: an open
  /// channel holds a lock, for which some systems end a suspended app; see <doc:Suspension>.
  public func stopBackgroundSynchronization() { act { session in session.setBackground(false) } }

  /// The same, and returns when nothing is under way any more: the channel is closed, an exchange has
  /// ended with its import, and its lock is free. What is submitted behind it begins another one.
  ///
  /// `timedOut` after `limit`, `cancelled` where the task is cancelled: it ends by itself then.
  /// `closed` where the database is closed.
  public func stopBackgroundSynchronization(within limit: Duration) async throws(FerryError) {
    stopBackgroundSynchronization()
    try await runner.rest(within: limit)
  }

  /// Whether the background synchronization is on, behind everything that was asked for before.
  package var isBackground: Bool {
    get async { await runner.isBackground }
  }

  /// What is asked for differs: the next exchange says so, soon where data is wanted at all.
  func parametersChanged() { act { session throws(FerryError) in try session.parametersChanged() } }

  /// The network came back: try at once instead of at the next retry.
  public func networkIsBack() { act { session in session.wake() } }

  /// In the order of the calls.
  func act(_ body: @escaping @Sendable (Session) throws(FerryError) -> Void) {
    runner.enqueue(body)
    Task { [runner] in await runner.drain() }
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
  ///
  /// What cannot be sent stays pending with what is replayed as one with it, and holds up nothing
  /// else: when everything else is submitted, the first reason is thrown (`tooLarge`,
  /// `invalidReference` or `notDownloaded`), which names entity and attribute and says how many objects stay. It is done in transactions of a
  /// thousand objects; an error of the disk ends it after those that were.
  public func submitPendingOperations() throws(FerryError) {
    try Outbox(store).submitAll(store.model.entities)
  }

  /// Cancels everything that is pending, of every entity, in transactions of a thousand objects; an
  /// error of the disk ends it after those that were.
  public func cancelPendingOperations() throws(FerryError) {
    try Outbox(store).cancelAll(store.model.entities)
  }

  /// The log records that the app has not dealt with, oldest first; all, or those that a query names
  /// (facts/1.4).
  public func logRecords(
    _ query: LogRecordQuery = LogRecordQuery()
  ) throws(FerryError) -> [LogRecord] { try store.logRecords(query) }

  /// Forgets log records: all, or those that a query names. What is pending stays, with its mark
  /// where it was refused.
  public func deleteLogRecords(
    _ query: LogRecordQuery = LogRecordQuery()
  ) throws(FerryError) { try store.deleteLogRecords(query) }

  /// Writes a log record of the app's own, about nothing in particular; see
  /// `BusinessObject.createLogRecord`.
  @discardableResult
  public func createLogRecord(
    _ level: LogRecord.Level, _ message: String, code: Int = 0
  ) throws(FerryError) -> LogRecord {
    try store.report(
      level, message, code: code, component: "", entityKey: "", operation: nil)
  }

  /// The app's own log records that the server does not have yet, oldest first. At most 10,000 are
  /// kept; the oldest go for new ones.
  public var createdLogRecords: [LogRecord] {
    get throws(FerryError) { try store.reports() }
  }

  /// Lets the log records that the app has written so far go to the server (facts/1.4), with the
  /// next exchange, which begins soon. The server keeps each once, however often it is sent, and
  /// the device forgets what the server has. `ferry log` shows them there.
  ///
  /// False when there is nothing to send.
  @discardableResult
  public func submitLogRecords() throws(FerryError) -> Bool {
    let count = try store.withTransaction { transaction throws(FerryError) in
      try ReportQueue(transaction).submit()
    }
    if count > 0 { store.bell.ring() }
    return count > 0
  }
}
