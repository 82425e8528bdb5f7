import FerryConnector
import FerryModel
import FerryOData
import FerryODataClient

/// Drives one chain: what `AttemptChain` asks for is asked of the service.
struct ChainWork {
  let desk: RequestDesk
  let group: [ConnectorOperation]
  /// With the keys that the service gave to earlier ones of the chain.
  var operations: [ConnectorOperation]
  var keys = GivenKeys()
  /// What was read last of each, and what the service wrote.
  private(set) var entries: [ODataEntry?]
  var images: [RowImage?]
  var made: [ObjectKey?]
  private(set) var candidates: [[RowImage]]
  /// Whether the service has done the change set.
  var isWritten = false

  var connection: ODataConnection { desk.connection }

  init(_ group: [ConnectorOperation], _ desk: RequestDesk) {
    self.desk = desk
    self.group = group
    operations = group
    entries = group.map { _ in nil }
    images = group.map { _ in nil }
    made = group.map { _ in nil }
    candidates = group.map { _ in [] }
  }

  // MARK: What is to be done

  func machine(_ operation: ConnectorOperation, isRecall: Bool) -> AttemptMachine {
    let attempt = connection.memory.attempt(operation.id)
    let isLateOver = attempt.map { connection.memory.clock.moment >= $0.until } ?? true
    let (kind, means) = (kind(of: operation), means(of: operation))
    return isRecall
      ? AttemptMachine(recalling: kind, means, isLateOver: isLateOver)
      : AttemptMachine(kind, means, mayHaveRun: attempt != nil, isLateOver: isLateOver)
  }

  private func kind(of operation: ConnectorOperation) -> AttemptMachine.Kind {
    switch operation.kind {
    case .update: .update
    case .delete: .delete
    case .create: operation.key == nil ? .createUnderGivenKey : .createUnderOwnKey
    }
  }

  private func means(of operation: ConnectorOperation) -> AttemptMachine.Means {
    AttemptMachine.Means(
      isConditional: connection.memory.proof(of: operation.entity.table) != false,
      proof: unique(operation) == nil ? .none : .attribute)
  }

  /// Values that no other row may have, all of them given by the operation.
  private func unique(
    _ operation: ConnectorOperation
  ) -> [(position: Int, value: AttributeValue)]? {
    for positions in operation.entity.unique {
      let values = positions.compactMap { position -> (position: Int, value: AttributeValue)? in
        guard let value = operation.changed[position], !value.isNull else { return nil }
        return (position, value)
      }
      if values.count == positions.count { return values }
    }
    return nil
  }

  // MARK: Performing

