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
  mutating func deliver(
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

  func row(_ place: Int, _ rules: Rules) -> AttemptRow {
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
}
