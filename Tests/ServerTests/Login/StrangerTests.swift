import FerryHTTP
import FerryJSON
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What the server says to those whom it does not know.
@Suite("Strangers learn little", .timeLimit(.minutes(5)))
struct StrangerTests {
  private struct OneUser: AuthenticationProvider {
    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      guard password == "right" else { throw ServerError(.wrongLogin, "no", hint: "no") }
      return UserRecord(name: user)
    }
    func record(of user: String) -> UserRecord? { user == "gone" ? nil : UserRecord(name: user) }
  }

  private let log = KeptLog()
  private let line = AwayConnector.Switch()

  private func withHost(
    limits: ServiceLimits = .standard, _ body: (PackageHost, String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-strangers-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World(clock: HandClock(), chance: SystemChance(), log: log)
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

  @Test("A long name is cut before it is logged, and a login of more than 4 KB is not read")
  func cut() async throws {
    try await withHost { host, folder in
      let name = String(repeating: "n", count: 2_000)
      #expect(await host.answer(login("wrong", user: name)).status == 401)
      let lines = try audit(folder)
      #expect(lines.last?["user"]?.string?.count == 65)
      let long = String(repeating: "n", count: 5_000)
      #expect(await host.answer(login("wrong", user: long)).status == 400)
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
