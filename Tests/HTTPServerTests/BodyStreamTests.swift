import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryTestSupport
import Glibc
import Synchronization
import Testing

/// What a handler has read of a body.
private struct Read: Sendable {
  var count = 0
  var sum: UInt64 = 0
  var isWhole = false

  mutating func add(_ bytes: [UInt8]) {
    count += bytes.count
    for byte in bytes { sum = sum &* 31 &+ UInt64(byte) }
  }

  var text: String { "\(count) \(sum) \(isWhole)" }
}

/// Reads a body to its end. `lags`: leaves the thread of the server before each piece, and comes back
/// when the client has had time to send more.
private func readAll(_ request: HTTPRequest, lags: Bool = false) async -> Read {
  var read = Read()
  guard let stream = request.bodyStream else { return read }
  while true {
    if lags { await Task.detached { Patience.moment() }.value }
    switch await stream.next() {
    case .bytes(let bytes): read.add(bytes)
    case .end:
      read.isWhole = true
      return read
    case .abort: return read
    }
  }
}

private func stream(_ request: HTTPRequest) -> HTTPAdmission { .stream(bodyBytes: .max) }

private func chunked(_ body: [UInt8], by size: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  var place = 0
  while place < body.count {
    let piece = body[place..<min(body.count, place + size)]
    bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
    place += size
  }
  return bytes + Array("0\r\n\r\n".utf8)
}

private func head(_ method: String, _ fields: String) -> [UInt8] {
  Array("\(method) /x HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n".utf8)
}

private func bytes(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 8) }
}

@Suite("Bodies of requests as streams", .apart)
struct BodyStreamTests {
  @Test(
    "Uploads over one connection are whole, whoever lags and however they are cut",
    arguments: [true, false], [7, 1_000, 65_536])
  func uploads(lags: Bool, size: Int) throws {
    let live = try LiveServer(doorman: stream) { request in
      .text(200, await readAll(request, lags: lags).text + ";")
    }
    let client = RawClient(live.port)
    let body = bytes(300_000)
    var whole = Read()
    whole.add(body)
    whole.isWhole = true
    for number in 0..<8 {
      if number % 2 == 0 {
        client.send(head("POST", "Transfer-Encoding: chunked") + chunked(body, by: size))
      } else {
        client.send(head("PATCH", "Content-Length: \(body.count)") + body)
      }
      let answer = client.receive(until: ";")
      #expect(answer.contains(whole.text), "\(number): \(answer)")
    }
    #expect(live.stop())
  }

  @Test("Chunks of one byte arrive while the connection is held again and again")
  func singleBytes() throws {
    let live = try LiveServer(doorman: stream) { request in
      .text(200, await readAll(request, lags: true).text + ";")
    }
    let client = RawClient(live.port)
    let body = bytes(150_000)
    var whole = Read()
    whole.add(body)
    whole.isWhole = true
    client.send(head("POST", "Transfer-Encoding: chunked") + chunked(body, by: 1))
    #expect(client.receive(until: ";").contains(whole.text))
    #expect(live.stop())
  }

  @Test("A client that expects 100 gets it when the handler asks for the body, and no earlier")
  func heldHead() throws {
    let door = Door()
    let live = try LiveServer(doorman: stream) { request in
      await door.pass()
      return .text(200, await readAll(request).text + ";")
    }
    for method in ["POST", "PATCH"] {
      let client = RawClient(live.port)
      client.send(head(method, "Content-Length: 5\r\nExpect: 100-continue"))
      if method == "POST" {
        #expect(eventually { door.waiting == 1 })
        var byte: UInt8 = 0
        #expect(recv(client.socket, &byte, 1, CInt(MSG_DONTWAIT)) == -1)
        door.open()
      }
      #expect(client.receive(until: "\r\n\r\n").contains("100 Continue"))
      client.send("12345")
      #expect(client.receive(until: ";").contains("\r\n\r\n5 "))
    }
    #expect(live.stop())
  }

  @Test(
    "A handler that answers at the head is heard before the body", arguments: [true, false],
    ["POST", "PATCH"])
  func early(isAtOnce: Bool, method: String) throws {
    let live = try LiveServer(doorman: stream) { request in
      if !isAtOnce { await Task.detached { Patience.moment() }.value }
      return .text(401, "who are you;")
    }
    let client = RawClient(live.port)
    // The rest of the body is sent only where the library answers behind it.
    client.send(head(method, "Content-Length: 1000000") + bytes(10_000))
    if method == "PATCH" { client.send(bytes(990_000)) }
    #expect(client.receive(until: "you;").contains(" 401 "))
    #expect(live.stop())
  }

  @Test("What the handler does not read is thrown away, and the connection serves on")
  func rest() throws {
    let live = try LiveServer(doorman: stream) { request in
      _ = await request.bodyStream?.next()
      return .text(200, "enough;")
    }
    let client = RawClient(live.port)
    for _ in 0..<3 {
      client.send(head("PUT", "Transfer-Encoding: chunked") + chunked(bytes(2_000_000), by: 9_999))
      #expect(client.receive(until: "enough;").contains(" 200 "))
    }
    #expect(live.stop())
  }

