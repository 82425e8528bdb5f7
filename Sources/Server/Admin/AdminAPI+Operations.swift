import FerryJSON
import FerryModel
import FerryServer
import FerryWire

/// The desk of operations.
extension AdminAPI {
  static let pageSize: Int64 = 50
  static let longestPage: Int64 = 500

  func operations(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    let filter = try AdminAPI.filter(call)
    let count = try call.integer("count", in: 1...AdminAPI.longestPage) ?? AdminAPI.pageSize
    let before = try call.integer("before", in: 1...Int64.max)
    let desk = try desk()
    let found = try await asking { () async throws(ServerError) in
      try await desk.operations(
        filter, of: call.text("package"), before: before, count: Int(count))
    }
    return AdminAnswer { writer in
      writer.key("operations")
      writer.array(found.lines) { AdminAPI.write($1, to: &$0) }
      if !found.isLast, let last = found.lines.last {
        writer.field("next", last.operation.sequence)
      }
    }
  }

  private static func filter(_ call: AdminCall) throws(AdminError) -> DeskFilter {
    var filter = DeskFilter()
    filter.id = try call.text("id").map { text throws(AdminError) in
      try AdminCall.operation(text)
    }
    filter.user = call.text("user")
    filter.device = call.text("device")
    filter.entity = call.text("entity")
    filter.key = call.text("key")
    filter.chain = call.text("chain").flatMap { OperationID($0) }
    switch call.text("state") {
    case nil: break
    // What an operator has to look at.
    case "open": filter.isOpen = true
    case "discarded": filter.isDiscarded = true
    case let name?:
      guard let state = DeskState(rawValue: name) else {
        let names = DeskState.allCases.map(\.rawValue).joined(separator: ", ")
        throw .bad("there is no state \(name)", hint: "Write open, discarded, \(names).")
      }
      filter.state = state
    }
    return filter
  }

  /// No values of business rows but the key.
  private static func write(_ line: AdminOperations.Line, to writer: inout JSONWriter) {
    writer.beginObject()
    write(line.operation, to: &writer)
    writer.field("package", line.package)
    if let last = line.corrections.last {
      writer.key("correction")
      write(last, to: &writer, entity: nil)
    }
    writer.endObject()
  }

  static func write(_ operation: DeskOperation, to writer: inout JSONWriter) {
    writer.field("id", operation.id.text)
    writer.field("number", operation.sequence)
    writer.field("entity", operation.entity)
    writer.field("kind", operation.kind.rawValue)
    writer.field("key", operation.newKey ?? operation.key)
    writer.field("user", operation.owner.user.text)
    writer.field("device", operation.owner.device.text)
    writer.field("state", operation.state.rawValue)
    if operation.isClaimed { writer.field("inWork", true) }
    if operation.mayHaveRun { writer.field("mayHaveRun", true) }
    if operation.count > 1 {
      writer.field("chain", operation.chain.text)
      writer.field("position", operation.position)
      writer.field("count", operation.count)
    }
    if let record = operation.records.first {
      writer.field("code", record.code)
      writer.field("attribute", record.attribute)
      writer.field("time", record.timestamp)
      writer.field("cause", cause(of: record))
    }
  }

  /// What many refusals have in common: the code, and the rule or the words without their values.
  static func cause(of record: LogRecord) -> String {
    if let rule = record.constraint { return "\(record.code) \(rule)" }
    var words = ""
    var isQuoted = false
    for character in record.message.prefix(200) {
      if character == "\"" { isQuoted.toggle() }
      if isQuoted || character.isNumber || character == "\"" {
        if words.last != "…" { words.append("…") }
      } else {
        words.append(character)
      }
    }
    return "\(record.code) \(words)"
  }

