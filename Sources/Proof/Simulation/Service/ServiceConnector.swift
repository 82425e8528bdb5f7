import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryWorld

/// The connector of one life of the server to the simulated service: `AttemptMachine` and `AttemptChain`
/// decide, as they do for every service that is reached by requests.
final class ServiceConnector: Connector {
  private let service: SimulatedService
  private let reading: MemoryConnector
  private let clock: SimulatedClock
  private let flaws: Set<AttemptMachine.Flaw>
  private let begun: Timestamp
  /// Until when a request of each operation may still arrive.
  private var attempts: [OperationID: Timestamp] = [:]
  /// When the first request of each may have been sent; one whose time nobody knows is missing.
  private var since: [OperationID: Timestamp] = [:]

  init(
    _ service: SimulatedService, _ business: MemoryBusiness, _ clock: SimulatedClock,
    flaws: Set<AttemptMachine.Flaw>
  ) {
    self.service = service
    self.clock = clock
    self.flaws = flaws
    reading = MemoryConnector(business)
    begun = clock.moment
  }

  func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    try reading.mismatches(with: package)
  }

  func abilities(of entity: Entity) -> ConnectorAbilities {
    let reader = reading.abilities(of: entity)
    return ConnectorAbilities(
      atomicGroups: service.traits.hasChangeSets, memory: .probe,
      conditionalWrites: service.traits.etags != .none, changes: reader.changes,
      reportsDeletes: reader.reportsDeletes, snapshots: false)
  }

  // MARK: Performing

  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    var chain = ServiceChain(group, service, isTogether: mayBeTogether(group))
    let members = group.map { machine($0, isRecall: false) }
    let endings = chain.run(AttemptChain(members, asChangeSet: chain.isTogether)) {
      self.noteLost($0)
    }
    guard let endings else {
      // The row of one is as it was asked for, and nothing of the others was done.
      var alone = ServiceChain(group, service, isTogether: false)
      let again = alone.run(AttemptChain(members)) { self.noteLost($0) }
      return result(group, again ?? [], alone)
    }
    return result(group, endings, chain)
  }

  /// As a change set only the first time, and without a reference to what it makes itself.
  private func mayBeTogether(_ group: [ConnectorOperation]) -> Bool {
    guard service.traits.hasChangeSets, group.count > 1 else { return false }
    let names = Set(
      group.compactMap { operation in
        operation.key.map { RowName(entity: operation.entity.name, key: $0) }
      })
    return group.allSatisfy { attempts[$0.id] == nil && $0.temporaryKey == nil && $0.key != nil }
      && names.count == group.count
  }

  private func result(
    _ group: [ConnectorOperation], _ endings: [AttemptMachine.Ending?], _ chain: ServiceChain
  ) -> PerformResult {
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for (place, operation) in group.enumerated() {
      switch endings[place] {
      case .accepted(let isRepeated):
        attempts[operation.id] = nil
        if isRepeated { service.noteEqual(chain.operations[place]) }
        let key = chain.made[place] ?? chain.operations[place].key ?? ObjectKey([])
        outcomes.append(.accepted(key: key, isRepeated: isRepeated))
        touched.removeAll { $0.entity == operation.entity.name && $0.key == key }
        touched.append(
          RowImage(
            entity: operation.entity.name, key: key,
            values: service.row(operation.entity, key)?.values))
      case .refused(let refusal):
        attempts[operation.id] = nil
        service.noteRefused(operation, refusal, races: chain.races)
        outcomes.append(.refused(refusal))
      case .unknown(let reason):
        service.noteUnknown(operation, wasAnswered: chain.answered[place])
        if attempts[operation.id] == nil { noteLost(operation) }
        outcomes.append(.unknown(reason: reason))
      case .notDone(let reason) where outcomes.isEmpty: return .notDone(reason: reason)
      default: outcomes.append(.notTried)
      }
    }
    return .done(outcomes, touched: touched)
  }

  private func noteLost(_ operation: ConnectorOperation) {
    if attempts[operation.id] == nil { since[operation.id] = clock.moment }
    attempts[operation.id] = clock.moment.advanced(by: SimulatedService.lateness)
  }

  private func machine(_ operation: ConnectorOperation, isRecall: Bool) -> AttemptMachine {
    let kind: AttemptMachine.Kind =
      switch operation.kind {
      case .update: .update
      case .delete: .delete
      case .create: operation.key == nil ? .createUnderGivenKey : .createUnderOwnKey
      }
    let isTold =
      service.traits.isReferenceUnique && operation.entity.name == "Order"
      && operation.changed[4].map { !$0.isNull } ?? false
    let until = attempts[operation.id]
    let means = AttemptMachine.Means(
      isConditional: service.traits.etags != .none,
      proof: isTold ? .attribute : knowsNumber(operation) ? .repeatable : .none)
    let isLateOver = until.map { clock.moment >= $0 } ?? true
    var machine =
      isRecall
      ? AttemptMachine(recalling: kind, means, isLateOver: isLateOver)
      : AttemptMachine(kind, means, mayHaveRun: until != nil, isLateOver: isLateOver)
    machine.flaws = flaws
    return machine
  }

  /// Whether the service knows the request by its number, also when it arrives late.
  private func knowsNumber(_ operation: ConnectorOperation) -> Bool {
    guard service.traits.knowsNumbers else { return false }
    guard attempts[operation.id] != nil else { return true }
    let window = SimulatedService.window - SimulatedService.lateness
    return since[operation.id].map { clock.moment < $0.advanced(by: window) } ?? false
  }

  // MARK: Recalling

  func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    var chain = ServiceChain(operations, service, isTogether: false)
    for operation in operations where attempts[operation.id] == nil {
      attempts[operation.id] = begun.advanced(by: SimulatedService.lateness)
      since[operation.id] = operation.sentAt.flatMap { sentAt in
        let age = clock.now.milliseconds - sentAt.milliseconds
        return age < 0 ? nil : clock.moment.advanced(by: .milliseconds(-age))
      }
    }
    let members = operations.map { machine($0, isRecall: true) }
    let endings = chain.run(AttemptChain(members)) { _ in } ?? []
    var recalls: [Recall] = []
    var unknown = UnknownKeys()
    for (place, operation) in operations.enumerated() {
      let until = attempts[operation.id] ?? clock.moment
      switch endings[place] {
      case .accepted:
        attempts[operation.id] = nil
        let key = chain.made[place] ?? chain.operations[place].key ?? ObjectKey([])
        service.noteEqual(chain.operations[place])
        recalls.append(.performed(.accepted(key: key, isRepeated: true)))
      case .mayStillArrive: recalls.append(.mayStillArrive(until: until))
      case .notPerformed:
        let isNumbered =
          operation.kind == .create && operation.key == nil && knowsNumber(operation)
        recalls.append(isNumbered ? .mayBeRepeated : .notPerformed)
      case .cannotTell(let reason):
        attempts[operation.id] = nil
        recalls.append(.cannotTell(reason: reason, candidates: []))
      default:
        throw ConnectorError("The service is away", hint: "It is tried again.", isTransient: true)
      }
      recalls[place] = unknown.corrected(recalls[place], of: operation)
    }
    return recalls
  }

  // MARK: Rows

  func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try reading.read(entity, keys: keys)
  }

  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    try reading.load(scope, from: place, each: each, rejected: rejected)
  }

  func changedByOthers() throws(ConnectorError) -> Bool { try reading.changedByOthers() }

  func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    try reading.changes(since: cursor != nil && service.hasLostLink() ? nil : cursor)
  }
}

