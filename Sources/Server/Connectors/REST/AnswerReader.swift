import FerryConnector
import FerryHTTP
import FerryJSON
import FerryModel

/// Reads what the answers of a service mean, by their status and by the rules of the mapping.
struct AnswerReader {
  let mapping: RESTMapping
  let entity: Entity
  let form: RESTMapping.Form
  var checkers: [any ResultChecker] = []

  /// What an answer says.
  enum Meaning {
    /// 2xx, or what a rule takes for it. The text as JSON; nil where there is none, or where it did not
    /// come to its end. What the service says about it.
    case done(JSONNode?, HTTPHeaders, [ResultNote])
    case reply(ServiceReply)
  }

  /// Where a sentence for people is found if the mapping says nothing.
  private static let messages = [
    "/detail", "/message", "/error/message", "/error_description", "/_error/message", "/error",
    "/errors/0/message", "/errors/0/detail", "/title", "/msg",
  ].compactMap { JSONPath($0) }

  /// `change`: what was sent, which may have changed something, and whose answer may be lost; nil for
  /// a reading. `isNumbered`: the service knows it by a number, under which it may have been sent
  /// before.
  func meaning(
    _ answer: RESTAnswer, of change: ConnectorOperation? = nil, isNumbered: Bool = false,
    mayHaveRun: Bool = false
  ) -> Meaning {
    let isChange = change != nil
    switch answer {
    case .notDone(let reason): return .reply(.notDone(reason))
    case .lost(let reason): return .reply(isChange ? .lost(reason) : .notDone(reason))
    case .needsCredential: return .reply(.needsCredential)
    case .answer(let status, let headers, let body, let isWhole):
      let reading = Reading(status, headers, body, isWhole: isWhole)
      if let change {
        if !isWhole, isJudgedByBody(change, reading) {
          return .reply(
            .lost("the answer ended early, and its text says what became of the change"))
        }
        if let verdict = verdict(change, reading, body) { return byVerdict(verdict, reading) }
      }
      let kind = change?.kind
      if let rule = (form.rules + mapping.rules).first(where: { matches($0, reading, kind) }) {
        return byRule(rule, reading, isChange: isChange)
      }
      return byStatus(
        reading, isChange: isChange, isNumbered: isNumbered, mayHaveRun: mayHaveRun)
    }
  }

  /// An answer with its text, read once.
  private struct Reading {
    let status: Int
    let headers: HTTPHeaders
    let node: JSONNode?
    let isWhole: Bool
    /// There is text, and it is no JSON: a page of a proxy, or something cut.
    let isForeign: Bool
    var name: String { "the service answered with status \(status)" }

    init(_ status: Int, _ headers: HTTPHeaders, _ body: [UInt8], isWhole: Bool) {
      self.status = status
      self.headers = headers
      self.isWhole = isWhole
      node = body.isEmpty ? nil : try? JSONNode.parse(body, nodeLimit: 4_000_000)
      isForeign = !body.isEmpty && node == nil
    }
  }

  private func byStatus(
    _ reading: Reading, isChange: Bool, isNumbered: Bool, mayHaveRun: Bool
  ) -> Meaning {
    let (status, name) = (reading.status, reading.name)
    let words = sentence(reading.node)
    let uncertain: ServiceReply =
      isChange
      ? .lost(words.map { "\(name): \($0)" } ?? name)
      : .notDone(words.map { "\(name): \($0)" } ?? name)
    switch status {
    case 200..<300:
      if reading.isForeign {
        let reason = "the service answered with a page, not with data"
        return .reply(isChange ? .lost(reason) : .notDone(reason))
      }
      guard reading.isWhole || isChange else {
        return .reply(.notDone("the answer of the service ended early"))
      }
      return .done(reading.isWhole ? reading.node : nil, reading.headers, [])
    case 300..<400: return .reply(.notDone("\(name): it leads elsewhere, and that is not followed"))
    case 401, 407: return .reply(.needsCredential)
    case 429: return .reply(.notDone(name))
    case 503 where reading.headers["Retry-After"] != nil: return .reply(.notDone(name))
    case 408, 500...: return .reply(uncertain)
    case 403 where words == nil: return .reply(.needsCredential)
    case 404, 410:
      // A proxy says so too, while the service is away. Only the service knows of its objects.
      let isOfService =
        reading.node?.object != nil || mapping.believesEmptyAbsence && !reading.isForeign
      return .reply(isOfService ? .absent : .notDone(name))
    default: break
    }
    if isNumbered, let numbered = numbered(reading, words, mayHaveRun) { return .reply(numbered) }
    if isChange, form.changedStatus.contains(status) { return .reply(.changed) }
    // A page of a proxy says nothing about the object.
    guard reading.node?.object != nil else { return .reply(.notDone(name)) }
    return .reply(.refused(refusal(reading, code: nil, text: words)))
  }