  @Test("A handler that does not read holds the client, and no more than a little is in memory")
  func backPressure() async throws {
    let door = Door()
    let live = try LiveServer(doorman: stream) { request in
      _ = await request.bodyStream?.next()
      await door.pass()
      return .text(200, await readAll(request).text + ";")
    }
    let client = RawClient(live.port)
    let sent = Atomic<Int>(0)
    let piece = bytes(65_536)
    let whole = 1_024
    client.send(head("POST", "Content-Length: \(whole * piece.count)"))
    let sending = Task.detached {
      for _ in 0..<whole {
        client.send(piece)
        sent.add(1, ordering: .relaxed)
      }
    }
    let patience = Patience()
    while sent.load(ordering: .relaxed) == 0, await patience.lasts() {}
    let last = await Patience.rest { sent.load(ordering: .relaxed) }
    // The system's own buffers of both ends take some megabytes.
    #expect(last > 0 && last < whole / 2)
    door.open()
    await sending.value
    #expect(client.receive(until: ";").contains(" true;"))
    #expect(live.stop())
  }

  @Test("A client that goes away in the middle ends the stream as cut", arguments: [true, false])
  func gone(isHeld: Bool) throws {
    let door = Door()
    let outcome = Mutex<String?>(nil)
    let live = try LiveServer(doorman: stream) { request in
      if isHeld { await door.pass() }
      let read = await readAll(request)
      outcome.withLock { $0 = "\(read.isWhole)" }
      return .text(200, "late")
    }
    var client: RawClient? = RawClient(live.port)
    client?.send(head("POST", "Content-Length: 1000000") + bytes(500))
    if isHeld { #expect(eventually { door.waiting == 1 }) }
    client = nil
    if isHeld {
      #expect(eventually { door.cancellations == 1 })
      door.open()
    }
    #expect(eventually { outcome.withLock { $0 } == "false" })
    #expect(live.stop())
  }

  @Test("An upload beyond its limit is refused: before it begins, or where it goes too far")
  func limit() throws {
    let outcomes = Mutex<[Bool]>([])
    let live = try LiveServer(doorman: { _ in .stream(bodyBytes: 100_000) }) { request in
      let read = await readAll(request)
      outcomes.withLock { $0.append(read.isWhole) }
      return .text(200, "taken")
    }
    let announced = RawClient(live.port)
    announced.send(head("POST", "Content-Length: 100001"))
    #expect(announced.receiveAll().contains(" 413 "))
    #expect(outcomes.withLock { $0 }.isEmpty)
    let grown = RawClient(live.port)
    grown.send(head("POST", "Transfer-Encoding: chunked") + chunked(bytes(200_000), by: 5_000))
    #expect(grown.receiveAll().contains(" 413 "))
    #expect(eventually { outcomes.withLock { $0 } == [false] })
    #expect(live.stop())
  }

  @Test("A stream may be larger than the limit of bodies in memory")
  func large() async throws {
    var limits = HTTPServerLimits()
    limits.bodyBytes = 1_000
    let live = try LiveServer(limits: limits, doorman: stream) { request in
      .text(200, await readAll(request).text)
    }
    var request = TransportRequest(url: live.url, method: .put)
    request.body = bytes(3_000_000)
    let text = try await CurlTransport().send(request).body.collect()
    #expect(String(decoding: text, as: UTF8.self).hasPrefix("3000000 "))
    #expect(live.stop())
  }

  @Test("A stream of known length says so, to HEAD too, and is cut where it ends before")
  func knownLength() async throws {
    let live = try LiveServer { request in
      let source = GateSource()
      source.give("12345")
      source.give(.end)
      let length = request.path == "/short" ? "9" : "5"
      return HTTPResponse(
        status: 200, headers: ["Content-Length": length], body: .stream(source))
    }
    let transport = CurlTransport()
    for method in [HTTPMethod.get, .head, .get] {
      let answer = try await transport.send(TransportRequest(url: live.url, method: method))
      #expect(answer.headers["Content-Length"] == "5")
      #expect(answer.headers["Transfer-Encoding"] == nil)
      let body = try await answer.body.collect()
      #expect(body.count == (method == .head ? 0 : 5))
    }
    let short = try await transport.send(TransportRequest(url: live.url + "/short"))
    await #expect(throws: TransportError.self) { try await short.body.collect() }
    #expect(live.stop())
  }

  @Test(
    "Answers without a body have not even the end of one",
    arguments: [("GET", 204), ("GET", 304), ("HEAD", 200), ("HEAD", 404)])
  func withoutBody(method: String, status: Int) throws {
    let live = try LiveServer { request in
      let source = GateSource()
      source.give(.end)
      return HTTPResponse(status: status, headers: ["ETag": "\"1\""], body: .stream(source))
    }
    let client = RawClient(live.port)
    client.send("\(method) / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.hasSuffix("\r\n\r\n"))
    #expect(answer.split(separator: "\r\n\r\n").count == 1, "\(answer)")
    #expect(!answer.lowercased().contains("content-length"))
    // What kept the connection may not be mistaken for what comes next.
    let kept = RawClient(live.port)
    kept.send("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
    let first = kept.receive(until: "\r\n\r\n")
    #expect(first.contains("Connection: close") == (status != 204))
    #expect(live.stop())
  }
}