/// Asks the service what a chain wants to know.
private struct ServiceChain {
  private let service: SimulatedService
  private let group: [ConnectorOperation]
  let isTogether: Bool
  private var keys = GivenKeys()
  private(set) var operations: [ConnectorOperation]
  private(set) var made: [ObjectKey?]
  /// Whether the write of each was done and its answer came.
  private(set) var answered: [Bool]
  private let racesBefore: Int
  var races: Int { service.races - racesBefore }
  private var isWritten = false

  init(_ group: [ConnectorOperation], _ service: SimulatedService, isTogether: Bool) {
    self.group = group
    self.service = service
    self.isTogether = isTogether
    operations = group
    made = group.map { _ in nil }
    answered = group.map { _ in false }
    racesBefore = service.races
  }

  /// Nil where a change set was not sent although a member has its ending.
  mutating func run(
    _ given: AttemptChain, lost: (ConnectorOperation) -> Void
  ) -> [AttemptMachine.Ending?]? {
    var chain = given
    var action = chain.start()
    while true {
      switch action {
      case .end(let endings):
        let isAccepted = endings.contains { if case .accepted? = $0 { true } else { false } }
        return isTogether && isAccepted && !isWritten ? nil : endings
      case .ask(.one(let place, let request)):
        action = chain.take(.one(answer(request, place, lost)))
      case .ask(.batch(let conditions)):
        let writes = zip(operations, conditions).map {
          SimulatedService.Write(operation: $0, condition: $1)
        }
        let (answer, place) = batch(writes, lost)
        isWritten = answer == .written
        action = chain.take(.batch(answer, place: place))
      }
    }
  }

