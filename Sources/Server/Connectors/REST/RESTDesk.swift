import FerryConnector
import FerryHTTP
import FerryJSON
import FerryModel
import FerryWorld

/// An object as the service gave it.
struct RESTEntry {
  let node: JSONNode
  /// What a condition names.
  let version: String?
  /// The header `Last-Modified`.
  let modified: String?
}

/// Sends the requests of one chain of operations.
struct RESTDesk: AttemptDesk {
  let connection: RESTConnection
  /// Who makes the change; nil: the technical user.
  var user: String?

  /// What goes to devices is read as the technical user: a user may be shown less.
  var technical: RESTDesk { RESTDesk(connection: connection) }

  /// As the user who made the changes where the connection says so, and never as another one then.
  /// Nil where nobody knows who that is.
  func acting(for group: [ConnectorOperation]) -> RESTDesk? {
    guard connection.sendsAsUser else { return self }
    guard let user = group.first?.user, group.allSatisfy({ $0.user == user }) else { return nil }
    return RESTDesk(connection: connection, user: user)
  }

  var memory: AttemptMemory { connection.memory }

  static let impossible = "\"ferry-asks-whether-conditions-hold\""

  func form(of entity: Entity) -> RESTMapping.Form? { connection.mapping.forms[entity.name] }

  func misfit(of entity: Entity) -> String? {
    form(of: entity) == nil ? "the mapping does not have \(entity.name)" : nil
  }

  private func reader(_ entity: Entity, _ form: RESTMapping.Form) -> AnswerReader {
    AnswerReader(
      mapping: connection.mapping, entity: entity, form: form, checkers: connection.checkers)
  }

  // MARK: What can be done

  func means(
    of operation: ConnectorOperation, _ attempt: AttemptMemory.Attempt?
  ) -> AttemptMachine.Means {
    guard let form = form(of: operation.entity) else {
      return AttemptMachine.Means(isConditional: false)
    }
    let isConditional: Bool =
      switch form.condition {
      case .etag, .version, .test: memory.proof(of: operation.entity.table) != false
      case .unmodifiedSince, .none: false
      }
    return AttemptMachine.Means(
      isConditional: isConditional, proof: proof(of: operation, form, attempt))
  }

  private func proof(
    of operation: ConnectorOperation, _ form: RESTMapping.Form, _ attempt: AttemptMemory.Attempt?
  ) -> AttemptMachine.Proof {
    switch form.memory {
    case .requests(_, let window):
      guard let attempt else { return .repeatable }
      // A request may arrive late: it must still be known then.
      let end = attempt.since.advanced(by: window - memory.late)
      let isKnown = !attempt.isForgotten && memory.clock.moment < end
      return isKnown ? .repeatable : .none
    case .marker: return .attribute
    case .natural(let positions):
      let isGiven = positions.allSatisfy { operation.changed[$0].map { !$0.isNull } ?? false }
      return isGiven ? .attribute : .none
    case .none: return .none
    }
  }

  func impossibleETag(of entity: Entity) -> String? {
    switch form(of: entity)?.condition {
    case .etag, .version, .test: RESTDesk.impossible
    case .unmodifiedSince, nil: nil
    case .some(.none): nil
    }
  }

  // MARK: Reading

  func read(_ entity: Entity, _ key: ObjectKey) -> ServiceReading<RESTEntry> {
    guard let form = form(of: entity), let call = form.read else {
      return .failed(.notDone("the mapping has no \"read\" of \(entity.name)"))
    }
    guard let values = key.values(of: entity) else { return .absent }
    let keys = Dictionary(zip(entity.key, values)) { first, _ in first }
    guard let path = address(call.address, entity, form, keys, nil) else {
      return .failed(.refused(RESTDesk.noAddress(entity, key)))
    }
    return read(connection.url(path), call, entity, form)
  }

