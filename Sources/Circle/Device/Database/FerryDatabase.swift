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
/// try await database.signIn(user: "nancy", password: "…")  // once; the device stays signed in
/// ```
public final class FerryDatabase: Sendable {
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

  /// Opens the local database, and creates it if it does not exist; existing data stays. Nothing is
  /// sent before `subscribe`, `synchronize` or `startBackgroundSynchronization`.
  ///
  /// A database with an older model is migrated to this model. A new attribute that must have a
  /// value gets its default everywhere. Without a default it is null in downloaded objects until
  /// they are downloaded again; other attributes of such an object can be changed meanwhile.
  ///
  /// Some data may not fit the new model: pending changes that it cannot express or would refuse
  /// (too long, without a required value, an operation that it no longer allows), and values of
  /// client-only attributes that it does not have. Then this throws `.incompatibleModel`, which
  /// names them, and does not change the file, unless `migration` allows their loss. The server
  /// decides about submitted changes. A database of a newer model or of a newer Ferry is refused
  /// with the same code, and the file of another program with `.otherOwner`; neither file is
  /// changed.
  ///
  /// One `FerryDatabase` for each file is enough in a process: it may be used from everywhere. An app
  /// and its extension have one each; then set `SessionSettings.isDatabaseShared` in both, so that
  /// live queries see the changes of the other process and each callback is made once. The log
  /// warns if it is not set. Saved data is safe in any case.
  ///
  /// With a `key` the database is sealed (see Documentation/Encryption.md) and opens only with that
  /// key: anything else throws `.wrongKey` and changes nothing. A passphrase takes a good part of a
  /// second. If a wipe was cut short by a crash, this call finishes it, and throws `.wiped` if the
  /// key was in `profile.secrets`: then ask for a new key and open again.
  ///
  /// `transport` sends the requests instead of the system's transport, for example a traced one.
  public static func open(
    at path: String, key: DatabaseKey? = nil, package: Package, profile: ConnectionProfile,
    durability: Durability = .application, handler: (any StepHandler)? = nil,
    migration: MigrationPolicy = .keepPending, transport: (any Transport)? = nil,
    world: World = .system()
  ) throws(FerryError) -> FerryDatabase {
    try profile.check()
    guard !path.isEmpty else {
      throw FerryError(
        .store, "The path of the database is empty",
        hint: "Give the path of a file in a folder of the app that can be written.")
    }
    if let wipe = Wipe.begun(at: path), !wipe.isDone { try wipe.finish(profile.secrets, key) }
    try DatabaseFiles.finishDeletion(path)
    if !profile.session.isDatabaseShared, OpenFile.isOpen(path: path) {
      world.log.warn(
        "the database is open in this process already: nothing is lost, but the live queries of one "
          + "do not hear what the other changes, and a callback may be made twice; use one "
          + "`FerryDatabase`, or set SessionSettings.isDatabaseShared for both", ("database", path))
    }
    return try FerryDatabase(
      Store(
        path: path, model: package, world: world, durability: durability, key: key,
        migration: migration), profile, handler,
      transport ?? SystemTransport.make(profile.transport), world)
  }

