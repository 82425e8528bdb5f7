import FerryConnector
import FerryHTTP
import FerryModel
import FerryOData
import FerryODataBatch
import FerryODataClient

/// A chain as one change set: done as a whole or not at all.
///
/// After a lost answer each operation is still decided by its own row: that another operation of the set
/// has the row that it asked for may be somebody else's work. Reference: Decision 0129.
extension ChainWork {
  /// Nil where the chain is performed one by one: the service does not take it as a change set, or it
  /// cannot be one.
  mutating func performTogether() -> PerformResult? {
    guard group.count > 1, connection.usesChangeSets, let parts = ChangeSetParts(group, desk) else {
      return nil
    }
    for operation in group {
      let isOpen = connection.memory.attempt(operation.id) != nil
      if isOpen || connection.hasFixedETags(operation.entity.table) { return nil }
    }
    isWritten = false
    var chain = AttemptChain(
      operations.map { machine($0, isRecall: false) }, asChangeSet: true)
    var action = chain.start()
    while true {
      switch action {
      case .end(let endings): return together(endings)
      case .ask(.one(let place, let request)):
        action = chain.take(.one(answer(to: request, place, parts.forms[place])))
      case .ask(.batch(let conditions)):
        guard let (answer, place) = sendTogether(parts, conditions) else { return nil }
        isWritten = answer == .written
        action = chain.take(.batch(answer, place: place))
      }
    }
  }

  private mutating func together(_ endings: [AttemptMachine.Ending?]) -> PerformResult? {
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for place in group.indices {
      switch endings[place] {
      case .accepted:
        // The row of one is as it was asked for, and nothing of the others was done.
        guard isWritten else { return nil }
        connection.memory.forget(group[place].id)
        guard let key = made[place] ?? operations[place].key else {
          connection.memory.noteLost(group[place].id, isHeld: false)
          outcomes.append(.unknown(reason: "the service did not name the object that it made"))
          continue
        }
        if let form = desk.forms(operations[place].entity), let image = image(of: place, key, form)
        {
          touched.append(image)
        }
        outcomes.append(.accepted(key: key))
      case .refused(let refusal): outcomes.append(.refused(refusal))
      case .unknown(let reason), .cannotTell(let reason):
        outcomes.append(.unknown(reason: reason))
      case .notDone(let reason): return .notDone(reason: reason)
      case .needsCredential: return waiting(place)
      case .notPerformed, .mayStillArrive, nil: outcomes.append(.notTried)
      }
    }
    return .done(outcomes, touched: touched)
  }

  /// What an earlier operation of the change set makes.
  static func row(
    _ key: ObjectKey, _ entity: Entity, in group: [ConnectorOperation]
  ) -> [AttributeValue]? {
    let maker = group.first { operation in
      operation.kind == .create && operation.entity.name == entity.name
        && operation.temporaryKey == key
    }
    guard let maker, let values = key.values(of: entity) else { return nil }
    var row = entity.attributes.map { _ in AttributeValue.null }
    for (position, value) in maker.changed { row[position] = value }
    for (position, value) in zip(entity.key, values) { row[position] = value }
    return row
  }

  // MARK: Sending

  /// Nil where the service takes no such change set; nothing was done then.
  private mutating func sendTogether(
    _ parts: ChangeSetParts, _ conditions: [AttemptMachine.Condition]
  ) -> (AttemptMachine.Answer, place: Int)? {
    for place in group.indices where operations[place].kind == .create {
      do throws(ConnectorError) {
        if let refusal = try judgement(operations[place], nil) { return (.refused(refusal), place) }
      } catch {
        return (.notDone(reason: error.message), place)
      }
    }
    var etags = conditions.map { condition -> String? in
      if case .unchanged(let etag) = condition { etag } else { nil }
    }
    // Whether conditions hold inside a change set is seen, not believed, as outside of one.
    let unproved = etags.indices.first { place in
      etags[place] != nil
        && connection.memory.proof(of: ChainWork.batched(operations[place])) == nil
    }
    if let unproved {
      let set = ChainWork.batched(operations[unproved])
      let honest = etags[unproved]
      etags[unproved] = ChainWork.noETag
      guard let (answer, place) = sendOnce(parts, etags) else { return nil }
      switch answer {
      case .changed: connection.prove(set, true)
      case .written:
        connection.prove(set, false)
        connection.leaveChangeSets("it ignores conditions inside a change set")
        return (answer, place)
      // It may not read such an ETag.
      case .refused: break
      default: return (answer, place)
      }
      etags[unproved] = honest
    }
    return sendOnce(parts, etags)
  }

  private static func batched(_ operation: ConnectorOperation) -> String {
    "$batch/\(operation.entity.table)"
  }