  mutating func perform() -> PerformResult {
    if let result = performTogether() { return result }
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for place in group.indices {
      operations[place] = keys.applied(to: group[place])
      guard let form = desk.forms(operations[place].entity) else {
        return .notDone(
          reason: "the service does not have \(operations[place].entity.name) as the model says")
      }
      switch run(place, form, isRecall: false) {
      case .accepted(let isRepeated):
        connection.memory.forget(group[place].id)
        let key = made[place] ?? operations[place].key ?? ObjectKey([])
        keys.learn(group[place], key: key)
        if let image = image(of: place, key, form) { touched.append(image) }
        outcomes.append(.accepted(key: key, isRepeated: isRepeated))
        continue
      case .refused(let refusal):
        connection.memory.forget(group[place].id)
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

  func waiting(_ place: Int) -> PerformResult {
    guard let user = group[place].user, desk.user != nil else {
      return .notDone(reason: "the service does not accept the credential of the connection")
    }
    return .waits(for: .credential(user))
  }

  /// The row as it is behind the operation; nil where it could not be read.
  func image(of place: Int, _ key: ObjectKey, _ form: EntityForm) -> RowImage? {
    if operations[place].kind == .delete {
      return RowImage(entity: form.entity.name, key: key, values: nil)
    }
    if desk.user == nil, let known = images[place], known.key == key { return known }
    guard operations[place].policy.needsRow else { return nil }
    guard let desk = try? desk.asTechnical() else { return nil }
    switch desk.read(form, key) {
    case .there(_, let image): return image
    case .absent: return RowImage(entity: form.entity.name, key: key, values: nil)
    case .failed: return nil
    }
  }

  mutating func run(
    _ place: Int, _ form: EntityForm, isRecall: Bool
  ) -> AttemptMachine.Ending {
    let before = connection.memory.attempt(group[place].id)
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
        let answer = answer(to: request, place, form)
        isOpen =
          switch answer {
          case .notDone, .lost: true
          default: false
          }
        action = machine.take(answer)
      }
    }
  }

  mutating func answer(
    to request: AttemptMachine.Request, _ place: Int, _ form: EntityForm
  ) -> AttemptMachine.Answer {
    switch request {
    case .read: read(place, form)
    case .write(let condition): write(place, form, condition)
    case .find: find(place, form)
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
    let now = connection.memory.attempt(id)
    if now == nil { connection.memory.noteLost(id, isHeld: false) }
    if let before, now == before, !isOpen { connection.memory.noteLost(id, isHeld: true) }
  }

  // MARK: Requests

  private mutating func read(_ place: Int, _ form: EntityForm) -> AttemptMachine.Answer {
    let operation = operations[place]
    guard let key = operation.key else { return .row(.absent) }
    switch desk.read(form, key) {
    case .absent:
      entries[place] = nil
      return .row(.absent)
    case .failed(let answer): return told(answer, form)
    case .there(let entry, let image):
      entries[place] = entry
      images[place] = image
      guard let row = image.values else {
        return .refused(
          Refusal(
            code: 422, message: "\(form.entity.name) \(key) does not fit the model.",
            detail: image.rejected?.reason))
      }
      do throws(ConnectorError) {
        return .row(.there(try compared(operation, row, etag: entry.etag)))
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
  func judgement(
    _ operation: ConnectorOperation, _ before: [AttributeValue]?
  ) throws(ConnectorError) -> Refusal? {
    guard let judge = operation.judge else { return nil }
    let entity = operation.entity
    let (desk, group) = (desk, group)
    let lookUp: RowJudge.Lookup = { (entity, positions, values) throws(ConnectorError) in
      if positions == entity.key, let row = ChainWork.row(ObjectKey(values), entity, in: group) {
        return row
      }
      return try desk.lookUp(entity, positions, values)
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
    _ place: Int, _ form: EntityForm, _ condition: AttemptMachine.Condition
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
    var etag: String?
    if case .unchanged(let given) = condition { etag = given }
    if etag == nil, operation.kind != .create, connection.hasFixedETags(operation.entity.table) {
      return told(send(place, form, etag: entries[place]?.etag), form)
    }
    if etag != nil, connection.memory.proof(of: operation.entity.table) == nil {
      if let etag, let answer = prove(place, form, honest: etag) { return answer }
    }
    return told(send(place, form, etag: etag), form)
  }

  private mutating func send(
    _ place: Int, _ form: EntityForm, etag: String?
  ) -> ServiceAnswer {
    let operation = operations[place]
    let answer = desk.write(operation, form, onto: entries[place], etag: etag)
    switch answer {
    case .lost, .faulty: connection.memory.noteLost(operation.id, isHeld: false)
    case .done(let response, hasBody: true):
      if let entry = desk.entry(in: response, form) {
        let image = form.image(entry)
        watch(place, form, etag, entry.etag)
        if image.values != nil {
          images[place] = image
          if operation.kind == .create { made[place] = image.key }
        }
      }
    default: break
    }
    if case .done(let response, _) = answer, operation.kind == .create, made[place] == nil {
      made[place] = operation.key ?? desk.key(in: response, form)
    }
    return answer
  }

  /// An ETag that stays when the row changes proves nothing.
  private func watch(_ place: Int, _ form: EntityForm, _ before: String?, _ after: String?) {
    guard let before, before == after, let row = entries[place].flatMap({ form.image($0).values }),
      operations[place].changed.contains(where: { row[$0.key] != $0.value })
    else { return }
    connection.leaveETags(of: operations[place].entity.table)
  }

  /// Whether the service heeds a condition is seen, not believed: before the first conditional write of
  /// a set the same write is sent under an ETag that no object has. A service that does it all the same
  /// has done what was asked, and is not trusted again. Nil where the condition held it back.
  private mutating func prove(
    _ place: Int, _ form: EntityForm, honest: String
  ) -> AttemptMachine.Answer? {
    let set = operations[place].entity.table
    let before = connection.memory.attempt(group[place].id)
    for etag in [ChainWork.noETag, ChainWork.another(honest)] {
      let answer = send(place, form, etag: etag)
      switch answer {
      case .changed:
        connection.prove(set, true)
        return nil
      case .done:
        connection.prove(set, false)
        return told(answer, form)
      // It may not read such an ETag. Of the change itself nothing is said: it is sent as it should be.
      case .refused: return nil
      // The same, if nothing was done. Another ETag may be one that it reads.
      case .faulty:
        guard case .row(.there(let there)) = read(place, form), there.etag == honest else {
          return told(answer, form)
        }
        connection.memory.restore(before, of: group[place].id)
      default: return told(answer, form)
      }
    }
    return nil
  }

  /// An ETag of the same form that the object does not have.
  static func another(_ etag: String) -> String {
    var letters = Array(etag.utf8)
    guard
      let place = letters.lastIndex(where: { (48...57).contains($0) || (97...122).contains($0) })
    else { return noETag }
    letters[place] = letters[place] == 57 ? 48 : letters[place] == 122 ? 97 : letters[place] + 1
    return String(decoding: letters, as: UTF8.self)
  }

  static let noETag = "W/\"ferry-asks-whether-conditions-hold\""

  private mutating func find(_ place: Int, _ form: EntityForm) -> AttemptMachine.Answer {
    let operation = operations[place]
    let isExact = unique(operation)
    let wanted =
      isExact
      ?? operation.changed.sorted { $0.key < $1.key }.filter { !$0.value.isNull }
      .map { (position: $0.key, value: $0.value) }
    do throws(ConnectorError) {
      let found = try desk.find(form, wanted)
      candidates[place] = found
      if isExact != nil, found.count == 1 {
        made[place] = found[0].key
        images[place] = found[0]
      }
      return .found(found.count)
    } catch {
      return .notDone(reason: error.message)
    }
  }

  func told(_ answer: ServiceAnswer, _ form: EntityForm) -> AttemptMachine.Answer {
    switch answer {
    case .done: .written
    case .absent: .refused(.notThere(form.entity))
    case .changed: .changed
    case .refused(let status, let document):
      .refused(Refusal(status: status, document, form))
    case .notDone(let reason): .notDone(reason: reason)
    case .lost(let reason), .faulty(let reason): .lost(reason: reason)
    case .needsCredential: .needsCredential
    }
  }
}

extension Refusal {
  static func notThere(_ entity: Entity) -> Refusal {
    Refusal(code: 404, message: "The \(entity.name) is not in the business system.")
  }
}