  private func read(
    _ url: String, _ call: RESTMapping.Call, _ entity: Entity, _ form: RESTMapping.Form
  ) -> ServiceReading<RESTEntry> {
    let answer = connection.send(
      RESTRequest(url: url, method: call.method, headers: headers(call)), as: user)
    switch reader(entity, form).meaning(answer) {
    case .reply(.absent): return .absent
    case .reply(let reply): return .failed(reply)
    case .done(let node, let headers, _):
      guard let node, let row = call.row.node(in: node), row.object != nil else {
        return .failed(
          .notDone(
            "the answer to GET \(call.address.text) has no object at \"\(call.row)\"; correct the "
              + "mapping (\"row\")"))
      }
      let rows = RowReader(entity: entity, form: form)
      if rows.isDeleted(row) { return .absent }
      let version = version(row, headers, form)
      if let version, !version.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
        return .failed(.notDone("the version of the object has a control character"))
      }
      return .there(
        RESTEntry(node: row, version: version, modified: headers["Last-Modified"]),
        rows.image(row), etag: version)
    }
  }

  private func version(
    _ row: JSONNode, _ headers: HTTPHeaders, _ form: RESTMapping.Form
  ) -> String? {
    switch form.condition {
    case .etag(nil): headers["ETag"]
    case .etag(let path?), .version(let path): path.node(in: row)?.plainText
    case .test: "test"
    case .unmodifiedSince, .none: nil
    }
  }

  // MARK: Writing

  func write(
    _ operation: ConnectorOperation, _ condition: AttemptMachine.Condition, onto entry: RESTEntry?
  ) -> ServiceReply {
    let entity = operation.entity
    guard let form = form(of: entity) else { return .notDone("the mapping lacks \(entity.name)") }
    let call: RESTMapping.Call? =
      switch operation.kind {
      case .create: form.create
      case .update: form.update
      case .delete: form.delete
      }
    guard let call else {
      return .refused(
        Refusal(code: 422, message: "The service does not \(operation.kind.rawValue) this."))
    }
    let draft = BodyWriter(operation: operation, form: form, entry: entry)
    guard let body = draft.body(call, condition) else {
      return .refused(Refusal(code: 422, message: "The service has no such value."))
    }
    guard
      let path = address(call.address, entity, form, draft.values, draft.version(condition))
    else { return .refused(RESTDesk.noAddress(entity, operation.key ?? ObjectKey([]))) }
    var request = RESTRequest(
      url: connection.url(path), method: call.method, headers: headers(call), body: body.bytes)
    if let type = body.type { request.headers["Content-Type"] = type }
    add(condition, to: &request, form, entry, operation)
    if let trace = operation.traceID {
      request.headers["traceparent"] = "00-\(trace)-\(trace.prefix(16))-01"
    }
    let answer = connection.send(request, as: user)
    let meaning = reader(entity, form).meaning(
      answer, of: operation, isNumbered: condition == .firstRequest,
      mayHaveRun: memory.attempt(operation.id) != nil)
    guard case .done(let node, let headers, let notes) = meaning else {
      if case .reply(let reply) = meaning { return reply }
      return .lost("the answer cannot be read")
    }
    operation.note(notes)
    for note in notes {
      connection.log.warn(
        "the service warns of a change", ("entity", entity.name), ("warning", note.message))
    }
    return done(operation, call, form, node, headers, request.url)
  }

  private func add(
    _ condition: AttemptMachine.Condition, to request: inout RESTRequest,
    _ form: RESTMapping.Form, _ entry: RESTEntry?, _ operation: ConnectorOperation
  ) {
    switch condition {
    case .unchanged(let etag):
      if case .etag = form.condition { request.headers["If-Match"] = etag }
    case .absent where request.method == .put: request.headers["If-None-Match"] = "*"
    case .firstRequest:
      if case .requests(let header, _) = form.memory {
        request.headers[header] = operation.id.text
      }
    case .absent, .none: break
    }
    if form.condition == .unmodifiedSince, let modified = entry?.modified {
      request.headers["If-Unmodified-Since"] = modified
    }
  }

  /// The row of the answer where it is whole, and the key of what was made.
  private func done(
    _ operation: ConnectorOperation, _ call: RESTMapping.Call, _ form: RESTMapping.Form,
    _ node: JSONNode?, _ headers: HTTPHeaders, _ url: String
  ) -> ServiceReply {
    let entity = operation.entity
    guard operation.kind != .delete, !entity.isOperation else { return .done(nil, key: nil) }
    let rows = RowReader(entity: entity, form: form)
    let row = node.flatMap { call.row.node(in: $0) }.flatMap { $0.object == nil ? nil : $0 }
    if let row {
      // What leaves something out is no image: it may be a receipt.
      let isWhole = form.values.allSatisfy {
        if case .node = $0.path.find(in: row) { true } else { false }
      }
      if isWhole {
        let image = rows.image(row)
        if image.values != nil { return .done(image, key: image.key) }
      }
    }
    guard operation.kind == .create, operation.key == nil else { return .done(nil, key: nil) }
    if let row, let key = rows.key(row, at: entity.key.map { form.values[$0].path }) {
      return .done(nil, key: key)
    }
    if let place = headers["Location"] ?? headers["Content-Location"],
      let found = connection.follow(place, from: url), let read = form.read,
      case .there(_, let image, _) = self.read(found, read, entity, form), image.values != nil
    {
      return .done(image, key: image.key)
    }
    return .forgotten("the service made an object and does not say which")
  }

  // MARK: Addresses

  private func headers(_ call: RESTMapping.Call) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Accept": "application/json, application/problem+json;q=0.9"]
    for field in connection.mapping.headers.fields { headers[field.name] = field.value }
    for field in call.headers.fields { headers[field.name] = field.value }
    return headers
  }

  private func address(
    _ template: AddressTemplate, _ entity: Entity, _ form: RESTMapping.Form,
    _ values: [Int: AttributeValue], _ version: String?
  ) -> String? {
    template.expanded { name in
      if name == "version" { return version }
      guard let position = entity.position(of: name), let value = values[position] else {
        return nil
      }
      return RESTDesk.text(value, form.values[position])
    }
  }

  /// As an address has it: without what a reference has around it.
  static func text(_ value: AttributeValue, _ form: ValueForm) -> String? {
    guard form.address == nil else {
      if case .text(let text) = value { return text }
      if case .integer(let number) = value { return String(number) }
      return nil
    }
    return form.plain(value)
  }

  private static func noAddress(_ entity: Entity, _ key: ObjectKey) -> Refusal {
    Refusal(
      code: 422,
      message: "The key of this \(entity.name) cannot be part of an address of the service.")
  }
}

