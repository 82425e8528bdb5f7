import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld
import Synchronization

/// The device's database file: one connection writes, several read.
///
/// It may be used from every thread. A write waits for other writes; a read never waits.
package final class Store: Sendable {
  package let model: Package
  /// The model as the server knows it.
  package let served: Package
  package let world: World
  package let path: String
  /// How the contents of big values are cut.
  package let contentSizes: ContentSizes
  let writer: SharedConnection
  private let readers: ReaderPool
  private let file: Mutex<OpenFile?>
  /// How long a save waits for another process that writes: a system ends an app whose main thread
  /// stands still for longer than this by little.
  static let patienceMilliseconds: Int32 = 5_000
  /// How long opening does: another process may be migrating or importing, and nothing can be done
  /// without the database.
  private static let openingMilliseconds: Int32 = 30_000
  /// Personalization keys that last as long as the app runs.
  let sessionKeys = Mutex<[String: String]>([:])
  /// What the transaction that is open has done so far.
  private let open = Mutex(Commit())
  /// All who hear of each commit.
  private let listeners: Mutex<[any CommitListener]>
  /// The highest number of an object whose creation was undone, by entity.
  let spent = Mutex<[String: Int64]>([:])
  /// Rung when there may be something for the session to do.
  package let bell = Bell()
  /// Touched only by the thread that holds the writing connection.
  let scope = Mutex(TransactionScope())
  /// Where those wait who want to know how an operation ended.
  package let answers = AnswerBoard()
  /// Where those wait who follow how big values come and go.
  package let progress = ProgressBoard()
  /// The big attributes of the model, by entity.
  package let bigAttributes: [(entity: Entity, attribute: Attribute)]
  /// The relationships that lead to objects by their keys, by entity.
  let keyReferences: [String: [KeyReference]]
  /// Brings contents that are not on the device.
  package let contentFetcher = Mutex<ContentFetcher?>(nil)
  /// Where the asynchronous forms read and save.
  package let work = WorkThreads()
  /// Whether what is saved is submitted by itself, where the app does not say otherwise.
  package let submitsAutomatically = Mutex(false)
  /// Sees which visible rows a transaction changes.
  package let rowWatch: RowWatch
  /// Whether imports note each object for a handler that hears of each.
  package let listsImports = Atomic<Bool>(false)
  private let modelGuard: ModelGuard
  /// For how long the data may be used without the server; nil: for ever.
  let lease = Mutex<LeaseMachine?>(nil)
  let hasLease = Atomic<Bool>(false)
  /// Set while other processes are told, and heard.
  let sharing = Mutex<SharedChanges?>(nil)
  /// Set while other processes may be told of the same things.
  let telling = Mutex<ProcessLease?>(nil)
  /// How the rows of each entity are read and written; see `rows(of:)`.
  let tables = Mutex<[ObjectIdentifier: Rows]>([:])

  package init(
    path: String, model: Package, world: World, durability: Durability, key: DatabaseKey? = nil,
    vfs: String? = nil, migration: MigrationPolicy = .keepPending,
    contentSizes: ContentSizes = ContentSizes()
  ) throws(FerryError) {
    self.model = model
    self.contentSizes = contentSizes
    served = model.served
    self.world = world
    self.path = path
    file = Mutex(OpenFile(path: path))
    rowWatch = RowWatch(model)
    listeners = Mutex([answers, rowWatch, bell])
    keyReferences = KeyReference.all(in: model)
    modelGuard = ModelGuard(model)
    bigAttributes = model.entities.flatMap { entity in
      entity.bigPositions.map { (entity, entity.attributes[$0]) }
    }
    do {
      var sealing: Sealing?
      if let key { sealing = try Sealing(path: path, key: key, vfs: vfs) }
      let connection = try Connection(
        path: path, busyTimeoutMilliseconds: Store.openingMilliseconds, vfs: vfs, sealing: sealing)
      // Until all have agreed to the file, its log stays as it was found.
      connection.leavesFoundLog()
      try FileOwner(connection).check()
      try Schema.requireKnown(connection)
      try connection.configureStore(synchronous: durability == .machine ? .full : .normal)
      try connection.addNumberFunctions()
      try rowWatch.connect(connection)
      try Schema(model: model).prepare(connection, world: world, migration: migration)
      connection.leavesFoundLog(false)
      connection.wait(milliseconds: Store.patienceMilliseconds)
      if let notice = connection.sealNotice { world.log.warn(notice, ("database", path)) }
      writer = SharedConnection(connection)
      readers = ReaderPool(path: path, vfs: vfs, sealing: sealing)
    } catch let error as SQLiteError {
      throw Store.failure(error, path: path)
    } catch let error as FerryError {
      throw error
    } catch {
      throw FerryError(.store, "\(error)", hint: "Report this as a bug.", cause: error)
    }
    try openLease()
  }

  /// Runs `body` in one transaction, or in a savepoint of the one this thread has open.
  package func write<Result>(
    _ body: (Connection) throws(FerryError) -> Result
  ) throws(FerryError)
    -> Result
  {
    let (result, commit) = try writer.withConnection(closed: Store.closed(path)) {
      connection throws(FerryError) in
      let isOutermost = !connection.isInTransaction && !connection.isTransactionUndone
      if isOutermost { try sql { () throws(SQLiteError) in try rowWatch.begin(connection) } }
      let before = self.open.withLock { ($0.ended.count, $0.releases) }
      let seen = isOutermost ? [:] : rowWatch.counts()
      let result: Result
      do throws(FerryError) {
        result = try connection.transaction(
          wrap: { error in Store.failure(error, path: self.path) },
          { () throws(FerryError) -> Result in
            // What is written into a file that nobody finds any more would be promised and lost.
            guard !connection.hasMoved else { throw Store.moved(self.path) }
            if isOutermost { try self.modelGuard.check(connection) }
            let result = try body(connection)
            if isOutermost {
              try self.noteOutcomes(connection)
              for listener in self.listening { try listener.willCommit(connection, self) }
            }
            return result
          })
      } catch {
        self.open.withLock { $0.undo(to: before) }
        rowWatch.undo(to: seen)
        throw error
      }
      guard isOutermost else { return (result, Commit?.none) }
      let commit = self.takeCommit(connection)
      for listener in self.listening { listener.didCommit(commit) }
      return (result, commit)
    }
    if let commit { for listener in listening { listener.afterCommit(commit) } }
    return result
  }

  /// Inside a transaction: an operation has ended. The commit keeps that, and those who wait for it
  /// hear of it then; nothing of it stays where the transaction is undone.
  func ended(_ operation: AnsweredOperation) { open.withLock { $0.ended.append(operation) } }

  private func noteOutcomes(_ connection: Connection) throws(FerryError) {
    let ended = open.withLock { $0.ended }
    guard !ended.isEmpty else { return }
    let now = world.clock.now.milliseconds
    let all = try sql { () throws(SQLiteError) in
      try OutcomeTable(connection).note(ended, now: now)
    }
    open.withLock { $0.ended = all }
  }

  /// Inside a transaction: the session is woken when it is committed.
  func freed() { open.withLock { $0.releases = true } }

  /// 128 random bits.
  package func newOperationID() -> OperationID {
    guard let id = OperationID(hexadecimal(world.chance.bytes(16))) else {
      preconditionFailure("32 hexadecimal digits are an operation id")
    }
    return id
  }

  /// From now on this one hears of each commit, too.
  package func listen(_ listener: any CommitListener) { listeners.withLock { $0.append(listener) } }

  private var listening: [any CommitListener] { listeners.withLock { $0 } }

  private func takeCommit(_ connection: Connection) -> Commit {
    var commit = open.withLock { open in
      defer { open = Commit() }
      return open
    }
    commit.rows = rowWatch.end(connection)
    return commit
  }

  /// Runs `body` on one snapshot; inside a transaction of this thread it sees what that changed.
  package func read<Result>(
    _ body: (Connection) throws(FerryError) -> Result
  ) throws(FerryError)
    -> Result
  {
    if let result = try writer.withHeldConnection(body) { return result }
    return try readers.withReader(wrap: { Store.failure($0, path: self.path) }) {
      connection throws(FerryError) in
      try self.modelGuard.check(connection)
      return try body(connection)
    }
  }

  /// Closes the file when whoever writes now has ended; what reads goes on to its end.
  package func close() {
    bell.onRing(nil)
    writer.close()
    readers.close()
    answers.close()
    progress.close()
    file.withLock { $0 = nil }
  }

  /// After `close`: returns when what still read has ended, and no connection has the file open.
  func waitUntilUnused() async { await readers.waitUntilUnused() }

  private static func moved(_ path: String) -> FerryError {
    FerryError(
      .store, "the local database \(path) was moved or removed while it was open",
      hint: "Nothing of this change was saved. Put the file back where it was, or close the "
        + "database and open it again.")
  }

  package var isClosed: Bool { file.withLock { $0 == nil } }

  package static func closed(_ path: String) -> FerryError {
    FerryError(.closed, "the database \(path) was closed", hint: "Open it again.")
  }

  /// Calls SQLite and speaks of its errors as the store's.
  package func sql<Result>(_ body: () throws(SQLiteError) -> Result) throws(FerryError) -> Result {
    do { return try body() } catch { throw Store.failure(error, path: path) }
  }

  package static func failure(_ error: SQLiteError, path: String) -> FerryError {
    if let problem = error.seal { return failure(problem, error) }
    var code = FerryError.Code.store
    let hint: String
    if error.isFull {
      code = .diskFull
      hint = "Free some space on the device; nothing that was saved is lost."
    } else if error.isOfTheDisk {
      code = .diskFailing
      hint =
        "The device's disk cannot write or read \(path) now: it may be failing or have turned "
        + "read-only. Start the device again; nothing that was saved was overwritten."
    } else if error.isBusy {
      hint = "Another process holds the database; try again."
    } else if error.isNotADatabase {
      hint = "The file \(path) is no Ferry database; open another path."
    } else if error.isReadOnly || error.isCannotOpen && OpenFile.mayOnlyBeRead(path) {
      code = .readOnly
      hint = "The file \(path), or its folder, may not be written; check their permissions."
    } else if error.isCannotOpen {
      hint = "Check that the folder of \(path) exists and may be written."
    } else {
      hint = "The database \(path) could not be used."
    }
    return FerryError(
      code, "the local database reports: \(error.message)", hint: hint,
      isTransient: error.isFull || error.isOfTheDisk || error.isBusy, cause: error)
  }
}

extension Store {
  /// What stands between a key and the database is told apart from what the disk says.
  private static func failure(_ problem: SealProblem, _ error: SQLiteError) -> FerryError {
    let (code, hint): (FerryError.Code, String) =
      switch problem {
      case .wrongKey:
        (.wrongKey, "Give the key that the database was made with, or was changed to last.")
      case .keyMissing: (.wrongKey, "Open it with `key:`.")
      case .notSealed:
        (.wrongKey, "Open it without a key, or seal it with `FerryDatabase.seal` first.")
      case .damaged:
        (.damaged, "Keep the file, restore a copy or subscribe afresh; nothing was written to it.")
      case .foreign, .refused: (.store, "Open another path.")
      }
    return FerryError(code, error.message, hint: hint, cause: error)
  }
}

/// Which failures a saved change survives.
public enum Durability: Sendable {
  /// A crash of the app.
  case application
  /// A crash of the machine; each save waits for the disk.
  case machine
}
