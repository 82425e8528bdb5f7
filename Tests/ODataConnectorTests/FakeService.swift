import FerryHTTP
import FerryHTTPClient
import FerryOData
import Synchronization

/// A service of V4 in memory behind a line that fails as it is told to. Everything that reaches it is
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
    /// Done or not, a proxy answers.
    case status(Int, isDone: Bool, headers: [String: String] = [:], body: String = "")
    /// Somebody else changes the row just before the write.
    case race
  }

  struct Row: Equatable, Sendable {
    var id: Int64
    var name: String?
    var amount: Int64?
    var version: Int64 = 1
  }

  struct State {
    var items: [Int64: Row] = [:]
    /// Under keys that the service gives.
    var orders: [Row] = []
    var faults: [Fault] = []
    var readFaults: [Fault] = []
    var late: [TransportRequest] = []
    var heedsConditions = true
    /// Every row has the same ETag for ever.
    var hasFixedETags = false
    /// It fails on an ETag that is none of its own form.
    var failsOnOddETags = false
    /// Why it refuses; nil where it does not.
    var rule: String?
    var writes = 0
    var applied = 0
    var pageRows = 3
    /// A next link of the first page that leads back to it.
    var isCircle = false
    var countIsWrong = false
    var twice = false
    /// Pages that begin one row earlier, as after a row was made before them.
    var shifts = 0
    /// Further pages are only found by `$skip`.
    var hasNoNext = false
    var user: String?
    /// What a change must carry; nil where it need not.
    var token: String?
    var delta = Delta()
    var changeSets: ChangeSets = .none
    /// The addresses that were read, behind the root.
    var reads: [String] = []
  }

  let state = Mutex(State())
  static let root = "http://service.test/shop/"

  struct Reply {
    var status: Int
    var headers: [String: String] = [:]
    var body: String = ""
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var items: [Int64: Row] { state.withLock { $0.items } }
  var orders: [Row] { state.withLock { $0.orders } }
  var applied: Int { state.withLock { $0.applied } }
  var writes: Int { state.withLock { $0.writes } }

  /// What was on its way arrives.
  func deliverLate() {
    state.withLock { state in
      for request in state.late { _ = FakeService.perform(request, &state) }
      state.late = []
    }
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let outcome: Result<(Reply, isCut: Bool), TransportError> = state.withLock { state in
      if let user = state.user, request.headers["Authorization"] != user {
        return .success((Reply(status: 401), false))
      }
      let isChange = request.method != .get
      if let token = state.token {
        if request.headers["X-CSRF-Token"] == "Fetch" {
          var reply = FakeService.perform(request, &state)
          reply.headers["X-CSRF-Token"] = token
          return .success((reply, false))
        }
        if isChange, request.headers["X-CSRF-Token"] != token {
          return .success((Reply(status: 403, headers: ["X-CSRF-Token": "Required"]), false))
        }
      }
      if isChange { state.writes += 1 }
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
        for key in state.items.keys { state.items[key]?.version += 1 }
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

  static func perform(_ request: TransportRequest, _ state: inout State) -> Reply {
    let path = String(request.url.dropFirst(root.count))
    let parts = path.split(separator: "?", maxSplits: 1)
    let name = parts.first.map(String.init) ?? ""
    let query = parts.count > 1 ? String(parts[1]) : ""
    if name.isEmpty { return Reply(status: 200, body: document) }
    if name == "$batch" { return performBatch(request, &state) }
    if name == "$metadata" { return Reply(status: 200, body: metadata) }
    if request.method == .get {
      state.reads.append(path)
      if let reply = readDelta(name, query, &state) { return reply }
      guard name.hasPrefix("Items") else { return readOrders(name, query, state) }
      if query.hasPrefix("$skiptoken="), state.shifts > 0 {
        state.shifts -= 1
        var shifted = state
        shifted.items[0] = Row(id: 0, name: "new")
        return read(name, query, shifted, "")
      }
      return read(name, query, state, link(request, &state))
    }
    if let rule = state.rule {
      return error(400, rule)
    }
    return write(name, request, &state)
  }

  private static func read(
    _ name: String, _ query: String, _ state: State, _ link: String
  ) -> Reply {
    if let key = key(name) {
      guard let row = state.items[key] else { return error(404, "no such object") }
      return Reply(status: 200, headers: ["ETag": etag(row)], body: json(row))
    }
    var rows = state.items.values.sorted { $0.id < $1.id }
    let skip =
      query.split(separator: "&").compactMap { part in
        part.hasPrefix("$skiptoken=")
          ? Int(part.dropFirst(11)) : part.hasPrefix("$skip=") ? Int(part.dropFirst(6)) : nil
      }.first ?? 0
    let count = rows.count + (state.countIsWrong ? 1 : 0)
    if state.twice, let first = rows.first { rows.append(first) }
    let page = rows.dropFirst(skip).prefix(state.pageRows)
    var next = skip + page.count < rows.count ? "" : link
    if state.isCircle {
      next = ",\"@odata.nextLink\":\"Items?$skiptoken=0\""
    } else if skip + page.count < rows.count, !state.hasNoNext {
      next = ",\"@odata.nextLink\":\"Items?$skiptoken=\(skip + page.count)\""
    }
    return Reply(
      status: 200,
      body: "{\"@odata.context\":\"$metadata#Items\",\"@odata.count\":\(count),\"value\":["
        + page.map(json).joined(separator: ",") + "]\(next)}")
  }

  private static func readOrders(_ name: String, _ query: String, _ state: State) -> Reply {
    if let key = key(name) {
      guard let row = state.orders.first(where: { $0.id == key }) else {
        return error(404, "no such object")
      }
      return Reply(status: 200, headers: ["ETag": etag(row)], body: json(row, "Number"))
    }
    let text = ODataURL.decoded(query)
    let rows = state.orders.filter { row in
      !text.contains("eq '") || text.contains("eq '\(row.name ?? "")'")
    }
    return Reply(
      status: 200,
      body: "{\"@odata.context\":\"$metadata#Orders\",\"@odata.count\":\(rows.count),\"value\":["
        + rows.map { json($0, "Number") }.joined(separator: ",") + "]}")
  }

  private static func write(
    _ name: String, _ request: TransportRequest, _ state: inout State
  ) -> Reply {
    let given = String(decoding: request.body, as: UTF8.self)
    if request.method == .post, name == "Orders" {
      state.applied += 1
      var row = Row(id: Int64(state.orders.count + 1), name: nil)
      set(&row, given, "Number")
      state.orders.append(row)
      return Reply(
        status: 201, headers: ["Location": "\(root)Orders(\(row.id))"], body: json(row, "Number"))
    }
    if request.method == .post {
      guard let id = number("ID", given) else { return error(400, "no key") }
      guard state.items[id] == nil else { return error(409, "there is one already") }
      state.applied += 1
      var row = Row(id: id)
      set(&row, given, "Name")
      state.items[id] = row
      return Reply(status: 201, headers: ["ETag": etag(row)], body: json(row))
    }
    guard let key = key(name), var row = state.items[key] else {
      return error(404, "no such object")
    }
    if state.heedsConditions {
      guard let wanted = request.headers["If-Match"] else { return error(428, "condition") }
      if state.failsOnOddETags, Int(wanted.dropFirst(3).dropLast()) == nil {
        return error(500, "an ETag that is none")
      }
      guard wanted == etag(row) else { return error(412, "changed") }
    }
    state.applied += 1
    if request.method == .delete {
      state.items[key] = nil
      return Reply(status: 204)
    }
    set(&row, given, "Name")
    if !state.hasFixedETags { row.version += 1 }
    state.items[key] = row
    return Reply(status: 200, headers: ["ETag": etag(row)], body: json(row))
  }

  private static func key(_ name: String) -> Int64? {
    guard let open = name.firstIndex(of: "("), name.hasSuffix(")") else { return nil }
    return Int64(name[name.index(after: open)...].dropLast())
  }

  private static func etag(_ row: Row) -> String { "W/\"\(row.version)\"" }

  static func json(_ row: Row) -> String { json(row, "Name") }

  private static func json(_ row: Row, _ name: String) -> String {
    "{\"@odata.etag\":\"W/\\\"\(row.version)\\\"\",\"ID\":\(row.id),\"\(name)\":"
      + (row.name.map { "\"\($0)\"" } ?? "null") + ",\"Amount\":"
      + (row.amount.map { "\($0)" } ?? "null") + "}"
  }

  private static func set(_ row: inout Row, _ body: String, _ name: String) {
    if let text = text(name, body) { row.name = text }
    if let amount = number("Amount", body) { row.amount = amount }
  }

  private static func number(_ name: String, _ body: String) -> Int64? {
    guard let at = body.firstRange(of: "\"\(name)\":") else { return nil }
    return Int64(body[at.upperBound...].prefix { $0 == "-" || $0.isNumber })
  }

  private static func text(_ name: String, _ body: String) -> String? {
    guard let at = body.firstRange(of: "\"\(name)\":\"") else { return nil }
    return String(body[at.upperBound...].prefix { $0 != "\"" })
  }

  static func error(_ status: Int, _ message: String) -> Reply {
    Reply(
      status: status,
      body: "{\"error\":{\"code\":\"S\(status)\",\"message\":\"\(message)\",\"target\":\"Amount\"}}"
    )
  }

  static let document = """
    {"@odata.context":"\(root)$metadata","value":[
    {"name":"Items","kind":"EntitySet","url":"Items"},{"name":"Orders","kind":"EntitySet","url":"Orders"}]}
    """

  static let metadata = """
    <?xml version="1.0" encoding="utf-8"?>
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
    <Property Name="Name" Type="Edm.String" MaxLength="100"/>
    <Property Name="Amount" Type="Edm.Int32"/></EntityType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int64" Nullable="false">
    <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property>
    <Property Name="Number" Type="Edm.String" MaxLength="20"/>
    <Property Name="Amount" Type="Edm.Int32"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/>
    <EntitySet Name="Orders" EntityType="S.Order"><Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions">
    <Record><PropertyValue Property="Deletable" Bool="false"/></Record></Annotation></EntitySet>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
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
