import FerryConnector
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// The server's heart: takes what devices send, performs it through a connector that its driver
/// calls, keeps what the business system holds, and tells devices what is new.
///
/// Everything is synchronous: use it from one thread. It asks nothing but its `World` for time and
/// chance, so that the same calls with the same world give the same bytes.
public final class Service {
  public let package: Package
  public let limits: ServiceLimits
  let world: World
  let store: Store
  let rules: PartitionRules
  let directory: PartitionDirectory
  let cache: CacheReader
  let inbox: Inbox
  let reports: ReportInbox
  let pages: PageReader
  var frames: FrameCache
  var marks = Marks()
  var claims = Claims()
  var interests = Interests()
  var exchanges: [ExchangeID: Exchange] = [:]
  private var lastExchange: ExchangeID = 0
  var loads: LoadStore
  var loadMachine: LoadMachine
  var load: ActiveLoad?
  /// Objects to be read from the business system, and when each was first met.
  var readAgain: [ObjectName: Int64] = [:]
  var reads: [Int64: ReadBackTask] = [:]
  var lastTask: Int64 = 0
  var cursors = CursorMachine()
  let replayStore: ReplayStore
  let arrived: ArrivedContents
  let refreshTokens: RefreshTokens
  let personalization: Personalization
  /// Verifies the tokens of requests; a value that may go to any thread.
  public let accessTokens: AccessTokens
  var queue = ReplayQueue()
  /// How many operations were taken in since the start.
  var arrivedOperations: Int64 = 0
  var replays: [Int64: ActiveReplay] = [:]
  /// When groups that do not come whole are looked at next.
  var nextLookForIncomplete = Timestamp(milliseconds: 0)
  /// Chains that wait and may have been performed, with the tasks that hold their objects meanwhile.
  var held: [ReplayQueue.Name: Int64] = [:]

  /// Who knows each user's rights of now; nil: those with which an operation arrived are all.
  public var provider: (any AuthenticationProvider)?

  /// Called when the store failed, beside the error that is thrown.
  public var onTrouble: ((ServerError) -> Void)?

  /// Called with each operation that the user's rights refused, once it is answered.
  var onRefusedRight: ((_ owner: Owner, _ operation: ConnectorOperation, _ reason: String) -> Void)?

  /// Called with the exchanges that have something new since they said `.waiting`.
  public var onStir: ((ExchangeID) -> Void)?

  /// Opens the folder's store, or makes it; opens an era and takes up what a crash left.
  ///
  /// `synchronous`: whether a commit survives a crash of the machine (`.full`, for what ships).
  /// `vfs`: where SQLite keeps the store; nil is the system's files.
  public init(
    package: Package, folder path: String, world: World, limits: ServiceLimits = .standard,
    synchronous: Connection.Synchronous = .full, vfs: String? = nil
  ) throws(ServerError) {
    let package = package.served
    let rules = try PartitionRules(package)
    let folder = try Folder(path)
    let store = try Store(
      folder: folder, package: package, world: world, synchronous: synchronous, vfs: vfs)
    self.package = package
    self.limits = limits
    self.world = world
    self.rules = rules
    self.store = store
    directory = PartitionDirectory(store)
    cache = CacheReader(store: store, rules: rules)
    inbox = Inbox(store: store, limits: limits)
    reports = ReportInbox(store: store, limits: limits)
    pages = PageReader(store: store, limits: limits)
    frames = FrameCache(limitBytes: limits.frameCacheBytes)
    loads = LoadStore(store, cache)
    loadMachine = LoadMachine(massDeletionRows: limits.massDeletionRows)
    replayStore = ReplayStore(store: store)
    arrived = ArrivedContents(store: store)
    refreshTokens = RefreshTokens(store: store)
    personalization = Personalization(store: store)
    accessTokens = AccessTokens(key: try store.secret("token.key"), server: store.server)
    try guarded { () throws(SQLiteError) in try loads.empty() }
    let waiting = try guarded { () throws(SQLiteError) in try replayStore.waiting() }
    try takeUp(waiting)
  }

  /// Random, chosen at the first start of the folder's store and kept.
  public var server: String { store.server }

  /// The era that this start opened.
  public var era: String { store.era }

  /// The number of the last numbered transaction.
  public func clock() throws(ServerError) -> Int64 {
    try guarded { () throws(SQLiteError) in try store.clock() }
  }

  /// Whether a first load has ended.
  public func isLoaded() throws(ServerError) -> Bool {
    try guarded { () throws(SQLiteError) in try store.isLoaded() }
  }

  /// A session: one request, answered to its end.
  public func exchange(_ body: [UInt8], by identity: Identity) -> Exchange {
    begin(ExchangeRequest.read(body), identity, isChannel: false, until: identity.expires)
  }

  /// A channel: as a session, then it waits for changes until `until` or the token's end,
  /// whichever is earlier. Without a pull it streams no rows and only says that there is something.
  public func channel(_ body: [UInt8], by identity: Identity, until: Timestamp) -> Exchange {
    begin(
      ExchangeRequest.read(body), identity, isChannel: true, until: min(until, identity.expires))
  }

