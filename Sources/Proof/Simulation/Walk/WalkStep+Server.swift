import Ferry
import FerryConnector
import FerryModel
import FerryServer
import FerryWire
import FerryWorld

// Messages, and what the server does with them: `OperationQueue`, `Inbox`, `Service`.
extension WalkStep {
  enum Line { case whole, requestLost, responseLost }

  /// Operations that were sent and are not answered.
  private var unanswered: [WalkOperation] {
    world.device.operations.filter {
      $0.isSent && ($0.state == .submitted || $0.state == .withdrawn || $0.state == .unknown)
    }
  }

  func isOutgoing(_ operation: WalkOperation) -> Bool {
    guard !operation.isAcknowledged else { return false }
    return operation.state == .submitted
      || operation.state == .withdrawn
        && world.device.operations.contains {
          $0.chain == operation.chain && $0.sequence != operation.sequence
        }
  }

  /// Whether the session would send something: what is sealed, or what may be sealed by now.
  var hasOutgoing: Bool {
    world.device.operations.contains { $0.wanted == 2 || isOutgoing($0) }
  }

  /// A request with all that is to be sent, and its response.
  mutating func send(_ line: Line) throws(WalkProblem) {
    sealWanted()
    let open = unanswered.map(\.id)
    let outgoing = world.device.operations.filter(isOutgoing)
    for operation in outgoing {
      guard let place = place(operation.sequence) else { continue }
      world.device.operations[place].isSent = true
    }
    try checkSent(outgoing)
    guard line != .requestLost else { return }
    let unseen = name(open, brings: !outgoing.isEmpty)
    let (stored, refused) = receive(outgoing)
    guard line == .whole else { return }
    for id in unseen { neverSeen(id) }
    for id in open where !unseen.contains(id) { acknowledge(id) }
    for id in stored { acknowledge(id) }
    let answers = refused.compactMap { entry in
      operation(with: entry.payload.id).map { ($0, entry) }
    }
    for number in take(answers.filter { $0.0.isInFlight && $0.0.isSent }).sorted() { show(number) }
  }

  private mutating func acknowledge(_ id: UInt8) {
    guard let place = world.device.operations.firstIndex(where: { $0.id == id }) else { return }
    world.device.operations[place].isAcknowledged = true
    world.device.operations[place].mayHaveRun = false
  }

  /// The server does not know an operation that was sent.
  private mutating func neverSeen(_ id: UInt8) {
    guard let operation = operation(with: id) else { return }
    let isAlone = !world.device.operations.contains {
      $0.chain == operation.chain && $0.sequence != operation.sequence
    }
    if operation.state == .withdrawn, isAlone {
      letGo(operation.sequence)
      forgetKey(of: operation)
    }
    guard let place = place(operation.sequence), world.device.operations[place].isAcknowledged
    else { return }
    world.device.operations[place].isAcknowledged = false
    world.device.operations[place].mayHaveRun = true
  }

  /// The device says what it has open. Returns what the server does not know of it. A request that
  /// `brings` operations may bring the rest of a group.
  private mutating func name(_ open: [UInt8], brings: Bool) -> [UInt8] {
    var unseen: [UInt8] = []
    for id in open {
      if let place = world.stored.firstIndex(where: { $0.payload.id == id }) {
        world.stored[place].isNamed = true
      } else {
        unseen.append(id)
      }
    }
    guard !brings else { return unseen }
    // Of a group of which the device has only a part, the rest has ended there.
    let present = Set(open)
    for entry in world.stored where entry.state == .stored && !entry.isNamed {
      let chain = world.stored.indices.filter {
        world.stored[$0].payload.chain == entry.payload.chain
          && world.stored[$0].state == .stored
      }
      guard chain.contains(where: { present.contains(world.stored[$0].payload.id) }) else {
        continue
      }
      for place in chain {
        world.stored[place].isAbandoned = true
        world.stored[place].isNamed = true
        world.stored[place].mayHaveRun = true
        world.stored[place].wasAskedFor = false
      }
    }
    return unseen
  }

