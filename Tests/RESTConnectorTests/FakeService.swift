import FerryHTTP
import FerryHTTPClient
import FerryJSON
import Synchronization

/// A service of REST in memory behind a line that fails as it is told to. Everything that reaches it is
/// counted.
final class FakeService: Transport {
  /// What happens to the next change.
  enum Fault: Sendable, Equatable {
    /// Nobody listens: nothing was sent.
    case away
    /// The connection ends before the service has seen it, which the client cannot know.
    case lostBefore
    /// It is done, and the answer does not come.
    case lostAfter
    /// The request is on its way until `deliverLate`.
    case late
    /// It is done, and the body of the answer ends early.
    case cutBody
    /// Done or not, somebody else answers.
    case status(Int, isDone: Bool, headers: [String: String] = [:], body: String = "")
    /// Somebody else changes the object just before the write.
    case race
  }

  struct Row: Equatable, Sendable {
    var id: Int64
    var name: String?
    var amount: Int64?
    var version: Int64 = 1
    var marker: String?
    var isDeleted = false
    var changed: Int64 = 0
  }

  struct State {
    var rows: [String: [Int64: Row]] = ["items": [:], "orders": [:]]
    var faults: [Fault] = []
    var readFaults: [Fault] = []
    var late: [TransportRequest] = []
    var heedsConditions = true
    /// Why it refuses; nil where it does not.
    var rule: (status: Int, body: String)?
    var writes = 0
    var applied = 0
    var requests: [TransportRequest] = []
    var pageRows = 3
    /// The answer to a list, in place of the rows.
    var listBody: String?
    var listHeaders: [String: String] = [:]
    /// Answers under numbers of requests.
    var numbers: [String: (body: String, id: Int64)] = [:]
    var remembersNumbers = true
    var answersCreate = true
    var clock: Int64 = 100
    var token: String?
    /// Rows of the first page that the second one gives again.
    var overlap = 0
  }

  let state = Mutex(State())
  static let root = "http://service.test/shop"

  struct Reply {
    var status: Int
    var headers: [String: String] = [:]
    var body: String = ""
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  func rows(_ name: String) -> [Int64: Row] { state.withLock { $0.rows[name] ?? [:] } }
  var applied: Int { state.withLock { $0.applied } }
  var writes: Int { state.withLock { $0.writes } }
  var requests: [TransportRequest] { state.withLock { $0.requests } }

  /// What was on its way arrives.
  func deliverLate() {
    state.withLock { state in
      for request in state.late { _ = FakeService.perform(request, &state) }
      state.late = []
    }
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let outcome: Result<(Reply, isCut: Bool), TransportError> = state.withLock { state in
      let isChange = request.method != .get
      if isChange { state.writes += 1 }
      state.requests.append(request)
      let fault =
        isChange
        ? state.faults.isEmpty ? nil : state.faults.removeFirst()
        : state.readFaults.isEmpty ? nil : state.readFaults.removeFirst()
      switch fault {
      case .away: return .failure(FakeService.error(.cannotConnect, wasSent: false))
      case .lostBefore: return .failure(FakeService.error(.cut, wasSent: true))
      case .lostAfter:
        _ = FakeService.perform(request, &state)
        return .failure(FakeService.error(.timedOut, wasSent: true))
      case .late:
        state.late.append(request)
        return .failure(FakeService.error(.timedOut, wasSent: true))
      case .cutBody: return .success((FakeService.perform(request, &state), true))
      case .status(let status, let isDone, let headers, let body):
        if isDone { _ = FakeService.perform(request, &state) }
        return .success((Reply(status: status, headers: headers, body: body), false))
      case .race:
        for key in state.rows["items"]!.keys { state.rows["items"]?[key]?.version += 1 }
        return .success((FakeService.perform(request, &state), false))
      case nil: return .success((FakeService.perform(request, &state), false))
      }
    }
    let (reply, isCut) = try outcome.get()
    var headers = HTTPHeaders()
    for (name, value) in reply.headers { headers[name] = value }
    return TransportResponse(
      status: reply.status, headers: headers,
      body: FakeBody(Array(reply.body.utf8), isCut: isCut))
  }

