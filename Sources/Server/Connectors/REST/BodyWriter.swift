import FerryConnector
import FerryJSON
import FerryModel

/// Makes the body of one change.
struct BodyWriter {
  let operation: ConnectorOperation
  let form: RESTMapping.Form
  let entry: RESTEntry?

  /// By position: what the operation sets, and its key.
  var values: [Int: AttributeValue] {
    var values = operation.changed
    if let key = operation.key?.values(of: operation.entity) {
      for (position, value) in zip(operation.entity.key, key) { values[position] = value }
    }
    return values
  }

  struct Body {
    var bytes: [UInt8] = []
    var type: String?
  }

  /// Nil where the service has no such value.
  func body(_ call: RESTMapping.Call, _ condition: AttemptMachine.Condition) -> Body? {
    switch call.body {
    case .none: return Body()
    case .patch where operation.kind == .update: return patch(call, condition)
    case .whole, .changed, .merge, .patch: break
    }
    let isCreate = operation.kind == .create
    var object =
      call.body == .whole && !isCreate ? entry.map { JSONDraft($0.node) } ?? .empty : .empty
    for (position, value) in (isCreate ? values : operation.changed).sorted(by: { $0.key < $1.key })
    where !form.values[position].isReadOnly {
      // Who creates gives what there is; a service has its own words for what is missing.
      if isCreate, value.isNull { continue }
      guard let draft = form.values[position].draft(value) else { return nil }
      object.set(draft, at: form.values[position].path.steps[...])
    }
    if isCreate {
      for constant in form.constants { object.set(constant.value, at: constant.path.steps[...]) }
      if case .marker(let path) = form.memory {
        object.set(.string(operation.id.text), at: path.steps[...])
      }
    }
    if case .version(let path) = form.condition, let version = versionDraft(condition, path) {
      object.set(version, at: path.steps[...])
    }
    var whole = object
    if !call.bodyAt.steps.isEmpty {
      whole = .empty
      whole.set(object, at: call.bodyAt.steps[...])
    }
    return Body(
      bytes: whole.bytes,
      type: call.body == .merge ? "application/merge-patch+json" : "application/json")
  }

  private func patch(
    _ call: RESTMapping.Call, _ condition: AttemptMachine.Condition
  ) -> Body? {
    var steps: [JSONDraft] = []
    func step(_ name: String, _ path: JSONPath, _ value: JSONDraft) {
      let place = (call.bodyAt.steps + path.steps)
      steps.append(
        .object([
          .init(key: "op", value: .string(name)),
          .init(key: "path", value: .string(JSONPath(steps: place).description)),
          .init(key: "value", value: value),
        ]))
    }
    if case .version(let path) = form.condition, let version = versionDraft(condition, path) {
      step("test", path, version)
    }
    let changes = operation.changed.sorted { $0.key < $1.key }
      .filter { !form.values[$0.key].isReadOnly }
    if form.condition == .test, case .unchanged(let etag) = condition {
      for (position, _) in changes {
        let path = form.values[position].path
        if etag == RESTDesk.impossible {
          step("test", path, .string(RESTDesk.impossible))
        } else if let entry, let before = path.node(in: entry.node) {
          step("test", path, JSONDraft(before))
        }
      }
    }
    for (position, value) in changes {
      guard let draft = form.values[position].draft(value) else { return nil }
      let path = form.values[position].path
      let isThere = entry.map { path.node(in: $0.node) != nil } ?? false
      step(isThere ? "replace" : "add", path, draft)
    }
    return Body(bytes: JSONDraft.array(steps).bytes, type: "application/json-patch+json")
  }

  /// The version that a condition names, as an address has it.
  func version(_ condition: AttemptMachine.Condition) -> String? {
    guard case .unchanged(let etag) = condition else { return entry?.version }
    guard case .version(let path) = form.condition, etag == RESTDesk.impossible else { return etag }
    return versionDraft(condition, path).flatMap {
      switch $0 {
      case .number(let text), .string(let text): text
      default: nil
      }
    }
  }

  private func versionDraft(
    _ condition: AttemptMachine.Condition, _ path: JSONPath
  ) -> JSONDraft? {
    guard case .unchanged(let etag) = condition,
      let known = entry.flatMap({ path.node(in: $0.node) })
    else { return nil }
    let isNumber = if case .number = known.content { true } else { false }
    guard etag == RESTDesk.impossible else { return isNumber ? .number(etag) : .string(etag) }
    // Of a time: one long before.
    if let text = known.string, ServiceTime.utc(text).flatMap({ LocalDateTime($0) }) != nil {
      return .string(text.hasSuffix("Z") ? "1970-01-01T00:00:00Z" : "1970-01-01T00:00:00")
    }
    return isNumber ? .number("-1") : .string("ferry-asks")
  }
}
