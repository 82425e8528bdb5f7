import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import FerryTestTraits
import Glibc
import Synchronization
import Testing

@Suite("A queue of requests")
struct QueueTests {
  private static func echo() -> ScriptedService {
    ScriptedService { request, _ in .status(200, request.target) }
  }

  @Test(
    "More than four workers become four, and fewer than one become one", .reference("adr/RQM-2"))
  func workers() {
    let session = ODataSession()
    #expect(RequestQueue(session).workers == 4)
    #expect(RequestQueue(session, workers: 9).workers == 4)
    #expect(RequestQueue(session, workers: 2).workers == 2)
    #expect(RequestQueue(session, workers: 0).workers == 1)
  }

  @Test(
    "More than five requests at a time are an error in the other form",
    .reference("ios/REQ-27", "ios/CON-5", "ios/CON-12"))
  func strictWorkers() async throws {
    let session = ODataSession()
    #expect(try RequestQueue(session, concurrentRequests: 5).workers == 5)
    for count in [0, 6] {
      let error = await failure { () throws(ODataClientError) in
        _ = try RequestQueue(session, concurrentRequests: count)
      }
      guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    }
  }

  @Test(
    "Five are under way at a time by default, as many as are set later, and never more",
    .reference("ios/REQ-27", "ios/CON-5")
  )
  func fiveAtATime() async throws {
    #expect(RequestQueue.shared.workers == 5)
    let counts = Mutex((now: 0, most: 0))
    let gate = Gate()
    let server = ScriptedService { _, _ in
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
      gate.wait()
      counts.withLock { $0.now -= 1 }
      return .status(200)
    }
    defer { gate.open() }
    let queue = RequestQueue.shared
    try await queue.setConcurrentRequests(2)
    #expect(queue.workers == 2)
    var tickets: [RequestTicket] = []
    for _ in 0..<12 { tickets.append(try await queue.add(ODataRequest(server.root))) }
    #expect(await eventually { counts.withLock { $0.now } == 2 })
    #expect(await queue.count == 10)
    for count in [0, 6] {
      let error = await failure { () throws(ODataClientError) in
        try await queue.setConcurrentRequests(count)
      }
      guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
    }
    try await queue.setConcurrentRequests(5)
    #expect(await eventually { counts.withLock { $0.now } == 5 })
    #expect(await queue.count == 7)
    gate.open()
    for ticket in tickets { #expect(try await ticket.response().status == 200) }
    #expect(counts.withLock { $0.most } == 5)
  }

  @Test(
    "A sign of network activity is shown while a request is under way, unless it is off",
    .reference("ios/REQ-30")
  )
  func activity() async throws {
    let gate = Gate()
    let server = ScriptedService { _, _ in
      gate.wait()
      return .status(200)
    }
    defer { gate.open() }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    #expect(await queue.reportsNetworkActivity)
    var signs = await queue.networkActivity().makeAsyncIterator()
    #expect(await signs.next() == false)
    let ticket = try await queue.add(ODataRequest(server.root))
    #expect(await signs.next() == true)
    await queue.setReportsNetworkActivity(false)
    #expect(await signs.next() == false)
    #expect(await queue.isNetworkInUse)
    await queue.setReportsNetworkActivity(true)
    #expect(await signs.next() == true)
    gate.open()
    _ = try await ticket.response()
    #expect(await signs.next() == false)
    await queue.terminate()
    #expect(await signs.next() == nil)
  }

  @Test(
    "No more requests are under way than there are workers",
    .reference("adr/RQM-1", "adr/A13", "adr/A49", "adr/B16"))
  func bounded() async throws {
    let counts = Mutex((now: 0, most: 0))
    let gate = Gate()
    let server = ScriptedService { _, _ in
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
      gate.wait()
      counts.withLock { $0.now -= 1 }
      return .status(200)
    }
    defer { gate.open() }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 2)
    var tickets: [RequestTicket] = []
    for _ in 0..<8 { tickets.append(try await queue.add(ODataRequest(server.root))) }
    #expect(await eventually { counts.withLock { $0.now } == 2 })
    #expect(await queue.requests.count(where: \.isUnderWay) == 2)
    #expect(await queue.count == 6)
    gate.open()
    for ticket in tickets { #expect(try await ticket.response().status == 200) }
    #expect(counts.withLock { $0.most } == 2)
    #expect(await eventually { await !queue.hasRequests })
  }

  @Test(
    "High priority goes first, and within a priority who came first",
    .reference("adr/RQM-3", "adr/REQ-4", "adr/B7"))
  func order() async throws {
    let server = Self.echo()
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    await queue.pause()
    var tickets: [RequestTicket] = []
    for (name, priority) in [
      ("a", RequestPriority.normal), ("b", .high), ("c", .normal), ("d", .high),
    ] {
      tickets.append(
        try await queue.add(ODataRequest(server.root + name), name: name, priority: priority))
    }
    #expect(await queue.requests.map(\.name) == ["b", "d", "a", "c"])
    #expect(await queue.count == 4)
    #expect(server.lines.isEmpty)
    await queue.resume()
    for ticket in tickets { _ = try await ticket.response() }
    #expect(server.lines == ["GET /b", "GET /d", "GET /a", "GET /c"])
  }

  @Test(
    "A bundle has one worker and answers in its own order", .reference("adr/REQ-6", "adr/RQM-4"))
  func bundle() async throws {
    let server = ScriptedService { request, number in
      // What comes first takes longest.
      for _ in number..<5 { Patience.moment() }
      return request.target == "/1" ? .status(404, "no") : .status(200, request.target)
    }
    let queue = RequestQueue(ODataSession(SystemTransport.make()))
    let ticket = try await queue.add(
      bundle: (0..<4).map { ODataRequest("\(server.root)\($0)") }, name: "all")
    var texts: [String] = []
    for await result in ticket.results { texts.append(try result.get().text) }
    #expect(texts == ["/0", "no", "/2", "/3"])
    #expect(server.lines == ["GET /0", "GET /1", "GET /2", "GET /3"])
  }

  @Test(
    "What waits is never sent once it is taken back, and what is under way is cut",
    .reference("ios/REQ-36", "ios/CS-85")
  )
  func cancel() async throws {
    let gate = Gate()
    let server = ScriptedService { _, _ in
      gate.wait()
      return .status(200)
    }
    defer { gate.open() }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    let first = try await queue.add(ODataRequest(server.root + "1"))
    let second = try await queue.add(ODataRequest(server.root + "2"))
    #expect(await eventually { server.lines == ["GET /1"] })
    #expect(await queue.isNetworkInUse)
    await queue.cancel(second)
    let waited = await failure { () throws(ODataClientError) in _ = try await second.response() }
    guard case .cancelled = waited?.cause else { return #expect(Bool(false), "\(waited as Any)") }
    #expect(waited?.requestWasSent == false)
    await queue.cancel(first)
    let cut = await failure { () throws(ODataClientError) in _ = try await first.response() }
    guard case .transport(let error) = cut?.cause else {
      return #expect(Bool(false), "\(cut as Any)")
    }
    #expect(error.code == .cancelled && cut?.requestWasSent == true)
    #expect(await eventually { await !queue.isNetworkInUse })
  }

  @Test("A terminated queue takes everything back and nothing more", .reference("adr/RQM-6"))
  func terminate() async throws {
    let gate = Gate()
    let server = ScriptedService { _, _ in
      gate.wait()
      return .status(200)
    }
    defer { gate.open() }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    let events = await queue.events()
    var tickets: [RequestTicket] = []
    for _ in 0..<3 { tickets.append(try await queue.add(ODataRequest(server.root))) }
    #expect(await eventually { server.lines.count == 1 })
    await queue.terminate()
    for ticket in tickets {
      #expect(
        await failure { () throws(ODataClientError) in _ = try await ticket.response() } != nil)
    }
    let late = await failure { () throws(ODataClientError) in
      _ = try await queue.add(ODataRequest(server.root))
    }
    guard case .cancelled = late?.cause else { return #expect(Bool(false), "\(late as Any)") }
    var interrupted = 0
    for await event in events { if case .interrupted = event.step { interrupted += 1 } }
    #expect(interrupted == 3)
    #expect(server.lines.count == 1)
  }

  @Test(
    "Each request tells its steps in order, under the name that the app gave it",
    .reference("adr/LIF-4", "adr/REQ-5", "adr/LSN-1")
  )
  func events() async throws {
    let server = Self.echo()
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    let events = await queue.events()
    let good = try await queue.add(ODataRequest(server.root + "x"), name: "tag 7")
    _ = try await good.response()
    let bad = try await queue.add(ODataRequest("http://127.0.0.1:1/"), name: "nobody")
    _ = await failure { () throws(ODataClientError) in _ = try await bad.response() }
    await queue.terminate()
    var steps: [String] = []
    for await event in events {
      let name = event.name ?? ""
      switch event.step {
      case .requestBegan: steps.append("\(name) began")
      case .progress: break
      case .requestEnded: steps.append("\(name) sent")
      case .responseBegan(let status): steps.append("\(name) \(status)")
      case .responseEnded(let response): steps.append("\(name) \(response.text)")
      case .interrupted(let error): steps.append("\(name) \(error.requestWasSent)")
      }
    }
    #expect(
      steps == [
        "tag 7 began", "tag 7 sent", "tag 7 200", "tag 7 /x", "nobody began", "nobody false",
      ])
  }

  @Test(
    "The seven events of a request delegate: begun, data, ended, failed, redirected, and both questions for credentials",
    .reference("ios/CON-6")
  )
  func delegateEvents() async throws {
    let proxied = Mutex(0)
    let server = ScriptedService { request, _ in
      switch request.target {
      case "/old": return .status(302, "", [("Location", "/new")])
      case "/proxied":
        let isFirst = proxied.withLock { count in
          count += 1
          return count == 1
        }
        return isFirst
          ? .status(407, "", [("Proxy-Authenticate", #"Basic realm="Out""#)]) : .status(200)
      default:
        return request.headers["Authorization"] == nil
          ? .status(401, "", [("WWW-Authenticate", #"Basic realm="In""#)])
          : .status(200, String(repeating: "x", count: 300_000))
      }
    }
    let source = ScriptedSource([
      .basic(user: "a", password: "b"), .basic(user: "p", password: "q"),
    ])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    let queue = RequestQueue(session, workers: 1)
    let events = await queue.events()
    let redirected = try await queue.add(ODataRequest(server.root + "old"))
    let answer = try await redirected.response()
    #expect(answer.address == server.root + "new", "requestRedirected")
    #expect(source.asked.map(\.space.isProxy) == [false], "authenticationNeeded")
    _ = try await queue.add(ODataRequest(server.root + "proxied")).response()
    #expect(source.asked.map(\.space.isProxy) == [false, true], "proxyAuthenticationNeeded")
    let failing = try await queue.add(ODataRequest("http://127.0.0.1:1/"))
    _ = await failure { () throws(ODataClientError) in _ = try await failing.response() }
    await queue.terminate()
    var steps: [Int: [String]] = [:]
    for await event in events {
      switch event.step {
      case .requestBegan: steps[event.id, default: []].append("started")
      case .progress(let progress) where progress.receivedBytes > 0:
        if steps[event.id]?.last != "data" { steps[event.id, default: []].append("data") }
      case .responseEnded: steps[event.id, default: []].append("finished")
      case .interrupted: steps[event.id, default: []].append("failed")
      default: break
      }
    }
    #expect(steps[redirected.id]?.first == "started" && steps[redirected.id]?.last == "finished")
    #expect(steps[redirected.id]?.contains("data") == true)
    #expect(steps[failing.id] == ["started", "failed"])
  }

  @Test(
    "Three layers: a queue orders, a session performs, and a transport of the app's own connects and delivers",
    .reference("adr/RQM-7", "adr/RQM-10")
  )
  func layers() async throws {
    let transport = RecordingTransport { request in
      request.url.hasSuffix("/gone") ? (410, [:]) : (200, ["X-By": "own"])
    }
    let queue = RequestQueue(ODataSession(transport), workers: 2)
    let good = try await queue.add(ODataRequest("https://host/a")).response()
    #expect(good.status == 200 && good.headers["X-By"] == "own")
    #expect(try await queue.add(ODataRequest("https://host/gone")).response().status == 410)
    #expect(transport.requests.map(\.url) == ["https://host/a", "https://host/gone"])
  }

  @Test(
    "Sizes are asked by HEAD with the same headers, and progress counts over all",
    .reference("ios/REQ-32", "ios/CON-8")
  )
  func sizes() async throws {
    let server = ScriptedService { request, _ in
      request.target == "/lost" ? .status(404) : .status(200, String(repeating: "x", count: 1000))
    }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    await queue.pause()
    var tickets: [RequestTicket] = []
    for name in ["a", "b", "lost"] {
      let request = ODataRequest(server.root + name, headers: ["X-Own": "1"])
      tickets.append(try await queue.add(request))
    }
    #expect(await queue.progress.toReceiveBytes == nil)
    #expect(await queue.measure() == 2000)
    #expect(server.lines == ["HEAD /a", "HEAD /b", "HEAD /lost"])
    #expect(server.requests.allSatisfy { $0.headers["X-Own"] == "1" })
    await queue.resume()
    for ticket in tickets { _ = try await ticket.response() }
    #expect(await eventually { await !queue.hasRequests })
    let progress = await queue.progress
    #expect(progress.receivedBytes == 2000 && progress.toReceiveBytes == 2000)
  }

  @Test(
    "An app sees what waits and what is under way; two queues work for two servers at once",
    .reference("adr/RQM-5", "adr/RQM-8", "adr/SV-39")
  )
  func introspection() async throws {
    let gate = Gate()
    let server = ScriptedService { _, _ in
      gate.wait()
      return .status(200)
    }
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    let elsewhere = Self.echo()
    let other = RequestQueue(ODataSession(SystemTransport.make()), workers: 1)
    #expect(await !queue.hasRequests)
    let first = try await queue.add(ODataRequest(server.root + "1"), name: "one")
    try await queue.add(ODataRequest(server.root + "2"), name: "two")
    #expect(await eventually { server.lines.count == 1 })
    #expect(await queue.count == 1)
    #expect(await queue.requests.map(\.isUnderWay) == [true, false])
    #expect(await queue.requests.first?.id == first.id)
    #expect(await other.requests.isEmpty)
    // The other one works for its own server while this one is held.
    let own = try await other.add(ODataRequest(elsewhere.root + "x"), name: "else")
    #expect(try await own.response().text == "/x")
    #expect(elsewhere.lines == ["GET /x"] && server.lines == ["GET /1"])
    #expect(await queue.requests.map(\.name) == ["one", "two"])
    gate.open()
    _ = try await first.response()
  }
}