  /// A number under which the service has the request in work, or another request.
  private func numbered(
    _ reading: Reading, _ words: String?, _ mayHaveRun: Bool
  ) -> ServiceReply? {
    guard mayHaveRun else { return nil }
    let kind = reading.node.flatMap { $0["type"]?.string ?? $0["error"]?["type"]?.string } ?? ""
    let isOfNumber = (kind + (words ?? "")).lowercased().contains("idempoten")
    switch reading.status {
    case 409: return .notDone("the service has the request in work")
    case 400, 422:
      return isOfNumber ? .forgotten("the service has another request under this number") : nil
    default: return nil
    }
  }

  // MARK: Rules

  /// Whether the rule is about such an answer, whatever its header or text says.
  private func concerns(
    _ rule: RESTMapping.Rule, _ reading: Reading, _ kind: OperationKind?
  ) -> Bool {
    if let kinds = rule.kinds {
      guard let kind, kinds.contains(kind) else { return false }
    }
    guard let status = rule.status else { return true }
    let text = String(reading.status)
    return status == text || status.hasSuffix("xx") && status.first == text.first
  }

  private func matches(
    _ rule: RESTMapping.Rule, _ reading: Reading, _ kind: OperationKind?
  ) -> Bool {
    guard concerns(rule, reading, kind) else { return false }
    if let header = rule.header {
      guard let found = reading.headers[header] else { return false }
      return rule.values.map { $0.contains(found) } ?? true
    }
    guard let at = rule.at else { return true }
    guard let node = reading.node, let found = at.node(in: node) else { return false }
    guard let values = rule.values else { return !found.isNull }
    return found.plainText.map { values.contains($0) } ?? false
  }

  /// Whether only the text of the answer says whether the change was done.
  private func isJudgedByBody(_ change: ConnectorOperation, _ reading: Reading) -> Bool {
    guard (200..<300).contains(reading.status) else { return false }
    return !checkers.isEmpty
      || (form.rules + mapping.rules).contains {
        $0.at != nil && concerns($0, reading, change.kind)
      }
  }

  private func byRule(
    _ rule: RESTMapping.Rule, _ reading: Reading, isChange: Bool
  ) -> Meaning {
    let text =
      rule.textAt.flatMap { path in reading.node.flatMap { path.node(in: $0)?.plainText } }
      ?? rule.text ?? sentence(reading.node)
    switch rule.meaning {
    case .success: return .done(reading.node, reading.headers, [])
    case .warning: return .done(reading.node, reading.headers, notes(rule, reading, text))
    case .refusal: return .reply(.refused(refusal(reading, code: rule.code, text: text)))
    case .failure: return .reply(.refused(refusal(reading, code: rule.code ?? 500, text: text)))
    case .later: return .reply(.notDone(text ?? reading.name))
    case .lost:
      return .reply(isChange ? .lost(text ?? reading.name) : .notDone(text ?? reading.name))
    case .absent: return .reply(.absent)
    case .changed: return .reply(.changed)
    }
  }

  /// One for each sentence where `textAt` names a list of them.
  private func notes(
    _ rule: RESTMapping.Rule, _ reading: Reading, _ text: String?
  ) -> [ResultNote] {
    let found = rule.textAt.flatMap { path in reading.node.flatMap { path.node(in: $0) } }
    let list = found?.array?.compactMap { $0.plainText ?? sentence($0) } ?? []
    let texts = list.isEmpty ? [text ?? reading.name] : list
    let (attribute, code) = (attribute(reading.node), businessCode(reading))
    return texts.map { ResultNote(.warning, $0, attribute: attribute, businessCode: code) }
  }