  /// The server takes operations in, each once.
  private mutating func receive(
    _ outgoing: [WalkOperation]
  ) -> (stored: [UInt8], refused: [WalkStored]) {
    var stored: [UInt8] = []
    var refused: [WalkStored] = []
    var spoiled: Set<UInt8> = []
    var new: [WalkStored] = []
    for operation in outgoing {
      guard let payload = operation.sealed else { continue }
      let bytes = model.bytes(payload)
      let known = world.stored.first { $0.payload.id == payload.id }
      var entry = WalkStored(payload: payload, birth: operation.birth)
      switch model.inbox.judge(bytes, hash: bytes, known: known.map(model.known)) {
      case .store:
        entry.mayHaveRun = operation.mayHaveRun
        new.append(entry)
      case .known(let id, _): stored.append(model.number(id))
      case .refuse, .unreadable:
        spoiled.insert(payload.chain)
        (entry.state, entry.outcome) = (.answered, .refused)
        refused.append(entry)
      }
    }
    for chain in Set(new.map(\.payload.chain)).sorted() {
      let members = new.filter { $0.payload.chain == chain }
      let there = world.stored.filter { $0.payload.chain == chain }
      let isMixed = there.contains { other in
        members.contains {
          $0.payload.position == other.payload.position || $0.payload.count != other.payload.count
        }
      }
      let isOver = there.contains { $0.outcome == .notTried }
      if spoiled.contains(chain) || isMixed || isOver {
        let outcome: WalkStored.Outcome =
          isMixed && !spoiled.contains(chain) ? .refused : .notTried
        refused += members.map { member in
          var answered = member
          (answered.state, answered.outcome) = (.answered, outcome)
          return answered
        }
      } else {
        world.stored += members
        stored += members.map(\.payload.id)
      }
    }
    return (stored, refused)
  }

  /// A request that brings nothing: what the device has open is said, and all that is new comes.
  mutating func receive() {
    let open = unanswered.map(\.id)
    let unseen = name(open, brings: false)
    for id in unseen { neverSeen(id) }
    for id in open where !unseen.contains(id) { acknowledge(id) }
    load()
    importAll()
  }

  /// The server reads the business system; it leaves alone what is claimed.
  private mutating func load() {
    let claimed = world.stored.filter { entry in
      entry.state == .stored && (entry.wasClaimed || entry.mayHaveRun)
    }
    let hasCreate = claimed.contains { $0.payload.kind == .create && $0.payload.key == 0 }
    var images: [RowImage] = []
    for key in Set((world.cache + world.business).map(\.key)).sorted() {
      let isKnown = world.cache.contains { $0.key == key }
      if claimed.contains(where: { $0.payload.key == key }) || hasCreate && !isKnown { continue }
      images.append(image(of: key))
    }
    cache(images)
  }

  func image(of key: Int8) -> RowImage {
    RowImage(
      entity: WalkModel.name, key: model.key(key),
      values: world.business.first { $0.key == key }.map(model.values))
  }

  mutating func cache(_ images: [RowImage]) {
    let source = WalkCache(model: model, rows: world.cache)
    var machine = CacheMachine(model.rules)
    for image in images {
      let key = model.number(image.key)
      let row = image.values.map(model.row)
      guard world.cache.first(where: { $0.key == key }) != row else { continue }
      do { try machine.apply(FerryServer.RowName(0, image.key), image.values, source) } catch {
        preconditionFailure("the cache of the walk: \(error)")
      }
    }
    for (name, row) in machine.changes.rows {
      let key = model.number(name.key)
      world.cache.removeAll { $0.key == key }
      guard !row.isDeleted else { continue }
      guard let values = images.last(where: { $0.key == name.key })?.values else { continue }
      world.cache.append(model.row(values))
    }
    world.cache.sort { $0.key < $1.key }
  }

  // Replay.

  enum Reply: Equatable {
    case performs
    case refuses(place: Int)
    /// A time-out; whether it was performed.
    case isSilent(Bool)
    /// The server ends before, or after, it was performed.
    case crash(isPerformed: Bool)
  }
}

/// The cache as the machine reads it: all rows are in the partition of everybody.
private struct WalkCache: CacheSource {
  let model: WalkModel
  let rows: [WalkRow]

  func row(_ name: FerryServer.RowName) throws(StoreError) -> CachedRow? {
    let key = model.number(name.key)
    return rows.first { $0.key == key }.map { row in
      let body = model.body(row)
      return CachedRow(
        id: Int64(key), entity: 0, key: name.key, partition: 1, body: body, hash: 0, version: 1,
        isDeleted: false)
    }
  }

  func children(_ name: ParentName) throws(StoreError) -> [CachedRow] { [] }
  func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] { [] }
  func partition(at place: Place) throws(StoreError) -> Int64? { 1 }
  func place(of partition: Int64) throws(StoreError) -> Place? { nil }
}
