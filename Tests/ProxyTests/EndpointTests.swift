import FerryHTTP
import FerryHTTPClient
import FerryProxy
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// A service of OData at the gateway, as an app sees it that knows only headers of HTTP.
@Suite("An application's endpoint at the gateway", .serialized)
struct EndpointTests {
  private static let packed: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
  ]

  /// A token of CSRF belongs to a session, an entry has an ETag, and a large body has parts.
  private static func makeService() throws -> Live {
    try Live(doorman: { _ in .stream(bodyBytes: .max) }) { request in
      while case .bytes? = await request.bodyStream?.next() {}
      let fields = request.headers
      let isSession = fields["Cookie"] == "session=s1"
      switch (request.method, request.path) {
      case (.get, "/odata/"):
        var answer = HTTPResponse.text(200, "{}")
        answer.headers["Content-Type"] = "application/json"
        if fields["X-CSRF-Token"] == "Fetch" {
          answer.headers["X-CSRF-Token"] = "t1"
          answer.headers.add("Set-Cookie", "session=s1; Path=/odata/; HttpOnly")
        }
        return answer
      case (.post, "/odata/Items"):
        guard isSession, fields["X-CSRF-Token"] == "t1" else {
          var answer = HTTPResponse.text(403, "CSRF token validation failed")
          answer.headers["X-CSRF-Token"] = "Required"
          return answer
        }
        return .text(201, "made")
      case (_, "/odata/Items(1)"):
        guard fields["If-Match"] ?? "W/\"2\"" == "W/\"2\"" else { return .text(412, "changed") }
        if fields["If-None-Match"] == "W/\"2\"" {
          return HTTPResponse(status: 304, headers: ["ETag": "W/\"2\""], body: .bytes([]))
        }
        var answer = HTTPResponse.text(200, "item")
        answer.headers["ETag"] = "W/\"2\""
        return answer
      case (.get, "/odata/Film"):
        var answer = HTTPResponse.text(fields["Range"] == "bytes=2-3" ? 206 : 200, "cd")
        answer.headers["Content-Range"] = fields["Range"].map { _ in "bytes 2-3/10" }
        return answer
      case (.get, "/odata/packed"):
        guard fields["Accept-Encoding"]?.contains("gzip") == true else {
          return .text(200, "hello")
        }
        return HTTPResponse(
          status: 200, headers: ["Content-Encoding": "gzip", "Content-Type": "image/x"],
          body: .bytes(packed))
      default:
        let text = fields.fields.map { "\($0.name): \($0.value)\n" }.joined()
        return .text(200, "\(request.method) \(request.path)?\(request.query ?? "")\n\(text)")
      }
    }
  }

  private static func door(_ service: Live, rewrites: Bool = true) throws -> LiveDoor {
    return try LiveDoor([
      BackEnd(
        name: "flights", address: "http://127.0.0.1:\(service.port)/odata/",
        rewritesLinks: rewrites, limits: .patient, networks: [.loopback])
    ])
  }

  @Test(
    "A token of CSRF is fetched, belongs to its session, and is wanted for a change",
    .reference("ios/SRV-16", "adr/SV-26"))
  func csrf() async throws {
    let service = try Self.makeService()
    let door = try Self.door(service)
    let refused = try await door.send("/flights/Items", .post, body: [1])
    #expect(refused.status == 403 && refused.headers["X-CSRF-Token"] == "Required")
    let fetched = try await door.send("/flights/", headers: ["X-CSRF-Token": "Fetch"])
    #expect(fetched.headers["X-CSRF-Token"] == "t1")
    let cookie = String((fetched.headers["Set-Cookie"] ?? "").prefix { $0 != ";" })
    let sent: HTTPHeaders = ["X-CSRF-Token": "t1", "Cookie": cookie]
    #expect(try await door.send("/flights/Items", .post, body: [1], headers: sent).status == 201)
    let other = try await door.send(
      "/flights/Items", .post, body: [1], headers: sent, as: LiveDoor.berta)
    #expect(other.status == 403)
    door.live.stop()
    service.stop()
  }

  @Test(
    "An ETag comes back, and a change of an older state is refused with 412",
    .reference("ios/SRV-17", "adr/SV-27"))
  func etags() async throws {
    let service = try Self.makeService()
    let door = try Self.door(service)
    #expect(try await door.send("/flights/Items(1)").headers["ETag"] == "W/\"2\"")
    for method in [HTTPMethod.get, .put, .delete] {
      let old = try await door.send("/flights/Items(1)", method, headers: ["If-Match": "W/\"1\""])
      #expect(old.status == 412, "\(method)")
      let now = try await door.send("/flights/Items(1)", method, headers: ["If-Match": "W/\"2\""])
      #expect(now.status == 200, "\(method)")
    }
    let same = try await door.send("/flights/Items(1)", headers: ["If-None-Match": "W/\"2\""])
    #expect(same.status == 304 && same.body.isEmpty)
    door.live.stop()
    service.stop()
  }

  @Test(
    "A packed answer stays packed where no link is rewritten, and is not packed unless asked for",
    .reference("ios/SRV-18"))
  func packed() async throws {
    let service = try Self.makeService()
    let door = try Self.door(service, rewrites: false)
    let packed = try await door.send("/flights/packed", headers: ["Accept-Encoding": "gzip"])
    #expect(packed.headers["Content-Encoding"] == "gzip" && packed.body == Self.packed)
    let plain = try await door.send("/flights/packed")
    #expect(plain.headers["Content-Encoding"] == nil && plain.body == Array("hello".utf8))
    door.live.stop()
    service.stop()
  }

  @Test(
    "Languages, ids of applications and of traces go on, and the id of the request comes back",
    .reference("ios/SRV-23", "adr/SV-29", "adr/SV-30", "adr/SV-33", "adr/SV-40"))
  func fields() async throws {
    let service = try Self.makeService()
    let door = try Self.door(service)
    let passport = String(repeating: "2A", count: 100)
    let answer = try await door.send(
      "/flights/x?sap-language=de",
      headers: [
        "Accept-Language": "de", "X-SUP-APPCID": "a1", "X-SMP-APPCID": "a2",
        "X-SUP-APPID": "com.example", "SAP-PASSPORT": passport, "X-CorrelationID": "c-1",
      ])
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(text.hasPrefix("GET /odata/x?sap-language=de\n"))
    for line in [
      "Accept-Language: de", "X-SUP-APPCID: a1", "X-SMP-APPCID: a2", "X-SUP-APPID: com.example",
      "SAP-PASSPORT: \(passport)", "X-CorrelationID: c-1",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
    #expect(answer.headers["X-CorrelationID"] == "c-1")
    // Without one an id is made, the same for the service and the caller.
    let made = try await door.send("/flights/x")
    let id = try #require(made.headers["X-CorrelationID"])
    #expect(String(decoding: made.body, as: UTF8.self).contains("X-CorrelationID: \(id)\n"))
    door.live.stop()
    service.stop()
  }

  @Test("A part of a large body is asked for by its place", .reference("adr/SV-25"))
  func parts() async throws {
    let service = try Self.makeService()
    let door = try Self.door(service)
    let part = try await door.send("/flights/Film", headers: ["Range": "bytes=2-3"])
    #expect(part.status == 206 && part.headers["Content-Range"] == "bytes 2-3/10")
    door.live.stop()
    service.stop()
  }

  @Test(
    "Each way in which a service can fail has a status of its own", .reference("ios/SRV-33"))
  func failures() async throws {
    func status(
      _ serve: @escaping @Sendable (_ socket: CInt, _ next: () -> String?) -> Void,
      isAway: Bool = false
    ) async throws -> Int {
      let service = RawService(serve)
      if isAway { service.end() }
      var limits = BackEnd.Limits()
      limits.idle = .milliseconds(300)
      let door = try LiveDoor([
        BackEnd(
          name: "flights", address: "http://127.0.0.1:\(service.port)/", limits: limits,
          networks: [.loopback])
      ])
      let answer = try await door.send("/flights/x")
      #expect(answer.headers["X-CorrelationID"] != nil)
      door.live.stop()
      service.end()
      return answer.status
    }
    // Nobody listens; it cuts the connection; it is silent.
    #expect(try await status({ _, _ in }, isAway: true) == 502)
    #expect(try await status { _, next in _ = next() } == 502)
    #expect(try await status { _, next in while next() != nil {} } == 504)
  }
}