  // MARK: Checkers

  private func verdict(
    _ change: ConnectorOperation, _ reading: Reading, _ body: [UInt8]
  ) -> ResultVerdict? {
    guard !checkers.isEmpty, reading.isWhole, reading.status != 401, reading.status != 407 else {
      return nil
    }
    let answer = BusinessAnswer(
      entity: entity.name, kind: change.kind, operation: change.id, status: reading.status,
      headers: reading.headers.fields.map { ($0.name, $0.value) }, body: body)
    return checkers.lazy.compactMap { $0.check(answer) }.first
  }

  private func byVerdict(_ verdict: ResultVerdict, _ reading: Reading) -> Meaning {
    switch verdict {
    case .accepted(let notes): .done(reading.node, reading.headers, notes)
    case .refused(let refusal): .reply(.refused(refusal))
    case .notDone(let reason): .reply(.notDone(reason))
    case .unknown(let reason): .reply(.lost(reason))
    }
  }

  // MARK: Words

  /// The service's own sentence; nil where the text has none.
  private func sentence(_ node: JSONNode?) -> String? {
    guard let node, node.object != nil else { return nil }
    for path in mapping.refusals.message + AnswerReader.messages {
      guard let found = path.node(in: node) else { continue }
      if let text = found.string, !text.isEmpty { return AnswerReader.short(text) }
      // FastAPI: a list of what is wrong.
      if let first = found.array?.first, let text = first["msg"]?.string {
        return AnswerReader.short(text)
      }
    }
    return AnswerReader.first(node["_issues"] ?? node).map {
      AnswerReader.short("\($0.name): \($0.text)")
    }
  }

  /// Django REST framework and Eve: a text or a list of texts for each field.
  private static func first(_ node: JSONNode) -> (name: String, text: String)? {
    for member in node.object ?? [] where member.key != "_status" {
      if let text = member.value.array?.first?.string { return (member.key, text) }
    }
    for member in node.object ?? [] where !member.key.hasPrefix("_") && member.key != "type" {
      if let text = member.value.string { return (member.key, text) }
    }
    return nil
  }

  private static func short(_ text: String) -> String { String(text.prefix(500)) }

  private func refusal(_ reading: Reading, code: Int?, text: String?) -> Refusal {
    let number: Int =
      switch code ?? reading.status {
      case 403, 404, 422: code ?? reading.status
      default: code ?? 412
      }
    let codeText = businessCode(reading)
    let title = reading.node?["title"]?.string
    return Refusal(
      code: number, message: text ?? "The service refused the change.",
      attribute: attribute(reading.node), constraint: codeText,
      detail: title.flatMap { $0 == text ? nil : AnswerReader.short($0) })
  }

  private func businessCode(_ reading: Reading) -> String? {
    mapping.refusals.code.flatMap { path in
      reading.node.flatMap { path.node(in: $0)?.plainText }
    }
  }

  /// The attribute that the refusal is about, where the service names one.
  private func attribute(_ node: JSONNode?) -> String? {
    guard let node else { return nil }
    var named: [[String]] = []
    if let path = mapping.refusals.attribute, let text = path.node(in: node)?.plainText,
      let steps = JSONPath(text)?.steps
    {
      named.append(steps)
    }
    for error in node["errors"]?.array ?? [] {
      if let pointer = error["pointer"]?.string ?? error["field"]?.string {
        named.append(
          JSONPath(pointer.hasPrefix("#") ? String(pointer.dropFirst()) : pointer)?.steps ?? [])
      }
    }
    // FastAPI: ["body", "stock"].
    if let steps = node["detail"]?.array?.first?["loc"]?.array?.compactMap(\.plainText) {
      named.append(Array(steps.dropFirst()))
    }
    if let issues = (node["_issues"] ?? node).object { named += issues.map { [$0.key] } }
    for steps in named {
      if let position = form.values.firstIndex(where: { $0.path.steps == steps }) {
        return entity.attributes[position].name
      }
    }
    return nil
  }
}
