import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import Glibc
import Synchronization
import Testing

/// What a service, or what is in between, does wrong: each is a typed error, and nothing is sent
/// twice.
@Suite("Bad answers on real sockets")
struct BadInputTests {
  private static func error(
    _ url: String, method: HTTPMethod = .get, idle: Duration = Patience.limit,
    _ script: @escaping @Sendable (ScriptedServer.Line) -> Void
  ) async -> (error: ODataClientError?, connections: Int) {
    let server = ScriptedServer(script)
    defer { server.close() }
    var options = ODataSessionOptions()
    options.deadlines = TransportDeadlines(idle: idle)
    let session = ODataSession(SystemTransport.make(), options: options)
    let error = await failure { () throws(ODataClientError) in
      _ = try await session.sendChecked(ODataRequest(server.url + url, method: method))
    }
    return (error, server.connections)
  }

  private static func code(_ error: ODataClientError?) -> TransportError.Code? {
    if case .transport(let reason) = error?.cause { reason.code } else { nil }
  }

  @Test("An answer that is late, half, or no HTTP is named, and a change is not sent again")
  func broken() async {
    let cases: [(TransportError.Code, @Sendable (ScriptedServer.Line) -> Void)] = [
      (.timedOut, { line in _ = line.waitForEnd() }),
      (
        .timedOut,
        { line in
          line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
          _ = line.waitForEnd()
        }
      ),
      (.cut, { line in line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") }),
      (
        .cut,
        { line in line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf") }
      ),
      (.cut, { _ in }),
    ]
    for (code, script) in cases {
      // Only what never comes is waited for in vain.
      let idle: Duration = code == .timedOut ? .milliseconds(400) : Patience.limit
      let (error, connections) = await Self.error("x", method: .post, idle: idle) { line in
        _ = line.receiveHead()
        script(line)
      }
      #expect(Self.code(error) == code, "\(error as Any)")
      #expect(error?.requestWasSent == true)
      #expect(connections == 1)
    }
  }

  @Test("A body that is packed otherwise than it says, and one without an end, are errors")
  func wrongEncoding() async {
    let (packed, _) = await Self.error("x") { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain")
    }
    #expect(packed?.requestWasSent == true)
    guard case .transport = packed?.cause else { return #expect(Bool(false), "\(packed as Any)") }
    let (endless, _) = await Self.error("x") { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 400 No\r\n\r\n")
      while line.send([UInt8](repeating: 65, count: 65_536)) {}
    }
    #expect(Self.code(endless) == .tooLarge)
  }

  @Test("A text in another encoding than UTF-8 is an error with its place, not another text")
  func wrongCharacters() async throws {
    let server = ScriptedServer { line in
      let head = line.receiveHead()
      let body: [UInt8]
      if head.hasPrefix("GET / ") {
        body = Array(SmallService.document.utf8)
      } else if head.hasPrefix("GET /$metadata") {
        body = Array(SmallService.metadata.utf8)
      } else {
        body = Array(#"{"value":[{"ID":1,"Name":""#.utf8) + [0xFC, 0x62] + Array(#""}]}"#.utf8)
      }
      line.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n")
      line.send(body)
    }
    defer { server.close() }
    let service = try await ODataService.open(
      server.url, session: ODataSession(SystemTransport.make()))
    let error = await failure { () throws(ODataClientError) in
      for try await _ in service.entries("Items") {}
    }
    guard case .document = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
  }

  @Test("10,000 cookies of one answer leave 50, and the next request is still sent")
  func cookies() async throws {
    let server = ScriptedService { _, number in
      .status(200, "", number > 0 ? [] : (0..<5_000).map { ("Set-Cookie", "c\($0)=1") })
    }
    let session = ODataSession(SystemTransport.make())
    for _ in 0..<2 { #expect(try await session.send(ODataRequest(server.root)).status == 200) }
    let sent = server.requests.last?.headers["Cookie"]?.split(separator: ";").count
    #expect(sent == 50)
  }

  @Test("A call that is cancelled in any phase ends, and its connection with it")
  func cancelled() async throws {
    let phases: [@Sendable (ScriptedServer.Line) -> Void] = [
      { _ in },
      { line in _ = line.receiveHead() },
      { line in
        _ = line.receiveHead()
        line.send("HTTP/1.1 200 OK\r\nContent-Le")
      },
      { line in
        _ = line.receiveHead()
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      },
    ]
    for phase in phases {
      let reached = Mutex(false)
      let ended = Mutex(false)
      let server = ScriptedServer { line in
        phase(line)
        reached.withLock { $0 = true }
        _ = line.waitForSilence()
        ended.withLock { $0 = true }
      }
      defer { server.close() }
      let url = server.url
      let call = Task {
        await failure { () throws(ODataClientError) in
          _ = try await ODataSession(SystemTransport.make()).send(ODataRequest(url, method: .post))
        }
      }
      #expect(await eventually { reached.withLock { $0 } })
      call.cancel()
      #expect(Self.code(await call.value) == .cancelled)
      #expect(await eventually { ended.withLock { $0 } })
      #expect(server.connections == 1)
    }
  }

  @Test("A body in the middle of its upload is refused by 401, and goes up once more, whole")
  func lateChallenge() async throws {
    let seen = Mutex<[Int]>([])
    let server = ScriptedServer { line in
      let head = line.receiveHead()
      let isSigned = head.contains("Authorization: Basic YTpi")
      if head.contains("Expect:") && isSigned { line.send("HTTP/1.1 100 Continue\r\n\r\n") }
      guard isSigned else {
        _ = head.contains("Expect:") ? 0 : line.receive(100_000)
        line.send(
          "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\r\n")
        // What the client has sent meanwhile must not reset the answer.
        shutdown(line.socket, CInt(SHUT_WR))
        while line.receive(65_536) > 0 {}
        return
      }
      let count = line.receive(3_000_000)
      seen.withLock { $0.append(count) }
      line.send("HTTP/1.1 204 Done\r\nConnection: close\r\n\r\n")
    }
    defer { server.close() }
    var options = ODataSessionOptions()
    options.credentials = .basic(user: "a", password: "b")
    let session = ODataSession(SystemTransport.make(), options: options)
    let request = ODataRequest(
      server.url, method: .put, body: [UInt8](repeating: 1, count: 3_000_000))
    #expect(try await session.send(request).status == 204)
    #expect(seen.withLock { $0 } == [3_000_000])
    #expect(server.connections == 2)
  }
}