  private mutating func batch(
    _ writes: [SimulatedService.Write], _ lost: (ConnectorOperation) -> Void
  ) -> (AttemptMachine.Answer, Int) {
    for (place, write) in writes.enumerated() where write.operation.kind == .create {
      if let refusal = judgement(write.operation, nil) { return (.refused(refusal), place) }
    }
    service.race(writes.map(\.operation))
    switch service.send(writes) {
    case .done: return (.written, 0)
    case .changed(let place): return (.changed, place)
    case .refused(let refusal, let place): return (.refused(refusal), place)
    case .notDone: return (.notDone(reason: "the service is away"), 0)
    case .lost:
      for operation in group { lost(operation) }
      return (.lost(reason: "the answer was lost"), 0)
    }
  }

  private mutating func answer(
    _ request: AttemptMachine.Request, _ place: Int, _ lost: (ConnectorOperation) -> Void
  ) -> AttemptMachine.Answer {
    operations[place] = keys.applied(to: group[place])
    let operation = operations[place]
    if case .write = request {
    } else if service.isAway() {
      return .notDone(reason: "the service is away")
    }
    switch request {
    case .read:
      guard let key = operation.key, let found = service.row(operation.entity, key) else {
        return .row(.absent)
      }
      if operation.kind == .create { learn(place, key) }
      return .row(.there(compared(operation, found.values, found.etag)))
    case .find:
      let found = service.rows(operation.entity).filter { $0.value[4] == operation.changed[4] }
      if found.count == 1, let key = found.keys.first { learn(place, key) }
      return .found(found.count)
    case .write(let condition):
      if operation.kind == .create, let refusal = judgement(operation, nil) {
        return .refused(refusal)
      }
      service.race([operation])
      let write = SimulatedService.Write(
        operation: operation, condition: condition,
        number: condition == .firstRequest ? service.number(of: operation) : nil)
      switch service.send([write]) {
      case .done(let outcomes):
        if case .accepted(let key, _)? = outcomes.first { learn(place, key) }
        answered[place] = true
        return .written
      case .changed: return .changed
      case .refused(let refusal, _): return .refused(refusal)
      case .notDone: return .notDone(reason: "the service is away")
      case .lost:
        lost(operation)
        return .lost(reason: "the answer was lost")
      }
    }
  }

  private mutating func learn(_ place: Int, _ key: ObjectKey) {
    made[place] = key
    keys.learn(group[place], key: key)
  }

  private func compared(
    _ operation: ConnectorOperation, _ row: [AttributeValue], _ etag: String?
  ) -> AttemptRow.There {
    let conflicts = operation.base.sorted { $0.key < $1.key }.filter { row[$0.key] != $0.value }
      .map { position, based in
        Refusal.Conflict(
          attribute: operation.entity.attributes[position].name, baseValue: based,
          currentValue: row[position])
      }
    return AttemptRow.There(
      etag: etag, isAsked: operation.changed.allSatisfy { row[$0.key] == $0.value },
      conflict: Refusal(conflicts: conflicts), judgement: judgement(operation, row))
  }

  /// The row as it is, what the operation refers to, and the row as it will be.
  private func judgement(
    _ operation: ConnectorOperation, _ before: [AttributeValue]?
  ) -> Refusal? {
    guard let judge = operation.judge else { return nil }
    let (entity, service) = (operation.entity, service)
    let lookUp: RowJudge.Lookup = { (entity, positions, values) throws(ConnectorError) in
      service.rows(entity).sorted { $0.key.text < $1.key.text }.map(\.value).first { row in
        zip(positions, values).allSatisfy { row[$0] == $1 }
      }
    }
    if let before, let refusal = try? judge.refusal(of: before, in: entity, lookup: lookUp) {
      return refusal
    }
    guard operation.kind != .delete else { return nil }
    var changed = operation.changed
    for (position, value) in zip(entity.key, operation.key?.values(of: entity) ?? []) {
      changed[position] = value
    }
    if let refusal = try? judge.refusal(
      ofReferences: changed, before: before, in: entity, lookup: lookUp)
    {
      return refusal
    }
    var after = before ?? entity.attributes.map { _ in .null }
    for (position, value) in changed { after[position] = value }
    return try? judge.refusal(of: after, in: entity, lookup: lookUp)
  }
}