  func operation(_ call: AdminCall, _ text: String) async throws(AdminError) -> AdminAnswer {
    let id = try AdminCall.operation(text)
    let desk = try desk()
    let found = try await asking { () async throws(ServerError) in try await desk.entry(id) }
    guard let (package, entry) = found else { throw .notFound("operation \(id)") }
    let showsValues = call.text("values") == "1"
    if showsValues {
      try call.require(.operator)
      desk.audit.note(
        .valuesShown, by: call.person.name, user: entry.operation.owner.user.text,
        device: entry.operation.owner.device.text, operation: id.text, address: call.address,
        reason: "\(entry.operation.entity) \(entry.operation.key ?? "")")
    }
    return AdminAnswer { writer in
      AdminAPI.write(entry.operation, to: &writer)
      writer.field("package", package.id)
      writer.field("valuesShown", showsValues)
      AdminAPI.write(entry, showsValues: showsValues, to: &writer)
    }
  }

  private static func write(
    _ entry: DeskEntry, showsValues: Bool, to writer: inout JSONWriter
  ) {
    writer.key("records")
    writer.array(entry.operation.records) { writer, record in
      writer.beginObject()
      writer.field("code", record.code)
      writer.field("level", record.level.rawValue)
      writer.field("time", record.timestamp)
      writer.field("attribute", record.attribute)
      writer.field("constraint", record.constraint)
      // The words of a business system may have values.
      writer.field("message", showsValues ? record.message : cause(of: record))
      if showsValues {
        writer.field("detail", record.detail)
        writer.field("hint", record.hint)
      }
      writer.endObject()
    }
    if let entity = entry.entity, let sent = entry.sent {
      writer.key("attributes")
      writer.array(entity.attributes.indices.filter { isConcerned($0, sent, entity) }) {
        writer, position in
        let attribute = entity.attributes[position]
        writer.beginObject()
        writer.field("name", attribute.name)
        writer.field("type", attribute.type.rawValue)
        writer.field("nullable", attribute.isNullable)
        writer.field("isKey", entity.key.contains(position))
        writer.field("isSent", sent.changed[position] != nil)
        if !attribute.values.isEmpty {
          writer.key("list")
          writer.array(attribute.values) { $0.value($1) }
        }
        if showsValues {
          write("base", sent.base[position], to: &writer)
          write("mine", sent.changed[position], to: &writer)
          write(
            "theirs", entry.theirs.flatMap { position < $0.count ? $0[position] : nil },
            to: &writer)
        }
        writer.endObject()
      }
      writer.field("isThere", entry.theirs != nil)
    }
    writer.key("corrections")
    writer.array(entry.corrections) { writer, correction in
      write(correction, to: &writer, entity: showsValues ? entry.entity : nil)
    }
    for (name, others) in [("chainMembers", entry.chain), ("sameObject", entry.sameObject)] {
      writer.key(name)
      writer.array(others) { writer, other in
        writer.beginObject()
        write(other, to: &writer)
        writer.endObject()
      }
    }
  }

  /// A delete shows all that it was based on; big values are references that say nothing.
  private static func isConcerned(
    _ position: Int, _ sent: FerryWire.Operation, _ entity: Entity
  ) -> Bool {
    !entity.attributes[position].isClientOnly
      && (sent.kind != .delete || sent.base[position] != nil)
  }

  private static func write(
    _ name: String, _ value: AttributeValue?, to writer: inout JSONWriter
  ) {
    guard let value else { return }
    writer.key(name)
    writer.value(value)
  }

  /// `entity`: whose values may be shown.
  static func write(
    _ correction: StoredCorrection, to writer: inout JSONWriter, entity: Entity?
  ) {
    writer.beginObject()
    writer.field("id", correction.id.text)
    writer.field("operation", correction.operation.text)
    writer.field("verb", correction.verb.rawValue)
    writer.field("state", correction.state.rawValue)
    writer.field("by", correction.madeBy)
    writer.field("reason", correction.reason)
    writer.field("message", correction.message)
    writer.field("made", correction.made)
    writer.field("ended", correction.ended)
    if let became = correction.became { writer.field("became", became.text) }
    if !correction.detail.isEmpty { writer.field("detail", correction.detail) }
    let names = (try? JSONNode.parse(Array(correction.changed.utf8)))?.object?.map(\.key) ?? []
    writer.key("attributes")
    writer.array(names) { $0.string($1) }
    if entity != nil {
      writer.key("changed")
      writer.raw(correction.changed.utf8)
    }
    writer.endObject()
  }
}
