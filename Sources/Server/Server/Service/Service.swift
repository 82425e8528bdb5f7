import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// The server's heart: takes what devices send, performs it through a connector that its driver
/// calls, keeps what the business system holds, and tells devices what is new.
///
/// Everything is synchronous: use it from one thread. It asks nothing but its `World` for time and
/// chance, so that the same calls with the same world give the same bytes.
public final class Service: ServiceRoom, ServedPackageService {
  let core: ServiceCore
  let accounts: Accounts
  let intake: Intake
  let operations: Operations
  var frames: FrameCache
  var lastRead: Int64 = 0
  var interests = Interests()
  var exchanges: [ExchangeID: Exchange] = [:]
  private var lastExchange: ExchangeID = 0
  var takeOver = TakeOver()
  private var listeners: [(ServiceEvent) -> Void] = []

  /// Called each second, for what has to be done now and then.
  var onSecond: (() -> Void)?

  /// Called with a round for another thread to read, which gives the result to `finish`; nil: rounds
  /// are read at once, on the service's thread.
  var onRead: ((PendingRead) -> Void)?

  /// How far the load is that is under way, for devices that wait for it; nil where nobody can say.
  var loadStanding: () -> LoadStanding? = { nil }

  /// Takes up what a crash left in the store, which `makeStore` opens. (`FerrySQLiteStore` has one in
  /// a folder.) `users`: those of a server with several packages.
  package init(
    package: Package, world: World, limits: ServiceLimits = .standard,
    users: SharedUsers = SharedUsers(),
    store makeStore: (Package) throws(ServerError) -> any Store
  ) throws(ServerError) {
    let package = package.served
    let rules = try PartitionRules(package)
    let store = try makeStore(package)
    core = ServiceCore(rules: rules, world: world, limits: limits, store: store)
    frames = FrameCache(limitBytes: limits.frameCacheBytes)
    accounts = try Accounts(core: core, users: users)
    intake = Intake(core: core)
    operations = Operations(core: core, accounts: accounts, intake: intake)
    core.onEvent = { [unowned self] in take($0) }
    users.add(self)
    accounts.tokenUsers.set(greatestAge: .seconds(limits.issuerRightsHours * 3_600))
    try guarded { () throws(StoreError) in try intake.readRejectedRows() }
    guard store.leads else {
      try operations.catchUp()
      return
    }
    try intake.begin()
    let waiting = try guarded { () throws(StoreError) in try store.takeUp() }
    try operations.takeUp(waiting)
    try accounts.takeUpTokenUsers()
  }

  public var package: Package { core.package }

  public var limits: ServiceLimits { core.limits }

  /// Gets each event that concerns the driver, from now on.
  package func listen(_ listener: @escaping (ServiceEvent) -> Void) { listeners.append(listener) }

  /// What has happened goes to the rooms above, and to the driver.
  private func take(_ event: ServiceEvent) {
    switch event {
    case .changed(let partitions, let answered, let since):
      stir(partitions: partitions, answered: answered, since: since)
    case .answered(let owners): tellOthers(owners)
    case .answeredElsewhere(let owners): takeAnswersElsewhere(of: owners)
    case .rightsChanged(let user): lookAgain(at: user)
    case .accessEnded(let user, let device): endOwnExchanges(of: user, device: device)
    case .settingsChanged(let owner): settingsChanged(for: owner)
    case .looked: wakeCurrent()
    case .newEra: forget()
    case .stirred, .arrived, .storeFailed, .sessionEnded, .tokenRepeated, .operationRefused:
      for listener in listeners { listener(event) }
    }
  }

  /// Random, chosen at the first start of the folder's store and kept.
  public var server: String { store.server }

  /// Whether this node replays, loads and compacts.
  public var leads: Bool { store.leads }

  /// The era that this start opened.
  public var era: String { store.era }

  /// The number of the last numbered transaction.
  public func clock() throws(ServerError) -> Int64 {
    try core.clock()
  }

  /// Whether a first load has ended.
  public func isLoaded() throws(ServerError) -> Bool {
    try core.isLoaded()
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
      core.tell(.stirred(exchange.id))
    }
  }

  /// Whether the store takes what is written; throws what stands in the way.
  public func probe() throws(ServerError) {
    try guarded { () throws(StoreError) in try store.probe() }
  }

  /// Nothing that was read before holds: every exchange ends, and its device comes again.
  func forget() {
    frames = FrameCache(limitBytes: limits.frameCacheBytes)
    for exchange in exchanges.values { exchange.state.phase = .ended }
    for id in exchanges.keys.sorted() { core.tell(.stirred(id)) }
  }

  func stir(partitions: Set<Int64>, answered: [AnsweredOperation], since: Timestamp?) {
    guard !exchanges.isEmpty else { return }
    let owners = Set(answered.map(\.owner))
    // Rules that give every value there is: a partition that an exchange does not know may be new.
    let open =
      partitions.isEmpty
      ? []
      : exchanges.filter { $0.value.state.isChannel && $0.value.state.isOpen }.map(\.key)
    let concerned = Set(interests.concerned(partitions: partitions, owners: owners)).union(open)
    for id in concerned.sorted() {
      guard let exchange = exchanges[id] else { continue }
      if exchange.state.isChannel, exchange.state.newsSince == nil {
        exchange.state.newsSince = since
      }
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
        core.tell(.stirred(id))
        continue
      }
      exchange.state.hasNews = true
      if exchange.state.notices.wanted != nil {
        let own = Set(partitions.compactMap { exchange.state.groups[$0] })
        exchange.state.notices.note(exchange.state.isOpen ? nil : own)
      }
      for operation in answered where operation.isLastOfChain && operation.owner == owner {
        exchange.state.finished.append(operation.chain)
      }
      core.tell(.stirred(id))
    }
  }
}
