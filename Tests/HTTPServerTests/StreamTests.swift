import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryTestSupport
import Glibc
import Synchronization
import Testing

@Suite("Streamed answers", .apart)
struct StreamTests {
  @Test("Each piece arrives while the source waits for the next, over both versions of HTTP")
  func pieces() throws {
    for version in ["1.1", "1.0"] {
      let source = GateSource()
      let live = try LiveServer { _ in HTTPResponse(status: 200, body: .stream(source)) }
      let client = RawClient(live.port)
      client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
      for piece in ["<one>", "<two>", "<three>"] {
        source.give(piece)
        #expect(client.receive(until: piece).contains(piece), "\(piece) over \(version)")
        #expect(eventually { source.isWaiting })
      }
      source.give(.end)
      let rest = client.receive(until: version == "1.1" ? "0\r\n\r\n" : "never")
      #expect(rest == (version == "1.1" ? "0\r\n\r\n" : ""))
      #expect(live.stop())
    }
  }

  @Test("A source that never waits is asked only as fast as the client reads")
  func pull() async throws {
    struct Endless: HTTPBodySource {
      let calls: Calls
      func next() async -> HTTPBodyPiece {
        let number = calls.count.add(1, ordering: .relaxed).newValue
        return number > 3000 ? .end : .bytes([UInt8](repeating: 1, count: 10_000))
      }
    }
    let calls = Calls()
    let live = try LiveServer { _ in
      HTTPResponse(status: 200, body: .stream(Endless(calls: calls)))
    }
    let response = try await CurlTransport().send(TransportRequest(url: live.url))
    // What is there before the reader takes anything: it rests, however long that takes.
    let last = await Patience.rest { calls.count.load(ordering: .relaxed) }
    #expect(last < 3000)
    #expect(try await response.body.collect().count == 30_000_000)
    #expect(live.stop())
  }

  final class Calls: Sendable { let count = Atomic<Int>(0) }

  @Test("A client that goes away cancels the source, and it is released")
  func goneClient() throws {
    let released = Mutex(false)
    let holder = Mutex<GateSource?>(GateSource { released.withLock { $0 = true } })
    let live = try LiveServer { _ in
      guard let source = holder.withLock({ $0 }) else { return HTTPResponse(status: 500) }
      return HTTPResponse(status: 200, body: .stream(source))
    }
    var client: RawClient? = RawClient(live.port)
    client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    holder.withLock { $0 }?.give("<one>")
    #expect(client?.receive(until: "<one>").contains("<one>") == true)
    #expect(eventually { holder.withLock { $0?.isWaiting } == true })
    client = nil
    #expect(eventually { holder.withLock { $0?.cancellations } == 1 })
    holder.withLock { $0 = nil }
    #expect(eventually { released.withLock { $0 } })
    #expect(live.stop())
  }

  @Test("A client that goes away before the answer cancels the handler")
  func goneBefore() throws {
    let door = Door()
    let live = try LiveServer { _ in
      await door.pass()
      return .text(200, "late")
    }
    var client: RawClient? = RawClient(live.port)
    client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(eventually { door.waiting == 1 })
    client = nil
    #expect(eventually { door.cancellations == 1 })
    door.open()
    // The server goes on.
    let next = RawClient(live.port)
    next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(next.receive(until: "late").contains("200 OK"))
    #expect(live.stop())
  }

  @Test("An aborted body is not taken for a whole one")
  func abort() async throws {
    let source = GateSource()
    let live = try LiveServer { _ in HTTPResponse(status: 200, body: .stream(source)) }
    source.give("<one>")
    source.give(.abort)
    let response = try await CurlTransport().send(TransportRequest(url: live.url))
    let error = await #expect(throws: TransportError.self) { try await response.body.collect() }
    #expect(error?.code == .cut)
    #expect(live.stop())
  }

  @Test("A stop cancels a waiting stream, which ends as its source says")
  func stop() throws {
    let source = GateSource()
    let live = try LiveServer { _ in HTTPResponse(status: 200, body: .stream(source)) }
    let client = RawClient(live.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    source.give("<one>")
    #expect(client.receive(until: "<one>").contains("<one>"))
    #expect(eventually { source.isWaiting })
    #expect(live.stop(grace: Patience.limit))
    #expect(source.cancellations >= 1)
    #expect(client.receiveAll() == "0\r\n\r\n")
  }
}
