import FerryModel
import FerryWire
import FerryWorld

/// Decides which chain of operations is performed next: in the order of arrival, one operation in
/// work per object, and never one object's later operation before its earlier one. Pure.
struct ReplayQueue {
  struct Name: Hashable {
    let owner: Owner
    let chain: OperationID

    init(_ received: ReceivedOperation) {
      owner = received.owner
      chain = received.operation.chain
    }
  }

  struct Chain: Equatable {
    let name: Name
    let count: Int
    /// In the order of their places.
    var operations: [Place]
    /// The number of the first operation that arrived.
    let arrival: Int64
    /// A crash, or a restored server: it may have been performed.
    var mayHaveRun: Bool
    /// Its rights were judged before the crash. What may have been performed before it came is not:
    /// it is asked for first.
    var wasJudged: Bool
    var notBefore: Timestamp?
    var attempts: Int = 0
    var isInWork: Bool = false
    /// What a server of before this start took in and its device has not named since. The device
    /// may have had its answer already, from a store that was restored to an earlier state.
    var unnamed: Set<OperationID> = []
    /// Its device has named some of it and not the rest: what was not performed never is.
    var isAbandoned: Bool = false
    /// It was asked for, and not all of it was performed.
    var wasAskedFor: Bool = false
    /// What the operations refer to, and those of them that have not come yet.
    var contents: Set<BigReference> = []
    var missing: Set<BigReference> = []

    struct Place: Equatable {
      let id: OperationID
      let position: Int
      let object: ObjectName?
    }

    /// Whether it may be performed, as far as its device is concerned.
    var isNamed: Bool { unnamed.isEmpty }

    var rest: ReplayMachine.Rest { isAbandoned ? .notTried : isNamed ? .performed : .kept }

    /// Whether something is to be done with it: to perform it, or to ask whether it was performed.
    var isWanted: Bool { isNamed || mayHaveRun && !wasAskedFor }

    /// All of it is here, contents too.
    var isComplete: Bool { operations.count == count && missing.isEmpty }
  }

  private var chains: [Name: Chain] = [:]
  /// In the order of arrival.
  private var order: [Name] = []
  /// Chains that wait for contents.
  private var lacking: Set<Name> = []
  /// The chains of what is not named.
  private var unnamed: [OperationID: Name] = [:]

  init() {}

  mutating func add(
    _ received: ReceivedOperation, wasClaimed: Bool = false, isNamed: Bool = true,
    contents: Set<BigReference> = [], missing: Set<BigReference> = []
  ) {
    let operation = received.operation
    let name = Name(received)
    let place = Chain.Place(
      id: operation.id, position: operation.position,
      object: operation.key.map { ObjectName(entity: operation.entity, key: $0) })
    var chain: Chain
    if let known = chains[name] {
      chain = known
    } else {
      chain = Chain(
        name: name, count: operation.count, operations: [], arrival: received.sequence,
        mayHaveRun: false, wasJudged: true)
      order.append(name)
    }
    chain.operations.append(place)
    chain.operations.sort { $0.position < $1.position }
    chain.mayHaveRun = chain.mayHaveRun || received.mayHaveRun || wasClaimed
    chain.wasJudged = chain.wasJudged && wasClaimed && !received.mayHaveRun
    if !isNamed {
      chain.unnamed.insert(operation.id)
      unnamed[operation.id] = name
    }
    chain.contents.formUnion(contents)
    chain.missing.formUnion(missing)
    if !chain.missing.isEmpty { lacking.insert(name) }
    chains[name] = chain
  }

  /// Its device says that these are open. Returns whether any of them was waiting for that.
  mutating func name(_ open: [OperationID], of owner: Owner) -> Bool {
    guard !unnamed.isEmpty else { return false }
    var isAny = false
    for id in open {
      guard let name = unnamed[id], name.owner == owner else { continue }
      unnamed[id] = nil
      chains[name]?.unnamed.remove(id)
      isAny = true
    }
    return isAny
  }