  package init(
    _ store: Store, _ profile: ConnectionProfile, _ handler: (any StepHandler)?,
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
    store.listsImports.store(observers.hearsEachObject, ordering: .relaxed)
    let session = Session(
      store: store, observers: observers, settings: profile.session, secrets: profile.secrets)
    let statusBoard = StatusBoard()
    self.statusBoard = statusBoard
    store.listen(statusBoard)
    session.states.onChange { [weak statusBoard] in statusBoard?.ring() }
    let runner = SessionRunner(
      session: session, transport: transport, profile: profile, world: world)
    self.runner = runner
    store.bell.onRing { [weak runner] in runner?.ring() }
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
        do { try await Task.sleep(for: FerryDatabase.othersInterval) } catch { return }
        guard let store, !store.isClosed else { return }
        statusBoard?.ring()
        do throws(FerryError) { try store.hearOthers() } catch {
          store.world.log.warn("other processes were not heard", ("reason", error.description))
        }
      }
    }
    following.withLock { $0 = task }
  }

  /// Ends the session and closes the file (the reference's `closeConnection`). Pending changes stay
  /// in the file. Objects of the app keep their values; every other call on them throws `closed`.
  /// Returns when reads that had begun are over: then the file can be deleted.
  public func close() async {
    live.end()
    statusBoard.end()
    following.withLock { $0?.cancel() }
    await runner.stop()
    runner.states.end()
    observers.events.close()
    store.contentFetcher.withLock { $0 = nil }
    store.close()
    await store.waitUntilUnused()
  }

  /// Sets the handler that hears every step from now on, in place of the one before, and those that
  /// were owed while there was none.
  ///
  /// It is called on `actor`, one after the other. nil is the session's own thread;
  /// there a slow handler delays the synchronization.
  public func register(
    _ handler: any StepHandler, on actor: (any Actor)? = nil
  ) {
    observers.register(handler, on: actor)
    store.listsImports.store(observers.hearsEachObject, ordering: .relaxed)
    act { session throws(FerryError) in try session.tellOwed() }
  }

  /// Adds a handler for imports and replays of one entity, besides the handler of the database. The
  /// database's handler is called first for an import, this one for a replay.
  ///
  /// An owed call is forgotten when the database's handler has received it. So register the
  /// handlers of entities before the database's handler: each then receives the calls that are owed
  /// for its entity, once. A handler that is registered later, also after `handler:` of `open`,
  /// receives only later events.
  public func register<Object: BusinessObject>(
    _ handler: any StepHandler, of type: Object.Type, on actor: (any Actor)? = nil
  ) {
    observers.register(handler, of: Object.entity.name, on: actor)
    store.listsImports.store(observers.hearsEachObject, ordering: .relaxed)
    act { session throws(FerryError) in try session.tellOwed() }
  }

  // Login.

  /// Logs in without waiting; `signedIn` or `signInFailed` reports the result.
  ///
  /// The password is kept in memory until the server has answered; afterwards the device has a
  /// token that is renewed automatically.
  public func beginOnlineLogin(user: String, password: String) {
    act { session in session.login(Credentials(user: user, password: password)) }
  }

  /// Logs in and waits for the server's answer, at most `SessionSettings.patience`. If the task is
  /// cancelled, the call throws `cancelled` and the login continues; a handler gets its result.
  public func onlineLogin(user: String, password: String) async throws(FerryError) {
    try await runner.login(
      Credentials(user: user, password: password), within: settings.patience)
  }

  // Synchronization.

  /// Asks the server for the data of this user; `subscribed` or `subscribeFailed`
  /// reports the result. A second call has no further effect.
  ///
  /// In a replication-based database it downloads no rows: it only informs the server of this
  /// device's parameters, and `synchronize` downloads the rows.
  public func subscribe() throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).begin()
    }
    if isNew { act { session in session.requestExchange() } }
  }

  /// Whether the server has accepted the subscription; true until `unsubscribe`.
  public var isSubscribed: Bool {
    get throws(FerryError) {
      try store.read { connection throws(SQLiteError) in
        try Settings.get(.subscribed, connection) != nil
      }
    }
  }

  /// Keeps the data fresh and sends what is submitted, until it is stopped: over an open channel,
  /// or by a request every `pollInterval` if a proxy blocks the channel.
  public func startBackgroundSynchronization() { act { session in session.setBackground(true) } }

  /// Closes the channel and fetches nothing automatically any more. Returns at once; an exchange
  /// that is under way is finished. Submitted operations are still sent as soon as possible. Of big
  /// values only the piece that is under way is sent. The other pieces follow after
  /// `startBackgroundSynchronization`, `beginSynchronize` or `synchronize`, or while a
  /// `synchronize(awaitingAnswers: true)` or a `replayOutcome` waits for answers.
  ///
  /// Call it before an app is suspended whose database is shared with an extension: an open channel
  /// holds a lock, and some systems end a suspended app that holds one; see <doc:Suspension>.
  public func stopBackgroundSynchronization() { act { session in session.setBackground(false) } }

  /// The same, and returns when nothing is under way: the channel is closed, an exchange has ended
  /// with its import, and its lock is free. An operation that is submitted later begins another
  /// exchange.
  ///
  /// Errors: `timedOut` after `limit`, `cancelled` if the task is cancelled; the work then ends by
  /// itself. `closed` if the database is closed.
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

  /// Call it when the network is available again: the session tries at once and does not wait for
  /// the next retry.
  public func networkIsBack() { act { session in session.wake() } }

  /// In the order of the calls.
  func act(_ body: @escaping @Sendable (Session) throws(FerryError) -> Void) {
    runner.enqueue(body)
    Task { [runner] in await runner.drain() }
  }

  // Pending operations.

  public var hasPendingOperations: Bool {
    get throws(FerryError) {
      try store.read { connection throws(SQLiteError) in
        try connection.value("SELECT 1 FROM ferry_operation WHERE state <> 'withdrawn' LIMIT 1")
          != nil
      }
    }
  }

  /// Submits all pending changes, of every entity.
  ///
  /// What cannot be sent stays pending with what is replayed as one with it, and holds up nothing
  /// else: when everything else is submitted, the first reason is thrown (`tooLarge`,
  /// `invalidReference` or `notDownloaded`), which names entity and attribute and says how many objects stay. It is done in transactions of a
  /// thousand objects; an error of the disk ends it after those that were.
  public func submitPendingOperations() throws(FerryError) {
    try Outbox(store).submitAll(store.model.entities)
  }

  /// Cancels all pending changes, of every entity, in transactions of a thousand objects. After an
  /// error of the disk the finished transactions stay cancelled.
  public func cancelPendingOperations() throws(FerryError) {
    try Outbox(store).cancelAll(store.model.entities)
  }

  /// The log records that the app has not deleted, oldest first; all, or those that match a query.
  public func logRecords(
    _ query: LogRecordQuery = LogRecordQuery()
  ) throws(FerryError) -> [LogRecord] { try LogRecords(store).of(query) }

  /// Deletes log records: all, or those that match a query. Pending changes stay, and refused ones
  /// stay marked as refused.
  public func deleteLogRecords(
    _ query: LogRecordQuery = LogRecordQuery()
  ) throws(FerryError) { try LogRecords(store).delete(query) }

  /// Writes a log record of the app that is not about an object; see
  /// `BusinessObject.createLogRecord`.
  @discardableResult
  public func createLogRecord(
    _ level: LogRecord.Level, _ message: String, code: Int = 0
  ) throws(FerryError) -> LogRecord {
    try Reports(store).write(
      level, message, code: code, component: "", entityKey: "", operation: nil)
  }

  /// The app's own log records that the server does not have yet, oldest first. At most 10,000 are
  /// kept; beyond that the oldest are deleted.
  public var createdLogRecords: [LogRecord] {
    get throws(FerryError) { try Reports(store).all() }
  }

  /// Sends the log records that the app has written so far with the next exchange, which begins
  /// soon. The server stores each once, however often it is sent, and the device deletes records
  /// that the server has. `ferry log` shows them on the server.
  ///
  /// Returns false when there is nothing to send.
  @discardableResult
  public func submitLogRecords() throws(FerryError) -> Bool {
    let count = try store.withTransaction { transaction throws(FerryError) in
      try ReportQueue(transaction).submit()
    }
    if count > 0 { store.bell.ring() }
    return count > 0
  }
}
