import FerryConnector
import FerryHTTP
import FerryJSON
import FerryModel

/// Reads what the answers of a service mean, by their status and by the rules of the mapping.
struct AnswerReader {
  let mapping: RESTMapping
  let entity: Entity
  let form: RESTMapping.Form

  /// What an answer says.
  enum Meaning {
    /// 2xx. The text as JSON; nil where there is none, or where it did not come to its end.
    case done(JSONNode?, HTTPHeaders)
    case reply(ServiceReply)
  }

  /// Where a sentence for people is found if the mapping says nothing.
  private static let messages = [
    "/detail", "/message", "/error/message", "/error_description", "/_error/message", "/error",
    "/errors/0/message", "/errors/0/detail", "/title", "/msg",
  ].compactMap { JSONPath($0) }

  /// `isChange`: the request may have changed something, and its answer may be lost.
  /// `isNumbered`: the service knows it by a number, under which it may have been sent before.
  func meaning(
    _ answer: RESTAnswer, isChange: Bool, isNumbered: Bool = false, mayHaveRun: Bool = false
  ) -> Meaning {
    switch answer {
    case .notDone(let reason): return .reply(.notDone(reason))
    case .lost(let reason): return .reply(isChange ? .lost(reason) : .notDone(reason))
    case .needsCredential: return .reply(.needsCredential)
    case .answer(let status, let headers, let body, let isWhole):
      let reading = Reading(status, headers, body, isWhole: isWhole)
      if let rule = mapping.rules.first(where: { matches($0, reading) }) {
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
      return .done(reading.isWhole ? reading.node : nil, reading.headers)
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

  private func matches(_ rule: RESTMapping.Rule, _ reading: Reading) -> Bool {
    if let status = rule.status {
      let text = String(reading.status)
      guard status == text || status.hasSuffix("xx") && status.first == text.first else {
        return false
      }
    }
    if let header = rule.header {
      guard let found = reading.headers[header] else { return false }
      return rule.value.map { $0 == found } ?? true
    }
    guard let at = rule.at else { return true }
    guard let node = reading.node, let found = at.node(in: node) else { return false }
    return rule.value.map { $0 == found.plainText } ?? !found.isNull
  }

  private func byRule(
    _ rule: RESTMapping.Rule, _ reading: Reading, isChange: Bool
  ) -> Meaning {
    let text =
      rule.textAt.flatMap { path in reading.node.flatMap { path.node(in: $0)?.plainText } }
      ?? rule.text ?? sentence(reading.node)
    switch rule.meaning {
    case .success, .warning: return .done(reading.node, reading.headers)
    case .refusal: return .reply(.refused(refusal(reading, code: rule.code, text: text)))
    case .later: return .reply(.notDone(text ?? reading.name))
    case .lost:
      return .reply(isChange ? .lost(text ?? reading.name) : .notDone(text ?? reading.name))
    case .absent: return .reply(.absent)
    case .changed: return .reply(.changed)
    }
  }

  /// What a rule of the mapping warns of; nil where it does not.
  func warning(_ answer: RESTAnswer) -> String? {
    guard case .answer(let status, let headers, let body, let isWhole) = answer,
      mapping.rules.contains(where: { $0.meaning == .warning })
    else { return nil }
    let reading = Reading(status, headers, body, isWhole: isWhole)
    guard let rule = mapping.rules.first(where: { matches($0, reading) }), rule.meaning == .warning
    else { return nil }
    return rule.textAt.flatMap { path in reading.node.flatMap { path.node(in: $0)?.plainText } }
      ?? rule.text ?? sentence(reading.node) ?? reading.name
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
    let codeText = mapping.refusals.code.flatMap { path in
      reading.node.flatMap { path.node(in: $0)?.plainText }
    }
    let title = reading.node?["title"]?.string
    return Refusal(
      code: number, message: text ?? "The service refused the change.",
      attribute: attribute(reading.node), constraint: codeText,
      detail: title.flatMap { $0 == text ? nil : AnswerReader.short($0) })
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
