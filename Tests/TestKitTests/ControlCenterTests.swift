import Ferry
import FerryAdmin
import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer
import FerryTestKit
import FerryWire
import FerryWorld
import Testing

@testable import FerryAdmin
@testable import FerryTestKit

/// What operators ask of the admin API of a running server, and what its devices hear.
@Suite("The control center of a server", .timeLimit(.minutes(60)))
struct ControlCenterTests {
  private typealias Order = Trade.Order

  /// One operator, whose password is "secret".
  private struct Admins: AuthenticationProvider {
    func record(of user: String) -> UserRecord? {
      user == "adam" ? UserRecord(name: user, roles: ["administrator"], stamp: "1") : nil
    }
    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      guard password == "secret", let record = record(of: user) else {
        throw ServerError.wrongLogin
      }
      return record
    }
  }

  private let server: TestServer
  private let database: FerryDatabase
  private let api: AdminAPI
  private let lines = ServerLines()

  init() async throws {
    let server = try await Trade.server()
    self.server = server
    database = try await server.database(user: "nancy")
    let world = World.system()
    api = AdminAPI(
      desk: { server.hosting.running?.adminDesk },
      gate: AdminGate(Admins(), proxies: [], isSecure: false, world: world), version: "test",
      world: world, serverLines: lines)
  }

  private struct Reply {
    let status: Int
    let node: JSONNode
    var will: String { node["willDo"]?.string ?? node["message"]?.string ?? "" }
  }

  private func ask(
    _ method: HTTPMethod = .get, _ path: String, _ body: String? = nil,
    query: [String: String] = [:], as role: AdminRole = .administrator
  ) async throws -> Reply {
    let person = Operator(name: "adam", role: role, stamp: "1")
    let answer = await api.answer(
      AdminCall(
        method, path.split(separator: "/").map(String.init), by: person, from: "127.0.0.1",
        query: query, body: try body.map { try JSONNode.parse(Array($0.utf8)) }))
    return Reply(status: answer.status, node: try JSONNode.parse(answer.json))
  }

  /// What the operator did; the server writes lines of its own besides.
  private func events(_ event: String, by: String = "adam") async throws -> [JSONNode] {
    try await ask(.get, "audit", query: ["event": event, "by": by]).node["lines"]?.array ?? []
  }

  private func synchronize() async throws {
    for _ in 0..<3 { try await database.synchronize(awaitingAnswers: true) }
  }

  /// The device of nancy, as a path.
  private func device() async throws -> String {
    let devices = try await ask(.get, "devices").node["devices"]?.array ?? []
    #expect(devices.count == 1)
    return "devices/nancy/\(try #require(devices.first?["device"]?.string))"
  }

  @Test("Each action is refused to the roles below its own, before anything else is looked at")
  func roles() async throws {
    let id = String(repeating: "a", count: 32)
    for action in AdminAction.all {
      guard let role = action.role, !action.path.contains("?values") else { continue }
      let path = action.path.dropFirst("/admin/1/".utf8.count).prefix { $0 != "?" }
        .replacing("CORRECTION", with: id).replacing("ID", with: id)
      let body = action.method == "GET" ? nil : #"{"verb":"\#(action.verb ?? "")","reason":"r"}"#
      for other in AdminRole.allCases {
        let method: HTTPMethod = action.method == "GET" ? .get : .post
        let reply = try await ask(method, String(path), body, as: other)
        #expect((reply.status == 403) == (other < role), "\(action.name) as \(other)")
      }
    }
    await server.stop()
  }

  @Test("What an app wrote into its log is found by level and component, and asking leaves a line")
  func logs() async throws {
    let order = try #require(try Order.findAll(in: database).first)
    let record = try order.createLogRecord(.error, "the <camera> failed", code: 507)
    try database.createLogRecord(.info, "the day began")
    try database.submitLogRecords()
    try await synchronize()
    func records(_ query: [String: String]) async throws -> [JSONNode] {
      try await ask(.get, "logs", query: query).node["records"]?.array ?? []
    }
    let all = try await records([:])
    #expect(all.compactMap { $0["component"]?.string } == ["", "Order"])
    let grave = try #require(try await records(["level": "warn"]).first)
    #expect(grave["message"]?.string == "the <camera> failed" && grave["user"]?.string == "nancy")
    #expect(try await records(["component": "Order"]).count == 1)
    #expect(try await records(["user": "bob"]).isEmpty)
    let first = try await ask(.get, "logs", query: ["count": "1"])
    let next = try #require(first.node["next"]?.integer)
    #expect(try await records(["before": String(next)]).first?["component"]?.string == "Order")
    #expect(try await records(["id": record.requestID.text]).count == 1)
    for query in [["level": "loud"], ["source": "cloud"], ["count": "0"], ["before": "-1"]] {
      #expect(try await ask(.get, "logs", query: query).status == 400, "\(query)")
    }
    #expect(try await ask(.get, "logs", query: ["id": "zz"]).status == 404)
    #expect(
      try await events("valuesShown").contains { $0["reason"]?.string == "the log of the devices" })
    await server.stop()
  }

  @Test("One id shows what the server, the business system and the operator said, in order of time")
  func timeline() async throws {
    server.refuse(Order.self, code: 412, "Rome is closed") { try $0["city"] == "Rome" }
    var order = try #require(try Order.findAll(in: database).first)
    order.city = "Rome"
    try order.update()
    try await synchronize()
    let open = try await ask(.get, "operations", query: ["state": "open"])
    let id = try #require(open.node["operations"]?.array?.first?["id"]?.string)
    _ = try await ask(
      .post, "operations/\(id)/correction", #"{"verb":"retry","reason":"it opened"}"#)
    lines.keep(
      Array(#"{"time":1,"level":"info","message":"sent","operation":"\#(id)","trace":"t"}"#.utf8))
    lines.keep(Array(#"{"time":2,"level":"debug","message":"within","trace":"t"}"#.utf8))
    lines.keep(Array(#"{"time":3,"level":"info","message":"another","trace":"u"}"#.utf8))
    let reply = try await ask(.get, "timeline/\(id)")
    let moments = reply.node["moments"]?.array ?? []
    #expect(reply.node["state"]?.string == "refused")
    #expect(
      moments.compactMap { $0["from"]?.string } == ["server", "server", "business", "operator"])
    let said = moments.compactMap { $0["message"]?.string }
    #expect(said.first?.hasPrefix("sent operation=\(id)") == true && said[1].hasPrefix("within"))
    #expect(said[2].contains("Rome is closed") && said[3] == "adam decided retry: it opened")
    #expect(try await ask(.get, "timeline/\(String(repeating: "0", count: 32))").status == 404)
    let own = try await ask(
      .get, "logs", query: ["source": "server", "level": "info", "count": "1"])
    let line = try #require(own.node["records"]?.array?.first)
    #expect(line["line"]?["message"]?.string == "another" && own.node["kept"]?.boolean == true)
    let older = try await ask(
      .get, "logs",
      query: [
        "source": "server", "level": "info", "before": String(own.node["next"]?.integer ?? 0),
      ])
    #expect(older.node["records"]?.array?.count == 1)
    await server.stop()
  }

  @Test("Lines of the server are bounded in number and in bytes, and the newest are kept")
  func bounded() {
    let few = ServerLines(most: 3, mostBytes: 100)
    for number in 0..<10 { few.keep(Array("line \(number)".utf8)) }
    #expect(
      few.newest.map { String(decoding: $0.json, as: UTF8.self) } == ["line 9", "line 8", "line 7"])
    #expect(few.newest.map(\.number) == [10, 9, 8])
    few.keep([UInt8](repeating: 65, count: 96))
    #expect(few.newest.map(\.number) == [11])
    few.keep([UInt8](repeating: 65, count: 101))
    #expect(few.newest.count == 1)
  }

  @Test("A discarded operation is listed with who and why, tried, and restored by the API")
  func restore() async throws {
    server.refuse(Order.self, code: 412, "not there") { try $0["city"] == "Rome" }
    var order = try #require(try Order.findAll(in: database).first)
    order.city = "Rome"
    try order.update()
    try await synchronize()
    let open = try await ask(.get, "operations", query: ["state": "open"])
    let id = try #require(open.node["operations"]?.array?.first?["id"]?.string)
    let path = "operations/\(id)/correction"
    let early = try await ask(.post, path, #"{"verb":"restore","reason":"r"}"#)
    #expect(early.status == 409 && early.will.contains("nobody has discarded"))
    _ = try await ask(.post, path, #"{"verb":"discard","reason":"a test"}"#)
    let waiting = try await ask(.post, path, #"{"verb":"restore","reason":"r"}"#)
    #expect(waiting.status == 409 && waiting.will.contains("adam has already decided: discard"))
    try await synchronize()
    let listed = try await ask(.get, "operations", query: ["state": "discarded"])
    let line = try #require(listed.node["operations"]?.array?.first)
    #expect(line["id"]?.string == id && line["correction"]?["by"]?.string == "adam")
    #expect(line["correction"]?["reason"]?.string == "a test")
    let again = try await ask(.post, path, #"{"verb":"retry","reason":"r"}"#)
    #expect(again.status == 409 && again.will.contains("the device has done what adam decided"))
    let tried = try await ask(.post, path, #"{"verb":"restore","reason":"r","dryRun":true}"#)
    #expect(tried.will.contains("refused as it was"))
    #expect(tried.will.contains("adam discarded it: a test"))
    try await synchronize()
    #expect(try database.hasPendingOperations == false)
    let viewer = try await ask(
      .post, path, #"{"verb":"restore","reason":"r"}"#, as: .viewer)
    #expect(viewer.status == 403)
    let done = try await ask(.post, path, #"{"verb":"restore","reason":"by mistake"}"#)
    #expect(done.status == 200)
    try await synchronize()
    #expect(try #require(try Order.findAll(in: database).first).replayFailed)
    #expect(
      try await events("correctionMade").map { $0["reason"]?.string } == [
        "restore: by mistake", "discard: a test",
      ])
    await server.stop()
  }

  @Test("The app of a device hears the log level that an operator sets, and that it is taken back")
  func logLevel() async throws {
    try await synchronize()
    let path = try await device()
    func level() throws -> String? {
      try database.applicationSettings.text(ConnectionTemplate.logLevel)
    }
    for (body, status) in [
      (#"{"verb":"logLevel","level":"loud","reason":"r"}"#, 400),
      (#"{"verb":"logLevel","level":"debug"}"#, 400),
      (#"{"verb":"nothing","reason":"r"}"#, 400),
      (#"{"verb":"logLevel","level":"debug","reason":"r","dryRun":true}"#, 200),
    ] {
      #expect(try await ask(.post, path, body).status == status, "\(body)")
    }
    let operatorsTry = try await ask(
      .post, path, #"{"verb":"logLevel","level":"debug","reason":"r"}"#, as: .operator)
    #expect(operatorsTry.status == 403)
    try await synchronize()
    #expect(try level() == nil)
    let set = try await ask(
      .post, path, #"{"verb":"logLevel","level":"debug","reason":"a row is missing"}"#)
    #expect(set.status == 200)
    try await synchronize()
    #expect(try level() == "debug")
    let shown = try await ask(.get, "devices").node["devices"]?.array?.first
    #expect(shown?["logLevel"]?.string == "debug")
    // It outlives a restart, and is taken back.
    try await server.restart()
    _ = try await ask(.post, path, #"{"verb":"logLevel","level":"","reason":"found"}"#)
    try await synchronize()
    #expect(try level() == nil)
    #expect(
      try await events("logLevelSet").map { $0["reason"]?.string } == [
        "as its template: found", "debug: a row is missing",
      ])
    await server.stop()
  }

  @Test("Lock, unlock, sign out, wipe and unregister are tried, done, and in the audit log")
  func devices() async throws {
    try await synchronize()
    let path = try await device()
    func state() async throws -> String? {
      try await ask(.get, "devices").node["devices"]?.array?.first?["state"]?.string
    }
    for (verb, event, then) in [
      ("lock", "deviceLocked", "locked"), ("unlock", "deviceUnlocked", "active"),
      ("signOut", "sessionEnded", "active"), ("wipe", "wipeOrdered", "wiping"),
      ("unlock", "deviceUnlocked", "active"), ("unregister", "deviceRemoved", nil),
    ] as [(String, String, String?)] {
      let before = try await state()
      let lines = try await events(event).count
      let trial = #"{"verb":"\#(verb)","reason":"r","dryRun":true}"#
      let tried = try await ask(.post, path, trial)
      #expect(tried.status == 200 && !tried.will.isEmpty, "\(verb)")
      #expect(try await state() == before, "\(verb)")
      if verb == "wipe" {
        for password in ["", #","password":"wrong""#] {
          let refused = try await ask(.post, path, #"{"verb":"wipe","reason":"r"\#(password)}"#)
          #expect(refused.status == 401)
        }
        #expect(try await state() == before)
        #expect(try await events("operatorLoginRefused", by: "").isEmpty == false)
      }
      let body = #"{"verb":"\#(verb)","reason":"a test","password":"secret"}"#
      #expect(try await ask(.post, path, body).status == 200, "\(verb)")
      #expect(try await state() == then, "\(verb)")
      let noted = try await events(event)
      #expect(noted.count == lines + 1, "\(verb)")
      #expect(noted.first?["by"]?.string == "adam" && noted.first?["reason"]?.string == "a test")
    }
    #expect(try await ask(.post, path, #"{"verb":"lock","reason":"r"}"#).status == 404)
    await server.stop()
  }

  @Test("A change of keys asks for the password again, and nobody has to log in")
  func keys() async throws {
    try await synchronize()
    #expect(try await ask(.post, "keys", #"{"reason":"r"}"#).status == 401)
    #expect(try await ask(.post, "keys", #"{"password":"secret"}"#).status == 400)
    let operatorsTry = try await ask(
      .post, "keys", #"{"reason":"r","password":"secret"}"#, as: .operator)
    #expect(operatorsTry.status == 403)
    let tried = try await ask(.post, "keys", #"{"reason":"r","dryRun":true}"#)
    #expect(tried.status == 200 && tried.will.contains("nobody has to log in"))
    #expect(try await events("keyRotated").isEmpty)
    let done = try await ask(.post, "keys", #"{"reason":"yearly","password":"secret"}"#)
    #expect(done.status == 200)
    #expect(try await events("keyRotated").first?["by"]?.string == "adam")
    try await synchronize()
    await server.stop()
  }

  @Test("An unknown outcome is listed with what was asked, found and may be decided")
  func outcomes() async throws {
    server.loseAnswers(Order.self)
    var order = try #require(try Order.findAll(in: database).first)
    order.city = "Rome"
    try order.update()
    try await database.synchronize()
    var found: JSONNode?
    while found == nil {
      try await database.synchronize()
      found = try await ask(.get, "outcomes").node["operations"]?.array?.first
    }
    let one = try #require(found)
    let id = try #require(one["id"]?.string)
    #expect(one["sent"]?["city"]?.string == "Rome" && one["user"]?.string == "nancy")
    #expect(one["reason"]?.string?.isEmpty == false)
    let decisions = try await ask(.get, "outcomes").node["decisions"]?.array ?? []
    #expect(decisions.compactMap { $0["verb"]?.string } == ["accepted", "refused", "again"])
    #expect(decisions.first?["needs"]?.string == "key")
    #expect(try await ask(.get, "outcomes", as: .viewer).status == 403)
    #expect(try await events("valuesShown").isEmpty == false)
    let path = "outcomes/\(id)"
    for (body, status) in [
      (#"{"verb":"accepted","reason":"r"}"#, 400), (#"{"verb":"perhaps","reason":"r"}"#, 400),
      (#"{"verb":"refused"}"#, 400), (#"{"verb":"refused","reason":"r","dryRun":true}"#, 200),
    ] {
      #expect(try await ask(.post, path, body).status == status, "\(body)")
    }
    #expect(try await events("outcomeDecided").isEmpty)
    server.acceptAll()
    let done = try await ask(
      .post, path, #"{"verb":"refused","reason":"asked the warehouse","message":"Not there."}"#)
    #expect(done.status == 200)
    let line = try #require(try await events("outcomeDecided").first)
    #expect(line["user"]?.string == "nancy" && line["operation"]?.string == id)
    #expect(try await ask(.post, path, #"{"verb":"again","reason":"r"}"#).status == 404)
    try await synchronize()
    let failed = try #require(try Order.findAll(in: database).first)
    #expect(failed.replayFailed)
    let messages = try failed.logRecords.map(\.message)
    // The first one says that nobody knew.
    #expect(messages.count == 2 && messages.last == "Not there.")
    await server.stop()
  }
}