  static func error(_ code: TransportError.Code, wasSent: Bool) -> TransportError {
    TransportError(
      code: code, message: "the line failed", hint: "Try again.", isTransient: true,
      requestWasSent: wasSent)
  }

  // MARK: The service

  private static func perform(_ request: TransportRequest, _ state: inout State) -> Reply {
    guard request.url.hasPrefix(root) else { return Reply(status: 599) }
    if let token = state.token, request.headers["X-API-Key"] != token {
      return Reply(status: 401, body: "{\"detail\":\"no key\"}")
    }
    let rest = request.url.dropFirst(root.count)
    let path = rest.prefix { $0 != "?" }.split(separator: "/").map(String.init)
    let query = Dictionary(
      rest.drop { $0 != "?" }.dropFirst().split(separator: "&").map { pair in
        let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
        return (sides[0], sides.count > 1 ? PercentEncoding.decode(sides[1].utf8) ?? "" : "")
      }
    ) { first, _ in first }
    guard let name = path.first, state.rows[name] != nil else {
      return problem(404, "no such path")
    }
    let key = path.count > 1 ? Int64(path[1]) : nil
    if request.method == .get {
      return key.map { read(name, $0, state) } ?? list(name, query, state)
    }
    if let rule = state.rule { return Reply(status: rule.status, body: rule.body) }
    return write(name, key, request, &state)
  }

  private static func read(_ name: String, _ key: Int64, _ state: State) -> Reply {
    guard let row = state.rows[name]?[key] else { return problem(404, "There is none.") }
    return Reply(status: 200, headers: ["ETag": etag(row)], body: json(row))
  }

  private static func list(_ name: String, _ query: [String: String], _ state: State) -> Reply {
    if let body = state.listBody {
      return Reply(status: 200, headers: state.listHeaders, body: body)
    }
    var rows = (state.rows[name] ?? [:]).values.sorted { $0.id < $1.id }
    if let marker = query["marker"] { rows = rows.filter { $0.marker == marker } }
    if let wanted = query["name"] { rows = rows.filter { $0.name == wanted } }
    if let since = query["since"].flatMap({ Int64($0) }) {
      rows = rows.filter { $0.changed >= since }
    }
    let total = rows.count
    var offset = query["offset"].flatMap { Int($0) } ?? 0
    if let page = query["page"].flatMap({ Int($0) }) { offset = (page - 1) * state.pageRows }
    if offset > 0 { offset = max(0, offset - state.overlap) }
    let part = rows.dropFirst(offset).prefix(state.pageRows)
    let isMore = offset + part.count < total
    let next = "/shop/\(name)?offset=\(offset + part.count)"
    var headers: [String: String] = [:]
    if isMore { headers["Link"] = "<\(next)>; rel=\"next\"" }
    return Reply(
      status: 200, headers: headers,
      body: "{\"rows\":[" + part.map(json).joined(separator: ",") + "],\"total\":\(total),\"next\":"
        + (isMore ? "\"\(next)\"" : "null") + "}")
  }

