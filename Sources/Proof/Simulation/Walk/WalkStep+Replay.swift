import Ferry
import FerryConnector
import FerryModel
import FerryServer
import FerryWire
import FerryWorld

// What the server performs at the business system: `ReplayQueue`, `ReplayMachine`.
extension WalkStep {
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
      case .ask(.recall(let asked)):
        action = machine.take(
          model.kind.remembers
            ? .recalled(places.map(recalled))
            : .failed(ConnectorError("nothing is remembered", hint: "Decide.", isTransient: false)),
          during: .recall(asked), mark: mark)
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

  private func recalled(_ place: Int) -> Recall {
    let entry = world.stored[place]
    return entry.isPerformed
      ? .performed(.accepted(key: model.key(entry.performedKey), isRepeated: true)) : .notPerformed
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
      case .unknown, nil:
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

  mutating func crashServer() {
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
