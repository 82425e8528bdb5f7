import FerryHTTP
import FerryJSON
import FerrySQLite
import FerryServer

/// The body of a request in one of its forms.
struct NoticeBody {
  let request: HTTPRequest
  /// That of the whole request, where a header gives one.
  let id: String?

  /// One text is read as a whole; lines are read as they come.
  static let wholeBytes = 8 << 20
  static let streamBytes = 256 << 20
  static let lineBytes = 1 << 20
  /// Messages that are taken in one transaction.
  static let batch = 500
  /// Refusals that an answer to lines lists.
  static let shownRefusals = 1_000

  init(_ request: HTTPRequest, id: String?) {
    self.request = request
    self.id = id
  }

  private enum Form {
    case json, lines, cloudEvent, cloudEvents, other(String)
  }

  private var form: Form {
    let type = (request.headers["Content-Type"] ?? "application/json").prefix { $0 != ";" }
      .lowercased().filter { $0 != " " }
    switch type {
    case "application/x-ndjson", "application/jsonl", "application/json-lines",
      "application/jsonlines":
      return .lines
    case "application/cloudevents+json": return .cloudEvent
    case "application/cloudevents-batch+json": return .cloudEvents
    case "application/json", "application/x-www-form-urlencoded", "text/json": return .json
    default: return type.hasSuffix("+json") ? .json : .other(type)
    }
  }

  func answer(by work: NoticeWork) async -> HTTPResponse {
    do {
      switch form {
      case .lines: return try await lines(work)
      case .json: return try await whole(work)
      case .cloudEvent, .cloudEvents: return try await events(work)
      case .other(let type):
        return NoticeAnswer.refusal(
          415, "\(type.prefix(60)) is not read. Send application/json or application/x-ndjson.")
      }
    } catch let error as ServerError {
      return NoticeAnswer.refusal(
        503, "\(error.message). \(error.hint)", headers: ["Retry-After": "1"])
    } catch let error as SQLiteError {
      return NoticeAnswer.refusal(
        503, "The server cannot remember notices: \(error.message). Send it again.",
        headers: ["Retry-After": "1"])
    } catch {
      return NoticeAnswer.refusal(503, "The notice could not be taken. Send it again.")
    }
  }

  // MARK: One text

  /// Nil where it is too long, or the sender has hung up.
  private func collected() async -> [UInt8]? {
    guard let stream = request.bodyStream else { return request.body }
    var all: [UInt8] = []
    while true {
      switch await stream.next() {
      case .bytes(let piece):
        guard all.count + piece.count <= NoticeBody.wholeBytes else { return nil }
        all += piece
      case .end: return all
      case .abort: return nil
      }
    }
  }

  private static let tooLong = NoticeAnswer.refusal(
    413, "One text has at most 8 MB. Send lines (application/x-ndjson), which may be as many.")

  private func parsed() async -> Result<JSONNode, Answer> {
    guard let bytes = await collected() else { return .failure(Answer(NoticeBody.tooLong)) }
    do throws(JSONError) { return .success(try JSONNode.parse(bytes, nodeLimit: 2_000_000)) } catch
    {
      return .failure(Answer(NoticeAnswer.refusal(400, "The body is no JSON: \(error).")))
    }
  }

  private struct Answer: Error {
    let response: HTTPResponse
    init(_ response: HTTPResponse) { self.response = response }
  }

  private func whole(_ work: NoticeWork) async throws -> HTTPResponse {
    let node: JSONNode
    switch await parsed() {
    case .failure(let answer): return answer.response
    case .success(let found): node = found
    }
    // An event of CloudEvents in binary mode: its head is in headers.
    if request.headers["ce-specversion"] != nil {
      let event = EventHead(
        id: request.headers["ce-id"], source: request.headers["ce-source"],
        version: request.headers["ce-specversion"])
      return try await event.answer([(event, node)], work)
    }
    if let list = node.array { return try await messages(list, work, together: false) }
    if let list = node["messages"]?.array {
      let together = node["together"]?.boolean ?? false
      return try await messages(list, work, together: together)
    }
    return try await messages([node], work, together: false)
  }

  private func messages(
    _ nodes: [JSONNode], _ work: NoticeWork, together: Bool
  ) async throws -> HTTPResponse {
    if together {
      return NoticeAnswer.list(try await work.take(nodes, id: id, together: true))
    }
    var results: [NoticeWork.Result] = []
    var rest = nodes[...]
    while !rest.isEmpty {
      results += try await work.take(Array(rest.prefix(NoticeBody.batch)), id: id)
      rest = rest.dropFirst(NoticeBody.batch)
    }
    return NoticeAnswer.list(results)
  }

  private func events(_ work: NoticeWork) async throws -> HTTPResponse {
    let node: JSONNode
    switch await parsed() {
    case .failure(let answer): return answer.response
    case .success(let found): node = found
    }
    let list = node.array ?? [node]
    let events = list.map { event in
      let head = EventHead(
        id: event["id"]?.string, source: event["source"]?.string,
        version: event["specversion"]?.string)
      return (head, event["data"])
    }
    return try await EventHead.answer(events, work)
  }

  // MARK: Lines