  private static func write(
    _ name: String, _ key: Int64?, _ request: TransportRequest, _ state: inout State
  ) -> Reply {
    let body = String(decoding: request.body, as: UTF8.self)
    let node = try? JSONNode.parse(request.body)
    state.clock += 1
    if request.method == .post { return create(name, body, node, request, &state) }
    guard let key else { return problem(405, "no key") }
    if request.method == .put, state.rows[name]?[key] == nil {
      state.applied += 1
      var row = Row(id: key)
      set(&row, node, state.clock)
      state.rows[name]?[key] = row
      return Reply(status: 201, headers: ["ETag": etag(row)], body: json(row))
    }
    guard var row = state.rows[name]?[key] else { return problem(404, "There is none.") }
    if state.heedsConditions {
      if request.headers["If-None-Match"] != nil { return problem(412, "there is one") }
      if let wanted = request.headers["If-Match"] {
        guard wanted == etag(row) else { return problem(412, "changed") }
      } else if let version = node?["version"]?.integer {
        guard version == row.version else { return problem(409, "changed") }
      } else if let steps = node?.array {
        for step in steps where step["op"]?.string == "test" {
          guard step["value"]?.integer == row.amount, step["path"]?.string == "/amount" else {
            return problem(409, "test failed")
          }
        }
      } else {
        return problem(428, "condition")
      }
    }
    state.applied += 1
    if request.method == .delete {
      state.rows[name]?[key] = nil
      return Reply(status: 204)
    }
    for step in node?.array ?? [] where step["op"]?.string != "test" {
      if step["path"]?.string == "/amount" { row.amount = step["value"]?.integer }
    }
    set(&row, node, state.clock)
    row.version += 1
    state.rows[name]?[key] = row
    return Reply(status: 200, headers: ["ETag": etag(row)], body: json(row))
  }

  private static func create(
    _ name: String, _ body: String, _ node: JSONNode?, _ request: TransportRequest,
    _ state: inout State
  ) -> Reply {
    if let number = request.headers["Idempotency-Key"], let known = state.numbers[number] {
      guard known.body == body else {
        return problem(422, "This Idempotency-Key belongs to another request.")
      }
      let row = state.rows[name]?[known.id]
      return Reply(status: 201, body: row.map(json) ?? "{}")
    }
    let id = node?["id"]?.integer ?? Int64((state.rows[name]?.keys.max() ?? 0) + 1)
    guard state.rows[name]?[id] == nil else { return problem(409, "there is one already") }
    state.applied += 1
    var row = Row(id: id)
    set(&row, node, state.clock)
    state.rows[name]?[id] = row
    if let number = request.headers["Idempotency-Key"], state.remembersNumbers {
      state.numbers[number] = (body, id)
    }
    guard state.answersCreate else { return Reply(status: 201) }
    return Reply(status: 201, headers: ["Location": "/shop/\(name)/\(id)"], body: json(row))
  }

  private static func set(_ row: inout Row, _ node: JSONNode?, _ clock: Int64) {
    if let name = node?["name"]?.string { row.name = name }
    if let amount = node?["amount"]?.integer { row.amount = amount }
    if let marker = node?["marker"]?.string { row.marker = marker }
    row.changed = clock
  }

  private static func etag(_ row: Row) -> String { "\"\(row.version)\"" }

  private static func json(_ row: Row) -> String {
    "{\"id\":\(row.id),\"name\":" + (row.name.map { "\"\($0)\"" } ?? "null") + ",\"amount\":"
      + (row.amount.map { "\($0)" } ?? "null")
      + ",\"version\":\(row.version),\"marker\":" + (row.marker.map { "\"\($0)\"" } ?? "null")
      + ",\"deleted\":\(row.isDeleted),\"changed\":\(row.changed)}"
  }

  static func problem(_ status: Int, _ detail: String) -> Reply {
    Reply(status: status, body: "{\"title\":\"T\(status)\",\"detail\":\"\(detail)\"}")
  }
}

/// A body that is there at once, or ends in its middle.
final class FakeBody: TransportBody {
  private let rest: Mutex<[UInt8]?>
  private let isCut: Bool

  init(_ bytes: [UInt8], isCut: Bool) {
    rest = Mutex(isCut ? Array(bytes.prefix(bytes.count / 2)) : bytes)
    self.isCut = isCut
  }

  func next() async throws(TransportError) -> [UInt8]? {
    let piece = rest.withLock { rest in
      defer { rest = nil }
      return rest
    }
    if let piece, !piece.isEmpty { return piece }
    if isCut { throw FakeService.error(.cut, wasSent: true) }
    return nil
  }

  func cancel() { rest.withLock { $0 = nil } }
}
