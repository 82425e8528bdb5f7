import FerryModel
import FerryWire
import FerryWorld

/// Decides which chain of operations is performed next: in the order of arrival, one operation in
/// work per object, and never one object's later operation before its earlier one. Pure.
struct ReplayQueue {
  struct Name: Hashable {
    let user: String
    let device: String
    let chain: OperationID

    init(_ received: ReceivedOperation) {
      user = received.user
      device = received.device
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
    /// What the operations refer to, and those of them that have not come yet.
    var contents: Set<BigReference> = []
    var missing: Set<BigReference> = []

    struct Place: Equatable {
      let id: OperationID
      let position: Int
      let object: ObjectName?
    }

    /// All of it is here, contents too.
    var isComplete: Bool { operations.count == count && missing.isEmpty }
  }

  private var chains: [Name: Chain] = [:]
  /// In the order of arrival.
  private var order: [Name] = []
  /// Chains that wait for contents.
  private var lacking: Set<Name> = []

  init() {}

  mutating func add(
    _ received: ReceivedOperation, wasClaimed: Bool = false, contents: Set<BigReference> = [],
    missing: Set<BigReference> = []
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
    chain.contents.formUnion(contents)
    chain.missing.formUnion(missing)
    if !chain.missing.isEmpty { lacking.insert(name) }
    chains[name] = chain
  }

  /// Nothing more of a content is to come.
  mutating func arrived(_ reference: BigReference, of user: String) {
    for name in lacking where name.user == user {
      chains[name]?.missing.remove(reference)
      if chains[name]?.missing.isEmpty ?? true { lacking.remove(name) }
    }
  }

  /// Groups of a device that wait for contents, of which it has some operations and others no more:
  /// those others, in the order of arrival.
  func lost(
    by device: String, of user: String, having present: Set<OperationID>
  )
    -> [(name: Name, operations: [OperationID])]
  {
    let waiting = lacking.filter { $0.device == device && $0.user == user }
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
  func needs(_ reference: BigReference, of user: String) -> Bool {
    chains.contains { $0.key.user == user && $0.value.contents.contains(reference) }
  }

  /// The next chains, marked as in work; no two are about one object. `isLoaded`: before the first
  /// load only what a crash left comes out, because rights cannot be judged yet.
  mutating func next(limit: Int, now: Timestamp, isLoaded: Bool) -> [Chain] {
    var blocked: Set<ObjectName> = []
    var found: [Chain] = []
    for name in order {
      guard found.count < limit else { break }
      guard let chain = chains[name], chain.isComplete else { continue }
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
  mutating func release(_ name: Name, notBefore: Timestamp, mayHaveRun: Bool) {
    chains[name]?.isInWork = false
    chains[name]?.notBefore = notBefore
    chains[name]?.mayHaveRun = mayHaveRun
    chains[name]?.attempts += 1
  }

  func isComplete(_ name: Name) -> Bool { chains[name]?.isComplete ?? false }

  func holds(_ name: Name) -> Bool { chains[name] != nil }

  /// It was answered.
  mutating func remove(_ name: Name) {
    chains[name] = nil
    lacking.remove(name)
    // Mostly the first ones: removing by search is cheap, comparing with all that wait is not.
    if let place = order.firstIndex(of: name) { order.remove(at: place) }
  }

  /// When a chain that waits for its time may go; nil when none waits.
  var nextMoment: Timestamp? {
    chains.values.filter { !$0.isInWork && $0.isComplete }.compactMap(\.notBefore).min()
  }

  var count: Int { chains.values.reduce(0) { $0 + $1.operations.count } }
}