extension RESTDesk {
  // MARK: Searching

  func find(
    _ operation: ConnectorOperation
  ) throws(ConnectorError) -> (rows: [RowImage], isExact: Bool) {
    let entity = operation.entity
    guard let form = form(of: entity), let list = form.find else { return ([], false) }
    let id = operation.id.text
    let rows = RowReader(entity: entity, form: form)
    let path = list.address.expanded { name in
      if name == "marker" { return id }
      return entity.position(of: name).flatMap { position in
        operation.changed[position].flatMap { RESTDesk.text($0, form.values[position]) }
      }
    }
    guard let path else { return ([], false) }
    // A service that does not know a parameter gives all rows: each is looked at.
    let wanted: (JSONNode, RowImage) -> Bool
    let isExact: Bool
    switch form.memory {
    case .marker(let at):
      isExact = true
      wanted = { node, _ in at.node(in: node)?.plainText == id }
    case .natural(let positions):
      isExact = positions.allSatisfy { operation.changed[$0].map { !$0.isNull } ?? false }
      wanted = { _, image in
        positions.allSatisfy { image.values?[$0] == operation.changed[$0] }
      }
    case .requests, .none:
      isExact = false
      wanted = { _, image in
        operation.changed.allSatisfy { $0.value.isNull || image.values?[$0.key] == $0.value }
      }
    }
    return (try rowsFound(list, path, entity, form, rows, wanted), isExact)
  }

  private func rowsFound(
    _ list: RESTMapping.List, _ path: String, _ entity: Entity, _ form: RESTMapping.Form,
    _ rows: RowReader, _ wanted: (JSONNode, RowImage) -> Bool
  ) throws(ConnectorError) -> [RowImage] {
    var found: [RowImage] = []
    var pages = ListPages(connection, list, path, entity, form)
    while let page = try pages.next(), found.count < 100 {
      for node in page where !rows.isDeleted(node) {
        let image = rows.image(node)
        if wanted(node, image) { found.append(image) }
      }
    }
    return found
  }

  func lookUp(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue]
  ) throws(ConnectorError) -> [AttributeValue]? {
    guard let form = form(of: entity), !values.contains(.null) else { return nil }
    if positions == entity.key, form.read != nil {
      switch technical.read(entity, ObjectKey(values)) {
      case .there(_, let image, _): return image.values
      case .absent: return nil
      case .failed(let reply): throw RESTDesk.error(reply)
      }
    }
    let known = Dictionary(zip(positions, values)) { first, _ in first }
    let rows = RowReader(entity: entity, form: form)
    let narrowed = form.find.flatMap { list in
      list.address.expanded { name in
        entity.position(of: name).flatMap { position in
          known[position].flatMap { RESTDesk.text($0, form.values[position]) }
        }
      }.map { (list, $0) }
    }
    guard
      let (list, path) = narrowed
        ?? form.list.address.expanded({ ListPages.standard($0, form.list) }).map({ (form.list, $0) }
        )
    else { return nil }
    return try rowsFound(list, path, entity, form, rows) { _, image in
      known.allSatisfy { image.values?[$0.key] == $0.value }
    }.first?.values
  }

  static func error(_ reply: ServiceReply) -> ConnectorError {
    switch reply {
    case .notDone(let reason), .lost(let reason), .forgotten(let reason):
      ConnectorError(reason, hint: "It is tried again.", isTransient: true)
    case .needsCredential:
      ConnectorError(
        "The service wants a credential", hint: "Give the connection one that it accepts.",
        isTransient: true)
    case .refused(let refusal):
      refusal.code == 403
        ? ConnectorError(
          "The service refuses to be read: \(refusal.message)",
          hint: "Give the user of the connection the right to read it.", isTransient: true)
        : ConnectorError(
          "The service refuses the question: \(refusal.message)",
          hint: "Correct the address, \"paging\" or \"pageRows\" in the mapping.",
          isTransient: false)
    case .absent:
      ConnectorError(
        "The service has nothing at this address", hint: "Correct the address in the mapping.",
        isTransient: true)
    case .done, .changed:
      ConnectorError("The service gave no rows", hint: "It is tried again.", isTransient: true)
    }
  }
}
