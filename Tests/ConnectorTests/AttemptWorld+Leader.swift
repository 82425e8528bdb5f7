import FerryConnector

/// A leader: it drives chains, recalls what is unknown, and ends operations as the server does.
extension AttemptWorld {
  func step(_ place: Int, _ rules: Rules, _ add: ((inout AttemptWorld) -> Void) -> Void) {
    switch drivers[place].phase {
    case .over: return
    case .begin: add { $0.begin(place, rules) }
    case .recall: add { $0.recall(place, rules) }
    case .wait: if isLateOver { add { $0.recall(place, rules) } }
    case .asking(let chain, let request, let asked, let isRecall):
      func answer(
        _ answer: AttemptChain.Answer, _ before: @escaping (inout AttemptWorld) -> Void = { _ in }
      ) {
        add { world in
          before(&world)
          world.take(answer, chain, asked, isRecall: isRecall, place, rules)
        }
      }
      let lose: (inout AttemptWorld) -> Void = { $0.budget.losses -= 1 }
      switch request {
      case .one(let member, .read):
        answer(.one(.row(row(asked[member], rules))))
        if budget.losses > 0 { answer(.one(.notDone(reason: "away")), lose) }
      case .one(let member, .find):
        let object = objects[asked[member]]
        let isExact = rules.operations[asked[member]].means.proof == .attribute
        answer(.one(.found(isExact ? min(1, object.made) : object.made + object.others)))
      case .one(let member, .write(let condition)):
        write(Flight(parts: [(asked[member], condition)]), asked, answer, { .one($0.answer) })
      case .batch(let conditions):
        write(
          Flight(parts: Array(zip(asked, conditions))), asked, answer,
          { result in
            .batch(result.answer, place: asked.firstIndex(of: result.place) ?? 0)
          })
      }
      func write(
        _ flight: Flight, _ asked: [Int],
        _ answer: (AttemptChain.Answer, @escaping (inout AttemptWorld) -> Void) -> Void,
        _ wrap: ((answer: AttemptMachine.Answer, place: Int)) -> AttemptChain.Answer
      ) {
        var after = self
        let result = after.deliver(flight, rules)
        let told = wrap(result)
        answer(told) { _ = $0.deliver(flight, rules) }
        guard budget.losses > 0 else { return }
        let lost = wrap((.lost(reason: "lost"), flight.parts[0].place))
        let unsure: (inout AttemptWorld) -> Void = { world in
          world.budget.losses -= 1
          world.isLateOver = false
          for part in flight.parts { world.objects[part.place].isUncertain = true }
        }
        answer(wrap((.notDone(reason: "busy"), flight.parts[0].place)), lose)
        answer(lost, unsure)
        answer(lost) { world in
          unsure(&world)
          _ = world.deliver(flight, rules)
        }
        answer(lost) { world in
          unsure(&world)
          world.flights.append(flight)
        }
        // A copy of it comes later; nothing can be done about that where no condition holds it back.
        if flight.parts.allSatisfy({ $0.condition != .none }) {
          answer(lost) { world in
            unsure(&world)
            _ = world.deliver(flight, rules)
            world.flights.append(flight)
          }
        }
      }
    }
  }

  private mutating func begin(_ driver: Int, _ rules: Rules) {
    let asked = objects.indices.filter { objects[$0].settled == nil }
    guard !asked.isEmpty else {
      drivers[driver].phase = .over
      return
    }
    let members = asked.map { place in
      var machine = AttemptMachine(
        rules.operations[place].kind, rules.operations[place].means,
        mayHaveRun: drivers[driver].mayHaveRun[place], isLateOver: isLateOver)
      machine.flaws = rules.flaws
      return machine
    }
    follow(
      AttemptChain(members, asChangeSet: rules.isChangeSet), asked, isRecall: false, driver, rules)
  }

