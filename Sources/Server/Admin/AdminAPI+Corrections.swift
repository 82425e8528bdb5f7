import FerryJSON
import FerryModel
import FerryServer
import FerryWire

/// What becomes of refused operations.
extension AdminAPI {
  func correct(_ call: AdminCall, _ text: String) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let id = try AdminCall.operation(text)
    let desk = try desk()
    let found = try await asking { () async throws(ServerError) in try await desk.entry(id) }
    guard let (_, entry) = found else { throw .notFound("operation \(id)") }
    let order = try AdminAPI.order(call, entry)
    return try await correct(order, entry, call, desk)
  }

  private func correct(
    _ order: CorrectionOrder, _ entry: DeskEntry, _ call: AdminCall, _ desk: AdminDesk
  ) async throws(AdminError) -> AdminAnswer {
    let isTrial = call.isTrial
    let made = try await asking { () async throws(ServerError) in
      try await desk.correct(order, isTrial: isTrial)
    }
    if !isTrial { note(made, call, desk) }
    let discarded = entry.corrections.last { $0.verb == .discard && $0.state == .taken }
    return AdminAnswer { writer in
      writer.field("dryRun", isTrial)
      writer.key("correction")
      AdminAPI.write(made, to: &writer, entity: entry.entity)
      writer.field("willDo", AdminAPI.sentence(made, discarded))
    }
  }

  private func note(_ made: StoredCorrection, _ call: AdminCall, _ desk: AdminDesk) {
    desk.audit.note(
      .correctionMade, by: call.person.name, user: made.owner.user.text,
      device: made.owner.device.text, operation: made.operation.text, address: call.address,
      reason: "\(made.verb.rawValue): \(made.reason)")
  }

  /// `discarded`: what a restore takes back.
  private static func sentence(
    _ correction: StoredCorrection, _ discarded: StoredCorrection?
  ) -> String {
    let device = "\(correction.owner.device.text) of \(correction.owner.user.text)"
    return switch correction.verb {
    case .retry: "The device \(device) sends the change again as it is."
    case .release:
      "The device \(device) puts the values into its change and sends it, "
        + "unless the app has changed the object since."
    case .discard: "The device \(device) cancels its change and shows the downloaded row again."
    case .restore:
      "The device \(device) has the change again, refused as it was, unless the app has changed the "
        + "object since. \(discarded?.madeBy ?? "Somebody") discarded it: \(discarded?.reason ?? "")"
    }
  }

  private static func order(
    _ call: AdminCall, _ entry: DeskEntry
  ) throws(AdminError) -> CorrectionOrder {
    guard let verb = call.body?["verb"]?.string.flatMap(Correction.Verb.init) else {
      throw .bad("there is no such verb", hint: "Write retry, release, discard or restore.")
    }
    var order = CorrectionOrder(operation: entry.operation.id, verb: verb)
    order.reason = try call.reason()
    order.message = try call.word("message", atMost: 1_000)
    order.by = call.person.name
    if verb == .release, let entity = entry.entity {
      order.changed = try values(call.body?["changed"], entity)
      order.seen = try values(call.body?["seen"], entity)
      // What is as it was sent is no correction.
      if let sent = entry.sent {
        order.changed = order.changed.filter { sent.changed[$0.key] != $0.value }
      }
    }
    return order
  }

  /// Values by the names of attributes. A text is read as people write the type.
  private static func values(
    _ node: JSONNode?, _ entity: Entity
  ) throws(AdminError) -> [Int: AttributeValue] {
    guard let node, !node.isNull else { return [:] }
    guard let members = node.object else {
      throw .bad("the values are no object", hint: "Write {\"attribute\": value}.")
    }
    var values: [Int: AttributeValue] = [:]
    for member in members {
      guard let position = entity.position(of: member.key) else {
        throw .bad("\(entity.name) has no attribute \(member.key)", hint: "Check its name.")
      }
      let attribute = entity.attributes[position]
      guard let value = value(member.value, attribute.type) else {
        throw .bad(
          "the value of \(member.key) is no \(attribute.type.rawValue)", hint: "Enter another one.")
      }
      values[position] = value
    }
    return values
  }

  static func value(_ node: JSONNode, _ type: AttributeType) -> AttributeValue? {
    switch (node.content, type) {
    case (.null, _): return .null
    case (.boolean(let flag), .boolean): return .boolean(flag)
    case (.number(let text), .float), (.number(let text), .double),
      (.string(let text), .float), (.string(let text), .double):
      return Double(text).map(AttributeValue.double).flatMap(type.canonical)
    case (.number(let text), .byte), (.number(let text), .short), (.number(let text), .int),
      (.number(let text), .long), (.string(let text), .byte), (.string(let text), .short),
      (.string(let text), .int), (.string(let text), .long):
      return Int64(text).map(AttributeValue.integer).flatMap(type.canonical)
    case (.string("true"), .boolean): return .boolean(true)
    case (.string("false"), .boolean): return .boolean(false)
    case (.string, .binary): return nil
    case (.string(let text), _), (.number(let text), _): return type.canonical(.text(text))
    default: return nil
    }
  }

  func withdraw(
    _ call: AdminCall, _ text: String, _ correction: String
  ) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let id = try AdminCall.operation(text)
    let order = try AdminCall.operation(correction)
    let reason = try call.reason()
    let desk = try desk()
    let ended = try await asking { () async throws(ServerError) in
      try await desk.withdraw(order, of: id)
    }
    desk.audit.note(
      .correctionWithdrawn, by: call.person.name, user: ended.owner.user.text,
      device: ended.owner.device.text, operation: id.text, address: call.address, reason: reason)
    return AdminAnswer { writer in
      writer.key("correction")
      AdminAPI.write(ended, to: &writer, entity: nil)
    }
  }

  // Many at once.

  /// Refused operations that wait for somebody, by what they have in common.
  func causes() async throws(AdminError) -> AdminAnswer {
    let lines = try await openLines(of: nil)
    var order: [String] = []
    var counts: [String: (count: Int, users: Set<String>, example: String)] = [:]
    for line in lines {
      let cause = line.operation.records.first.map(AdminAPI.cause(of:)) ?? "no reason is known"
      if counts[cause] == nil { order.append(cause) }
      var known = counts[cause] ?? (0, [], line.operation.id.text)
      known.count += 1
      known.users.insert(line.operation.owner.user.text)
      counts[cause] = known
    }
    order.sort { (counts[$0]?.count ?? 0, $1) > (counts[$1]?.count ?? 0, $0) }
    return AdminAnswer { writer in
      writer.key("causes")
      writer.array(order) { writer, cause in
        writer.beginObject()
        writer.field("cause", cause)
        writer.field("operations", counts[cause]?.count ?? 0)
        writer.field("users", counts[cause]?.users.count ?? 0)
        writer.field("example", counts[cause]?.example)
        writer.endObject()
      }
    }
  }

  /// At most so many are decided about at once.
  static let mostAtOnce: Int = 1_000

  private func openLines(
    of call: AdminCall?
  ) async throws(AdminError) -> [AdminOperations.Line] {
    var filter = DeskFilter()
    filter.isOpen = true
    filter.user = call?.body?["user"]?.string
    filter.device = call?.body?["device"]?.string
    filter.entity = call?.body?["entity"]?.string
    let package = call?.body?["package"]?.string
    let desk = try desk()
    let wanted = filter
    return try await asking { () async throws(ServerError) in
      try await desk.operations(
        wanted, of: package, before: nil, count: AdminAPI.mostAtOnce)
    }.lines
  }

  /// Retries or discards all that a filter takes, or all of one cause.
  func correctMany(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    guard let verb = call.body?["verb"]?.string.flatMap(Correction.Verb.init),
      verb == .retry || verb == .discard
    else { throw .bad("many are retried or discarded", hint: "Write retry or discard.") }
    let reason = try call.reason()
    let message = try call.word("message", atMost: 1_000)
    let cause = call.body?["cause"]?.string
    let desk = try desk()
    let isTrial = call.isTrial
    var done: [StoredCorrection] = []
    var refused: [(id: String, message: String)] = []
    for line in try await openLines(of: call) {
      guard cause == nil || line.operation.records.first.map(AdminAPI.cause(of:)) == cause,
        !line.corrections.contains(where: { $0.state == .open })
      else { continue }
      var order = CorrectionOrder(operation: line.operation.id, verb: verb)
      (order.reason, order.message, order.by) = (reason, message, call.person.name)
      let wanted = order
      do throws(AdminError) {
        let made = try await asking { () async throws(ServerError) in
          try await desk.correct(wanted, isTrial: isTrial)
        }
        if !isTrial { note(made, call, desk) }
        done.append(made)
      } catch {
        refused.append((line.operation.id.text, error.message))
      }
    }
    return AdminAnswer { writer in
      writer.field("dryRun", isTrial)
      writer.field("operations", done.count)
      writer.key("ids")
      writer.array(done) { $0.string($1.operation.text) }
      writer.key("notDone")
      writer.array(refused) { writer, one in
        writer.beginObject()
        writer.field("id", one.id)
        writer.field("message", one.message)
        writer.endObject()
      }
    }
  }
}