  /// A device has said all that it has open. Of a group of which it has only a part, the rest has
  /// ended there: a store that is gone has answered it, or the device was set back. The group is
  /// asked for, and what was not performed is not tried. Returns whether there is any.
  mutating func abandon(by owner: Owner, having present: Set<OperationID>) -> Bool {
    var isAny = false
    for name in Set(unnamed.values) where name.owner == owner {
      guard var chain = chains[name], !chain.isInWork,
        chain.operations.contains(where: { present.contains($0.id) })
      else { continue }
      for id in chain.unnamed { unnamed[id] = nil }
      chain.unnamed = []
      chain.isAbandoned = true
      chain.mayHaveRun = true
      chain.wasAskedFor = false
      chains[name] = chain
      isAny = true
    }
    return isAny
  }

  /// Nothing more of a content is to come.
  mutating func arrived(_ reference: BigReference, of user: ExactText) {
    for name in lacking where name.owner.user == user {
      chains[name]?.missing.remove(reference)
      if chains[name]?.missing.isEmpty ?? true { lacking.remove(name) }
    }
  }

  /// Groups of a device that wait for contents, of which it has some operations and others no more:
  /// those others, in the order of arrival.
  func lost(
    by owner: Owner, having present: Set<OperationID>
  )
    -> [(name: Name, operations: [OperationID])]
  {
    let waiting = lacking.filter { $0.owner == owner }
      .compactMap { chains[$0] }.filter { $0.operations.count == $0.count }
      .sorted { $0.arrival < $1.arrival }
    return waiting.compactMap { chain in
      let lost = chain.operations.map(\.id).filter { !present.contains($0) }
      return lost.isEmpty || lost.count == chain.count ? nil : (chain.name, lost)
    }
  }

  /// What a chain that is not in work waits for.
  func missing(of name: Name) -> Set<BigReference> {
    guard let chain = chains[name], !chain.isInWork else { return [] }
    return chain.missing
  }

  /// Whether a chain that waits or is in work refers to this content.
  func needs(_ reference: BigReference, of user: ExactText) -> Bool {
    chains.contains { $0.key.owner.user == user && $0.value.contents.contains(reference) }
  }

  /// The next chains, marked as in work; no two are about one object. `isLoaded`: before the first
  /// load only what a crash left comes out, because rights cannot be judged yet.
  mutating func next(limit: Int, now: Timestamp, isLoaded: Bool) -> [Chain] {
    var blocked: Set<ObjectName> = []
    var found: [Chain] = []
    for name in order {
      guard found.count < limit else { break }
      // What nobody has named holds nobody up.
      guard let chain = chains[name], chain.isComplete, chain.isInWork || chain.isWanted else {
        continue
      }
      let objects = chain.operations.compactMap(\.object)
      let isFree =
        !chain.isInWork && (isLoaded || chain.wasJudged)
        && chain.notBefore.map { $0 <= now } ?? true && blocked.isDisjoint(with: objects)
      if isFree {
        chains[name]?.isInWork = true
        found.append(chain)
      }
      blocked.formUnion(objects)
    }
    return found
  }

  /// It was certainly not performed: again later.
  mutating func release(
    _ name: Name, notBefore: Timestamp, mayHaveRun: Bool, wasAskedFor: Bool = true
  ) {
    chains[name]?.isInWork = false
    chains[name]?.notBefore = notBefore
    chains[name]?.mayHaveRun = mayHaveRun
    chains[name]?.attempts += 1
    if wasAskedFor { chains[name]?.wasAskedFor = true }
  }

  func isComplete(_ name: Name) -> Bool { chains[name]?.isComplete ?? false }

  func holds(_ name: Name) -> Bool { chains[name] != nil }

  /// It was answered.
  mutating func remove(_ name: Name) {
    for id in chains[name]?.unnamed ?? [] { unnamed[id] = nil }
    chains[name] = nil
    lacking.remove(name)
    // Mostly the first ones: removing by search is cheap, comparing with all that wait is not.
    if let place = order.firstIndex(of: name) { order.remove(at: place) }
  }

  /// When a chain that waits for its time may go; nil when none waits.
  var nextMoment: Timestamp? {
    chains.values.filter { !$0.isInWork && $0.isComplete && $0.isWanted }.compactMap(\.notBefore)
      .min()
  }

  var count: Int { chains.values.reduce(0) { $0 + $1.operations.count } }
}
