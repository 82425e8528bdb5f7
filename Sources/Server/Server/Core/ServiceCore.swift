import FerryModel
import FerryWorld

/// What all rooms of a service share: the store with what is remembered of it, the claims and marks,
/// and the events of the call that is under way.
final class ServiceCore {
  let limits: ServiceLimits
  let world: World
  let store: any Store
  let rules: PartitionRules
  let directory: PartitionDirectory
  let cache: CacheReader
  let meter: PackageMeter
  let cacheGroups: CacheGroups
  var memory = StoreMemory()
  var marks = Marks()
  var claims = Claims()
  var lastTask: Int64 = 0
  /// How many operations were taken in since the start.
  var arrivedOperations: Int64 = 0
  /// When the store was last asked what other nodes have done.
  var lastLook: Timestamp
  /// When the last look began whose findings are all in the cache.
  var capturedUpTo: Timestamp?
  /// What is not handed out yet of the call that is under way.
  var events = ServiceEvents()

  init(
    rules: PartitionRules, world: World, limits: ServiceLimits, store: any Store,
    cacheGroups: CacheGroups
  ) {
    self.cacheGroups = cacheGroups
    self.limits = limits
    self.world = world
    lastLook = world.clock.moment
    meter = PackageMeter(now: world.clock.moment)
    self.rules = rules
    self.store = store
    directory = PartitionDirectory(store)
    cache = CacheReader(store: store, rules: rules, directory: directory)
  }

  var package: Package { rules.package }

  func tell(_ event: ServiceEvent) { events.add(event) }

  /// How old what a node knows may be. One that is cut off from its store does not say that there is
  /// nothing new.
  static let patience: Duration = .seconds(5)

  var hasRecentView: Bool {
    !store.isShared || world.clock.moment <= lastLook.advanced(by: ServiceCore.patience)
  }

  /// Throws where what is remembered may be too old to be given to a device.
  func requireRecentView() throws(ServerError) {
    guard !hasRecentView else { return }
    throw ServerError(
      .storeUnreachable, "this node could not read its store for more than 5 s",
      hint: "The device tries again. The log of the node says why it cannot read its store.",
      isTransient: true, retryAfterSeconds: 1)
  }

  /// The number of the last numbered transaction.
  func clock() throws(ServerError) -> Int64 {
    try guarded { () throws(StoreError) in try store.clock() }
  }

  /// Whether a first load has ended.
  func isLoaded() throws(ServerError) -> Bool {
    try guarded { () throws(StoreError) in try store.isLoaded() }
  }

  /// What may be written, or must not be read from a file that nobody finds any more.
  func guarded<Result>(_ body: () throws(StoreError) -> Result) throws(ServerError) -> Result {
    try reading { () throws(StoreError) in
      try store.check()
      return try body()
    }
  }

  /// What only reads, in a request that is `guarded` elsewhere: to ask the disk once is enough.
  func reading<Result>(_ body: () throws(StoreError) -> Result) throws(ServerError) -> Result {
    do { return try body() } catch {
      directory.forget()
      memory.forget()
      rules.windows.kept.doubt()
      let failure = ServerError(error, store: store.name)
      if failure.isOfTheStore { tell(.storeFailed(failure)) }
      throw failure
    }
  }

  /// One numbered transaction; afterwards those whom its changes concern are stirred. `isTakenOver`:
  /// the answers are those of another package.
  func write<Result>(
    isTakenOver: Bool = false,
    _ body: (NumberedTransaction, inout CacheMachine) throws(StoreError) -> (
      Result, [AnsweredOperation]
    )
  ) throws(ServerError) -> Result {
    try writeRows(isTakenOver: isTakenOver, body).result
  }

  /// The same; gives the numbers of new rows too.
  func writeRows<Result>(
    isTakenOver: Bool = false,
    _ body: (NumberedTransaction, inout CacheMachine) throws(StoreError) -> (
      Result, [AnsweredOperation]
    )
  ) throws(ServerError) -> (result: Result, made: [Int64]) {
    var written = Written()
    let start = world.clock.uptime
    let result = try guarded { () throws(StoreError) -> Result in
      try store.numbered { transaction throws(StoreError) -> Result in
        try rules.windows.know(store, rules)
        var machine = CacheMachine(rules)
        let (result, answered) = try body(transaction, &machine)
        let made = try store.apply(machine.changes, transaction)
        written = Written(
          partitions: try partitions(of: machine.changes), answered: answered,
          made: Array(made.values), clock: transaction.hasWritten ? transaction.version : nil)
        tellMoved(machine.changes.movedRows)
        return result
      }
    }
    let time = world.clock.uptime - start
    meter.count { $0.storeSeconds.note(time / .seconds(1)) }
    memory.committed(written.partitions, clock: written.clock)
    memory.note(written.answered)
    tellChanged(partitions: written.partitions, answered: written.answered)
    // What is taken over was told by who answered it: two services would tell each other for ever.
    if !isTakenOver, !written.answered.isEmpty {
      tell(.answered(Set(written.answered.map(\.owner))))
    }
    return (result, written.made)
  }

  /// What a numbered transaction did.
  private struct Written {
    var partitions: Set<Int64> = []
    var answered: [AnsweredOperation] = []
    var made: [Int64] = []
    var clock: Int64?
  }

  private func tellMoved(_ rows: Int) {
    guard rows > limits.closureRows else { return }
    world.log.warn(
      "very many rows moved with their parents", ("rows", String(rows)),
      ("limit", String(limits.closureRows)))
  }

  private func partitions(of changes: CacheChanges) throws(StoreError) -> Set<Int64> {
    var numbers: Set<Int64> = []
    for partition in changes.totals.keys {
      switch partition {
      case .known(let number): numbers.insert(number)
      case .new(let place):
        if let number = try directory.number(of: changes.places[place]) { numbers.insert(number) }
      }
    }
    return numbers
  }

  /// Those whom the changes concern are stirred.
  func tellChanged(partitions: Set<Int64>, answered: [AnsweredOperation]) {
    guard !(partitions.isEmpty && answered.isEmpty) else { return }
    tell(.changed(partitions: partitions, answered: answered, since: capturedUpTo))
  }
}
