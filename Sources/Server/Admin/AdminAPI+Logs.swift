import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer
import FerryWire

/// What devices and the server wrote into their logs.
///
/// The messages of an app may have values of its users in them, so this needs an operator, and asking is
/// in the audit log.
extension AdminAPI {
  /// `source`: devices (where nothing is said) or server.
  func logs(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let source = call.text("source") ?? "devices"
    let answer: AdminAnswer
    switch source {
    case "devices": answer = try await deviceLogs(call)
    case "server": answer = try serverLogs(call)
    default: throw .bad("there is no source \(source)", hint: "Write devices or server.")
    }
    try desk().audit.note(
      .valuesShown, by: call.person.name, user: call.text("user"), device: call.text("device"),
      address: call.address, reason: "the log of the \(source)")
    return answer
  }

  private static func level(_ call: AdminCall) throws(AdminError) -> LogRecord.Level {
    guard let name = call.text("level") else { return .trace }
    guard let level = LogRecord.Level(rawValue: name) else {
      let names = LogRecord.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw .bad("there is no level \(name)", hint: "Write one of \(names).")
    }
    return level
  }

  private func deviceLogs(_ call: AdminCall) async throws(AdminError) -> AdminAnswer {
    let count = try call.integer("count", in: 1...AdminAPI.longestPage) ?? AdminAPI.pageSize
    let before = try call.integer("before", in: 1...Int64.max)
    var question = DeviceReport.Question()
    (question.user, question.device) = (call.text("user"), call.text("device"))
    question.component = call.text("component")
    question.atLeast = try AdminAPI.level(call)
    question.id = try call.text("id").map { text throws(AdminError) in
      try AdminCall.operation(text)
    }
    question.take = Int(count) + 1
    let desk = try desk()
    let asked = question
    let found = try await asking { () async throws(ServerError) in
      try await desk.reports(asked, of: call.text("package"), before: before)
    }
    let shown = found.prefix(Int(count))
    return AdminAnswer { writer in
      writer.key("records")
      writer.array(shown) { AdminAPI.write($1, to: &$0) }
      if found.count > shown.count, let last = shown.last { writer.field("next", last.number) }
    }
  }

  private static func write(_ report: DeviceReport, to writer: inout JSONWriter) {
    let record = report.record
    writer.beginObject()
    writer.field("number", report.number)
    writer.field("time", record.timestamp)
    writer.field("level", record.level.rawValue)
    writer.field("component", record.component)
    writer.field("key", record.entityKey)
    writer.field("code", record.code)
    writer.field("message", record.message)
    writer.field("detail", record.detail)
    writer.field("hint", record.hint)
    writer.field("user", report.user)
    writer.field("device", report.device)
    writer.field("package", report.package)
    writer.field("id", record.requestID.text)
    writer.endObject()
  }

  /// The newest lines that are in memory. `user`, `device`, `component` and `id` are looked for in all
  /// fields of a line: it has those that its event has.
  private func serverLogs(_ call: AdminCall) throws(AdminError) -> AdminAnswer {
    let count = try call.integer("count", in: 1...AdminAPI.longestPage) ?? AdminAPI.pageSize
    let before = try call.integer("before", in: 1...Int64.max) ?? .max
    var question = DeviceReport.Question()
    question.atLeast = try AdminAPI.level(call)
    let levels = question.levels
    let wanted = ["user", "device", "component", "package", "id"].compactMap { call.text($0) }
    let found = (serverLines?.newest ?? []).lazy.filter { line in
      guard line.number < before, let node = try? JSONNode.parse(line.json) else { return false }
      return levels.contains(node["level"]?.string ?? "")
        && wanted.allSatisfy { AdminAPI.names($0, node) }
    }.prefix(Int(count) + 1).map { $0 }
    let shown = found.prefix(Int(count))
    let isKept = serverLines != nil
    return AdminAnswer { writer in
      writer.field("kept", isKept)
      writer.key("records")
      writer.array(shown) { writer, line in
        writer.beginObject()
        writer.field("number", line.number)
        writer.key("line")
        writer.raw(line.json)
        writer.endObject()
      }
      if found.count > shown.count, let last = shown.last { writer.field("next", last.number) }
    }
  }

