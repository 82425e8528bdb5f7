import FerryConnector

/// A service without transactions, the line to it, other writers and two leaders, small enough that
/// every run of a chain can be looked at.
struct AttemptWorld: Hashable {
  struct Setting: Hashable {
    var kind: AttemptMachine.Kind
    var means: AttemptMachine.Means
  }

  struct Rules: Hashable {
    var operations: [Setting]
    var isChangeSet = false
    /// An ETag comes back when the row does.
    var hasHashes = false
    var flaws: Set<AttemptMachine.Flaw> = []
  }

  /// The object of one operation, and what is true of it that nobody in the world knows.
  struct Object: Hashable {
    /// 0 the base values, 1 those asked for, 2 others; nil where there is no row.
    var value: Int?
    /// Another attribute, which the operation does not touch.
    var side = 0
    var version = 0
    /// Rows under keys that the service gave: for the operation, and equal ones for others.
    var made = 0
    var others = 0
    var applied = 0
    var hasDiffered = false
    var wasAsked = false
    var isUncertain = false
    var settled: Settled?
  }

  enum Settled: Hashable { case accepted, refused, notTried, unknown }

  struct Flight: Hashable {
    /// Several for a change set.
    var parts: [(place: Int, condition: AttemptMachine.Condition)]

    static func == (one: Flight, other: Flight) -> Bool {
      one.parts.elementsEqual(other.parts) { $0.place == $1.place && $0.condition == $1.condition }
    }
    func hash(into hasher: inout Hasher) {
      for part in parts {
        hasher.combine(part.place)
        hasher.combine(part.condition)
      }
    }
  }

  enum Phase: Hashable {
    case begin
    case asking(AttemptChain, AttemptChain.Request, [Int], isRecall: Bool)
    case recall
    case wait
    case over
  }

  struct Driver: Hashable {
    var phase: Phase
    var mayHaveRun: [Bool]
    /// Whose success it was told.
    var told: [Bool]
  }

  struct Budget: Hashable {
    var losses: Int
    var others: Int
    var rules: Int
    var leaders: Int
  }

  var objects: [Object]
  var isForbidden = false
  var flights: [Flight] = []
  var drivers: [Driver]
  var isLateOver = true
  var budget: Budget
  /// The first property that broke.
  var broken: String?

  init(_ rules: Rules, _ budget: Budget) {
    objects = rules.operations.map { setting in
      let isThere = setting.kind == .update || setting.kind == .delete
      return Object(value: isThere ? 0 : nil)
    }
    drivers = [
      Driver(
        phase: .begin, mayHaveRun: rules.operations.map { _ in false },
        told: rules.operations.map { _ in false })
    ]
    self.budget = budget
  }

  var isSettled: Bool { objects.allSatisfy { $0.settled != nil } }

  // MARK: The service

  private func etag(_ object: Object, _ rules: Rules) -> String {
    rules.hasHashes ? "h\(object.value ?? 9)\(object.side)" : "v\(object.version)"
  }

  /// What the service answers, done as a whole or not at all.
  private mutating func deliver(
    _ flight: Flight, _ rules: Rules
  ) -> (answer: AttemptMachine.Answer, place: Int) {
    let isKnown = flight.parts.allSatisfy {
      $0.condition == .firstRequest && objects[$0.place].made > 0
    }
    if isKnown { return (.written, 0) }
    if isForbidden {
      return (.refused(AttemptWorld.rule), flight.parts.first?.place ?? 0)
    }
    for part in flight.parts {
      let object = objects[part.place]
      switch rules.operations[part.place].kind {
      case .update, .delete:
        if object.value == nil { return (.changed, part.place) }
        if case .unchanged(let wanted) = part.condition, wanted != etag(object, rules) {
          return (.changed, part.place)
        }
      case .createUnderOwnKey:
        if object.value != nil { return (.refused(AttemptWorld.taken), part.place) }
      case .createUnderGivenKey, .action: break
      }
    }
    for part in flight.parts { apply(part.place, part.condition, rules) }
    return (.written, 0)
  }

