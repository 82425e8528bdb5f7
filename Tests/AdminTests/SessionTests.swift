import FerryHTTP
import FerryModel
import FerryServer
import FerryTestTraits
import FerryText
import FerryWorld
import Synchronization
import Testing

@testable import FerryAdmin

/// A clock that a test moves.
private final class MovedClock: WorldClock {
  private let ahead = Mutex<Duration>(.zero)
  func advance(by duration: Duration) { ahead.withLock { $0 += duration } }
  var now: Timestamp { Timestamp(milliseconds: 1_000).advanced(by: uptime) }
  var uptime: Duration { ahead.withLock { $0 } }
}

/// Operators whose roles and passwords a test changes.
private final class Operators: AuthenticationProvider {
  private let records = Mutex<[String: UserRecord]>([:])
  func set(_ name: String, _ roles: [String], stamp: String = "1") {
    records.withLock { $0[name] = UserRecord(name: name, roles: roles, stamp: stamp) }
  }
  func remove(_ name: String) { records.withLock { $0[name] = nil } }
  func record(of user: String) -> UserRecord? { records.withLock { $0[user] } }
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard password == "secret", let record = record(of: user) else { throw ServerError.wrongLogin }
    return record
  }
}

@Suite("Who may ask the admin API", .timeLimit(.minutes(60)))
struct SessionTests {
  private let clock = MovedClock()
  private let operators = Operators()
  private let gate: AdminGate
  private let token: String
  private let csrf: String

  init() throws {
    operators.set("anna", ["sales", "viewer", "operator"])
    let world = World(clock: clock, chance: World.system().chance, log: SilentLog())
    gate = AdminGate(operators, proxies: [], isSecure: false, world: world)
    let (token, session) = gate.sessions.begin(
      Operator(name: "anna", role: .operator, stamp: "1"))
    (self.token, csrf) = (token, session.csrf)
  }

  private func request(
    _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:], cookie: String? = nil
  ) -> HTTPRequest {
    var headers = headers
    headers["Host"] = "ferry.example"
    headers["Cookie"] = cookie ?? "other=1; ferry_admin=\(token)"
    return HTTPRequest(method: method, path: "/admin/1/overview", headers: headers)
  }

  private func status(_ request: HTTPRequest) async -> Int {
    do throws(AdminError) {
      _ = try await gate.caller(of: request)
      return 200
    } catch {
      return error.status
    }
  }

  @Test("A session has the highest role of its operator, as it is now")
  func role() async throws {
    #expect(gate.session(of: request())?.person.role == .operator)
    operators.set("anna", ["viewer"])
    #expect(gate.session(of: request())?.person.role == .viewer)
    operators.set("anna", ["sales"])
    #expect(gate.session(of: request()) == nil)
  }

  @Test("A session ends 30 minutes after its last request")
  func idle() async throws {
    clock.advance(by: .seconds(29 * 60))
    #expect(await status(request()) == 200)
    clock.advance(by: .seconds(29 * 60))
    #expect(await status(request()) == 200)
    clock.advance(by: .seconds(30 * 60))
    #expect(await status(request()) == 401)
  }

  @Test("A session ends 12 hours after its login, however busy it is")
  func longest() async throws {
    for _ in 0..<35 {
      clock.advance(by: .seconds(20 * 60))
      #expect(await status(request()) == 200)
    }
    clock.advance(by: .seconds(20 * 60))
    #expect(await status(request()) == 401)
  }

  @Test("A new password and a removal end the sessions of an operator")
  func ended() async throws {
    operators.set("anna", ["operator"], stamp: "2")
    #expect(await status(request()) == 401)
    operators.set("anna", ["operator"])
    #expect(await status(request()) == 401, "an ended session does not come back")
    let (token, _) = gate.sessions.begin(Operator(name: "anna", role: .operator, stamp: "1"))
    #expect(await status(request(cookie: "ferry_admin=\(token)")) == 200)
    operators.remove("anna")
    #expect(await status(request(cookie: "ferry_admin=\(token)")) == 401)
  }

  @Test("A cookie that is forged, or there twice, opens nothing")
  func forged() async throws {
    let zeros = String(repeating: "0", count: 64)
    for cookie in [
      "ferry_admin=\(zeros)", "ferry_admin=", "ferry_admin=\(token)x",
      "ferry_admin=\(token); ferry_admin=\(zeros)", "xferry_admin=\(token)",
    ] {
      #expect(await status(request(cookie: cookie)) == 401, "\(cookie)")
    }
  }

  @Test("A change needs the token of the session and a page of the same address")
  func changes() async throws {
    #expect(await status(request(.post)) == 403)
    #expect(await status(request(.post, ["X-CSRF-Token": "x"])) == 403)
    let own: HTTPHeaders = ["X-CSRF-Token": csrf]
    #expect(await status(request(.post, own)) == 200)
    for (name, value, wanted) in [
      ("Origin", "http://ferry.example", 200), ("Origin", "https://ferry.example", 200),
      ("Origin", "https://ferry.example.evil", 403), ("Origin", "null", 403),
      ("Origin", "file://ferry.example", 403), ("Sec-Fetch-Site", "same-origin", 200),
      ("Sec-Fetch-Site", "same-site", 403), ("Sec-Fetch-Site", "cross-site", 403),
    ] {
      var headers = own
      headers[name] = value
      #expect(await status(request(.post, headers)) == wanted, "\(name) \(value)")
    }
  }

  @Test("A name and a password are a way in for programs, and not from another site's page")
  func basic() async throws {
    func header(_ text: String) -> HTTPHeaders {
      ["Authorization": "Basic \(Base64.encode(Array(text.utf8)))"]
    }
    #expect(await status(request(.post, header("anna:secret"), cookie: "")) == 200)
    #expect(await status(request(.post, header("anna:wrong"), cookie: "")) == 401)
    operators.set("nancy", ["sales"])
    #expect(await status(request(.post, header("nancy:secret"), cookie: "")) == 401)
    var foreign = header("anna:secret")
    foreign["Origin"] = "https://evil.example"
    #expect(await status(request(.post, foreign, cookie: "")) == 403)
    for _ in 0..<8 { _ = await status(request(.post, header("anna:wrong"), cookie: "")) }
    #expect(await status(request(.post, header("anna:wrong"), cookie: "")) == 429)
  }

  @Test("A process of the server's own user comes through the socket as an administrator")
  func socket() async throws {
    var local = request(.post, cookie: "")
    local.peerUser = 1_000
    let caller = try await gate.caller(of: local)
    #expect(caller.person == Operator(name: "local user 1000", role: .administrator))
  }
}
