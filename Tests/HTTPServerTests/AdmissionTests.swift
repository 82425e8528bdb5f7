import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import Synchronization
import Testing

@Suite("A request is judged by its head", .apart)
struct AdmissionTests {
  private static let unknown = HTTPResponse(
    status: 401, headers: ["X-Why": "no token"], body: .bytes(Array("who are you".utf8)))

  private final class Calls: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func note() { number.withLock { $0 += 1 } }
  }

  /// Takes 4 KB of whoever has a token.
  private static func live(_ calls: Calls) throws -> LiveServer {
    try LiveServer(
      doorman: { $0.bearerToken == "good" ? .take(bodyBytes: 4_096) : .refuse(unknown) }
    ) { request in
      calls.note()
      return .text(200, "took \(request.body.count)")
    }
  }

  private static let good = "Authorization: Bearer good\r\n"

  @Test(
    "Without a token the answer comes before the body does",
    arguments: [
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n",
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
      "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
    ])
  func early(_ head: String) throws {
    let calls = Calls()
    let live = try Self.live(calls)
    let client = RawClient(live.port)
    client.send(head)
    #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 401 "))
    #expect(calls.count == 0)
    #expect(live.stop())
  }

  @Test("A client that sends 4 MB all the same learns of the refusal")
  func upload() async throws {
    let calls = Calls()
    let live = try Self.live(calls)
    let response = try await CurlTransport().send(
      TransportRequest(url: live.url, method: .post, body: [UInt8](repeating: 1, count: 4 << 20)))
    #expect(response.status == 401)
    #expect(response.headers["X-Why"] == "no token")
    #expect(calls.count == 0)
    #expect(live.stop())
  }

  @Test("Who has a token is served, and keeps the connection")
  func control() throws {
    let calls = Calls()
    let live = try Self.live(calls)
    let client = RawClient(live.port)
    for _ in 0..<2 {
      client.send("POST / HTTP/1.1\r\nHost: a\r\n\(Self.good)Content-Length: 3\r\n\r\nabc")
      #expect(client.receive(until: "took 3").contains("200 OK"))
    }
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.receive(until: "who are you").contains(" 401 "))
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\(Self.good)\r\n")
    #expect(client.receive(until: "took 0").contains("200 OK"))
    #expect(calls.count == 3)
    #expect(live.stop())
  }

  @Test(
    "A body beyond what the doorman takes is refused, announced or in chunks",
    arguments: ["Content-Length: 4097\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1001\r\n"])
  func tooLong(_ lines: String) throws {
    let calls = Calls()
    let live = try Self.live(calls)
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(Self.good)\(lines)")
    client.send([UInt8](repeating: 1, count: 4_097))
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 413 "))
    #expect(calls.count == 0)
    #expect(live.stop())
  }

  @Test("Strangers who hold half a body each keep no room from a user")
  func nothingHeld() throws {
    let calls = Calls()
    let live = try LiveServer(
      limits: LimitTests.limits {
        $0.bodyBytes = 50_000
        $0.bodyBytesInAll = 60_000
      }, doorman: { $0.bearerToken == "good" ? .take(bodyBytes: .max) : .refuse(Self.unknown) }
    ) { request in
      calls.note()
      return .text(200, "took \(request.body.count)")
    }
    // Strangers who hold as much as they may; before, two of them took all the room there is.
    let strangers = (0..<8).map { _ in RawClient(live.port) }
    for stranger in strangers {
      stranger.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n")
      stranger.send([UInt8](repeating: 1, count: 49_999))
    }
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(Self.good)Content-Length: 50000\r\n\r\n")
    client.send([UInt8](repeating: 1, count: 50_000))
    #expect(client.receive(until: "took 50000").contains("200 OK"))
    #expect(live.stop())
  }
}
