import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import Testing

@Suite("Requests and answers over real sockets", .apart)
struct RoundTripTests {
  @Test("A request arrives as it was sent, and the answer as it was given")
  func roundTrip() async throws {
    let live = try LiveServer { request in
      var text = "\(request.method) \(request.path) \(request.query ?? "-")"
      text += " \(request.headers["X-Device"] ?? "-") \(request.body.count) \(request.peer ?? "-")"
      return HTTPResponse(
        status: 207, headers: ["Cache-Control": "no-store", "X-Accel-Buffering": "no"],
        body: .bytes(Array(text.utf8)))
    }
    let transport = CurlTransport()
    let response = try await transport.send(
      TransportRequest(
        url: live.url + "/a%20b/c?x=1&y=%2F", method: .post, headers: ["x-device": "grün"],
        body: [UInt8](repeating: 7, count: 100_000)))
    let text = try await response.body.collect()
    #expect(response.status == 207)
    #expect(response.headers["cache-control"] == "no-store")
    #expect(response.headers["x-accel-buffering"] == "no")
    #expect(response.headers["content-length"] == "\(text.count)")
    #expect(
      String(decoding: text, as: UTF8.self) == "POST /a%20b/c x=1&y=%2F grün 100000 127.0.0.1")
    #expect(live.stop())
  }

  @Test("A large answer is whole, whether the handler suspends or not", arguments: [false, true])
  func large(suspends: Bool) async throws {
    let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let live = try LiveServer { _ in
      if suspends { await Task.yield() }
      return HTTPResponse(status: 200, body: .bytes(bytes))
    }
    let transport = CurlTransport()
    for _ in 0..<3 {
      let response = try await transport.send(TransportRequest(url: live.url))
      #expect(try await response.body.collect() == bytes)
    }
    #expect(live.stop())
  }

  @Test("HEAD, an empty body and an odd method are answered")
  func odd() async throws {
    let live = try LiveServer { .text(200, $0.method.rawValue) }
    let transport = CurlTransport()
    let head = try await transport.send(TransportRequest(url: live.url, method: .head))
    #expect(try await head.body.collect() == [])
    #expect(head.headers["Content-Length"] == "4")
    for method in [HTTPMethod.post, .put, .delete, HTTPMethod(rawValue: "MERGE")] {
      let response = try await transport.send(TransportRequest(url: live.url, method: method))
      #expect(try await response.body.collect() == Array(method.rawValue.utf8))
    }
    #expect(live.stop())
  }

  @Test("Requests on one kept connection are answered in order, also sent ahead")
  func pipelined() throws {
    let live = try LiveServer { request in
      if request.path == "/1" { await Task.yield() }
      return .text(200, "<\(request.path)>")
    }
    let client = RawClient(live.port)
    client.send((0..<4).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    let text = client.receive(until: "</3>")
    let marks = text.split(separator: "<").dropFirst().map { $0.prefix(2) }
    #expect(marks == ["/0", "/1", "/2", "/3"])
    #expect(live.stop())
  }

  @Test("A header with a line break is left out, not sent as two")
  func splitting() throws {
    let live = try LiveServer { _ in
      HTTPResponse(status: 200, headers: ["X-A": "1\r\nX-Forged: yes", "X-B": "2"])
    }
    let client = RawClient(live.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let text = client.receiveAll()
    #expect(text.contains("X-B: 2"))
    #expect(!text.contains("X-Forged"))
    #expect(live.stop())
  }
}
