import FerryModel

/// Drives one chain at a service: what the machine of each operation asks for is asked of a desk.
package struct AttemptWork<Desk: AttemptDesk> {
  package let desk: Desk
  let group: [ConnectorOperation]
  /// With the keys that the service gave to earlier ones of the chain.
  var operations: [ConnectorOperation]
  var keys = GivenKeys()
  /// What was read last of each, and what the service wrote.
  private var entries: [Desk.Entry?]
  private(set) var images: [RowImage?]
  private(set) var made: [ObjectKey?]
  private(set) var candidates: [[RowImage]]

  var memory: AttemptMemory { desk.memory }

  package init(_ group: [ConnectorOperation], _ desk: Desk) {
    self.desk = desk
    self.group = group
    operations = group
    entries = group.map { _ in nil }
    images = group.map { _ in nil }
    made = group.map { _ in nil }
    candidates = group.map { _ in [] }
  }

  // MARK: What is to be done

  private func machine(_ operation: ConnectorOperation, isRecall: Bool) -> AttemptMachine {
    let attempt = memory.attempt(operation.id)
    let isLateOver = attempt.map { memory.clock.moment >= $0.until } ?? true
    let means = desk.means(of: operation, attempt)
    let kind: AttemptMachine.Kind =
      switch operation.kind {
      case .create where operation.entity.isOperation: .action
      case .update: .update
      case .delete: .delete
      case .create: operation.key == nil ? .createUnderGivenKey : .createUnderOwnKey
      }
    return isRecall
      ? AttemptMachine(recalling: kind, means, isLateOver: isLateOver)
      : AttemptMachine(kind, means, mayHaveRun: attempt != nil, isLateOver: isLateOver)
  }

  // MARK: Performing

  package mutating func perform() -> PerformResult {
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for place in group.indices {
      operations[place] = keys.applied(to: group[place])
      let entity = operations[place].entity
      if let misfit = desk.misfit(of: entity) {
        if outcomes.isEmpty { return .notDone(reason: misfit) }
        break
      }
      switch run(place, isRecall: false) {
      case .accepted(let isRepeated):
        memory.forget(group[place].id)
        let key = made[place] ?? operations[place].key ?? ObjectKey([])
        keys.learn(group[place], key: key)
        if let image = image(of: place, key) { touched.append(image) }
        outcomes.append(.accepted(key: key, isRepeated: isRepeated))
        continue
      case .refused(let refusal):
        memory.forget(group[place].id)
        outcomes.append(.refused(refusal))
      case .unknown(let reason):
        outcomes.append(.unknown(reason: reason))
      case .notDone(let reason):
        if outcomes.isEmpty { return .notDone(reason: reason) }
      case .needsCredential:
        if outcomes.isEmpty { return waiting(place) }
      case .notPerformed, .mayStillArrive, .cannotTell:
        outcomes.append(.unknown(reason: "the service's answer cannot be read"))
      }
      break
    }
    while outcomes.count < group.count { outcomes.append(.notTried) }
    return .done(outcomes, touched: touched)
  }

  private func waiting(_ place: Int) -> PerformResult {
    guard let user = group[place].user, desk.user != nil else {
      return .notDone(reason: "the service does not accept the credential of the connection")
    }
    return .waits(for: .credential(user))
  }

  /// The row as it is behind the operation; nil where it could not be read.
  private func image(of place: Int, _ key: ObjectKey) -> RowImage? {
    let entity = operations[place].entity
    if operations[place].kind == .delete || entity.isOperation {
      return RowImage(entity: entity.name, key: key, values: nil)
    }
    if desk.user == nil, let known = images[place], known.key == key { return known }
    guard operations[place].policy.needsRow else { return nil }
    switch desk.technical.read(entity, key) {
    case .there(_, let image, _): return image
    case .absent: return RowImage(entity: entity.name, key: key, values: nil)
    case .failed: return nil
    }
  }

  mutating func run(_ place: Int, isRecall: Bool) -> AttemptMachine.Ending {
    let before = memory.attempt(group[place].id)
    var machine = machine(operations[place], isRecall: isRecall)
    var action = machine.start()
    // The last question was not answered: it may be asked again at once.
    var isOpen = false
    while true {
      switch action {
      case .end(let ending):
        if !isRecall { note(ending, place, before, isOpen) }
        return ending
      case .ask(let request):
        let answer: AttemptMachine.Answer
        switch request {
        case .read: answer = read(place)
        case .write(let condition): answer = write(place, condition)
        case .find: answer = find(place)
        }
        isOpen =
          switch answer {
          case .notDone, .lost: true
          default: false
          }
        action = machine.take(answer)
      }
    }
  }

  /// What may have been done is recalled before it is tried again. Where no answer was lost this time,
  /// nothing more can be learned before earlier requests are over.
  private func note(
    _ ending: AttemptMachine.Ending, _ place: Int, _ before: AttemptMemory.Attempt?,
    _ isOpen: Bool
  ) {
    guard case .unknown = ending else { return }
    let id = group[place].id
    let now = memory.attempt(id)
    if now == nil { memory.noteLost(id, isHeld: false) }
    if let before, now == before, !isOpen { memory.noteLost(id, isHeld: true) }
  }

  // MARK: Requests

  private mutating func read(_ place: Int) -> AttemptMachine.Answer {
    let operation = operations[place]
    let entity = operation.entity
    guard let key = operation.key else { return .row(.absent) }
    switch desk.read(entity, key) {
    case .absent:
      entries[place] = nil
      return .row(.absent)
    case .failed(let reply): return answer(reply, entity)
    case .there(let entry, let image, let etag):
      entries[place] = entry
      images[place] = image
      guard let row = image.values else {
        return .refused(
          Refusal(
            code: 422, message: "\(entity.name) \(key) does not fit the model.",
            detail: image.rejected?.reason))
      }
      do throws(ConnectorError) {
        return .row(.there(try compared(operation, row, etag: etag)))
      } catch {
        return .notDone(reason: error.message)
      }
    }
  }

  private func compared(
    _ operation: ConnectorOperation, _ row: [AttributeValue], etag: String?
  ) throws(ConnectorError) -> AttemptRow.There {
    let entity = operation.entity
    let conflicts = operation.base.sorted { $0.key < $1.key }.filter { row[$0.key] != $0.value }
      .map { position, based in
        let conflict = Refusal.Conflict(
          attribute: entity.attributes[position].name, baseValue: based,
          currentValue: row[position])
        return (position, conflict)
      }
    // What was asked for is known by all of its values: no part of it is left out.
    var refusal: Refusal?
    if case .failure(let settled) = operation.settled(conflicts, canOmit: false) {
      refusal = settled.refusal
    }
    return AttemptRow.There(
      etag: etag, isAsked: operation.changed.allSatisfy { row[$0.key] == $0.value },
      conflict: refusal, judgement: try judgement(operation, row))
  }

  /// The row as it is, what the operation refers to, and the row as it will be: nothing can be taken
  /// back afterwards.
  private func judgement(
    _ operation: ConnectorOperation, _ before: [AttributeValue]?
  ) throws(ConnectorError) -> Refusal? {
    guard let judge = operation.judge else { return nil }
    let entity = operation.entity
    let desk = desk
    let lookUp: RowJudge.Lookup = { (entity, positions, values) throws(ConnectorError) in
      try desk.lookUp(entity, positions, values)
    }
    if let before, let refusal = try judge.refusal(of: before, in: entity, lookup: lookUp) {
      return refusal
    }
    guard operation.kind != .delete else { return nil }
    var changed = operation.changed
    var after = before ?? entity.attributes.map { _ in .null }
    if operation.kind == .create, let key = operation.key?.values(of: entity) {
      for (position, value) in zip(entity.key, key) { changed[position] = value }
    }
    if let refusal = try judge.refusal(
      ofReferences: changed, before: before, in: entity, lookup: lookUp)
    {
      return refusal
    }
    for (position, value) in changed { after[position] = value }
    return try judge.refusal(of: after, in: entity, lookup: lookUp)
  }

  private mutating func write(
    _ place: Int, _ condition: AttemptMachine.Condition
  ) -> AttemptMachine.Answer {
    let operation = operations[place]
    if operation.kind == .create {
      do throws(ConnectorError) {
        if let refusal = try judgement(operation, nil) { return .refused(refusal) }
      } catch {
        return .notDone(reason: error.message)
      }
    }
    images[place] = nil
    if case .unchanged = condition, memory.proof(of: operation.entity.table) == nil,
      let none = desk.impossibleETag(of: operation.entity),
      let answer = prove(place, none)
    {
      return answer
    }
    return answer(send(place, condition), operation.entity)
  }

  private mutating func send(
    _ place: Int, _ condition: AttemptMachine.Condition
  ) -> ServiceReply {
    let operation = operations[place]
    let reply = desk.write(operation, condition, onto: entries[place])
    switch reply {
    case .lost: memory.noteLost(operation.id, isHeld: false)
    case .forgotten:
      memory.noteLost(operation.id, isHeld: false)
      memory.noteForgotten(operation.id)
    case .done(let image, let key):
      if let image, image.values != nil, operation.kind != .delete { images[place] = image }
      if operation.kind == .create {
        made[place] = operation.key ?? key ?? image.flatMap { $0.values == nil ? nil : $0.key }
      }
    default: break
    }
    return reply
  }

  /// Whether the service heeds a condition is seen, not believed: before the first conditional write of
  /// a set the same write is sent under a condition that no object meets. A service that does it all
  /// the same has done what was asked, and is not trusted again. Nil where the condition held it back.
  private mutating func prove(_ place: Int, _ etag: String) -> AttemptMachine.Answer? {
    let entity = operations[place].entity
    let reply = send(place, .unchanged(etag: etag))
    switch reply {
    case .changed:
      memory.prove(entity.table, true)
      return nil
    case .done: memory.prove(entity.table, false)
    // It may not read such a condition. Of the change itself nothing is said: it is sent as it should
    // be.
    case .refused: return nil
    default: break
    }
    return answer(reply, entity)
  }

  private mutating func find(_ place: Int) -> AttemptMachine.Answer {
    do throws(ConnectorError) {
      let (found, isExact) = try desk.find(operations[place])
      candidates[place] = found
      if isExact, found.count == 1 {
        made[place] = found[0].key
        images[place] = found[0]
      }
      return .found(found.count)
    } catch {
      return .notDone(reason: error.message)
    }
  }

  private func answer(_ reply: ServiceReply, _ entity: Entity) -> AttemptMachine.Answer {
    switch reply {
    case .done: .written
    case .absent:
      .refused(Refusal(code: 404, message: "The \(entity.name) is not in the business system."))
    case .changed: .changed
    case .refused(let refusal): .refused(refusal)
    case .notDone(let reason): .notDone(reason: reason)
    case .lost(let reason), .forgotten(let reason): .lost(reason: reason)
    case .needsCredential: .needsCredential
    }
  }
}
