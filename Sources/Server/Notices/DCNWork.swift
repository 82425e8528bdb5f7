import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer
import FerryWire

/// Takes the messages of one request: all of them or none.
struct DCNWork: Sendable {
  let desk: NoticeDesk
  let callers: CallerDesk
  let caller: Caller

  struct Line: Sendable {
    let id: String
    var isSuccess: Bool
    var text: String
  }

  static let rolledBack = "rolled back: a later message of the request failed"
  static let skipped = "skipped: an earlier message of the request failed"

  private enum Step {
    case notice(Notice)
    /// An operation of the model, performed as the user.
    case operation(Operation)
  }

  func answer(_ form: DCNForm, isGrouped: Bool) async throws(ServerError) -> HTTPResponse {
    // An entity that is not there is a mistake of the whole request.
    if let unknown = form.messages.first(where: { desk.package.entity(named: $0.entity) == nil }) {
      return HTTPResponse.text(
        400, "The package \(desk.package.id) has no MBO \(unknown.entity.prefix(80)).")
    }
    var steps: [Step] = []
    for (place, message) in form.messages.enumerated() {
      do throws(NoticeMessage.Fault) { steps.append(try step(message)) } catch {
        return DCNWork.response(
          failed(form, at: place, error.reason, done: []), isGrouped: isGrouped)
      }
    }
    var lines = form.messages.map { Line(id: $0.id, isSuccess: true, text: "") }
    // What others do to single rows goes together; operations are business transactions of their own.
    var done: Set<Int> = []
    for (place, step) in steps.enumerated() {
      guard case .operation(let operation) = step else { continue }
      let outcome = try await callers.perform(
        [operation], for: caller, patience: .seconds(60), isKept: false)
      if let reason = DCNWork.failure(outcome) {
        return DCNWork.response(
          failed(form, at: place, reason, done: done), isGrouped: isGrouped)
      }
      done.insert(place)
    }
    let notices = DCNWork.merged(
      steps.compactMap { if case .notice(let notice) = $0 { notice } else { nil } })
    let outcomes = try await desk.take(notices)
    for (notice, outcome) in zip(notices, outcomes) {
      guard case .unfit(let reason) = outcome else { continue }
      for place in lines.indices {
        if case .notice(let own) = steps[place], own.entity == notice.entity, own.key == notice.key
        {
          lines[place].isSuccess = false
          lines[place].text = reason
        }
      }
    }
    return DCNWork.response(lines, isGrouped: isGrouped)
  }

  /// `done`: operations that the business system has performed: they stay.
  private func failed(
    _ form: DCNForm, at place: Int, _ reason: String, done: Set<Int>
  ) -> [Line] {
    form.messages.enumerated().map { index, message in
      if done.contains(index) { return Line(id: message.id, isSuccess: true, text: "") }
      if index == place { return Line(id: message.id, isSuccess: false, text: reason) }
      return Line(
        id: message.id, isSuccess: false,
        text: index < place ? DCNWork.rolledBack : DCNWork.skipped)
    }
  }

  /// Of several messages of one object the later ones add to the earlier ones.
  static func merged(_ notices: [Notice]) -> [Notice] {
    var order: [String] = []
    var merged: [String: Notice] = [:]
    for notice in notices {
      let name = "\(notice.entity.name) \(notice.key.text)"
      guard let before = merged[name] else {
        order.append(name)
        merged[name] = notice
        continue
      }
      switch (before.content, notice.content) {
      case (.values(let old), .values(let new)):
        merged[name] = Notice(
          notice.entity, notice.key, .values(old.merging(new) { _, later in later }))
      case (.deleted, .values): merged[name] = Notice(notice.entity, notice.key, .hint)
      default: merged[name] = notice
      }
    }
    return order.compactMap { merged[$0] }
  }

