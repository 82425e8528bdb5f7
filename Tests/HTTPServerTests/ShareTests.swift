import FerryHTTP
import FerryHTTPServer
import Testing

/// For each limit that counts something: one takes all that he can, and another is served.
@Suite("What one takes is not missing for others", .apart)
struct ShareTests {
  /// The user and the client's address stand in the head, as a token and a proxy say them.
  private static func caller(_ request: HTTPRequest) -> HTTPCaller {
    HTTPCaller(
      user: request.headers["X-User"], address: request.headers["X-Client"],
      usesReserve: request.path == "/login")
  }

  private static func live(
    proxies: Set<String> = [], _ set: (inout HTTPServerLimits) -> Void,
    handler: @escaping HTTPServer.Handler = { .text(200, "took \($0.body.count)") }
  ) throws -> LiveServer {
    try LiveServer(
      limits: LimitTests.limits(set), proxies: proxies,
      doorman: { .take(bodyBytes: .max, by: ShareTests.caller($0)) }, handler: handler)
  }

  private static func head(_ who: String, _ path: String = "/", bytes: Int = 0) -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\n\(who)\r\nContent-Length: \(bytes)\r\n\r\n"
  }

  /// All of a body but its last byte, which the server has read.
  private static func hold(_ live: LiveServer, _ who: String, _ bytes: Int) -> RawClient {
    let client = RawClient(live.port)
    client.send(head(who, bytes: bytes))
    client.send([UInt8](repeating: 1, count: bytes - 1))
    #expect(eventually { client.isRead() })
    return client
  }

  private static func send(
    _ live: LiveServer, _ who: String, _ path: String = "/", bytes: Int
  ) -> String {
    let client = RawClient(live.port)
    client.send(head(who, path, bytes: bytes))
    client.send([UInt8](repeating: 1, count: bytes))
    return client.receive(until: bytes > 0 ? "took \(bytes)" : "took 0")
  }

  private static func isRefused(_ answer: String, _ status: Int) -> Bool {
    answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("Retry-After: ")
  }

  @Test("Each limit is known here: those that count have a share, the others count nothing")
  func fields() {
    let counted: Set<String> = [
      "bodyBytesInAll", "bodyBytesPerUser", "bodyBytesPerAddress", "bodyBytesForLogins",
      "connections", "connectionsPerAddress", "connectionsPerUser", "connectionsForLogins",
      // Of uploads that were refused: beyond it they are cut at once, which delays nobody.
      "lingering",
    ]
    let others: Set<String> = [
      "headBytes", "bodyBytes", "poolBytes", "headTime", "bodyTime", "bodyBytesPerSecond",
      "writeTime", "lingerTime",
    ]
    let fields = Mirror(reflecting: HTTPServerLimits()).children.compactMap(\.label)
    #expect(Set(fields) == counted.union(others))
  }

  @Test(
    "Who holds half-sent bodies is refused with 429 once his share is taken, and others are served",
    arguments: ["X-User: anna", "X-Client: 192.0.2.1"])
  func bodies(who: String) throws {
    let live = try Self.live {
      $0.bodyBytes = 50_000
      $0.bodyBytesInAll = 400_000
      $0.bodyBytesPerUser = 100_000
      // Users have one address here; those whom a proxy names have their own.
      $0.bodyBytesPerAddress = who.hasPrefix("X-User") ? 400_000 : 100_000
    }
    let held = (0..<2).map { _ in Self.hold(live, who, 50_000) }
    #expect(Self.isRefused(Self.send(live, who, bytes: 50_000), 429))
    for other in ["X-User: bob", "X-Client: 192.0.2.2", "X-Other: nobody"] {
      #expect(Self.send(live, other, bytes: 50_000).contains("200 OK"), "\(other)")
    }
    // What is given back may be taken again.
    held[0].send([1])
    #expect(held[0].receive(until: "took 50000").contains("200 OK"))
    #expect(Self.send(live, who, bytes: 50_000).contains("200 OK"))
    #expect(live.stop())
  }

  @Test("Idle connections of one address end at its share, and another address is served")
  func connections() throws {
    let live = try Self.live {
      $0.connections = 200
      $0.connectionsPerAddress = 20
    }
    // More than there are places, as many as one can open.
    let clients = (0..<300).map { _ in RawClient(live.port, from: "127.0.0.2") }
    let answers = clients.suffix(280).map { $0.receiveAll() }
    #expect(answers.allSatisfy { Self.isRefused($0, 429) })
    #expect(Self.send(live, "X-User: bob", bytes: 0).contains("200 OK"))
    // Those within the share live.
    clients[0].send(Self.head("X-User: anna"))
    #expect(clients[0].receive(until: "took 0").contains("200 OK"))
    #expect(live.stop())
  }

  @Test("Where a connection ends, its address has a place again")
  func closed() throws {
    let live = try Self.live { $0.connectionsPerAddress = 1 }
    for _ in 0..<50 {
      // The server may not have seen yet that the one before is closed: then the answer is 429.
      #expect(eventually { Self.send(live, "X-User: anna", bytes: 0).contains("200 OK") })
    }
    #expect(live.stop())
  }

  @Test("A trusted proxy has as many connections as it opens; its clients have their shares")
  func proxy() throws {
    let door = Door()
    let live = try Self.live(proxies: ["127.0.0.2"]) {
      $0.connectionsPerAddress = 2
    } handler: { request in
      if request.path == "/wait" { await door.pass() }
      return .text(200, "took \(request.body.count)")
    }
    let clients = (0..<10).map { _ in RawClient(live.port, from: "127.0.0.2") }
    for (number, client) in clients.enumerated() {
      client.send(Self.head("X-Client: 192.0.2.\(number)"))
      #expect(client.receive(until: "took 0").contains("200 OK"))
    }
    for client in clients[..<2] { client.send(Self.head("X-Client: 192.0.2.1", "/wait")) }
    #expect(eventually { door.waiting == 2 })
    clients[2].send(Self.head("X-Client: 192.0.2.1"))
    #expect(Self.isRefused(clients[2].receiveAll(), 429))
    clients[3].send(Self.head("X-Client: 192.0.2.2"))
    #expect(clients[3].receive(until: "took 0").contains("200 OK"))
    door.open()
    #expect(live.stop())
  }

  @Test("Where few places are left, who is idle makes room for who comes")
  func idle() throws {
    let live = try Self.live {
      $0.connections = 12
      $0.connectionsPerAddress = 12
      $0.connectionsForLogins = 4
    }
    let idle = (0..<8).map { _ in RawClient(live.port) }
    for client in idle {
      client.send(Self.head("X-User: anna"))
      #expect(client.receive(until: "took 0").contains("200 OK"))
    }
    // Without that the fifth of these would wait in the system's queue.
    let more = (0..<8).map { _ in RawClient(live.port) }
    for client in more {
      client.send(Self.head("X-User: bob"))
      #expect(client.receive(until: "took 0").contains("200 OK"))
    }
    #expect(idle.allSatisfy { $0.receive() == nil })
    #expect(live.stop())
  }

  /// What some hold, who finds no room then, and who is served all the same.
  struct Held: CustomTestStringConvertible {
    let testDescription: String
    let set: @Sendable (inout HTTPServerLimits) -> Void
    let holders: [String]
    /// Each holds a body of so many bytes that is half sent; 0: a request that is being answered.
    let bytes: Int
    let refused: (who: String, status: Int, bytes: Int)
    let served: (who: String, path: String)

    static let bodies = Held(
      testDescription: "many users hold all room for bodies: a login is taken",
      set: {
        $0.bodyBytes = 50_000
        $0.bodyBytesInAll = 250_000
        $0.bodyBytesPerUser = 50_000
        $0.bodyBytesPerAddress = 250_000
        $0.bodyBytesForLogins = 40_000
      }, holders: (0..<4).map { "X-User: u\($0)" }, bytes: 50_000,
      refused: ("X-User: bob", 503, 20_000), served: ("X-User: none", "/login"))
    static let requests = Held(
      testDescription: "a user has as many requests as one may have, whatever the addresses",
      set: { $0.connectionsPerUser = 3 },
      holders: (0..<3).map { "X-User: anna\r\nX-Client: 192.0.2.\($0)" }, bytes: 0,
      refused: ("X-User: anna", 429, 0), served: ("X-User: bob", "/"))
    static let places = Held(
      testDescription: "requests have all places: a login has one",
      set: {
        $0.connections = 12
        $0.connectionsPerUser = 12
        $0.connectionsPerAddress = 12
        $0.connectionsForLogins = 4
      }, holders: (0..<8).map { "X-User: u\($0)" }, bytes: 0,
      refused: ("X-User: bob", 503, 0), served: ("X-User: none", "/login"))
  }

  @Test(
    "Where all room of a kind is held, the next is refused, and who has another share is served",
    arguments: [Held.bodies, .requests, .places])
  func held(_ held: Held) throws {
    let door = Door()
    let live = try Self.live(held.set) { request in
      if request.path == "/wait" { await door.pass() }
      return .text(200, "took \(request.body.count)")
    }
    let clients = held.holders.map { who in
      guard held.bytes == 0 else { return Self.hold(live, who, held.bytes) }
      let client = RawClient(live.port)
      client.send(Self.head(who, "/wait"))
      return client
    }
    if held.bytes == 0 { #expect(eventually { door.waiting == clients.count }) }
    let (who, status, bytes) = held.refused
    #expect(Self.isRefused(Self.send(live, who, bytes: bytes), status))
    #expect(
      Self.send(live, held.served.who, held.served.path, bytes: bytes).contains("200 OK"))
    // What is given back may be taken again.
    door.open()
    for client in clients {
      if held.bytes > 0 { client.send([1]) }
      #expect(client.receive(until: "took \(held.bytes)").contains("200 OK"))
    }
    #expect(eventually { Self.send(live, who, bytes: bytes).contains("200 OK") })
    #expect(live.stop())
  }
}
