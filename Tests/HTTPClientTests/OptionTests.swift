import FerryHTTP
import FerryHTTPClient
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("How a transport reaches servers")
struct OptionTests {
  private static func reply(_ line: ScriptedServer.Line, _ text: String, _ fields: String = "") {
    line.send(
      "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\(fields)Connection: close\r\n\r\n\(text)"
    )
  }

  @Test("A proxy gets requests of http whole, with its credentials apart", .reference("ios/REQ-24"))
  func plainProxy() async throws {
    let heads = Mutex<[String]>([])
    let proxy = ScriptedServer { line in
      let head = line.receiveHead()
      heads.withLock { $0.append(head) }
      if head.contains("Proxy-Authorization: Basic YTpi") {
        Self.reply(line, "through")
      } else {
        line.send(
          "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
      }
    }
    defer { proxy.close() }
    var options = TransportOptions()
    options.proxy = .server(host: "127.0.0.1", port: proxy.port)
    var request = TransportRequest(url: "http://127.0.0.1:9/there")
    #expect(try await answer(CurlTransport(options), request).status == 407)
    request.proxyAuthorization = "Basic YTpi"
    #expect(try await answer(CurlTransport(options), request).text == "through")
    #expect(heads.withLock { $0[0].hasPrefix("GET http://127.0.0.1:9/there HTTP/1.1") })
  }

  @Test("A proxy that wants credentials for a tunnel answers 407, and no other header reaches it")
  func tunnel() async throws {
    let server = try NginxServer("location / { return 200 $http_proxy_authorization.; }")
    let heads = Mutex<[String]>([])
    let target = server.port
    let proxy = ScriptedServer { line in
      let head = line.receiveHead()
      heads.withLock { $0.append(head) }
      guard head.contains("Proxy-Authorization: Basic YTpi") else {
        line.send(
          "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
        return
      }
      line.send("HTTP/1.1 200 Connection established\r\nX-Proxy: here\r\n\r\n")
      line.join(port: target)
    }
    defer { proxy.close() }
    var options = TransportOptions(trust: .file(server.authority))
    options.proxy = .server(host: "127.0.0.1", port: proxy.port)
    var request = TransportRequest(
      url: server.url, method: .post, headers: ["Authorization": "Bearer t"], body: [1])
    let refused = try await CurlTransport(options).send(request)
    #expect(refused.status == 407)
    #expect(refused.headers["Proxy-Authenticate"] == "Basic realm=\"p\"")
    #expect(server.requests.isEmpty)
    request.proxyAuthorization = "Basic YTpi"
    let response = try await CurlTransport(options).send(request)
    #expect(response.status == 200)
    #expect(response.headers["X-Proxy"] == nil)
    // The server does not see what is the proxy's, nor the proxy what is the server's.
    #expect(try await response.body.collect() == Array(".".utf8))
    #expect(heads.withLock { $0.allSatisfy { $0.hasPrefix("CONNECT") && !$0.contains("Bearer") } })
  }

  @Test("A proxy that hangs after CONNECT ends at the connect deadline, with nothing sent")
  func hangingProxy() async throws {
    let proxy = ScriptedServer { line in
      _ = line.receiveHead()
      _ = line.waitForEnd()
    }
    defer { proxy.close() }
    var options = TransportOptions()
    options.proxy = .server(host: "127.0.0.1", port: proxy.port)
    let error = await failure(
      CurlTransport(options),
      TransportRequest(
        url: "https://127.0.0.1:9/", method: .post, body: [1],
        deadlines: TransportDeadlines(connect: .milliseconds(300))))
    #expect(error?.code == .timedOut)
    #expect(error?.requestWasSent == false)
  }

  @Test("A proxy that refuses the way is named")
  func refusingProxy() async throws {
    let proxy = ScriptedServer { line in
      _ = line.receiveHead()
      line.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
    }
    defer { proxy.close() }
    var options = TransportOptions()
    options.proxy = .server(host: "127.0.0.1", port: proxy.port)
    let error = await failure(CurlTransport(options), TransportRequest(url: "https://127.0.0.1:9/"))
    #expect(error?.code == .cannotConnect)
    #expect(error?.message.contains("403") == true)
  }

  @Test("No host gets more requests at a time than the options allow; the others wait their turn")
  func connectionsPerHost() async throws {
    let state = Mutex((now: 0, most: 0))
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      Patience.moment()
      state.withLock { $0.now -= 1 }
      Self.reply(line, "x")
    }
    defer { server.close() }
    #expect(TransportOptions().connectionsPerHost == 6)
    var options = TransportOptions()
    options.connectionsPerHost = 2
    let transport = CurlTransport(options)
    let url = server.url
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<12 {
        group.addTask { try await answer(transport, TransportRequest(url: url)).text }
      }
      for try await text in group { #expect(text == "x") }
    }
    #expect(state.withLock { $0.most } == 2)
  }

  @Test("Who waits for a busy host is given up at the total deadline, with nothing sent")
  func busyHost() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      _ = line.waitForEnd()
    }
    defer { server.close() }
    var options = TransportOptions()
    options.connectionsPerHost = 1
    let transport = CurlTransport(options)
    let url = server.url
    let first = Task { await failure(transport, TransportRequest(url: url)) }
    #expect(await isTrue { server.connections == 1 })
    let error = await failure(
      transport,
      TransportRequest(url: url, deadlines: TransportDeadlines(total: .milliseconds(200))))
    #expect(error?.code == .timedOut)
    #expect(error?.requestWasSent == false)
    first.cancel()
    #expect(await first.value?.code == .cancelled)
  }

  @Test(
    "No head in the time allowed: timed out, though the line is alive",
    .reference("ios/REQ-10", "ios/CS-14", "adr/TMO-1")
  )
  func headDeadline() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      while line.send("HTTP/1.1 103 Early Hints\r\n\r\n") { Patience.moment() }
    }
    defer { server.close() }
    let error = await failure(
      CurlTransport(),
      TransportRequest(
        url: server.url, deadlines: TransportDeadlines(idle: Patience.limit, head: .seconds(5)))
    )
    #expect(error?.code == .timedOut)
    #expect(error?.requestWasSent == true)
  }

  @Test(
    "A packed answer is unpacked and says so; one that was not asked for comes as it is",
    .reference("ios/REQ-13", "ios/REQ-17")
  )
  func packed() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try NginxServer.shell(
      "printf hello | gzip > small; head -c 60000000 /dev/zero | gzip > bomb", in: folder)
    let small = Array(try Data(contentsOf: folder.appending(path: "small")))
    let bomb = Array(try Data(contentsOf: folder.appending(path: "bomb")))
    let server = ScriptedServer { line in
      let head = line.receiveHead()
      let body = head.hasPrefix("GET /bomb") ? bomb : small
      line.send(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
      line.send(body)
    }
    defer { server.close() }
    var request = TransportRequest(url: server.url)
    request.acceptsCompressed = true
    let response = try await CurlTransport().send(request)
    #expect(response.isCompressed)
    #expect(try await response.body.collect() == Array("hello".utf8))
    request.acceptsCompressed = false
    #expect(try await CurlTransport().send(request).body.collect() == small)
    request.acceptsCompressed = true
    request.url += "bomb"
    let error = await failure(CurlTransport(), request)
    #expect(error?.code == .tooLarge)
  }

  @Test("Lines of Set-Cookie stay apart")
  func cookies() async throws {
    let server = ScriptedServer { line in
      _ = line.receiveHead()
      Self.reply(
        line, "", "Set-Cookie: a=1; Expires=Wed, 09 Jun 2038 10:18:14 GMT\r\nSet-Cookie: b=2\r\n")
    }
    defer { server.close() }
    let response = try await CurlTransport().send(TransportRequest(url: server.url))
    #expect(response.headers.setCookies == ["a=1; Expires=Wed, 09 Jun 2038 10:18:14 GMT", "b=2"])
  }
}