  private static func names(_ word: String, _ node: JSONNode) -> Bool {
    (node.object ?? []).contains { member in
      member.key != "message" && member.value.string?.contains(word) ?? false
    }
  }

  // One change.

  /// All that is known of one operation, in the order of time: what its device, the server and the
  /// business system said. `id`: the operation.
  func timeline(_ call: AdminCall, _ text: String) async throws(AdminError) -> AdminAnswer {
    try call.require(.operator)
    let id = try AdminCall.operation(text)
    let desk = try desk()
    let known = try await asking { () async throws(ServerError) in try await desk.entry(id) }
    var question = DeviceReport.Question()
    question.id = id
    let asked = question
    let reports = try await asking { () async throws(ServerError) in
      try await desk.reports(asked, of: nil, before: nil)
    }
    var moments = reports.map { report in
      Moment(
        report.record.timestamp, .device, report.record.level.rawValue, report.record.message)
    }
    for record in known?.entry.operation.records ?? [] {
      moments.append(
        Moment(
          record.timestamp, .business, record.level.rawValue,
          [record.message, record.detail, record.hint].compactMap { $0 }.joined(separator: " ")))
    }
    for correction in known?.entry.corrections ?? [] {
      moments.append(
        Moment(
          correction.made, .operator, "info",
          "\(correction.madeBy) decided \(correction.verb.rawValue): \(correction.reason)"))
      if let ended = correction.ended {
        moments.append(
          Moment(ended, .device, "info", "the device said \(correction.state.rawValue)"))
      }
    }
    moments += serverMoments(id)
    guard known != nil || !moments.isEmpty else {
      throw .notFound("operation, log record or line with the id \(id)")
    }
    desk.audit.note(
      .valuesShown, by: call.person.name, operation: id.text, address: call.address,
      reason: "the timeline of an operation")
    // What happened at one moment stays in the order of the sources.
    let sorted = moments.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(\.element)
    return AdminAnswer { writer in
      writer.field("id", id.text)
      writer.field("state", known?.entry.operation.state.rawValue)
      writer.key("moments")
      writer.array(sorted) { writer, moment in
        writer.beginObject()
        writer.field("time", moment.time)
        writer.field("from", moment.source.rawValue)
        writer.field("level", moment.level)
        writer.field("message", moment.message)
        writer.endObject()
      }
    }
  }

  private static func shown(_ node: JSONNode) -> String {
    switch node.content {
    case .string(let text), .number(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .null, .array, .object: "…"
    }
  }

  private enum Source: String {
    case device, server, business, `operator`
  }

  private struct Moment {
    let time: Int64
    let source: Source
    let level: String
    let message: String

    init(_ time: Int64, _ source: Source, _ level: String, _ message: String) {
      (self.time, self.source, self.level, self.message) = (time, source, level, message)
    }
  }

  /// Lines of the server that name the operation, or a trace of which it was a part.
  private func serverMoments(_ id: OperationID) -> [Moment] {
    var named: [JSONNode] = []
    var others: [JSONNode] = []
    for line in serverLines?.newest ?? [] {
      guard let node = try? JSONNode.parse(line.json) else { continue }
      if AdminAPI.names(id.text, node) { named.append(node) } else { others.append(node) }
    }
    let traces = Set(named.compactMap { $0["trace"]?.string })
    named += others.filter { $0["trace"]?.string.map(traces.contains) ?? false }
    return named.map { node in
      let fields = (node.object ?? []).filter { !["time", "level", "message"].contains($0.key) }
        .map { "\($0.key)=\(AdminAPI.shown($0.value))" }
      return Moment(
        node["time"]?.integer ?? 0, .server, node["level"]?.string ?? "info",
        ([node["message"]?.string ?? ""] + fields).joined(separator: " "))
    }
  }
}