  /// The device went away, or the driver stops.
  public func close(_ exchange: Exchange) {
    exchange.state.phase = .ended
    // An exchange of an earlier service on this folder may have the same number as one of ours.
    guard exchanges[exchange.id] === exchange else { return }
    interests.remove(exchange.id)
    exchanges[exchange.id] = nil
  }

  func begin(
    _ request: Result<ExchangeRequest, WireFailure>, _ identity: Identity, isChannel: Bool,
    until: Timestamp
  ) -> Exchange {
    lastExchange += 1
    let exchange = Exchange(
      id: lastExchange, service: self,
      state: open(request, identity, isChannel: isChannel, until: until, id: lastExchange))
    guard exchange.state.phase != .ended else { return exchange }
    if isChannel { makeRoom(for: exchange.state.owner) }
    exchanges[exchange.id] = exchange
    return exchange
  }

  /// How many channels are open.
  var channelCount: Int { exchanges.values.count { $0.state.isChannel } }

  /// Ends the oldest channels of a device, and of a user, that has as many as it may have.
  private func makeRoom(for owner: Owner) {
    let mine = exchanges.values.filter {
      $0.state.isChannel && $0.state.phase != .ended && $0.state.owner.user == owner.user
    }.sorted { $0.id < $1.id }
    let same = mine.filter { $0.state.owner == owner }
    let tooMany = same.prefix(max(0, same.count + 1 - limits.channelsPerDevice))
    let others = mine.filter { open in !tooMany.contains { $0 === open } }
    for exchange in tooMany + others.prefix(max(0, others.count + 1 - limits.channelsPerUser)) {
      exchange.state.lastWord = WireFailure(
        .replaced, "a newer channel took the place of this one",
        hint: "A device has at most \(limits.channelsPerDevice) channels, a user "
          + "\(limits.channelsPerUser).")
      exchange.state.phase = .ended
      interests.remove(exchange.id)
      onStir?(exchange.id)
    }
  }

  /// What may be written, or must not be read from a file that nobody finds any more.
  func guarded<Result>(_ body: () throws(SQLiteError) -> Result) throws(ServerError) -> Result {
    try reading { () throws(SQLiteError) in
      try store.checkPlace()
      return try body()
    }
  }

  /// What only reads, in a request that is `guarded` elsewhere: to ask the disk once is enough.
  func reading<Result>(_ body: () throws(SQLiteError) -> Result) throws(ServerError) -> Result {
    do { return try body() } catch {
      directory.forget()
      let failure = ServerError(error, store: store.path)
      if failure.isOfTheStore { onTrouble?(failure) }
      throw failure
    }
  }

  /// Whether the store takes what is written; throws what stands in the way.
  public func probe() throws(ServerError) {
    try guarded { () throws(SQLiteError) in try store.probe() }
  }

  /// One numbered transaction; afterwards those whom its changes concern are stirred.
  func write<Result>(
    drawn: Int64? = nil,
    _ body: (NumberedTransaction, CacheWriter) throws(SQLiteError) -> (Result, [AnsweredOperation])
  ) throws(ServerError) -> Result {
    let (result, partitions, answered) = try guarded { () throws(SQLiteError) in
      try store.numbered(drawn: drawn) { transaction throws(SQLiteError) in
        let writer = CacheWriter(transaction, cache, directory)
        let (result, answered) = try body(transaction, writer)
        let partitions = try writer.finish()
        if writer.movedRows > limits.closureRows {
          world.log.warn(
            "more rows than is good moved with their parents", ("rows", String(writer.movedRows)),
            ("limit", String(limits.closureRows)))
        }
        return (result, partitions, answered)
      }
    }
    stir(partitions: partitions, answered: answered)
    return result
  }

  func stir(partitions: Set<Int64>, answered: [AnsweredOperation]) {
    guard !exchanges.isEmpty, !(partitions.isEmpty && answered.isEmpty) else { return }
    let owners = Set(answered.map(\.owner))
    // Rules that give every value there is: a partition that an exchange does not know may be new.
    let open =
      partitions.isEmpty
      ? []
      : exchanges.filter { $0.value.state.isChannel && $0.value.state.isOpen }.map(\.key)
    let concerned = Set(interests.concerned(partitions: partitions, owners: owners)).union(open)
    for id in concerned.sorted() {
      guard let exchange = exchanges[id] else { continue }
      let owner = exchange.state.owner
      let groups = Set(answered.filter { $0.owner == owner }.map(\.group))
      for (index, download) in exchange.state.downloads.enumerated()
      where !exchange.state.dirty.contains(index) {
        let concerns =
          groups.contains(download.group) || exchange.state.isOpen
          || download.cursors.contains { partitions.contains($0.partition) }
        if concerns { exchange.state.dirty.append(index) }
      }
      guard exchange.state.pulls.isEmpty else {
        onStir?(id)
        continue
      }
      exchange.state.hasNews = true
      for operation in answered where operation.isLastOfChain && operation.owner == owner {
        exchange.state.finished.append(operation.chain)
      }
      onStir?(id)
    }
  }
}
