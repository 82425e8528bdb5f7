import Ferry
import FerryConnector
import FerryHTTPClient
import FerryLocalServer
import FerryModel
import FerryODataConnector
import FerryServer
import FerryWorld
import Synchronization

/// The objects of an OData service in the app, also without a network, and without a server of Ferry.
///
/// ```swift
/// let store = try await OfflineStore.open(
///   "https://erp.example.com/flights", package: Travel.package, at: path,
///   defining: ["Flights?$filter=Price gt 100", "Bookings"])
/// try await store.synchronize()
/// let flights = try Flight.findAll(in: store.database)
/// ```
/// The objects, their queries and their changes are those of `database`: typed objects, live queries,
/// pending changes, refusals with reasons. The service that Ferry's server is made of works in the
/// app's own process, over the connector for OData. It reads the service when `synchronize` is called.
/// A change that was saved is sent as soon as the service can be reached.
///
/// May be used from every thread and task. Reading and saving never wait for the network.
public final class OfflineStore: Sendable {
  /// The objects on the device. It is closed by `close()` of the store. Use `synchronize` of the store,
  /// not that of the database: that one does not ask the service.
  public let database: FerryDatabase
  /// Where the service begins, with a slash at its end.
  public let address: String
  /// Which rows are kept on the device.
  public let queries: [DefiningQuery]

  let hosting: LocalHosting
  let connection: ODataConnection
  let folder: OfflineFolder
  let thread = ThreadExecutor(name: "ferry-offline")
  private let state = Mutex(State())

  struct State {
    /// Whether the service was seen to fit the model since the store was opened.
    var fits = false
    var isClosed = false
    /// The synchronization that was begun last: the next one waits for it.
    var last: Task<Result<Void, FerryError>, Never>?
  }

  init(
    _ database: FerryDatabase, _ hosting: LocalHosting, _ connection: ODataConnection,
    _ folder: OfflineFolder, _ queries: [DefiningQuery]
  ) {
    self.database = database
    self.hosting = hosting
    self.connection = connection
    self.folder = folder
    self.queries = queries
    address = connection.address
  }

  /// One that was not closed ends by itself; until it has, its folder is in use.
  deinit {
    guard !state.withLock({ $0.isClosed }) else { return }
    let (database, hosting, folder) = (database, hosting, folder)
    Task {
      await database.close()
      await hosting.end()
      folder.letGo()
    }
  }

  /// Sends what is submitted, waits for the answers, and fetches what has changed at the service: then
  /// the objects on the device are those that the defining queries name. What was refused is pending
  /// with its reason, and no error.
  ///
  /// Several calls run one after the other. `limit`: at most how long it waits; nil is
  /// `SessionSettings.patience`. Errors: `offline` if the service cannot be reached, with the reason;
  /// `notLoggedIn` if it does not accept the credential; `incompatibleModel` if it does not have what the model or a defining query names;
  /// `timedOut` after `limit`; `cancelled` if the task is cancelled; `closed` after `close()`. Nothing is
  /// lost by any of them, and the next call goes on. The service is read to the end of what it was asked
  /// for also after `timedOut` and `cancelled`.
  ///
  /// The first synchronization reads every row; `database.states` say how far it is (`serverLoad`).
  public func synchronize(within limit: Duration? = nil) async throws(FerryError) {
    let limit = limit ?? database.settings.patience
    let task = state.withLock { state in
      let before = state.last
      let task = Task { () -> Result<Void, FerryError> in
        _ = await before?.value
        do throws(FerryError) { return .success(try await self.work()) } catch {
          return .failure(error)
        }
      }
      state.last = task
      return task
    }
    switch await FirstEnd.of(task, within: limit) {
    case .value(let result): try result.get()
    case .late:
      task.cancel()
      throw FerryError(
        .timedOut, "the service did not answer everything within \(limit)",
        hint: "Call synchronize() again; what was sent and fetched stays.", isTransient: true)
    case .cancelled:
      task.cancel()
      throw FerryError(
        .cancelled, "the synchronization was cancelled",
        hint: "Call synchronize() again; what was sent and fetched stays.")
    }
  }

  /// Ends the work in good order and closes the database. What is pending stays in the folder. Every
  /// later call on the store or its objects throws `closed`.
  public func close() async {
    let (wasClosed, last) = state.withLock { state in
      defer { state.isClosed = true }
      return (state.isClosed, state.last)
    }
    guard !wasClosed else { return }
    last?.cancel()
    await database.close()
    await hosting.end()
    folder.letGo()
  }

