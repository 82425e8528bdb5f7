import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// The server's heart: takes what devices send, performs it through a connector that its driver
/// calls, keeps what the business system holds, and tells devices what is new.
///
/// Everything is synchronous: use it from one thread. It asks nothing but its `World` for time and
/// chance, so that the same calls with the same world give the same bytes.
package final class Service: ServiceRoom, ServedPackageService, ExchangeSource {
  let core: ServiceCore
  let accounts: Accounts
  let intake: Intake
  let operations: Operations
  let desk: Desk
  let exchanges: Exchanges
  let callers: Callers
  private var listeners: [(ServiceEvent) -> Void] = []

  /// Called each second, for what has to be done now and then.
  var onSecond: (() -> Void)?

  /// Takes up what a crash left in the store, which `makeStore` opens. (`FerrySQLiteStore` has one in
  /// a folder.) `users`: those of a server with several packages.
  package init(
    package: Package, world: World, limits: ServiceLimits = .standard,
    users: SharedUsers = SharedUsers(), cacheGroups: CacheGroups = CacheGroups(),
    store makeStore: (Package) throws(ServerError) -> any Store
  ) throws(ServerError) {
    let package = package.served
    let rules = try PartitionRules(package) { name in
      world.zone(name).map { ZoneClock(name: name, offset: $0) }
    }
    let store = try makeStore(package)
    core = ServiceCore(
      rules: rules, world: world, limits: limits, store: store, cacheGroups: cacheGroups)
    accounts = try Accounts(core: core, users: users)
    intake = Intake(core: core)
    operations = Operations(core: core, accounts: accounts, intake: intake)
    desk = Desk(core: core)
    exchanges = Exchanges(
      core: core, accounts: accounts, intake: intake, operations: operations, desk: desk)
    callers = Callers(core: core, accounts: accounts, operations: operations)
    users.add(self)
    defer { handOut() }
    accounts.tokenUsers.set(greatestAge: .seconds(limits.issuerRightsHours * 3_600))
    try guarded { () throws(StoreError) in try intake.readRejectedRows() }
    guard store.leads else {
      try operations.catchUp()
      return
    }
    try intake.moveWindows()
    try intake.begin()
    let waiting = try guarded { () throws(StoreError) in try store.takeUp() }
    try operations.takeUp(waiting)
    try accounts.takeUpTokenUsers()
  }

  package var package: Package { core.package }

  package var limits: ServiceLimits { core.limits }

  /// Gets each event that concerns the driver, from now on.
  package func listen(_ listener: @escaping (ServiceEvent) -> Void) { listeners.append(listener) }

  /// Ends a call: what has happened goes to the exchanges, to other packages and to the driver.
  func handOut() {
    while let event = core.events.next() { take(event) }
    accounts.users.handOut()
  }

  private func take(_ event: ServiceEvent) {
    switch event {
    case .changed(let partitions, let answered, let since):
      exchanges.stir(partitions: partitions, answered: answered, since: since)
      if !answered.isEmpty { for listener in listeners { listener(event) } }
    case .answered(let owners): exchanges.tellOthers(owners)
    case .answeredElsewhere(let owners):
      exchanges.takeAnswersElsewhere(of: owners)
      for listener in listeners { listener(event) }
    case .rightsChanged(let user): exchanges.lookAgain(at: user)
    case .accessEnded(let user, let device): exchanges.endOwnExchanges(of: user, device: device)
    case .settingsChanged(let owner): exchanges.settingsChanged(for: owner)
    case .corrected(let owner): exchanges.corrected(owner)
    case .looked: exchanges.wakeCurrent()
    case .newEra: exchanges.forget()
    case .stirred, .arrived, .storeFailed, .sessionEnded, .tokenRepeated, .operationRefused,
      .correctionEnded:
      for listener in listeners { listener(event) }
    }
  }

  /// Random, chosen at the first start of the folder's store and kept.
  package var server: String { store.server }

  /// Whether this node replays, loads and compacts.
  package var leads: Bool { store.leads }

  /// The era that this start opened.
  package var era: String { store.era }

  /// The number of the last numbered transaction.
  package func clock() throws(ServerError) -> Int64 {
    defer { handOut() }
    return try core.clock()
  }

  /// Whether a first load has ended.
  package func isLoaded() throws(ServerError) -> Bool {
    defer { handOut() }
    return try core.isLoaded()
  }

  /// A load of a cache group has ended, or nobody waits for it any more.
  func groupsChanged() {
    core.tell(.looked)
    handOut()
  }

  /// What may be written, or must not be read from a file that nobody finds any more.
  func guarded<Result>(_ body: () throws(StoreError) -> Result) throws(ServerError) -> Result {
    defer { handOut() }
    return try core.guarded(body)
  }

  /// Whether the store takes what is written; throws what stands in the way.
  package func probe() throws(ServerError) {
    try guarded { () throws(StoreError) in try store.probe() }
  }
}
