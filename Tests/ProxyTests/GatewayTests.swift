import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryProxy
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("A gateway before real services", .serialized)
struct GatewayTests {
  /// Tells what it got: the first line, the fields, and how many bytes of a body.
  private static func makeService() throws -> Live {
    try Live(doorman: { _ in .stream(bodyBytes: .max) }) { request in
      var count = 0
      var isWhole = request.bodyStream == nil
      while let piece = await request.bodyStream?.next() {
        if case .bytes(let bytes) = piece {
          count += bytes.count
          continue
        }
        if case .end = piece { isWhole = true }
        break
      }
      if request.path == "/odata/same" {
        return HTTPResponse(
          status: 304, headers: ["ETag": "\"1\""], body: .stream(Pieces([])))
      }
      if request.path == "/odata/part" {
        return HTTPResponse(
          status: 206,
          headers: ["Content-Type": "application/json", "Content-Range": "bytes 0-4/9"],
          body: .bytes(Array("01234".utf8)))
      }
      var text = "\(request.method) \(request.path)?\(request.query ?? "") \(count) \(isWhole)\n"
      for field in request.headers.fields { text += "\(field.name): \(field.value)\n" }
      return HTTPResponse(
        status: 200, headers: ["Content-Type": "text/plain", "Set-Cookie": "sid=1; Path=/"],
        body: .bytes(Array(text.utf8)))
    }
  }

  struct Pieces: HTTPBodySource {
    let pieces: Mutexed<[[UInt8]]>
    init(_ pieces: [[UInt8]]) { self.pieces = Mutexed(pieces) }
    func next() async -> HTTPBodyPiece {
      pieces.value.withLock { $0.isEmpty ? .end : .bytes($0.removeFirst()) }
    }
  }

  private static func backEnd(
    _ port: Int, host: String = "127.0.0.1", networks: Set<BackEnd.Network> = [.loopback],
    credentials: BackEnd.Credentials = .none, roles: Set<String>? = nil, isOpenToAll: Bool = false,
    idle: Duration = BackEnd.Limits.patient.idle
  ) -> BackEnd {
    var limits = BackEnd.Limits.patient
    limits.idle = idle
    return BackEnd(
      name: "flights", address: "http://\(host):\(port)/odata/", credentials: credentials,
      roles: roles, isOpenToAll: isOpenToAll, limits: limits, networks: networks)
  }

