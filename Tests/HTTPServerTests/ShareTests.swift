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

  @Test("Where many users hold all room for bodies, a login is taken all the same")
  func bodiesForLogins() throws {
    let live = try Self.live {
      $0.bodyBytes = 50_000
      $0.bodyBytesInAll = 250_000
      $0.bodyBytesPerUser = 50_000
      $0.bodyBytesPerAddress = 250_000
      $0.bodyBytesForLogins = 40_000
    }
    let held = (0..<4).map { Self.hold(live, "X-User: u\($0)", 50_000) }
    #expect(Self.isRefused(Self.send(live, "X-User: bob", bytes: 20_000), 503))
    #expect(Self.send(live, "X-User: none", "/login", bytes: 20_000).contains("200 OK"))
    #expect(held.count == 4)
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

  @Test("A user has a number of requests under way, whatever the addresses; another is served")
  func requests() throws {
    let door = Door()
    let live = try Self.live {
      $0.connectionsPerUser = 3
    } handler: { request in
      if request.path == "/wait" { await door.pass() }
      return .text(200, "took \(request.body.count)")
    }
    let held = (0..<3).map { _ in RawClient(live.port) }
    for (number, client) in held.enumerated() {
      client.send(Self.head("X-User: anna\r\nX-Client: 192.0.2.\(number)", "/wait"))
    }
    #expect(eventually { door.waiting == 3 })
    #expect(Self.isRefused(Self.send(live, "X-User: anna", bytes: 0), 429))
    #expect(Self.send(live, "X-User: bob", bytes: 0).contains("200 OK"))
    door.open()
    for client in held { #expect(client.receive(until: "took 0").contains("200 OK")) }
    #expect(eventually { Self.send(live, "X-User: anna", bytes: 0).contains("200 OK") })
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

  @Test("Where requests under way have all places, a login has one")
  func placesForLogins() throws {
    let door = Door()
    let live = try Self.live {
      $0.connections = 12
      $0.connectionsPerUser = 12
      $0.connectionsPerAddress = 12
      $0.connectionsForLogins = 4
    } handler: { request in
      if request.path == "/wait" { await door.pass() }
      return .text(200, "took \(request.body.count)")
    }
    let held = (0..<8).map { _ in RawClient(live.port) }
    for (number, client) in held.enumerated() {
      client.send(Self.head("X-User: u\(number)", "/wait"))
    }
    #expect(eventually { door.waiting == 8 })
    #expect(Self.isRefused(Self.send(live, "X-User: bob", bytes: 0), 503))
    #expect(Self.send(live, "X-User: none", "/login", bytes: 0).contains("200 OK"))
    door.open()
    for client in held { #expect(client.receive(until: "took 0").contains("200 OK")) }
    #expect(live.stop())
  }
}
