import Ferry
import FerryConnector
import FerryHTTPClient
import FerryLocalServer
import FerryModel
import FerryODataConnector
import FerrySQLiteStore
import FerryServer
import FerryWorld

/// How the service is asked.
public struct OfflineOptions: Sendable {
  /// Who the app is to the service; its user is nil in every question. Nil: a service without a login.
  public var credentials: (any CredentialSource)?
  /// Of the service's texts, such as `de`; nil leaves that to the service.
  public var language: String?
  /// Whether data may travel over `http://` to another machine, where others on the network can read
  /// and change it. Not needed for this machine.
  public var allowsInsecureHTTP: Bool = false
  /// A company's own certificate authority, a client certificate, a proxy.
  public var connection: TransportOptions = TransportOptions()
  /// Limits of each request.
  public var deadlines: TransportDeadlines = TransportDeadlines(
    connect: .seconds(10), total: .seconds(600), idle: .seconds(60))
  /// After an answer that did not come: how long until the same change is sent again, if the service
  /// does not show it. Until then the first request may still arrive.
  public var late: Duration = .seconds(120)

  public init() {}
}

extension OfflineStore {
  /// Opens the store in a folder, and makes it where it is not there; existing data and pending changes
  /// stay. It needs no network: what does not fit the service is said by `synchronize`.
  ///
  /// `address`: the service, such as `https://erp.example.com/flights`. `package`: the model, made from
  /// the metadata by `ferry new --from odata:…`. `path`: a folder of the store's own, inside of one that
  /// exists. `queries`: a set of the service each, with all its rows (`"Bookings"`) or some
  /// (`"Flights?$filter=Price gt 100"`). They may be others than before: the next `synchronize` fetches
  /// what is new in them, and takes what is no longer in them off the device. Of other sets there are no
  /// rows; an object that is made there is sent, and leaves the device when the service has it.
  ///
  /// `session` and `handler` are those of `FerryDatabase.open`, as is `migration` for a newer model.
  /// `transport` sends the requests instead of the system's transport.
  ///
  /// Errors: `badAddress`; `invalidQuery` for a query that is none or names no set of the model;
  /// `inUse` if the folder is open already, here or in another process; `otherOwner` if it belongs to
  /// another service; `incompatibleModel` if the model needs a server of Ferry or does not fit what is
  /// stored. What is stored is not changed then.
  public static func open(
    _ address: String, package: Package, at path: String, defining queries: [String],
    options: OfflineOptions = OfflineOptions(), session: SessionSettings = SessionSettings(),
    handler: (any StepHandler)? = nil, migration: MigrationPolicy = .keepPending,
    transport: (any Transport)? = nil, world: World = .system()
  ) async throws(FerryError) -> OfflineStore {
    let address = try root(address, options)
    try check(package)
    let queries = try defining(queries, in: package)
    guard !path.isEmpty else {
      throw FerryError(
        .store, "The path of the offline store is empty",
        hint: "Give the path of a folder inside of one that the app may write.")
    }
    let folder = try OfflineFolder(path)
    try folder.claim(address, package: package.name)
    let connection = ODataConnection(
      address, world: world, credentials: options.credentials,
      transport: transport ?? SystemTransport.make(options.connection),
      deadlines: options.deadlines, late: options.late, requests: 3, language: options.language)
    let hosting = try await host(package, folder, connection, queries, world)
    do throws(FerryError) {
      let database = try FerryDatabase.open(
        at: folder.device, package: package,
        profile: ConnectionProfile(server: "http://localhost", session: session), handler: handler,
        migration: migration, transport: LocalTransport(hosting), world: world)
      let store = OfflineStore(database, hosting, connection, folder, queries)
      do throws(FerryError) { try await store.logIn() } catch {
        await store.close()
        throw error
      }
      return store
    } catch {
      await hosting.end()
      throw error
    }
  }

  /// Everything but rows: the same that `ferryd` is made of.
  private static func host(
    _ package: Package, _ folder: OfflineFolder, _ connection: ODataConnection,
    _ queries: [DefiningQuery], _ world: World
  ) async throws(FerryError) -> LocalHosting {
    var limits = ServiceLimits.standard
    limits.readers = 1
    limits.frameCacheBytes = 4 << 20
    // The app waits for what is sent again.
    limits.longestRetrySeconds = 15
    // The service is read when the app asks.
    limits.comparisonHour = nil
    let (chosen, server) = (limits, folder.server)
    do throws(ServerError) {
      return try await LocalHosting(world.clock) { () async throws(ServerError) in
        try await PackageHost.start(
          package, audit: AuditLog(path: "\(server)/audit.jsonl", world: world),
          doorkeeper: Doorkeeper(OfflineUsers(), world: world), world: world, limits: chosen,
          readsWhenAsked: true,
          store: { package throws(ServerError) in
            try SQLiteStore(folder: server, package: package, world: world)
          },
          connectors: { _ in
            ODataConnector(connection, package: package, defining: queries, compares: false)
          })
      }
    } catch { throw OfflineStore.error(error) }
  }

  private static func root(
    _ address: String, _ options: OfflineOptions
  ) throws(FerryError) -> String {
    var profile = ConnectionProfile(server: address)
    profile.allowsInsecureHTTP = options.allowsInsecureHTTP
    try profile.check()
    guard !address.contains(where: { "?#".contains($0) }) else {
      throw FerryError(
        .badAddress, "The service's address \"\(address)\" has a question mark or #",
        hint: "Give the address of the service document, as in https://erp.example.com/flights.")
    }
    return address.hasSuffix("/") ? address : address + "/"
  }

  /// What only a server with users can keep.
  private static func check(_ package: Package) throws(FerryError) {
    for entity in package.entities where !entity.isClientOnly {
      let problem =
        entity.partition != nil
        ? "its rows depend on who the user is (partition)"
        : entity.window != nil
          ? "its rows depend on the day (window)"
          : entity.roles != EntityRoles()
            ? "it is for some roles only"
            : entity.connection != nil ? "it is of another connection than the service's" : nil
      guard let problem else { continue }
      throw FerryError(
        .incompatibleModel, "\(entity.name) needs a server of Ferry: \(problem)",
        hint: "Leave it out of the model: the service itself decides what its user sees.",
        entity: entity.name)
    }
  }

  private static func defining(
    _ texts: [String], in package: Package
  ) throws(FerryError) -> [DefiningQuery] {
    guard !texts.isEmpty else {
      throw FerryError(
        .invalidQuery, "no defining query says which rows are wanted",
        hint: "Name at least one set, as in \"Flights\".")
    }
    let sets = package.entities.filter { !$0.isClientOnly }.map(\.table)
    var queries: [DefiningQuery] = []
    for text in texts {
      let query: DefiningQuery
      do throws(DefiningQueryFault) { query = try DefiningQuery(text) } catch {
        throw FerryError(
          .invalidQuery, "the defining query \(error.query): \(error.problem)", hint: error.cure)
      }
      guard sets.contains(query.set) else {
        throw FerryError(
          .invalidQuery,
          "the defining query \(text): the model \(package.name) has no set \(query.set)",
          hint: NearestWord.cure(query.set, among: sets))
      }
      queries.append(query)
    }
    return queries
  }
}
