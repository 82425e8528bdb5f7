import FerryHTTP
import FerryJSON
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What the server says to those whom it does not know.
@Suite("Strangers learn little", .timeLimit(.minutes(60)))
struct StrangerTests {
  private struct OneUser: AuthenticationProvider {
    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      guard password == "right" else { throw ServerError(.wrongLogin, "no", hint: "no") }
      return UserRecord(name: user)
    }
    func record(of user: String) -> UserRecord? { user == "gone" ? nil : UserRecord(name: user) }
  }

  private let log = KeptLog()
  private let clock = HandClock()
  private let line = AwayConnector.Switch()

  private func withHost(
    limits: ServiceLimits = .standard, _ body: (PackageHost, String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-strangers-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World(clock: clock, chance: SystemChance(), log: log)
    let host = try await PackageHost.start(
      Shop.package, folder: folder, doorkeeper: Doorkeeper(OneUser(), world: world), world: world,
      limits: limits, proxies: ["127.0.0.1"]
    ) { AwayConnector(line) }
    try await body(host, folder)
    await host.stop()
  }

  private func login(
    _ password: String, user: String = "anna", headers: HTTPHeaders = [:],
    peer: String = "192.0.2.1"
  ) -> HTTPRequest {
    HTTPRequest(
      method: .post, path: "/ferry/1/login", query: nil, headers: headers,
      body: Array(#"{"user":"\#(user)","password":"\#(password)","device":"d"}"#.utf8), peer: peer)
  }

  private func body(_ response: HTTPResponse) -> JSONNode? {
    guard case .bytes(let bytes) = response.body else { return nil }
    return try? JSONNode.parse(bytes)
  }

  private func audit(_ folder: String) throws -> [JSONNode] {
    try String(contentsOfFile: "\(folder)/audit.jsonl", encoding: .utf8)
      .split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
  }

  @Test("/health gives reasons to the operator and a word to strangers")
  func health() async throws {
    line.set(isAway: true)
    try await withHost { host, folder in
      // The third load begins when the first has failed, and that was told.
      while line.loads < 3 { await Task.yield() }
      let question = HTTPRequest(method: .get, path: "/health", query: nil)
      let word = body(await host.answer(question))
      #expect(word?["business"] == nil)
      #expect(word?["status"]?.string == "loading")
      let key = try String(contentsOfFile: "\(folder)/operator.key", encoding: .utf8)
      #expect(key.utf8.count == 32)
      let asked = HTTPRequest(
        method: .get, path: "/health", query: nil, headers: ["Authorization": "Bearer \(key)"])
      let answer = await host.answer(asked)
      #expect(answer.status == 200, "devices are served")
      #expect(body(answer)?["status"]?.string == "degraded")
      #expect(body(answer)?["business"]?.string != nil)
      #expect(body(answer)?["loaded"]?.boolean == false)
      #expect(body(answer)?["startedAt"]?.integer != nil)
      #expect(word?["startedAt"] == nil)
      let guessed = HTTPRequest(
        method: .get, path: "/health", query: nil,
        headers: ["Authorization": "Bearer \(String(key.reversed()))"])
      #expect(body(await host.answer(guessed))?["business"] == nil)
    }
  }

  @Test("Logins and refusals stand in the audit log with the address, which a proxy may name")
  func audited() async throws {
    try await withHost { host, folder in
      #expect(await host.answer(login("right")).status == 200)
      #expect(await host.answer(login("wrong")).status == 401)
      let forwarded: HTTPHeaders = ["X-Forwarded-For": "10.0.0.1, 198.51.100.7"]
      #expect(
        await host.answer(login("wrong", headers: forwarded, peer: "127.0.0.1")).status == 401)
      #expect(await host.answer(login("wrong", headers: forwarded)).status == 401)
      // The second of an address in a minute is told when the minute is over.
      clock.advance(60)
      await host.timeHasPassed()
      let all = try audit(folder)
      let keys = all.filter { $0["event"]?.string == "keyMade" }.map { $0["reason"]?.string }
      #expect(keys == ["token.key", "refresh.key", "operator.key"])
      let added = all.filter { $0["event"]?.string == "deviceAdded" }
      #expect(added.map { $0["device"]?.string } == ["d"])
      let lines = all.filter { line in
        line["event"]?.string != "keyMade" && line["event"]?.string != "deviceAdded"
      }
      #expect(
        lines.map { $0["event"]?.string } == ["login"] + Array(repeating: "loginRefused", count: 3))
      #expect(
        lines.map { $0["address"]?.string }
          == ["192.0.2.1", "192.0.2.1", "198.51.100.7", "192.0.2.1"])
      #expect(lines[1]["reason"]?.string == "wrongLogin")
      #expect(lines.map { $0["count"]?.integer } == [nil, nil, nil, 1])
      let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/audit.jsonl")
      #expect(mode[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("A user who was removed is refused at once, with a token that is good for minutes still")
  func removed() async throws {
    try await withHost { host, _ in
      for (user, status) in [("gone", 401), ("anna", 200)] {
        let token = try #require(
          body(await host.answer(login("right", user: user)))?["accessToken"]?.string)
        let hello = Hello(
          server: nil, package: Shop.package.id, device: "d", incarnation: "1", groups: [],
          partitions: [], open: [])
        let request = HTTPRequest(
          method: .post, path: "/ferry/1/exchange", query: nil,
          headers: ["Authorization": "Bearer \(token)"],
          body: Message.hello(hello).frame.encoded(), peer: "192.0.2.1")
        let answer = await host.answer(request)
        #expect(answer.status == status)
        if status == 401 { #expect(body(answer)?["code"]?.string == "revokedToken") }
        if case .refuse(let refused) = host.admit(request) {
          #expect(refused.status == status)
        } else {
          #expect(status == 200)
        }
      }
    }
  }

  private func renewal(_ device: String, peer: String) -> HTTPRequest {
    HTTPRequest(
      method: .post, path: "/ferry/1/token", query: nil,
      body: Array(#"{"refreshToken":"fr1.x.1.y","device":"\#(device)"}"#.utf8), peer: peer)
  }

  @Test(
    "Ten thousand refused requests of an address in a minute are two lines with their number",
    arguments: ["login", "token"])
  func flood(path: String) async throws {
    try await withHost { host, folder in
      let before = try audit(folder).count
      var statuses: [Int: Int] = [:]
      for number in 0..<10_000 {
        let request =
          path == "login"
          ? login("wrong", user: "u\(number)") : renewal("d\(number)", peer: "192.0.2.1")
        statuses[await host.answer(request).status, default: 0] += 1
      }
      #expect(statuses == [401: 50, 429: 9_950])
      clock.advance(60)
      await host.timeHasPassed()
      let lines = try audit(folder).dropFirst(before)
      #expect(lines.count == 2)
      #expect(lines.last?["count"]?.integer == 9_999)
      #expect(lines.last?["address"]?.string == "192.0.2.1")
      let event = path == "login" ? "loginRefused" : "sessionRefused"
      #expect(lines.allSatisfy { $0["event"]?.string == event })
      let what = path == "login" ? "a login was refused" : "a session was not renewed"
      #expect(log.lines.filter { $0.contains(what) }.count == 2)
    }
  }

  @Test(
    "A stranger who tries refresh tokens waits, and a device that has renewed from there does not")
  func renewals() async throws {
    try await withHost { host, _ in
      var token = body(await host.answer(login("right")))?["refreshToken"]?.string ?? ""
      func renew(_ device: String = "d") async -> HTTPResponse {
        await host.answer(
          HTTPRequest(
            method: .post, path: "/ferry/1/token", query: nil,
            body: Array(#"{"refreshToken":"\#(token)","device":"\#(device)"}"#.utf8),
            peer: "192.0.2.1"))
      }
      let first = await renew()
      #expect(first.status == 200)
      token = body(first)?["refreshToken"]?.string ?? ""
      for number in 0..<50 {
        #expect(await host.answer(renewal("x\(number)", peer: "192.0.2.1")).status == 401)
      }
      let refused = await host.answer(renewal("x51", peer: "192.0.2.1"))
      #expect(refused.status == 429)
      #expect(refused.headers["Retry-After"] == "1")
      #expect(body(refused)?["code"]?.string == "tooManyGuesses")
      #expect(await renew().status == 200)
      #expect(await host.answer(renewal("x51", peer: "192.0.2.2")).status == 401)
    }
  }

  @Test("A long name is cut before it is logged, and a longer one, or 4 KB, is not read")
  func cut() async throws {
    try await withHost { host, folder in
      let name = String(repeating: "n", count: 200)
      #expect(await host.answer(login("wrong", user: name)).status == 401)
      let lines = try audit(folder)
      #expect(lines.last?["user"]?.string?.count == 65)
      for count in [300, 5_000] {
        let long = String(repeating: "n", count: count)
        #expect(await host.answer(login("wrong", user: long)).status == 400)
      }
    }
  }

  @Test("After five wrong passwords the answer is 429, and says when to come again")
  func guesses() async throws {
    try await withHost { host, _ in
      for _ in 0..<5 { #expect(await host.answer(login("wrong")).status == 401) }
      let answer = await host.answer(login("right"))
      #expect(answer.status == 429)
      #expect(answer.headers["Retry-After"] == "1")
      #expect(body(answer)?["code"]?.string == "tooManyGuesses")
      #expect(await host.answer(login("right", peer: "192.0.2.2")).status == 200)
    }
  }

  @Test("A channel beyond the places of the server is told to come again, an exchange is not")
  func places() async throws {
    var limits = ServiceLimits.standard
    limits.channels = 2
    try await withHost(limits: limits) { host, _ in
      var open: [HTTPResponse] = []
      for number in 0..<4 {
        let hello = Hello(
          server: nil, package: Shop.package.id, device: "d", incarnation: "\(number)", groups: [],
          partitions: [], open: [])
        let token = body(await host.answer(login("right")))?["accessToken"]?.string ?? ""
        let path = number < 3 ? "channel" : "exchange"
        open.append(
          await host.answer(
            HTTPRequest(
              method: .post, path: "/ferry/1/\(path)", query: nil,
              headers: ["Authorization": "Bearer \(token)"],
              body: Message.hello(hello).frame.encoded())))
      }
      #expect(open.map(\.status) == [200, 200, 503, 200])
      #expect(open[2].headers["Retry-After"] == "30")
      #expect(body(open[2])?["code"]?.string == "tooManyChannels")
    }
  }
}
