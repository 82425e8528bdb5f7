import FerryModel
import FerryWire
import FerryWorld

/// Decides which chain of operations is performed next: users take turns, each in the order of
/// arrival, with one operation in work per object and never one object's later operation before its
/// earlier one, whoever made them. Pure.
package struct ReplayQueue {
  package struct Name: Hashable {
    package let owner: Owner
    package let chain: OperationID

    package init(owner: Owner, chain: OperationID) {
      self.owner = owner
      self.chain = chain
    }

    init(_ received: ReceivedOperation) {
      self.init(owner: received.owner, chain: received.operation.chain)
    }
  }

  package struct Chain: Equatable {
    package let name: Name
    let count: Int
    /// In the order of their places.
    package var operations: [Place]
    /// The number of the first operation that arrived.
    let arrival: Int64
    /// Its place among all, in the order in which they were added.
    let order: Int64
    /// Of what is here.
    var bytes: Int = 0
    /// Over which connection it is replayed.
    let connection: Int
    /// When the last of it came.
    var lastArrival: Timestamp
    /// A crash, or a restored server: it may have been performed.
    package var mayHaveRun: Bool
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
    /// It did not come whole in time: nothing more of it is taken.
    var isOver: Bool = false
    /// It was asked for, and not all of it was performed.
    var wasAskedFor: Bool = false
    /// What the operations refer to, and those of them that have not come yet.
    var contents: Set<BigReference> = []
    var missing: Set<BigReference> = []

    package struct Place: Equatable {
      package let id: OperationID
      let position: Int
      let object: ObjectName?
    }

    /// Whether it may be performed, as far as its device is concerned.
    var isNamed: Bool { unnamed.isEmpty }

    package var rest: ReplayMachine.Rest { isAbandoned ? .notTried : isNamed ? .performed : .kept }

    /// Whether something is to be done with it: to perform it, or to ask whether it was performed.
    var isWanted: Bool { isNamed || mayHaveRun && !wasAskedFor }

    /// Whether nothing more is waited for: all of it is here, contents too, or it is over.
    var isComplete: Bool { isOver || operations.count == count && missing.isEmpty }
  }

  private var chains: [Name: Chain] = [:]
  /// Of each user, in the order of arrival; without those that have none.
  private var lanes: [ExactText: [Name]] = [:]
  /// The users that have a lane, in the order of their turns.
  private var turns: [ExactText] = []
  /// What is about an object, in the order of arrival.
  private var byObject: [ObjectName: [Name]] = [:]
  private var lastPlace: Int64 = 0
  /// What the chains of each device and user will be when all of them is here.
  private var loads: [Owner: Load] = [:]
  private var loadsOfUsers: [ExactText: Load] = [:]
  /// Chains that wait for contents.
  private var lacking: Set<Name> = []
  /// The chains of what is not named.
  private var unnamed: [OperationID: Name] = [:]

  /// How much is open, of a device or a user. A group counts whole from its first operation on.
  struct Load: Equatable {
    var operations: Int = 0
    var bytes: Int = 0
  }

  package init() {}

  func load(of owner: Owner) -> Load { loads[owner] ?? Load() }

  func load(of user: ExactText) -> Load { loadsOfUsers[user] ?? Load() }

  package mutating func add(
    _ received: ReceivedOperation, now: Timestamp, connection: Int = 0, wasClaimed: Bool = false,
    isNamed: Bool = true,
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
      lastPlace += 1
      chain = Chain(
        name: name, count: operation.count, operations: [], arrival: received.sequence,
        order: lastPlace, connection: connection, lastArrival: now, mayHaveRun: false,
        wasJudged: true)
      let user = name.owner.user
      if lanes[user] == nil { turns.append(user) }
      lanes[user, default: []].append(name)
      count(chain, operations: operation.count)
    }
    chain.bytes += received.bytes
    chain.lastArrival = now
    count(chain, bytes: received.bytes)
    if let object = place.object { list(chain, under: object) }
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

  private mutating func count(_ chain: Chain, operations: Int = 0, bytes: Int = 0) {
    func add(_ load: Load?) -> Load? {
      let sum = Load(
        operations: (load?.operations ?? 0) + operations, bytes: (load?.bytes ?? 0) + bytes)
      return sum == Load() ? nil : sum
    }
    loads[chain.name.owner] = add(loads[chain.name.owner])
    loadsOfUsers[chain.name.owner.user] = add(loadsOfUsers[chain.name.owner.user])
  }

  private func place(of name: Name) -> Int64 { chains[name]?.order ?? .max }

  private mutating func list(_ chain: Chain, under object: ObjectName) {
    let names = byObject[object] ?? []
    // Mostly the last one. What comes late of a group has its place among the others.
    guard let last = names.last, last == chain.name || place(of: last) > chain.order else {
      return byObject[object, default: []].append(chain.name)
    }
    guard last != chain.name, !names.contains(chain.name) else { return }
    let place = names.firstIndex { self.place(of: $0) > chain.order } ?? names.endIndex
    byObject[object]?.insert(chain.name, at: place)
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
  package mutating func abandon(by owner: Owner, having present: Set<OperationID>) -> Bool {
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

  /// Ends the groups that are not whole and of which nothing came since `moment`: they are asked for,
  /// and what was not performed is not tried.
  mutating func end(incompleteSince moment: Timestamp) {
    for (name, known) in chains
    where known.operations.count < known.count && known.lastArrival <= moment && !known.isInWork {
      var chain = known
      for id in chain.unnamed { unnamed[id] = nil }
      chain.unnamed = []
      chain.isOver = true
      chain.isAbandoned = true
      chain.mayHaveRun = true
      chain.wasAskedFor = false
      chains[name] = chain
    }
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

  /// The next chains, marked as in work, in the order in which they are to be performed; no two are
  /// about one object. `isLoaded`: before the first load only what a crash left comes out, because
  /// rights cannot be judged yet. `connection`: only what it performs; nil: any. Users whose rights nobody knows wait, and hold nobody else up.
  package mutating func next(
    limit: Int, now: Timestamp, isLoaded: Bool, connection: Int? = nil,
    areRightsKnown: (ExactText) -> Bool = { _ in true }
  ) -> [Chain] {
    var found: [Chain] = []
    // Each user's place in their lane, and whether anything is left there.
    var places: [ExactText: Int] = [:]
    var open = turns.filter(areRightsKnown)
    while found.count < limit, !open.isEmpty {
      var left: [ExactText] = []
      for user in open where found.count < limit {
        guard
          let chain = nextFree(
            of: user, from: &places[user, default: 0], now, isLoaded, over: connection)
        else { continue }
        chains[chain.name]?.isInWork = true
        found.append(chain)
        left.append(user)
      }
      open = left
    }
    // Who was served last has the last turn of the next round.
    if let last = found.last, let place = turns.firstIndex(of: last.name.owner.user) {
      turns = Array(turns[(place + 1)...] + turns[...place])
    }
    return found
  }

  private func nextFree(
    of user: ExactText, from place: inout Int, _ now: Timestamp, _ isLoaded: Bool,
    over connection: Int?
  ) -> Chain? {
    guard let lane = lanes[user] else { return nil }
    while place < lane.count {
      defer { place += 1 }
      guard let chain = chains[lane[place]], isLive(chain), !chain.isInWork,
        connection.map({ $0 == chain.connection }) ?? true,
        isLoaded || chain.wasJudged, chain.notBefore.map({ $0 <= now }) ?? true, isFirst(chain)
      else { continue }
      return chain
    }
    return nil
  }

  /// What nobody has named holds nobody up.
  private func isLive(_ chain: Chain) -> Bool {
    chain.isComplete && (chain.isInWork || chain.isWanted)
  }

  /// Whether nothing that is about one of its objects comes before it.
  private func isFirst(_ chain: Chain) -> Bool {
    for object in chain.operations.compactMap(\.object) {
      for name in byObject[object] ?? [] {
        guard name != chain.name, let other = chains[name], other.order < chain.order else { break }
        if isLive(other) { return false }
      }
    }
    return true
  }

  /// It was certainly not performed: again later.
  package mutating func release(
    _ name: Name, notBefore: Timestamp, mayHaveRun: Bool, wasAskedFor: Bool = true
  ) {
    chains[name]?.isInWork = false
    chains[name]?.notBefore = notBefore
    chains[name]?.mayHaveRun = mayHaveRun
    chains[name]?.attempts += 1
    if wasAskedFor { chains[name]?.wasAskedFor = true }
  }

  /// A group of which something waits: the bytes that are here, and whether more is taken.
  func begun(_ name: Name) -> Inbox.Room.Begun? {
    chains[name].map { Inbox.Room.Begun(bytes: $0.bytes, isOver: $0.isOver) }
  }

  func isComplete(_ name: Name) -> Bool { chains[name]?.isComplete ?? false }

  func holds(_ name: Name) -> Bool { chains[name] != nil }

  func holds(_ id: OperationID, of name: Name) -> Bool {
    chains[name]?.operations.contains { $0.id == id } ?? false
  }

  /// It was answered.
  mutating func remove(_ name: Name) {
    guard let chain = chains.removeValue(forKey: name) else { return }
    for id in chain.unnamed { unnamed[id] = nil }
    lacking.remove(name)
    count(chain, operations: -chain.count, bytes: -chain.bytes)
    for object in chain.operations.compactMap(\.object) {
      if let place = byObject[object]?.firstIndex(of: name) {
        byObject[object]?.remove(at: place)
      }
      if byObject[object]?.isEmpty ?? false { byObject[object] = nil }
    }
    // Mostly the first ones: removing by search is cheap, comparing with all that wait is not.
    let user = name.owner.user
    if let place = lanes[user]?.firstIndex(of: name) { lanes[user]?.remove(at: place) }
    if lanes[user]?.isEmpty ?? false {
      lanes[user] = nil
      turns.removeAll { $0 == user }
    }
  }

  /// When a chain that waits for its time may go; nil when none waits.
  var nextMoment: Timestamp? {
    chains.values.filter { !$0.isInWork && $0.isComplete && $0.isWanted }.compactMap(\.notBefore)
      .min()
  }

  /// When what waits longest was whole.
  var oldest: Timestamp? { chains.values.lazy.map(\.lastArrival).min() }

  var count: Int { chains.values.reduce(0) { $0 + $1.operations.count } }
}
