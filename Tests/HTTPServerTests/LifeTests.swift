import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryTestSupport
import Glibc
import Synchronization
import Testing

@Suite("A server's beginning, load and end", .apart)
struct LifeTests {
  @Test("200 busy connections cost one thread")
  func threads() throws {
    let door = Door()
    let loops = Mutex<Set<pthread_t>>([])
    let live = try LiveServer { _ in
      loops.withLock { _ = $0.insert(pthread_self()) }
      await door.pass()
      loops.withLock { _ = $0.insert(pthread_self()) }
      return .text(200, "through")
    }
    let clients = (0..<200).map { _ in RawClient(live.port) }
    for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
    #expect(eventually { door.waiting == 200 })
    #expect(live.threads == 1)
    door.open()
    for client in clients { #expect(client.receive(until: "through").contains("200 OK")) }
    #expect(live.threads == 1)
    #expect(loops.withLock { $0.count } == 1)
    #expect(live.stop())
  }

  @Test("Streams and handlers that wait cost no computing")
  func waiting() throws {
    let door = Door()
    let sources = Mutex<[GateSource]>([])
    let live = try LiveServer { request in
      if request.path == "/wait" {
        await door.pass()
        return .text(200, "through")
      }
      let source = GateSource()
      source.give("<one>")
      sources.withLock { $0.append(source) }
      return HTTPResponse(status: 200, body: .stream(source))
    }
    let clients = (0..<60).map { _ in RawClient(live.port) }
    for (index, client) in clients.enumerated() {
      let path = index < 30 ? "/wait" : "/stream"
      client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
    }
    #expect(eventually { door.waiting == 30 })
    #expect(eventually { sources.withLock { $0.filter(\.isWaiting).count } == 30 })
    #expect(live.cpuTime > .zero)
    // The measure is of a span of time; the first may still see the end of the work before it.
    #expect(
      eventually {
        let before = live.cpuTime
        for _ in 0..<100 { Patience.moment() }
        return live.cpuTime - before < .milliseconds(50)
      })
    door.open()
    #expect(live.stop())
  }

  @Test("A port in use is named with the cure")
  func portInUse() throws {
    let live = try LiveServer { _ in .text(200, "ok") }
    let second = try HTTPServer(configuration: .init(port: live.port)) { _ in .text(200, "ok") }
    let error = #expect(throws: HTTPServerError.self) { try second.start() }
    #expect(error?.code == .portInUse)
    #expect(
      error?.description
        == "port \(live.port) is in use by another process. Choose another with --port or stop that one."
    )
    #expect(live.stop())
  }

  @Test(
    "An address or port that cannot be is named",
    arguments: [
      ("1.2.3", 0, HTTPServerError.Code.badAddress), ("198.51.100.7", 0, .badAddress),
      ("127.0.0.1", 65_536, .badPort), ("127.0.0.1", -1, .badPort),
    ])
  func badAddress(_ address: String, _ port: Int, _ code: HTTPServerError.Code) throws {
    let server = try HTTPServer(configuration: .init(address: address, port: port)) { _ in
      .text(200, "ok")
    }
    let error = #expect(throws: HTTPServerError.self) { try server.start() }
    #expect(error?.code == code)
  }

  @Test("A graceful stop answers what is in flight, closes what is idle and takes no more")
  func graceful() throws {
    let door = Door()
    let live = try LiveServer { request in
      if request.path == "/wait" { await door.pass() }
      return .text(200, "answer")
    }
    let busy = (0..<20).map { _ in RawClient(live.port) }
    for client in busy { client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n") }
    let idle = RawClient(live.port)
    idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(idle.receive(until: "answer").contains("200 OK"))
    let silent = RawClient(live.port)
    #expect(eventually { door.waiting == 20 })
    live.server.stop(grace: Patience.limit)
    #expect(idle.receiveAll() == "")
    #expect(silent.receiveAll() == "")
    #expect(!live.isStopped)
    door.open()
    for client in busy {
      let text = client.receiveAll()
      #expect(text.hasSuffix("answer") && text.contains("Connection: close"))
    }
    #expect(eventually { live.isStopped })
    #expect(door.cancellations == 0)
  }

  @Test("A handler that ends neither in the grace nor when cancelled does not hold the stop")
  func stubborn() throws {
    let door = Door()
    let ended = Mutex(false)
    let live = try LiveServer { _ in
      await door.pass()
      ended.withLock { $0 = true }
      return .text(200, "late")
    }
    let client = RawClient(live.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(eventually { door.waiting == 1 })
    #expect(live.stop(grace: .milliseconds(200)))
    #expect(door.cancellations == 1)
    #expect(client.receiveAll() == "")
    // Its task still comes to an end, on a thread of the system.
    door.open()
    #expect(eventually { ended.withLock { $0 } })
  }

  @Test("A signal stops the server")
  func signalled() throws {
    let live = try LiveServer { _ in .text(200, "ok") }
    let client = RawClient(live.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.receive(until: "ok").contains("200 OK"))
    SignalStop.install(for: live.server)
    defer { SignalStop.uninstall() }
    kill(getpid(), SIGTERM)
    #expect(client.receiveAll() == "")
    #expect(eventually { live.isStopped })
  }

  @Test("Many clients at once, each with many requests, some suspending, all get their own answer")
  func many() async throws {
    let live = try LiveServer { request in
      if request.body.count.isMultiple(of: 2) { await Task.yield() }
      return HTTPResponse(status: 200, body: .bytes(request.body))
    }
    var options = TransportOptions()
    options.connectionsPerHost = 50
    let transport = CurlTransport(options)
    let url = live.url
    let good = await withTaskGroup(of: Int.self) { group in
      for client in 0..<50 {
        group.addTask {
          var good = 0
          for number in 0..<20 {
            let body = [UInt8](repeating: UInt8(client), count: 1 + number * 997)
            let request = TransportRequest(url: url, method: .post, body: body)
            guard let response = try? await transport.send(request),
              let answer = try? await response.body.collect(), answer == body
            else { continue }
            good += 1
          }
          return good
        }
      }
      return await group.reduce(0, +)
    }
    #expect(good == 1000)
    #expect(live.stop())
  }
}