  private mutating func apply(
    _ place: Int, _ condition: AttemptMachine.Condition, _ rules: Rules
  ) {
    let setting = rules.operations[place]
    var object = objects[place]
    if object.settled == .refused || object.settled == .notTried {
      broken = broken ?? "performed after it was told refused"
    }
    if setting.means.isConditional, setting.kind == .update || setting.kind == .delete,
      object.value != 0
    {
      broken = broken ?? "written over what another one wrote"
    }
    object.applied += 1
    object.version += 1
    switch setting.kind {
    case .update: object.value = 1
    case .createUnderOwnKey: object.value = 1
    case .delete: object.value = nil
    case .createUnderGivenKey, .action: object.made += 1
    }
    let isOnce =
      setting.kind == .createUnderGivenKey || setting.kind == .action
      || !setting.means.isConditional && setting.kind != .createUnderOwnKey
    if isOnce, object.applied > 1 { broken = broken ?? "performed twice" }
    objects[place] = object
    note()
  }

  /// What has been true at some moment.
  private mutating func note() {
    for place in objects.indices {
      if objects[place].value != 0 { objects[place].hasDiffered = true }
      if objects[place].value == 1 { objects[place].wasAsked = true }
    }
  }

  private func row(_ place: Int, _ rules: Rules) -> AttemptRow {
    let object = objects[place]
    guard let value = object.value else { return .absent }
    return .there(
      AttemptRow.There(
        etag: rules.operations[place].means.isConditional ? etag(object, rules) : nil,
        isAsked: value == 1, conflict: value == 0 ? nil : AttemptWorld.conflict, judgement: nil))
  }

  static let rule = Refusal(code: 400, message: "rule")
  static let taken = Refusal(code: 409, message: "taken")
  static let conflict = Refusal(code: 412, message: "conflict")

  // MARK: What may happen next

  func next(_ rules: Rules) -> [AttemptWorld] {
    var found: [AttemptWorld] = []
    func add(_ change: (inout AttemptWorld) -> Void) {
      var world = self
      change(&world)
      if world != self { found.append(world) }
    }
    for place in drivers.indices { step(place, rules, add) }
    for index in flights.indices {
      add { world in
        let flight = world.flights.remove(at: index)
        _ = world.deliver(flight, rules)
      }
      add { $0.flights.remove(at: index) }
    }
    if drivers.count > 1 { add { $0.drivers.removeFirst() } }
    if flights.isEmpty, drivers.count == 1 { add { $0.isLateOver = true } }
    if budget.rules > 0 {
      add { world in
        world.budget.rules -= 1
        world.isForbidden.toggle()
      }
    }
    if budget.others > 0 { interfere(rules, add) }
    if budget.leaders > 0, !isSettled {
      add { world in
        world.budget.leaders -= 1
        world.isLateOver = false
        for place in world.objects.indices { world.objects[place].isUncertain = true }
        world.drivers = [
          world.drivers[0],
          Driver(
            phase: .recall, mayHaveRun: world.objects.map { $0.settled == nil },
            told: world.objects.map { _ in false }),
        ]
      }
    }
    return found
  }

  private func interfere(_ rules: Rules, _ add: ((inout AttemptWorld) -> Void) -> Void) {
    func other(_ place: Int, _ change: @escaping (inout Object) -> Void) {
      add { world in
        world.budget.others -= 1
        change(&world.objects[place])
        world.objects[place].version += 1
        // What another one has taken back was not performed.
        if world.objects[place].value == 0 { world.objects[place].applied = 0 }
        world.note()
      }
    }
    for (place, setting) in rules.operations.enumerated() {
      switch setting.kind {
      case .update, .delete:
        guard objects[place].value != nil else { continue }
        for value in [0, 2] where objects[place].value != value {
          other(place) { $0.value = value }
        }
        other(place) { $0.side = 1 - $0.side }
      case .createUnderOwnKey:
        if objects[place].value == nil {
          for value in [1, 2] { other(place) { $0.value = value } }
        } else {
          other(place) { $0.value = 2 }
        }
      case .createUnderGivenKey, .action: other(place) { $0.others += 1 }
      }
    }
  }

  // MARK: A leader

  private func step(_ place: Int, _ rules: Rules, _ add: ((inout AttemptWorld) -> Void) -> Void) {
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