  @Test(
    "Requests go to the service and answers come back",
    .reference("ios/SRV-15", "adr/SV-12", "adr/RSV-1"))
  func roundTrip() async throws {
    let service = try Self.makeService()
    let door = try LiveDoor([Self.backEnd(service.port)])
    let answer = try await door.send("/flights/F(1)?$top=2")
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(answer.status == 200)
    #expect(text.hasPrefix("GET /odata/F(1)?$top=2 0 true\n"))
    #expect(text.contains("Via: 1.1 ferry"))
    #expect(text.contains("X-Forwarded-For: 127.0.0.1"))
    #expect(text.contains("Host: 127.0.0.1:\(service.port)"))
    #expect(!text.contains("Authorization"))
    #expect(!text.contains("User-Agent"))
    #expect(answer.headers["Via"] == "1.1 ferry")
    #expect(answer.headers["Content-Length"] == "\(answer.body.count)")
    for method in ["POST", "PUT", "PATCH", "MERGE", "DELETE"].map(HTTPMethod.init(rawValue:)) {
      let sent = try await door.send("/flights/x", method, body: [1, 2, 3])
      #expect(
        String(decoding: sent.body, as: UTF8.self).hasPrefix("\(method) /odata/x? 3 true\n"))
    }
    let head = try await door.send("/flights/x", .head)
    #expect(head.headers["Content-Length"] != nil && head.body.isEmpty)
    let same = try await door.send("/flights/same", headers: ["If-None-Match": "\"1\""])
    #expect(same.status == 304 && same.headers["ETag"] == "\"1\"")
    let part = try await door.send("/flights/part", headers: ["Range": "bytes=0-4"])
    #expect(part.status == 206 && part.headers["Content-Range"] == "bytes 0-4/9")
    door.live.stop()
    service.stop()
  }

  @Test(
    "A large upload in chunks passes, and one that is cut is not taken for whole",
    .reference("ios/SRV-3", "ios/SRV-19", "adr/SV-24"))
  func uploads() async throws {
    let service = try Self.makeService()
    let door = try LiveDoor([Self.backEnd(service.port)])
    let piece = [UInt8](repeating: 9, count: 100_000)
    var request = TransportRequest(url: door.url + "/flights/up", method: .post)
    request.headers["Authorization"] = LiveDoor.anna
    request.upload = .source {
      final class Source: TransportBodySource {
        let left = Atomic<Int>(200)
        let piece: [UInt8]
        init(_ piece: [UInt8]) { self.piece = piece }
        func next() async throws -> [UInt8]? {
          left.subtract(1, ordering: .relaxed).oldValue > 0 ? piece : nil
        }
      }
      return Source(piece)
    }
    let answer = try await CurlTransport().send(request)
    let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
    #expect(text.hasPrefix("POST /odata/up? 20000000 true\n"))
    #expect(text.lowercased().contains("transfer-encoding: chunked"))
    let cut = door.raw(
      Array(
        ("POST /flights/up HTTP/1.1\r\nHost: a\r\nAuthorization: \(LiveDoor.anna)\r\n"
          + "Content-Length: 100\r\n\r\nonly this").utf8), hangsUp: true)
    #expect(!cut.contains(" 200 "))
    door.live.stop()
    service.stop()
  }

  @Test("Who may come: by name, by role, and nobody else", .reference("ios/SRV-4"))
  func callers() async throws {
    let service = RawService { socket, next in
      while next() != nil { write(socket, "HTTP/1.1 204 No Content\r\n\r\n") }
    }
    let door = try LiveDoor([Self.backEnd(service.port, roles: ["sales"])])
    #expect(try await door.send("/flights/").status == 204)
    let stranger = try await door.send("/flights/", as: nil)
    #expect(stranger.status == 401)
    #expect(stranger.headers["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
    #expect(try await door.send("/flights/", as: LiveDoor.berta).status == 403)
    #expect(try await door.send("/flights/", as: "Basic YW5uYTp3cm9uZw==").status == 401)
    #expect(try await door.send("/flights/", as: "Bearer x.y.z").status == 401)
    let slow = try await door.send("/flights/", as: "Basic c2xvdzp4")
    #expect(slow.status == 429 && slow.headers["Retry-After"] == "7")
    #expect(try await door.send("/hotels/").status == 404)
    #expect(service.requests.count == 1)
    door.live.stop()
    service.end()
  }

  private static func request(_ line: String, _ fields: String = "", _ body: String = "") -> String
  {
    "\(line)\r\nHost: a\r\nConnection: close\r\nAuthorization: \(LiveDoor.anna)\r\n\(fields)\r\n\(body)"
  }

  /// What is sent, and the status; 0: the client half-closes, and there may be no answer.
  private static let attempts: [(String, Set<Int>)] = [
    (request("GET http://169.254.169.254/latest/ HTTP/1.1"), [400]),
    (request("GET http://127.0.0.1:22/ HTTP/1.1"), [400]),
    (request("GET https://other/flights/ HTTP/1.1"), [400]),
    (request("GET //169.254.169.254/flights/ HTTP/1.1"), [400]),
    (request("GET ///flights/ HTTP/1.1"), [400]),
    (request("GET /http://169.254.169.254/ HTTP/1.1"), [400, 404]),
    (request("GET /flights/../hotels/ HTTP/1.1"), [400]),
    (request("GET /flights/%2e%2e/%2e%2e/etc HTTP/1.1"), [400]),
    (request("GET /flights/%252e%252e/x HTTP/1.1"), [400]),
    (request("GET /flights/..%2fx HTTP/1.1"), [400]),
    (request("GET /flights/..%5cx HTTP/1.1"), [400]),
    (request("GET /flights/..;/x HTTP/1.1"), [400]),
    (request("GET /flights/a%00b HTTP/1.1"), [400]),
    (request("GET /flights/a%0d%0aX-Evil:1 HTTP/1.1"), [400]),
    (request("GET /flights/x#@169.254.169.254/ HTTP/1.1"), [400]),
    (request("GET /flights\\..\\x HTTP/1.1"), [400]),
    (request("GET /flights@169.254.169.254/ HTTP/1.1"), [400]),
    (request("GET /flights:80@evil/ HTTP/1.1"), [400]),
    (request("GET /fl%69ghts/ HTTP/1.1"), [400]),
    (request("GET /.flights/ HTTP/1.1"), [404]),
    (request("GET /hotels/ HTTP/1.1"), [404]),
    (request("GET / HTTP/1.1"), [400]),
    (request("OPTIONS * HTTP/1.1"), [400]),
    (request("CONNECT 169.254.169.254:80 HTTP/1.1"), [400, 501]),
    (request("CONNECT /flights/ HTTP/1.1"), [501]),
    (request("TRACE /flights/ HTTP/1.1"), [501]),
    (request("GET /flights/ HTTP/1.1", "Upgrade: websocket\r\n"), [501]),
    (request("GET /flights/ HTTP/1.1", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"), [501]),
    (request("GET /flights/ HTTP/1.1", "Connection: upgrade\r\n"), [501]),
    (request("GET /flights/ HTTP/1.1", "X-SUP-BACKEND-URL: http://169.254.169.254/\r\n"), [403]),
    (request("GET /flights/ HTTP/1.1", "X-SUP-BACKEND-URL: http://127.0.0.1:22/odata/\r\n"), [403]),
    (request("GET /flights/ HTTP/1.1", "Host: b\r\n"), [400]),
    (request("GET /flights/ HTTP/1.1", "Authorization: \(LiveDoor.berta)\r\n"), [401]),
    (
      request("GET /flights/ HTTP/1.1", "Via: \(String(repeating: "1.1 a, ", count: 20))1.1 b\r\n"),
      [400]
    ),
    (
      request("POST /flights/ HTTP/1.1", "Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
      [400]
    ),
    (
      request("POST /flights/ HTTP/1.1", "Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), [400]
    ),
    (
      request(
        "POST /flights/ HTTP/1.1", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n"), [400]
    ),
    (
      request(
        "POST /flights/ HTTP/1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "0\r\n\r\n"), [400]
    ),
    (
      request("POST /flights/ HTTP/1.1", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), [501]
    ),
    (request("POST /flights/ HTTP/1.1", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), [501]),
    (
      request("POST /flights/ HTTP/1.1", "Transfer-Encoding: \u{b}chunked\r\n", "0\r\n\r\n"),
      [400, 501]
    ),
    (request("POST /flights/ HTTP/1.1", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), [0, 400]),
    (request("POST /flights/ HTTP/1.1", "Content-Length : 3\r\n", "abc"), [0, 400]),
    (request("POST /flights/ HTTP/1.1", "Content-Length: +3\r\n", "abc"), [0, 400]),
    (request("POST /flights/ HTTP/1.1", "Content-Length: 0x3\r\n", "abc"), [0, 400]),
    (request("POST /flights/ HTTP/1.1", "Content-Length: -1\r\n", "abc"), [0, 400]),
    (request("POST /flights/ HTTP/1.1", "Content-Length: 3, 3\r\n", "abc"), [0, 400]),
    (
      request("POST /flights/ HTTP/1.1", "Content-Length: 99999999999999999999\r\n"), [0, 400, 413]
    ),
    (request("POST /flights/ HTTP/1.1", "Content-Length: 9000000000\r\n"), [413]),
    (
      request("POST /flights/ HTTP/1.1", "Transfer-Encoding: chunked\r\n", "zz\r\nabc"),
      [0, 400, 408]
    ),
    (
      request(
        "POST /flights/ HTTP/1.1", "Transfer-Encoding: chunked\r\n",
        "ffffffffffffffffff\r\nabc"), [0, 400, 413]
    ),
    (request("GET /flights/ HTTP/1.1", "X-A: \(String(repeating: "a", count: 33_000))\r\n"), [431]),
    (request("GET /flights/ HTTP/1.1", "X A: 1\r\n"), [0, 400]),
    (request("GET /flights/ HTTP/1.1", "X-A: a\u{1}b\r\n"), [400]),
    (request("GET /flights/ HTTP/1.1", ": 1\r\n"), [400]),
    (request("POST /flights/ HTTP/1.1", "X: y\nContent-Length: 3\r\n", "abc"), [400]),
    (request("POST /flights/ HTTP/1.1", "X: y\r\n Content-Length: 3\r\n", "abc"), [400]),
    (request("GET /flights/ HTTP/1.1", "no colon\r\n"), [0, 400]),
    (request("GET  /flights/ HTTP/1.1"), [0, 400]),
    (request("GET /flights/ HTTP/9.9"), [0, 400, 505]),
    (request("GET /flights/"), [0, 400, 505]),
    ("GET /flights/ HTTP/1.1\r\nConnection: close\r\n\r\n", [400]),
    ("\u{16}\u{3}\u{1}", [0, 400]),
  ]

  @Test("Sixty ways to another place or to a second request end at the door")
  func attempts() async throws {
    let service = RawService { socket, next in
      while next() != nil { write(socket, "HTTP/1.1 204 No Content\r\n\r\n") }
    }
    let door = try LiveDoor([Self.backEnd(service.port)])
    for (text, statuses) in Self.attempts {
      let answer = door.raw(Array(text.utf8), hangsUp: statuses.contains(0))
      let words = answer.split(separator: " ", maxSplits: 2)
      let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
      #expect(statuses.contains(status), "\(text.prefix(300)): \(answer.prefix(300))")
      // The library writes the head of its own 400 twice, and closes; no second request is answered.
      #expect(
        !answer.contains("HTTP/1.1 2") || statuses.contains(204),
        "\(text.prefix(300)): \(answer.prefix(600))")
    }
    // A body that does not come to its end has a head of its own, and nothing else arrived.
    let heads = service.requests
    #expect(
      heads.allSatisfy {
        $0.hasPrefix("POST /odata/ HTTP/1.1\r\n")
          || $0.hasPrefix("GET /odata/ HTTP/1.1\r\n") && !$0.contains("\r\n: 1")
      }, "\(heads)")
    #expect(heads.count <= 3)
    #expect(try await door.send("/flights/").status == 204)
    door.live.stop()
    service.end()
  }

  @Test("A service in a network that the file does not allow is not connected to")
  func networks() async throws {
    let service = RawService { socket, next in
      while next() != nil { write(socket, "HTTP/1.1 204 No Content\r\n\r\n") }
    }
    for host in [
      "127.0.0.1", "localhost", "[::ffff:7f00:1]", "0.0.0.0", "169.254.169.254", "2130706433",
    ] {
      let closed = try LiveDoor([Self.backEnd(service.port, host: host, networks: [.public])])
      #expect(try await closed.send("/flights/").status == 502, "\(host)")
      closed.live.stop()
    }
    #expect(service.connections == 0)
    let backEnd = Self.backEnd(service.port, host: "localhost", networks: [.private])
    #expect(await backEnd.check()?.contains("not allowed") == true)
    let open = Self.backEnd(service.port, host: "localhost")
    #expect(await open.check() == nil)
    service.end()
  }

  @Test("Answers that lie, hang or never end are refused by name")
  func strangeAnswers() async throws {
    let million = String(repeating: "X-A: 1\r\n", count: 1_000_000)
    let cases: [(String, Int)] = [
      ("", 502), ("garbage\r\n\r\n", 502), ("HTTP/1.1 099 x\r\n\r\n", 502),
      ("HTTP/1.1 407 x\r\nContent-Length: 0\r\n\r\n", 502),
      ("HTTP/1.1 401 x\r\nContent-Length: 0\r\nWWW-Authenticate: Basic\r\n\r\n", 502),
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 502),
      ("HTTP/1.1 200 OK\r\n" + million + "\r\n", 502),
      (String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20_000), 502),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 502),
    ]
    for (text, status) in cases {
      let service = RawService { socket, next in
        guard next() != nil else { return }
        write(socket, text)
      }
      let door = try LiveDoor([
        Self.backEnd(service.port, credentials: .technical(authorization: "Basic x"))
      ])
      let answer = try await door.send("/flights/")
      #expect(answer.status == status, "\(text.prefix(80))")
      #expect(answer.headers["X-CorrelationID"] != nil)
      #expect(answer.headers["WWW-Authenticate"] == nil)
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("127.0.0.1"))
      door.live.stop()
      service.end()
    }
  }

  @Test("An answer that is cut is cut for the caller too", arguments: [true, false])
  func cutAnswers(isChunked: Bool) async throws {
    let service = RawService { socket, next in
      guard next() != nil else { return }
      write(
        socket,
        isChunked
          ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
          : "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
    }
    let door = try LiveDoor([Self.backEnd(service.port)])
    await #expect(throws: TransportError.self) { try await door.send("/flights/") }
    door.live.stop()
    service.end()
  }

  @Test("A service that does not answer in its time is 504")
  func silent() async throws {
    let service = RawService { _, next in while next() != nil {} }
    let door = try LiveDoor([Self.backEnd(service.port, idle: .milliseconds(300))])
    let answer = try await door.send("/flights/")
    #expect(answer.status == 504)
    door.live.stop()
    service.end()
  }

  @Test("A request that was heard is not sent a second time, though its connection died")
  func once() async throws {
    for method in [HTTPMethod.post, .delete, .patch] {
      let service = RawService { socket, next in
        guard next() != nil else { return }
        write(socket, "HTTP/1.1 204 No Content\r\n\r\n")
        // The second one is heard, and dies.
        _ = next()
      }
      let door = try LiveDoor([Self.backEnd(service.port)])
      #expect(try await door.send("/flights/").status == 204)
      #expect(try await door.send("/flights/", method).status == 502, "\(method)")
      #expect(service.requests.count == 2, "\(method)")
      door.live.stop()
      service.end()
    }
  }

  @Test("Links in a body on its way up lead to the service, with the right length")
  func linksUp() async throws {
    let service = RawService { socket, next in
      while let head = next() {
        let length = head.components(separatedBy: "Content-Length: ").last.flatMap {
          Int($0.prefix { $0.isNumber })
        }
        var body = [UInt8](repeating: 0, count: length ?? 0)
        recv(socket, &body, body.count, CInt(MSG_WAITALL))
        let text = String(decoding: body, as: UTF8.self)
        write(
          socket,
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.count)\r\n\r\n"
            + text)
      }
    }
    let door = try LiveDoor([Self.backEnd(service.port)])
    let text = #"{"Plane@odata.bind":"https://gate.example.com/flights/Planes(1)"}"#
    let answer = try await door.send(
      "/flights/F", .post, body: Array(text.utf8), headers: ["Content-Type": "application/json"])
    #expect(
      String(decoding: answer.body, as: UTF8.self)
        == #"{"Plane@odata.bind":"http://127.0.0.1:\#(service.port)/odata/Planes(1)"}"#)
    door.live.stop()
    service.end()
  }
}