  private func work() async throws(FerryError) {
    guard !Task.isCancelled else { throw OfflineStore.cancelled }
    guard let host = hosting.running, !state.withLock({ $0.isClosed }) else {
      throw FerryError(
        .closed, "the offline store \(folder.path) is closed", hint: "Open it again.")
    }
    try await reach()
    try await logIn()
    guard try await isLoaded(host) else { return try await first(host) }
    do throws(FerryError) { try await database.synchronize(awaitingAnswers: true) } catch {
      // The session with the server in this process ends after some months without a start.
      guard error.code == .notLoggedIn else { throw error }
      try await logIn()
      try await database.synchronize(awaitingAnswers: true)
    }
    try await refresh(host)
    try await database.synchronize(awaitingAnswers: false)
  }

  /// Until everything was read once the device gets nothing. It asks all the same, so that the states
  /// of the database say how far the reading is.
  private func first(_ host: PackageHost) async throws(FerryError) {
    let database = database
    let waiting = Task { () -> FerryError? in
      do throws(FerryError) { try await database.synchronize(awaitingAnswers: true) } catch {
        return error
      }
      return nil
    }
    do throws(FerryError) { try await refresh(host) } catch {
      waiting.cancel()
      _ = await waiting.value
      throw error
    }
    guard let error = await waiting.value else { return }
    // It may have waited for longer than the session allows.
    guard error.code == .timedOut else { throw error }
    try await database.synchronize(awaitingAnswers: true)
  }

  private func isLoaded(_ host: PackageHost) async throws(FerryError) -> Bool {
    do throws(ServerError) { return try await host.isLoaded() } catch {
      throw OfflineStore.error(error)
    }
  }

  private func refresh(_ host: PackageHost) async throws(FerryError) {
    let failure: String?
    do throws(ServerError) { failure = try await host.refresh() } catch {
      throw OfflineStore.error(error)
    }
    guard !Task.isCancelled else { throw OfflineStore.cancelled }
    guard let failure else { return }
    throw FerryError(
      .offline, failure, hint: "Nothing is lost. Call synchronize() again.", isTransient: true)
  }

  /// Whether the service answers, and has what the model and the queries name. The second is asked once.
  private func reach() async throws(FerryError) {
    let (connection, queries, package) = (connection, queries, database.store.model)
    let fits = state.withLock { $0.fits }
    let outcome: Result<[Mismatch], ConnectorError> = await thread.run {
      do throws(ConnectorError) {
        try connection.reach()
        guard !fits else { return .success([]) }
        let connector = ODataConnector(connection, package: package, defining: queries)
        return .success(try connector.mismatches(with: package))
      } catch {
        return .failure(error)
      }
    }
    switch outcome {
    case .failure(let error):
      guard !connection.isUnauthorized else {
        throw FerryError(
          .notLoggedIn, "the service \(address) does not accept the credential: \(error.message)",
          hint: "Give OfflineOptions.credentials a source of one that it accepts.")
      }
      throw FerryError(
        .offline, error.message, hint: error.hint, isTransient: error.isTransient)
    case .success(let mismatches):
      if let first = mismatches.first {
        let others = mismatches.count > 1 ? " (and \(mismatches.count - 1) more)" : ""
        throw FerryError(
          .incompatibleModel,
          "the service \(address) does not have what the app asks for: \(first.place): "
            + "\(first.problem)\(others)",
          hint: first.cure, entity: first.place)
      }
      state.withLock { $0.fits = true }
    }
  }

  /// Without a network: the server is in this process.
  func logIn() async throws(FerryError) {
    if database.state.login == .needed {
      try await database.onlineLogin(user: OfflineUsers.name, password: "")
    }
    try database.subscribe()
  }

  private static let cancelled = FerryError(
    .cancelled, "the synchronization was cancelled", hint: "Call synchronize() again.")

  static func error(_ error: ServerError) -> FerryError {
    let code: FerryError.Code =
      switch error.code {
      case .folderInUse: .inUse
      case .folderNotWritable: .readOnly
      case .diskFull: .diskFull
      case .storeFailing: .diskFailing
      case .damagedStore: .damaged
      case .changedModel, .newerStore: .incompatibleModel
      default: .store
      }
    return FerryError(
      code, error.message, hint: error.hint, isTransient: error.isTransient, cause: error)
  }
}