  /// Takes lines while they arrive, in constant memory.
  private func lines(_ work: NoticeWork) async throws -> HTTPResponse {
    var tally = NoticeTally()
    var left: [UInt8] = []
    var batch: [JSONNode] = []
    var number = 0
    func flush() async throws {
      guard !batch.isEmpty else { return }
      tally.add(try await work.take(batch))
      batch = []
    }
    func line(_ bytes: ArraySlice<UInt8>) {
      number += 1
      guard bytes.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return }
      guard let node = try? JSONNode.parse(Array(bytes)) else {
        tally.add([
          NoticeWork.Result(
            id: nil, outcome: NoticeWork.Result.refused, reason: "line \(number) is no JSON")
        ])
        return
      }
      batch.append(node)
    }
    var isOver = false
    while !isOver {
      var piece: [UInt8] = []
      if let stream = request.bodyStream {
        switch await stream.next() {
        case .bytes(let bytes): piece = bytes
        case .end: isOver = true
        case .abort: return NoticeAnswer.refusal(400, "The body ended early.")
        }
      } else {
        piece = request.body
        isOver = true
      }
      left += piece
      var start = left.startIndex
      while let end = left[start...].firstIndex(of: 0x0A) {
        line(left[start..<end])
        start = end + 1
        if batch.count >= NoticeBody.batch { try await flush() }
      }
      left.removeSubrange(..<start)
      guard left.count <= NoticeBody.lineBytes else {
        try await flush()
        return NoticeAnswer.refusal(413, "Line \(number + 1) is longer than 1 MB.")
      }
    }
    if !left.isEmpty { line(left[...]) }
    try await flush()
    return tally.answer
  }
}

/// What an event of CloudEvents 1.0 says of itself.
struct EventHead: Sendable {
  let id: String?
  let source: String?
  let version: String?

  func answer(
    _ events: [(EventHead, JSONNode?)], _ work: NoticeWork
  ) async throws -> HTTPResponse { try await EventHead.answer(events, work) }

  /// Each event is known by its source and id together.
  static func answer(
    _ events: [(EventHead, JSONNode?)], _ work: NoticeWork
  ) async throws -> HTTPResponse {
    var results: [NoticeWork.Result] = []
    for (head, data) in events {
      guard head.version == "1.0", let id = head.id, !id.isEmpty, let source = head.source,
        !source.isEmpty
      else {
        results.append(
          NoticeWork.Result(
            id: head.id, outcome: NoticeWork.Result.refused,
            reason: "specversion is not 1.0, or id or source is missing"))
        continue
      }
      guard let data else {
        results.append(
          NoticeWork.Result(
            id: id, outcome: NoticeWork.Result.refused, reason: "the event has no data as JSON"))
        continue
      }
      results += try await work.take([data], id: "\(source) \(id)").map {
        NoticeWork.Result(id: id, outcome: $0.outcome, reason: $0.reason)
      }
    }
    return NoticeAnswer.list(results)
  }
}

/// Counts what became of lines.
struct NoticeTally {
  private var counts: [String: Int] = [:]
  private var refusals: [NoticeWork.Result] = []

  mutating func add(_ results: [NoticeWork.Result]) {
    for result in results {
      counts[result.outcome, default: 0] += 1
      if result.outcome == NoticeWork.Result.refused, refusals.count < NoticeBody.shownRefusals {
        refusals.append(result)
      }
    }
  }

  var answer: HTTPResponse {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { writer.field(name, count) }
    writer.key("refusals")
    writer.array(refusals) { $0.result($1) }
    writer.endObject()
    let isAllRefused = counts.keys.allSatisfy { $0 == NoticeWork.Result.refused } && !counts.isEmpty
    return NoticeAnswer.json(isAllRefused ? 422 : 200, writer.bytes)
  }
}

/// What senders get.
enum NoticeAnswer {
  static func json(_ status: Int, _ bytes: [UInt8], headers: HTTPHeaders = [:]) -> HTTPResponse {
    var headers = headers
    headers["Content-Type"] = "application/json"
    return HTTPResponse(status: status, headers: headers, body: .bytes(bytes))
  }

  /// 200 where at least one was taken, 422 where none can be.
  static func list(_ results: [NoticeWork.Result]) -> HTTPResponse {
    var writer = JSONWriter()
    writer.array(results) { $0.result($1) }
    let isRefused =
      !results.isEmpty
      && results.allSatisfy { [NoticeWork.Result.refused, "skipped"].contains($0.outcome) }
    return json(isRefused ? 422 : 200, writer.bytes)
  }

  static func refusal(_ status: Int, _ text: String, headers: HTTPHeaders = [:]) -> HTTPResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("status", status)
    writer.field("detail", text)
    writer.endObject()
    return json(status, writer.bytes, headers: headers)
  }

  static let noSender = refusal(
    401, "Send Authorization: Bearer with the token of a sender, or sign the body.",
    headers: ["WWW-Authenticate": "Bearer realm=\"ferry notices\""])
  static let noPackage = refusal(
    403, "This sender may not send notices here. The address is /notices/<package>.")
}

extension JSONWriter {
  mutating func result(_ result: NoticeWork.Result) {
    beginObject()
    field("id", result.id)
    field("outcome", result.outcome)
    field("reason", result.reason)
    endObject()
  }
}