  private mutating func recall(_ driver: Int, _ rules: Rules) {
    let asked = objects.indices.filter {
      objects[$0].settled == nil && drivers[driver].mayHaveRun[$0]
    }
    guard !asked.isEmpty else {
      drivers[driver].phase = .begin
      return
    }
    let members = asked.map { place in
      var machine = AttemptMachine(
        recalling: rules.operations[place].kind, rules.operations[place].means,
        isLateOver: isLateOver)
      machine.flaws = rules.flaws
      return machine
    }
    follow(
      AttemptChain(members, asChangeSet: rules.isChangeSet), asked, isRecall: true, driver, rules)
  }

  private mutating func follow(
    _ given: AttemptChain, _ asked: [Int], isRecall: Bool, _ driver: Int, _ rules: Rules
  ) {
    var chain = given
    go(chain.start(), chain, asked, isRecall, driver, rules)
  }

  private mutating func take(
    _ answer: AttemptChain.Answer, _ given: AttemptChain, _ asked: [Int], isRecall: Bool,
    _ driver: Int, _ rules: Rules
  ) {
    switch answer {
    case .one(.written):
      if case .asking(_, .one(let member, _), _, _) = drivers[driver].phase {
        drivers[driver].told[asked[member]] = true
      }
    case .batch(.written, _): for place in asked { drivers[driver].told[place] = true }
    default: break
    }
    var chain = given
    go(chain.take(answer), chain, asked, isRecall, driver, rules)
  }

  private mutating func go(
    _ action: AttemptChain.Action, _ chain: AttemptChain, _ asked: [Int], _ isRecall: Bool,
    _ driver: Int, _ rules: Rules
  ) {
    switch action {
    case .ask(let request):
      drivers[driver].phase = .asking(chain, request, asked, isRecall: isRecall)
    case .end(let endings):
      ended(Array(zip(asked, endings)), isRecall: isRecall, driver, rules)
    }
  }

  /// As the server does with what a connector answers.
  private mutating func ended(
    _ endings: [(place: Int, ending: AttemptMachine.Ending?)], isRecall: Bool, _ driver: Int,
    _ rules: Rules
  ) {
    // What an old leader comes to, nobody takes.
    guard driver == drivers.count - 1 else {
      drivers[driver].phase = .over
      return
    }
    var phase: Phase = .begin
    var stops = false
    for (place, ending) in endings {
      switch ending {
      case .accepted: settle(place, .accepted, driver, rules, nil)
      case .refused(let refusal):
        settle(place, .refused, driver, rules, refusal)
        stops = true
      case .cannotTell:
        settle(place, .unknown, driver, rules, nil)
        stops = true
      case .unknown:
        drivers[driver].mayHaveRun[place] = true
        phase = .recall
      case .mayStillArrive: phase = .wait
      case .notPerformed, .notDone, .needsCredential, nil: break
      }
    }
    if stops {
      for place in objects.indices where objects[place].settled == nil {
        // What was sent of a chain may have been done, and is asked for first.
        if drivers[driver].mayHaveRun[place], !rules.isChangeSet {
          settle(place, .unknown, driver, rules, nil)
        } else {
          settle(place, .notTried, driver, rules, nil)
        }
      }
    }
    drivers[driver].phase = isSettled ? .over : phase
  }

  private mutating func settle(
    _ place: Int, _ settled: Settled, _ driver: Int, _ rules: Rules, _ refusal: Refusal?
  ) {
    let object = objects[place]
    guard object.settled == nil else { return }
    objects[place].settled = settled
    let kind = rules.operations[place].kind
    switch settled {
    case .accepted:
      let isThere =
        object.applied > 0 || kind != .createUnderGivenKey && object.wasAsked
        || kind == .delete && object.value == nil
      if !isThere { broken = broken ?? "told accepted and never performed" }
    case .refused, .notTried:
      if object.applied > 0 { broken = broken ?? "told refused and performed" }
      if let refusal, refusal.code == 412, !object.hasDiffered {
        broken = broken ?? "told a conflict that was none"
      }
    case .unknown:
      if drivers[driver].told[place] { broken = broken ?? "told unknown after its answer came" }
      if !object.isUncertain { broken = broken ?? "told unknown though no answer was lost" }
    }
  }
}