  private func step(_ message: DCNForm.Message) throws(NoticeMessage.Fault) -> Step {
    guard let entity = desk.package.entity(named: message.entity) else {
      throw NoticeMessage.Fault(reason: "there is no MBO \(message.entity)")
    }
    let values = try values(message, entity)
    switch message.operation {
    case ":upsert", ":delete":
      guard !entity.isOperation else {
        throw NoticeMessage.Fault(reason: "\(entity.name) is an operation and has no rows")
      }
      let key = try key(values, entity)
      return .notice(
        Notice(entity, key, message.operation == ":delete" ? .deleted : .values(values)))
    default:
      let named = OperationKind.allCases.first { $0.rawValue == message.operation.lowercased() }
      let kind = named ?? (entity.isOperation && entity.name == message.operation ? .create : nil)
      guard let kind, entity.operations.contains(kind) else {
        throw NoticeMessage.Fault(
          reason: "\(entity.name) has no operation \(message.operation.prefix(60))")
      }
      return .operation(try operation(kind, entity, values))
    }
  }

  private func values(
    _ message: DCNForm.Message, _ entity: Entity
  ) throws(NoticeMessage.Fault) -> [Int: AttributeValue] {
    var values: [Int: AttributeValue] = [:]
    for (name, node) in message.columns {
      guard let position = entity.position(of: name) else {
        throw NoticeMessage.Fault(reason: "\(entity.name) has no attribute \(name.prefix(60))")
      }
      let attribute = entity.attributes[position]
      guard !attribute.type.isBig, let value = DCNValue.read(node, attribute),
        !value.isNull || attribute.isNullable
      else {
        throw NoticeMessage.Fault(reason: "\(name) is no \(attribute.type.rawValue)")
      }
      values[position] = value
    }
    return values
  }

  private func key(
    _ values: [Int: AttributeValue], _ entity: Entity
  ) throws(NoticeMessage.Fault) -> ObjectKey {
    var key: [AttributeValue] = []
    for position in entity.key {
      guard let value = values[position], !value.isNull else {
        throw NoticeMessage.Fault(
          reason: "the key attribute \(entity.attributes[position].name) is missing")
      }
      key.append(value)
    }
    return ObjectKey(key)
  }

  private func operation(
    _ kind: OperationKind, _ entity: Entity, _ values: [Int: AttributeValue]
  ) throws(NoticeMessage.Fault) -> Operation {
    let id = desk.newOperationID
    var changed = values
    var key: ObjectKey?
    if kind != .create || entity.keyOrigin != .businessSystem { key = try self.key(values, entity) }
    for position in entity.key where kind != .create { changed[position] = nil }
    if kind == .delete { changed = [:] }
    return Operation(
      id: id, chain: id, entity: entity.name, kind: kind, key: key, changed: changed, base: [:])
  }

  private static func failure(_ outcome: CallerOutcome) -> String? {
    switch outcome {
    case .answered(let answers): answers.lazy.compactMap(DCNWork.failure).first
    case .inWork: "the business system has not answered within 60 s; the operation stays in work"
    case .otherOperation: "another operation has this number"
    case .notTaken(let why): why
    }
  }

  private static func failure(_ answer: Answer) -> String? {
    guard answer.outcome != .replayResult else { return nil }
    return answer.logRecords.first?.message ?? "the operation was not performed"
  }

  private static func response(_ lines: [Line], isGrouped: Bool) -> HTTPResponse {
    var writer = JSONWriter()
    writer.beginArray()
    if isGrouped {
      var groups: [(ids: [String], line: Line)] = []
      for line in lines {
        if let last = groups.last, last.line.isSuccess == line.isSuccess,
          last.line.text == line.text
        {
          groups[groups.count - 1].ids.append(line.id)
        } else {
          groups.append(([line.id], line))
        }
      }
      for group in groups {
        writer.beginObject()
        writer.key("recordIDs")
        writer.array(group.ids) { $0.string($1) }
        writer.field("success", group.line.isSuccess)
        writer.field("statusMessage", group.line.text)
        writer.endObject()
      }
    } else {
      for line in lines {
        writer.beginObject()
        writer.field("recordID", line.id)
        writer.field("success", line.isSuccess)
        writer.field("statusMessage", line.text)
        writer.endObject()
      }
    }
    writer.endArray()
    return NoticeAnswer.json(200, writer.bytes)
  }
}
