import FerryModel
import FerrySQLite
import FerryWorld

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How the data on the device relates to the business system: what a screen shows beside it.
///
/// ```swift
/// let status = LiveValue(database.liveStatus, initially: DatabaseStatus())
/// if let since = status.value.offlineSince { Text("Offline since \(since, style: .time)") }
/// if status.value.pendingCount > 0 { Text("\(status.value.pendingCount) changes are not sent yet") }
/// ```
/// It reports what the device knows without asking. `FerryDatabase.current(within:)` asks the server.
public struct DatabaseStatus: Sendable, Equatable {
  /// When the device last imported something, by its clock: the oldest of its groups counts. Nil
  /// before the first import of all groups is complete.
  ///
  /// It does not move while the server answers and nothing changes, because then nothing is imported.
  /// So it is no age of the data. While `offlineSince` is nil, changes arrive as they happen: show
  /// that the data is up to date. Else show `offlineSince`.
  public var asOf: Date?
  /// Since when the server cannot be reached, by the device's clock; nil while it answers, and before
  /// it was asked.
  public var offlineSince: Date?
  /// Changes that the business system has not decided: drafts, changes that wait to be sent, and
  /// changes without an answer. Refused ones are in `refused`; the others of a refused transaction
  /// count here.
  public var pendingCount = 0
  /// Objects with a refused change, in the order of the changes, each once: save the object again, or
  /// cancel.
  public var refused: [ObjectReference] = []
  /// Whether the user must sign in before anything is sent or fetched.
  public var isSignInNeeded = false
  /// Whether nothing arrives before `signIn` or `subscribe` is called.
  public var isSubscriptionNeeded = false
  /// Why data does not arrive or changes are not sent until somebody acts: `failure.reaction` says
  /// who, such as `updateApp`. Nil where waiting is enough, as without a network.
  public var failure: FerryError?
  /// The server reads its business system for the first time; more data is coming.
  public var isServerLoading = false
  /// How far the server is with that; nil if it does not load, or cannot tell.
  public var serverLoad: ServerLoad?

  public init() {}

  /// Two statuses with failures are equal if code and text of the failures are equal.
  public static func == (left: DatabaseStatus, right: DatabaseStatus) -> Bool {
    left.asOf == right.asOf && left.offlineSince == right.offlineSince
      && left.pendingCount == right.pendingCount && left.refused == right.refused
      && left.isSignInNeeded == right.isSignInNeeded
      && left.isSubscriptionNeeded == right.isSubscriptionNeeded
      && left.isServerLoading == right.isServerLoading && left.serverLoad == right.serverLoad
      && left.failure?.code == right.failure?.code
      && left.failure?.description == right.failure?.description
  }
}

extension FerryDatabase {
  /// The status now.
  public func status() async throws(FerryError) -> DatabaseStatus {
    let state = state
    return try await store.work.read { () throws(FerryError) -> DatabaseStatus in
      try self.store.withSnapshot { transaction throws(FerryError) in
        try DatabaseStatus(state, transaction)
      }
    }
  }

  /// The status now, and again whenever it differs: after a save, an answer, an import, and when the
  /// connection changes. It ends when the database is closed, or when the task that iterates is
  /// cancelled.
  public var liveStatus: LiveStatus { LiveStatus(self) }
}

extension DatabaseStatus {
  fileprivate init(_ state: DatabaseState, _ transaction: Transaction) throws(FerryError) {
    offlineSince = state.offlineSince
    isSignInNeeded = state.login == .needed
    isSubscriptionNeeded = state.subscription == .none
    failure = state.failure.flatMap { $0.needsSomebody ? $0 : nil }
    isServerLoading = state.isServerLoading
    serverLoad = state.serverLoad
    asOf = try DatabaseStatus.asOf(transaction)
    pendingCount = Int(
      try transaction.value(
        "SELECT count(*) FROM ferry_operation WHERE state NOT IN ('withdrawn', 'replayFailed')")?
        .integer ?? 0)
    let operations = try transaction.sql { connection throws(SQLiteError) in
      try OperationTable(transaction.store, connection).select(
        "WHERE state = 'replayFailed' ORDER BY sequence", [])
    }
    var seen: Set<ObjectReference> = []
    for operation in operations {
      let reference = ObjectReference(entity: operation.entity, key: operation.key)
      if seen.insert(reference).inserted { refused.append(reference) }
    }
  }

  /// When the oldest of the groups was imported.
  private static func asOf(_ transaction: Transaction) throws(FerryError) -> Date? {
    var oldest: Timestamp?
    for group in transaction.store.model.groups {
      let time = try transaction.value(
        "SELECT imported FROM ferry_checkpoint WHERE grp = ? AND era IS NOT NULL",
        .text(group.name))?.integer
      guard let time else { return nil }
      let imported = Timestamp(milliseconds: time)
      oldest = oldest.map { min($0, imported) } ?? imported
    }
    return oldest.map { Date($0) }
  }
}

/// The status of a database, now and whenever it differs; see `FerryDatabase.liveStatus`.
public struct LiveStatus: AsyncSequence, Sendable {
  /// Each differs from the one before.
  public typealias Element = DatabaseStatus
  /// What reading may throw.
  public typealias Failure = FerryError

  private let database: FerryDatabase

  init(_ database: FerryDatabase) { self.database = database }

  /// Watches from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(database) }

  /// Watches from the moment it is made.
  public final class Iterator: AsyncIteratorProtocol {
    private let database: FerryDatabase
    private let number: Int
    private let signal: LiveSignal
    private var last: DatabaseStatus?

    fileprivate init(_ database: FerryDatabase) {
      self.database = database
      (number, signal) = database.statusBoard.add()
    }

    deinit { database.statusBoard.remove(number) }

    public func next() async throws(FerryError) -> DatabaseStatus? {
      try await next(isolation: nil)
    }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FerryError) -> DatabaseStatus? {
      while await signal.wait() {
        guard !database.store.isClosed else { return nil }
        let status = try await database.status()
        guard status != last else { continue }
        last = status
        return status
      }
      return nil
    }
  }
}