  private mutating func sendOnce(
    _ parts: ChangeSetParts, _ etags: [String?]
  ) -> (AttemptMachine.Answer, place: Int)? {
    var batch = ODataBatch()
    for place in group.indices {
      guard let part = parts.part(place, onto: entries[place], etags[place]) else { return nil }
      batch.parts.append(part)
    }
    let answer = desk.send(batch, trace: group[0].traceID)
    switch answer {
    case .lost(let reason), .faulty(let reason): return (lostTogether(reason), 0)
    case .done(let response, let hasBody):
      let type = response.headers["Content-Type"]
      guard hasBody, let read = try? ODataBatch.read(response.body, contentType: type) else {
        return (lostTogether("the answer to a change set cannot be read"), 0)
      }
      return take(read.answers(to: batch), parts, response)
    case .absent:
      connection.leaveChangeSets("it has no $batch")
      return nil
    case .refused(let status, let document) where [400, 403, 405, 415, 501].contains(status):
      connection.leaveChangeSets("it refuses them: \(document.message)")
      return nil
    default: return (told(answer, parts.forms[0]), 0)
    }
  }

  private mutating func lostTogether(_ reason: String) -> AttemptMachine.Answer {
    for operation in group { connection.memory.noteLost(operation.id, isHeld: false) }
    return .lost(reason: reason)
  }

  /// Each part of the answer is read: a 200 of the whole says nothing about them.
  private mutating func take(
    _ answers: [ODataBatchPart?], _ parts: ChangeSetParts, _ response: ServiceBody
  ) -> (AttemptMachine.Answer, place: Int)? {
    let failed = answers.indices.filter { place in
      answers[place].map { $0.failure != nil } ?? true
    }
    if failed.isEmpty {
      for place in group.indices { note(answers[place], place, parts.forms[place], response) }
      return (.written, 0)
    }
    guard failed.count == answers.count || !answers.contains(where: { $0?.isDone == true }) else {
      // A part was done although another one failed: the service has no change sets.
      connection.leaveChangeSets("it did a part of a change set and refused another one")
      return (lostTogether("the service did a part of a change set only"), 0)
    }
    // What failed only because another part did is not the reason.
    let reason = failed.first { answers[$0].map { $0.status != 424 } ?? false } ?? failed[0]
    guard let part = answers[reason], let status = part.status, let document = part.failure else {
      return (lostTogether("the service did not answer each part of a change set"), 0)
    }
    let place = parts.place(of: part, status: status) ?? reason
    let words = "\(document.code) \(document.message)".lowercased()
    let isAboutChangeSets =
      words.contains("changeset") || words.contains("change set") || words.contains("change_set")
    if isAboutChangeSets, [400, 405, 500, 501].contains(status) {
      // Many a SAP Gateway takes one operation in a change set, and says so in this way.
      connection.leaveChangeSets("it refuses them: \(document.message)")
      return nil
    }
    switch status {
    case 412, 428: return (.changed, place)
    case 401, 407: return (.needsCredential, place)
    case 429: return (.notDone(reason: document.message), place)
    case 503 where part.header("Retry-After") != nil:
      return (.notDone(reason: document.message), place)
    case 500...: return (lostTogether("the service answered with status \(status)"), place)
    default:
      return (.refused(Refusal(status: status, document, parts.forms[place])), place)
    }
  }

  private mutating func note(
    _ part: ODataBatchPart?, _ place: Int, _ form: EntityForm, _ response: ServiceBody
  ) {
    guard let part else { return }
    images[place] = nil
    ServiceWarning.tell(part.fields, of: operations[place], form, connection.log)
    let body = ServiceBody(
      headers: part.fields, body: part.body, address: desk.service.root)
    if !part.body.isEmpty, let entry = desk.entry(in: body, form) {
      let image = form.image(entry)
      if image.values != nil {
        images[place] = image
        if operations[place].kind == .create { made[place] = image.key }
      }
    }
    if operations[place].kind == .create, made[place] == nil {
      made[place] = operations[place].key ?? desk.key(in: body, form)
    }
  }
}

/// The requests of a chain inside a change set.
struct ChangeSetParts {
  private let operations: [ConnectorOperation]
  private let desk: RequestDesk
  let forms: [EntityForm]
  /// For an operation on what an earlier one makes: the place of that one, and the way from there.
  private let bases: [(place: Int, navigation: String, without: Set<Int>)?]

