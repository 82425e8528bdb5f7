import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryTestSupport
import Glibc
import Synchronization
import Testing

@Suite("What a server does not take on", .apart)
struct LimitTests {
  static func limits(_ set: (inout HTTPServerLimits) -> Void = { _ in }) -> HTTPServerLimits {
    var limits = HTTPServerLimits()
    set(&limits)
    return limits
  }

  static func residentBytes() -> Int {
    let file = open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = read(file, &text, text.count)
    let parts = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) * 4096
  }

  @Test("A body announced as 1 GB is refused before it is read")
  func announced() throws {
    let calls = Mutex(0)
    let live = try LiveServer { _ in
      calls.withLock { $0 += 1 }
      return .text(200, "taken")
    }
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n")
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.contains("Connection: close"))
    #expect(calls.withLock { $0 } == 0)
    #expect(live.stop())
  }

  @Test("A body of 1 GB in chunks is refused at the limit, and the refusal is not lost")
  func chunked() throws {
    let live = try LiveServer { _ in .text(200, "taken") }
    let before = Self.residentBytes()
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    let block = Array("100000\r\n".utf8) + [UInt8](repeating: 65, count: 1 << 20) + [13, 10]
    var sent = 0
    while sent < 1024, client.send(block) { sent += 1 }
    #expect(sent >= 8)
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 413 "))
    // Other tests run beside, so the bound is generous; all of it would be 1 GB and more.
    #expect(Self.residentBytes() - before < 500 << 20)
    #expect(live.stop())
  }

  @Test("The client learns of the refusal of a large upload")
  func clientSees() async throws {
    let live = try LiveServer { _ in .text(200, "taken") }
    let response = try await CurlTransport().send(
      TransportRequest(
        url: live.url, method: .post, body: [UInt8](repeating: 1, count: 20 << 20)))
    #expect(response.status == 413)
    #expect(live.stop())
  }

  @Test("A body of exactly the limit is taken, one byte more is not")
  func exactly() async throws {
    let live = try LiveServer(limits: Self.limits { $0.bodyBytes = 100_000 }) {
      .text(200, "\($0.body.count)")
    }
    for (count, status) in [(100_000, 200), (100_001, 413)] {
      let response = try await CurlTransport().send(
        TransportRequest(
          url: live.url, method: .post, body: [UInt8](repeating: 1, count: count)))
      #expect(response.status == status)
    }
    #expect(live.stop())
  }

  @Test("Bodies of all requests together have a bound")
  func inAll() throws {
    let live = try LiveServer(
      limits: Self.limits {
        $0.bodyBytes = 50_000
        $0.bodyBytesInAll = 60_000
        $0.bodyBytesPerAddress = 60_000
      }
    ) { .text(200, "\($0.body.count)") }
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n"
    let first = RawClient(live.port)
    let second = RawClient(live.port)
    first.send(head)
    first.send([UInt8](repeating: 1, count: 49_999))
    // Else the second may come first.
    #expect(eventually { first.isRead() })
    second.send(head)
    second.send([UInt8](repeating: 1, count: 50_000))
    #expect(second.receiveAll().hasPrefix("HTTP/1.1 503 "))
    first.send([1])
    #expect(first.receive(until: "50000").contains("200 OK"))
    // What the two held has been given back.
    let third = RawClient(live.port)
    third.send(head)
    third.send([UInt8](repeating: 1, count: 50_000))
    #expect(third.receive(until: "\r\n50000").contains("200 OK"))
    #expect(live.stop())
  }

  @Test("A head beyond the limit is answered 431, one within it is served")
  func head() throws {
    let live = try LiveServer { .text(200, "\($0.headers.fields.count)") }
    for (bytes, status) in [(7000, "200"), (9000, "431"), (40_000, "431")] {
      let client = RawClient(live.port)
      let value = String(repeating: "a", count: bytes)
      client.send("GET / HTTP/1.1\r\nHost: a\r\nX-A: \(value)\r\nConnection: close\r\n\r\n")
      #expect(client.receiveAll().hasPrefix("HTTP/1.1 \(status) "), "\(bytes)")
    }
    let many = RawClient(live.port)
    let lines = (0..<100).map { "X-\($0): abcdefgh\r\n" }.joined()
    many.send("GET / HTTP/1.1\r\nHost: a\r\n\(lines)Connection: close\r\n\r\n")
    #expect(many.receiveAll().hasSuffix("102"))
    #expect(live.stop())
  }

  @Test(
    "A request whose end can be read in two ways is refused",
    arguments: [
      "Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 3\r\nContent-Length: 4",
      "Transfer-Encoding: gzip", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
      "Content-Length: x", "Content-Length: -1", "Content-Length: 99999999999999999999",
      "Content-Length : 3", "X Y: 1\r\nContent-Length: 3",
      "X-A: a\rX-B: b\r\nContent-Length: 3",
      "X-A: a\u{1B}b\r\nContent-Length: 3", "X-A: a\u{7F}\r\nContent-Length: 3",
    ])
  func smuggling(_ lines: String) throws {
    let calls = Mutex(0)
    let live = try LiveServer { _ in
      calls.withLock { $0 += 1 }
      return .text(200, "taken")
    }
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\nabcGET / HTTP/1.1\r\n\r\n")
    let answer = client.receiveAll()
    #expect(!answer.contains(" 200 "))
    #expect(calls.withLock { $0 } == 0)
    #expect(live.stop())
  }

  @Test("A head that drips in is closed at its deadline, though it never rests")
  func slowHead() throws {
    let live = try LiveServer(limits: Self.limits { $0.headTime = .milliseconds(500) }) { _ in
      .text(200, "ok")
    }
    // Before the connection is made: the server cannot have begun to count earlier.
    let begin = ContinuousClock.now
    let client = RawClient(live.port)
    client.send("GET / HTTP/1.1\r\nX-A: ")
    while client.send("a"), begin.duration(to: .now) < Patience.limit { usleep(50_000) }
    let lasted = begin.duration(to: .now)
    #expect(lasted > .milliseconds(400) && lasted < Patience.limit, "\(lasted)")
    #expect(live.stop())
  }

  @Test("A silent connection and one kept too long are closed")
  func idle() throws {
    let live = try LiveServer(limits: Self.limits { $0.headTime = .milliseconds(400) }) { _ in
      .text(200, "ok")
    }
    let silent = RawClient(live.port)
    // Again where this thread stood still for so long that the server closed it before its head.
    var kept = RawClient(live.port)
    #expect(
      eventually {
        kept = RawClient(live.port)
        kept.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return kept.receive(until: "ok").contains("200 OK")
      })
    #expect(silent.receiveAll() == "")
    #expect(kept.receiveAll() == "")
    #expect(live.stop())
  }

  @Test("A body that drips in is told so at its deadline")
  func slowBody() throws {
    let live = try LiveServer(
      limits: Self.limits {
        $0.bodyTime = .milliseconds(500)
        $0.lingerTime = .milliseconds(100)
      }
    ) { _ in .text(200, "ok") }
    let client = RawClient(live.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
    for _ in 0..<10 {
      client.send("a")
      usleep(20_000)
    }
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 408 "))
    #expect(live.stop())
  }

  @Test("A body that comes slowly, but faster than the slowest upload, is waited for")
  func steadyBody() throws {
    let bodyTime = Duration.milliseconds(300)
    let live = try LiveServer(
      limits: Self.limits {
        $0.bodyTime = bodyTime
        $0.lingerTime = .milliseconds(100)
      }
    ) { .text(200, "taken \($0.body.count)") }
    let wasSteady = eventually {
      let client = RawClient(live.port)
      let begin = ContinuousClock.now
      var (last, longest) = (begin, Duration.zero)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n")
      for _ in 0..<30 {
        client.send([UInt8](repeating: 1, count: 1_000))
        usleep(50_000)
        longest = max(longest, last.duration(to: .now))
        last = .now
      }
      #expect(begin.duration(to: .now) > .seconds(1))
      let answer = client.receive(until: "taken 30000")
      // Where the machine let this client stand still it was no steady one, and another comes.
      guard longest < bodyTime / 3 else { return false }
      #expect(answer.contains("200 OK"))
      return true
    }
    #expect(wasSteady)
    #expect(live.stop())
  }

  @Test("A client that takes nothing of a ready answer is cut, one that takes a little is not")
  func slowReader() throws {
    let bytes = [UInt8](repeating: 1, count: 20 << 20)
    let writeTime = Duration.milliseconds(600)
    let live = try LiveServer(limits: Self.limits { $0.writeTime = writeTime }) { _ in
      HTTPResponse(status: 200, body: .bytes(bytes))
    }
    let stuck = RawClient(live.port)
    stuck.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let wasSlow = eventually {
      let slow = RawClient(live.port)
      slow.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let begin = ContinuousClock.now
      var (last, longest) = (begin, Duration.zero)
      var taken = 0
      while let more = slow.receive(1 << 18) {
        taken += more.count
        if begin.duration(to: .now) < .seconds(2) { usleep(50_000) }
        longest = max(longest, last.duration(to: .now))
        last = .now
      }
      // Where the machine let this client stand still it took nothing, and another comes.
      guard longest < writeTime / 2 else { return false }
      #expect(taken > bytes.count)
      #expect(begin.duration(to: .now) > .seconds(1))
      return true
    }
    #expect(wasSlow)
    var stuckTaken = 0
    while let more = stuck.receive(1 << 18) { stuckTaken += more.count }
    #expect(stuckTaken < bytes.count)
    #expect(live.stop())
  }

  @Test("Beyond the number of connections a client waits until one is free")
  func connections() throws {
    let live = try LiveServer(limits: Self.limits { $0.connections = 2 }) { _ in .text(200, "ok") }
    var clients = (0..<2).map { _ in RawClient(live.port) }
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.receive(until: "ok").contains("200 OK"))
    }
    let third = RawClient(live.port)
    third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    clients.removeLast()
    #expect(third.receive(until: "ok").contains("200 OK"))
    #expect(live.stop())
  }
}
