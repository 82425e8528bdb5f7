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

  private func image(of key: Int8) -> RowImage {
    RowImage(
      entity: WalkModel.name, key: model.key(key),
      values: world.business.first { $0.key == key }.map(model.values))
  }

  private mutating func cache(_ images: [RowImage]) {
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

  /// The chains that may be performed now.
  func chains() -> [ReplayQueue.Chain] {
    guard world.stored.contains(where: { $0.state == .stored }) else { return [] }
    var queue = ReplayQueue()
    let now = Timestamp(milliseconds: 0)
    for (place, entry) in world.stored.enumerated() where entry.state == .stored {
      queue.add(
        ReceivedOperation(
          sequence: Int64(place), device: "device", user: WalkModel.user, roles: [], claims: [:],
          operation: model.operation(entry.payload), mayHaveRun: entry.mayHaveRun, bytes: 1),
        now: now, wasClaimed: entry.wasClaimed, isNamed: entry.isNamed && !entry.isAbandoned)
      if entry.wasAskedFor {
        queue.release(
          ReplayQueue.Name(owner: WalkModel.owner, chain: model.id(entry.payload.chain)),
          notBefore: now, mayHaveRun: entry.mayHaveRun)
      }
    }
    for entry in world.stored where entry.state == .stored && entry.isAbandoned {
      _ = queue.abandon(by: WalkModel.owner, having: [model.id(entry.payload.id)])
    }
    return queue.next(limit: 8, now: now, isLoaded: true)
  }

  /// The server performs a chain. Returns how the business system has refused it by itself.
  mutating func replay(
    _ chain: ReplayQueue.Chain, _ reply: Reply
  ) throws(WalkProblem) -> WalkRefusal? {
    let places = chain.operations.compactMap { member in
      world.stored.firstIndex { model.id($0.payload.id) == member.id }
    }
    let operations = places.map { model.connectorOperation(world.stored[$0].payload) }
    var machine = ReplayMachine(operations, mayHaveRun: chain.mayHaveRun, readBackKeys: 16)
    machine.entities = [WalkModel.name: model.entity]
    machine.rest = chain.rest
    let mark = Mark(version: 1, moment: 0)
    var action = machine.start()
    var refusal: WalkRefusal?
    for _ in 0..<16 {
      switch action {
      case .ask(.recall(let ids)):
        action = machine.take(
          model.kind.remembers
            ? .recalled(places.map(recalled))
            : .failed(ConnectorError("nothing is remembered", hint: "Decide.", isTransient: false)),
          during: .recall(ids), mark: mark)
      case .ask(.perform(let asked)):
        if case .crash(let isPerformed) = reply {
          if isPerformed { _ = try perform(asked, places) }
          for place in places { world.stored[place].wasClaimed = true }
          crashServer()
          return nil
        }
        let (result, own) = try performed(asked, places, reply)
        refusal = own ?? refusal
        action = machine.take(.performed(result), during: .perform(asked), mark: mark)
      case .ask(.read(let entity, let keys)):
        action = machine.take(
          .read(keys.map { image(of: model.number($0)) }), during: .read(entity, keys),
          mark: mark)
      case .settle:
        end(places, machine)
        cache(machine.seen.values.map(\.image).sorted { $0.key < $1.key })
        return refusal
      case .giveUp:
        end(places, machine)
        return refusal
      case .release(_, let mayHaveRun):
        for place in places {
          world.stored[place].mayHaveRun = mayHaveRun
          world.stored[place].wasAskedFor = true
          world.stored[place].wasClaimed = false
        }
        return refusal
      case .park, .ask: return refusal
      }
    }
    throw WalkProblem(invariant: 9, problem: "the replay of a chain does not end")
  }

  private func recalled(_ place: Int) -> OperationOutcome? {
    let entry = world.stored[place]
    return entry.isPerformed
      ? .accepted(key: model.key(entry.performedKey), isRepeated: true) : nil
  }

  private mutating func end(_ places: [Int], _ machine: ReplayMachine) {
    for (index, (place, outcome)) in zip(places, machine.outcomes).enumerated() {
      world.stored[place].written = model.some(machine.written[index])
      switch outcome {
      case .accepted(let key, _):
        (world.stored[place].state, world.stored[place].outcome) = (.answered, .accepted)
        world.stored[place].key = model.number(key)
      case .refused:
        (world.stored[place].state, world.stored[place].outcome) = (.answered, .refused)
      case .notTried:
        (world.stored[place].state, world.stored[place].outcome) = (.answered, .notTried)
      case nil:
        world.stored[place].state = .unknown
        world.isTroubled = true
      }
      world.stored[place].wasClaimed = false
      world.stored[place].mayHaveRun = false
    }
  }

  private mutating func performed(
    _ asked: [ConnectorOperation], _ places: [Int], _ reply: Reply
  ) throws(WalkProblem) -> (PerformResult, WalkRefusal?) {
    switch reply {
    case .refuses(let place):
      let refused = OperationOutcome.refused(FerryConnector.Refusal(code: 422, message: "no"))
      return (
        .done(
          asked.indices.map { $0 == min(place, asked.count - 1) ? refused : .notTried },
          touched: []), nil
      )
    case .isSilent(let isPerformed):
      if isPerformed { _ = try perform(asked, places) }
      return (
        model.has(.retryUnknown)
          ? .notDone(reason: "a time-out") : .unknown(reason: "a time-out"), nil
      )
    case .performs, .crash:
      switch try perform(asked, places) {
      case .performed(let keys):
        return (
          .done(
            keys.map { .accepted(key: model.key($0)) },
            touched: Set(keys).sorted().map { image(of: $0) }), nil
        )
      case .refused(let place, let refusal):
        return (
          .done(
            asked.indices.map { $0 == place ? .refused(refusal.refusal) : .notTried }, touched: []),
          refusal
        )
      }
    }
  }

  /// The business system performs operations, and each change has one effect.
  private mutating func perform(
    _ asked: [ConnectorOperation], _ places: [Int]
  ) throws(WalkProblem) -> WalkBusiness.Result {
    var business = WalkBusiness(model, world)
    let result = business.perform(asked)
    guard case .performed(let keys) = result else { return result }
    world.business = business.rows.sorted { $0.key < $1.key }
    for (operation, key) in zip(asked, keys) {
      guard
        let place = places.first(where: { model.id(world.stored[$0].payload.id) == operation.id })
      else { continue }
      let birth = world.stored[place].birth
      guard !world.stored[place].isPerformed, !world.performed.contains(birth) else {
        throw WalkProblem(
          invariant: 2, problem: "a \(operation.kind.rawValue) of \(key) has a second effect")
      }
      world.stored[place].isPerformed = true
      world.stored[place].performedKey = key
      world.performed.append(birth)
    }
    return result
  }

  private mutating func crashServer() {
    for place in world.stored.indices where world.stored[place].state == .stored {
      world.stored[place].isNamed = false
      world.stored[place].isAbandoned = false
      world.stored[place].wasAskedFor = false
    }
  }

  /// An operator says what became of an unknown operation, and tells the truth.
  mutating func decide(_ place: Int) {
    let entry = world.stored[place]
    let outcome: OperationOutcome =
      entry.isPerformed
      ? .accepted(key: model.key(entry.performedKey))
      : .refused(FerryConnector.Refusal(code: 500, message: "it was not done"))
    var machine = ReplayMachine(
      [model.connectorOperation(entry.payload)], decided: [outcome], readBackKeys: 16)
    machine.entities = [WalkModel.name: model.entity]
    var action = machine.start()
    if case .ask(.read(let entity, let keys)) = action {
      action = machine.take(
        .read(keys.map { image(of: model.number($0)) }), during: .read(entity, keys),
        mark: Mark(version: 1, moment: 0))
    }
    guard action == .settle else { return }
    end([place], machine)
    cache(machine.seen.values.map(\.image).sorted { $0.key < $1.key })
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