  /// Nil where the chain cannot be one: an object twice, or a reference without a way.
  init?(_ operations: [ConnectorOperation], _ desk: RequestDesk) {
    var forms: [EntityForm] = []
    var bases: [(place: Int, navigation: String, without: Set<Int>)?] = []
    var made: [(entity: Entity, key: ObjectKey, place: Int)] = []
    var names: Set<String> = []
    for (place, operation) in operations.enumerated() {
      guard let form = desk.forms(operation.entity) else { return nil }
      forms.append(form)
      let key = operation.key ?? operation.temporaryKey
      guard let key, names.insert("\(operation.entity.name) \(key)").inserted else { return nil }
      var base: (place: Int, navigation: String, without: Set<Int>)?
      for relationship in operation.entity.relationships {
        let positions = relationship.attributes.compactMap { operation.entity.position(of: $0) }
        let values = positions.compactMap { operation.changed[$0] }
        guard values.count == positions.count,
          let target = made.first(where: {
            $0.entity.name == relationship.target && $0.key == ObjectKey(values)
          })
        else { continue }
        guard operation.kind == .create, base == nil,
          let way = ChangeSetParts.way(from: forms[target.place], to: form, relationship, desk)
        else { return nil }
        base = (target.place, way, Set(positions))
      }
      bases.append(base)
      if operation.kind == .create, operation.key == nil {
        made.append((operation.entity, key, place))
      }
    }
    self.operations = operations
    self.desk = desk
    self.forms = forms
    self.bases = bases
  }

  /// The navigation property that leads from an object to those that refer to it.
  private static func way(
    from parent: EntityForm, to child: EntityForm, _ relationship: Relationship, _ desk: RequestDesk
  ) -> String? {
    let metadata = desk.service.metadata
    guard let type = metadata.entityType(parent.set.entityType),
      let own = metadata.entityType(child.set.entityType)
    else { return nil }
    let columns = relationship.attributes.compactMap { name in
      child.entity.position(of: name).map { child.entity.attributes[$0].column }
    }
    let back = metadata.navigationProperties(of: own).first { property in
      Set(ChangeSetParts.constrained(property, metadata)) == Set(columns)
    }
    guard let back else { return nil }
    return metadata.navigationProperties(of: type).first { property in
      property.partner == back.name || back.partner == property.name
        || property.relationship != nil && property.relationship == back.relationship
    }?.name
  }

  /// The properties that hold the key of what is referred to.
  private static func constrained(
    _ navigation: EdmNavigationProperty, _ metadata: EdmMetadata
  ) -> [String] {
    if !navigation.constraints.isEmpty { return navigation.constraints.map(\.property) }
    guard let name = navigation.relationship,
      let constraint = metadata.association(name)?.constraint,
      constraint.dependentRole == navigation.fromRole
    else { return [] }
    return constraint.dependentProperties
  }

  func part(_ place: Int, onto before: ODataEntry?, _ etag: String?) -> ODataBatchPart? {
    var operation = operations[place]
    if let base = bases[place] { operation = operation.leavingOut(base.without) }
    guard let (url, body) = desk.body(of: operation, forms[place], onto: before, etag) else {
      return nil
    }
    let address =
      bases[place].map { "$\($0.place + 1)/\($0.navigation)" }
      ?? String(url.dropFirst(desk.service.root.count))
    var part = ODataBatchPart.request(body, to: address, id: String(place + 1), group: "chain")
    part.headers.removeAll { $0.name.lowercased() == "if-match" }
    if let etag { part.headers.append(.init(name: "If-Match", value: etag)) }
    let isNew = desk.service.metadata.version >= .v4
    if operation.kind != .delete {
      let accept = desk.service.readHeaders["Accept"] ?? "application/json"
      part.headers.append(.init(name: "Accept", value: accept))
      if isNew { part.headers.append(.init(name: "Prefer", value: "return=representation")) }
    }
    return part
  }

  /// Of which operation a failed change set speaks, where its answer says so.
  func place(of part: ODataBatchPart, status: Int) -> Int? {
    if let id = part.id, let number = Int(id), operations.indices.contains(number - 1) {
      return number - 1
    }
    switch status {
    case 409: return operations.firstIndex { $0.kind == .create }
    case 404, 410: return operations.firstIndex { $0.kind != .create }
    default: return nil
    }
  }
}

extension ConnectorOperation {
  fileprivate func leavingOut(_ positions: Set<Int>) -> ConnectorOperation {
    var rest = ConnectorOperation(
      id: id, entity: entity, kind: kind, key: key,
      changed: changed.filter { !positions.contains($0.key) }, base: base,
      temporaryKey: temporaryKey, contents: contents, judge: judge, user: user)
    rest.conflictRules = conflictRules
    rest.resultNotes = resultNotes
    rest.policy = policy
    return rest
  }
}

extension ODataBatchPart {
  fileprivate var isDone: Bool { status.map { (200..<300).contains($0) } ?? false }

  fileprivate var fields: HTTPHeaders {
    var fields = HTTPHeaders()
    for header in headers { fields.add(header.name, header.value) }
    return fields
  }
}
