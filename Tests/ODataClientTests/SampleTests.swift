import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// The samples of the reference's chapters on requests and streaming, as an app of today writes them.
@Suite("Samples of requests and streaming")
struct SampleTests {
  private static let challenge = [("WWW-Authenticate", #"Basic realm="Relay""#)]

  private static func flights(
    _ answer: @escaping @Sendable (ScriptedService.Request, Int) -> ScriptedService.Answer = {
      _, _ in .status(200, "<feed/>", [("X-Kept", "yes"), ("Set-Cookie", "s=1; Path=/")])
    }
  ) -> ScriptedService { ScriptedService(answer) }

  @Test(
    "A request to an application's endpoint",
    .reference("ios/REQ-1", "ios/CS-10", "ios/CS-84", "ios/CS-122", "adr/A8", "adr/B5"))
  func request() async throws {
    let server = Self.flights()
    let endpoint = server.root + "RMTSAMPLEFLIGHT/TravelagencyCollection"
    let request = ODataRequest(endpoint)
    #expect(request.method == .get && request.body.isEmpty && request.headers.fields.isEmpty)
    let answer = try await ODataSession(SystemTransport.make()).send(request)
    #expect(answer.status == 200)
    #expect(server.lines == ["GET /RMTSAMPLEFLIGHT/TravelagencyCollection"])
    // An empty address is refused, and nothing is sent.
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataSession(SystemTransport.make()).send(ODataRequest(""))
    }
    guard case .call = error?.cause else { return #expect(Bool(false), "\(error as Any)") }
  }

  @Test(
    "User and password go to the back end",
    .reference("ios/REQ-4", "ios/CS-12", "adr/CRD-1", "adr/A10"))
  func credentials() async throws {
    let server = Self.flights { request, _ in
      request.headers["Authorization"] == "Basic c3VwdXNlcjEyMzpwYXNzd29yZA=="
        ? .status(200) : .status(401, "", Self.challenge)
    }
    var options = ODataSessionOptions()
    options.credentials = .basic(user: "supuser123", password: "password")
    let session = ODataSession(SystemTransport.make(), options: options)
    #expect(try await session.send(ODataRequest(server.root)).status == 200)
  }

  @Test(
    "The basic header is built before a challenge only where asked for",
    .reference("ios/REQ-5", "ios/CS-120"))
  func basicHeader() async throws {
    let server = Self.flights()
    for isBefore in [false, true] {
      var options = ODataSessionOptions()
      options.credentials = .basic(user: "a", password: "b")
      options.presentsCredentialsBeforeChallenge = isBefore
      _ = try await ODataSession(SystemTransport.make(), options: options).send(
        ODataRequest(server.root))
    }
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "Basic YTpi"])
  }

  @Test(
    "A header of the app's own, name before value",
    .reference("ios/REQ-6", "ios/CS-13", "ios/CS-88", "adr/HDR-1", "adr/A11", "adr/B8")
  )
  func customHeader() async throws {
    let server = Self.flights()
    var options = ODataSessionOptions()
    // The name of the header is the service's; the app chooses it.
    options.headers = ["X-Requested-With": "XMLHttpRequest", "X-Application": "MyApp.2.3.0.0"]
    var request = ODataRequest(server.root, method: .post, body: Array("<entry/>".utf8))
    request.headers["Content-Type"] = "application/atom+xml"
    request.headers["Cookie"] = "KKNBJDNADU23123SHSFH=1"
    _ = try await ODataSession(SystemTransport.make(), options: options).send(request)
    let sent = try #require(server.requests.first)
    #expect(sent.headers["X-Requested-With"] == "XMLHttpRequest")
    #expect(sent.headers["X-Application"] == "MyApp.2.3.0.0")
    #expect(sent.headers["Cookie"] == "KKNBJDNADU23123SHSFH=1")
    #expect(sent.body == "<entry/>")
  }

  @Test(
    "The timeouts of connecting and of the line are apart",
    .reference("ios/REQ-10", "ios/CS-14", "adr/TMO-1", "adr/A12", "adr/B8")
  )
  func timeouts() async throws {
    let standard = TransportDeadlines()
    #expect(standard.connect == .seconds(10) && standard.idle == .seconds(60))
    #expect(standard.total == nil && standard.head == nil)
    let silent = ScriptedServer { line in
      _ = line.receiveHead()
      _ = line.waitForEnd()
    }
    defer { silent.close() }
    var request = ODataRequest(silent.url)
    request.deadlines = TransportDeadlines(connect: Patience.limit, idle: .milliseconds(200))
    let error = await failure { [request] () throws(ODataClientError) in
      _ = try await ODataSession(SystemTransport.make()).send(request)
    }
    guard case .transport(let reason) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(reason.code == .timedOut && reason.requestWasSent)
  }

  @Test(
    "An asynchronous request is awaited; several run side by side",
    .reference("ios/REQ-11", "ios/CS-15", "ios/CS-85", "ios/CS-123", "adr/A13", "adr/B8")
  )
  func asynchronous() async throws {
    let server = Self.flights()
    let session = ODataSession(SystemTransport.make())
    async let first = session.send(ODataRequest(server.root + "1"))
    async let second = session.send(ODataRequest(server.root + "2"))
    #expect(try await [first, second].map(\.status) == [200, 200])
    #expect(Set(server.lines) == ["GET /1", "GET /2"])
  }

  @Test(
    "Each method is sent as it is named", .reference("ios/REQ-8"),
    arguments: ["GET", "POST", "PUT", "DELETE", "MERGE"])
  func methods(_ name: String) async throws {
    let server = Self.flights()
    let request = ODataRequest(server.root, method: HTTPMethod(rawValue: name))
    _ = try await ODataSession(SystemTransport.make()).send(request)
    #expect(server.lines == ["\(name) /"])
  }

  @Test(
    "A file goes up from disk, never whole in memory",
    .reference("ios/REQ-16", "ios/CS-17", "ios/CS-18", "ios/CS-121", "adr/STR-6"))
  func upload() async throws {
    let server = Self.flights { request, _ in .status(201, "\(request.body.utf8.count)") }
    let file = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(repeating: 65, count: 1_200_000).write(to: file)
    var request = ODataRequest(server.root + "TravelagencyCollection", method: .post)
    request.headers["Content-Type"] = "application/atom+xml"
    request.upload = try .file(file.path)
    request.acceptsCompressed = false
    let answer = try await ODataSession(SystemTransport.make()).send(request)
    #expect(answer.status == 201 && answer.text == "1200000")
  }

  @Test(
    "Status, cookie, body and headers of an answer",
    .reference(
      "ios/REQ-13", "ios/CS-20", "ios/CS-87", "adr/RSP-1", "adr/RSP-2", "adr/A14", "adr/A46",
      "adr/B9", "adr/B18")
  )
  func response() async throws {
    let server = Self.flights { _, _ in
      .status(
        200, "<feed/>",
        [("X-Kept", "yes"), ("Set-Cookie", "s=1; Path=/"), ("X-CorrelationID", "c7")])
    }
    let answer = try await ODataSession(SystemTransport.make()).send(ODataRequest(server.root))
    #expect(answer.status == 200)
    #expect(answer.cookies == "s=1")
    #expect(answer.body == Array("<feed/>".utf8) && answer.text == "<feed/>")
    #expect(answer.headers["X-Kept"] == "yes")
    #expect(answer.correlationID == "c7")
    #expect(!answer.isCompressed && !answer.isFromCache)
  }

  @Test(
    "An edge asks with host, last user and realm, and its answer serves later requests",
    .reference(
      "ios/LSN-2", "ios/CS-24", "ios/CS-25", "ios/CS-133", "adr/TLS-4", "adr/TLS-5", "adr/RST-6",
      "adr/A16", "adr/A65", "adr/B10")
  )
  func challenge() async throws {
    let server = Self.flights { request, _ in
      request.headers["Authorization"] == "Basic TW9iaWxlOk50d2F0Y2hAMTIz"
        ? .status(200) : .status(401, "", Self.challenge)
    }
    let source = ScriptedSource([.basic(user: "Mobile", password: "Ntwatch@123")])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    for _ in 0..<3 { #expect(try await session.send(ODataRequest(server.root)).status == 200) }
    let asked = try #require(source.asked.first)
    #expect(asked.space.host == "127.0.0.1" && asked.lastUser == "" && asked.realm == "Relay")
    #expect(source.asked.count == 1)
    #expect(server.lines.count == 4)
  }

  @Test(
    "An error of the edge has its code, text and headers, and the body of the back end",
    .reference(
      "ios/LSN-3", "ios/REQ-14", "ios/CS-26", "ios/CS-27", "ios/CS-28", "ios/CS-134", "adr/TLS-6",
      "adr/ERR-1", "adr/ERR-2", "adr/A17", "adr/A18", "adr/B11", "adr/B12", "adr/B29")
  )
  func edgeError() async throws {
    let server = Self.flights { _, _ in
      .status(
        502, #"{"error":{"code":"GW/1","message":{"lang":"en","value":"no back end"}}}"#,
        [("X-Relay", "down"), ("Content-Type", "application/json")])
    }
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataSession(SystemTransport.make()).sendChecked(ODataRequest(server.root))
    }
    guard case .http(let found) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(found.status == 502)
    #expect(found.document?.code == "GW/1" && found.document?.message == "no back end")
    #expect(found.response.headers["X-Relay"] == "down")
    #expect(found.response.text.contains("no back end"))
    #expect(error?.isTransient == true && error?.requestWasSent == true)
    #expect(error?.description.contains("no back end") == true)
    // Of a redirect that is not followed the error has the address.
    let moved = Self.flights { _, _ in .status(302, "", [("Location", "https://edge/login")]) }
    let redirect = await failure { () throws(ODataClientError) in
      _ = try await ODataSession(SystemTransport.make()).sendChecked(ODataRequest(moved.root))
    }
    guard case .redirect("https://edge/login") = redirect?.cause else {
      return #expect(Bool(false), "\(redirect as Any)")
    }
  }

  @Test(
    "An ETag goes with a request under its match type",
    .reference("ios/REQ-20", "ios/CON-9", "ios/CS-89", "adr/ETG-2"))
  func etag() async throws {
    let server = Self.flights { request, _ in
      request.headers["If-Match"] == "W/\"2\"" ? .status(204) : .status(412)
    }
    let session = ODataSession(SystemTransport.make())
    for (etag, status) in [("W/\"1\"", 412), ("W/\"2\"", 204)] {
      for method in [HTTPMethod.get, .put, .delete] {
        var request = ODataRequest(server.root, method: method)
        request.setETag(etag, match: .ifMatch)
        #expect(try await session.send(request).status == status)
      }
    }
  }

  @Test(
    "A request writes its own body, takes headers one by one and at once, has an ETag of each kind, and streams its answer",
    .reference("adr/REQ-2", "adr/ETG-2")
  )
  func ownBody() async throws {
    let server = Self.flights { request, _ in .status(200, "got " + request.body) }
    #expect(ODataRequest(server.root).upload == nil)
    for (match, name) in [
      (ODataETagMatch.ifMatch, "If-Match"), (.ifNoneMatch, "If-None-Match"),
      (.ifRange, "If-Range"),
    ] {
      var request = ODataRequest(
        server.root, method: .post, headers: ["X-A": "1", "X-B": "2"], body: Array("old".utf8))
      request.headers.add("X-C", "3")
      request.setETag("\"first\"", match: match)
      request.setETag("\"5\"", match: match)
      request.upload = .source(lengthBytes: 13) { Pieces(["written", " ", "by me"]) }
      let (response, _) = try await ODataSession(SystemTransport.make()).open(request)
      let text = String(decoding: try await response.body.collect(), as: UTF8.self)
      #expect(text == "got written by me")
      let sent = try #require(server.requests.last)
      #expect(["X-A", "X-B", "X-C"].map { sent.headers[$0] } == ["1", "2", "3"])
      #expect(sent.headers.values(name) == ["\"5\""])
      let others = ["If-Match", "If-None-Match", "If-Range"].filter { $0 != name }
      #expect(others.allSatisfy { sent.headers[$0] == nil })
    }
    // A body that ends early is an error by name, and its answer is never read.
    var short = ODataRequest(server.root, method: .post)
    short.upload = .source(lengthBytes: 13) { Pieces(["written"]) }
    let error = await failure { [short] () throws(ODataClientError) in
      _ = try await ODataSession(SystemTransport.make()).send(short)
    }
    guard case .transport(let reason) = error?.cause else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(reason.code == .unreadableBody)
  }

  @Test(
    "Callbacks come on a thread of the transport, never on the app's main thread",
    .reference("adr/LSN-2"))
  @MainActor
  func threads() async throws {
    let server = Self.flights()
    let wasMain = Mutex<[Bool]>([])
    var request = ODataRequest(server.root, method: .post, body: Array(repeating: 65, count: 1_000))
    request.progress = { _ in wasMain.withLock { $0.append(Thread.isMainThread) } }
    _ = try await ODataSession(SystemTransport.make()).send(request)
    #expect(wasMain.withLock { !$0.isEmpty && !$0.contains(true) })
  }

  @Test(
    "Service document, metadata and a collection are asked for in turn",
    .reference("ios/CS-51", "ios/RSE-11"))
  func threeKinds() async throws {
    let server = SmallService.serve { _, _ in
      .json(#"{"value":[\#(SmallService.item(1, "one", etag: "1"))]}"#)
    }
    let service = try await ODataService.open(
      server.root, session: ODataSession(SystemTransport.make()))
    var names: [String] = []
    for try await entry in service.entries("Items") { names.append(entry["Name"]?.string ?? "") }
    #expect(names == ["one"])
    #expect(server.lines == ["GET /", "GET /$metadata", "GET /Items"])
  }

  @Test(
    "A named request with a priority and parameters of its address",
    .reference("adr/REQ-1", "adr/REQ-3", "adr/REQ-5", "adr/B7"))
  func named() async throws {
    let server = Self.flights()
    let queue = RequestQueue(ODataSession(SystemTransport.make()), workers: 2)
    let ticket = try await queue.add(
      ODataRequest(server.root + "FlightCollection?sap-language=en"), name: "17", priority: .high)
    #expect(try await ticket.response().status == 200)
    #expect(server.lines == ["GET /FlightCollection?sap-language=en"])
  }
}

/// Gives its pieces and ends.
private final class Pieces: TransportBodySource {
  private let left: Mutex<[String]>
  init(_ pieces: [String]) { left = Mutex(pieces) }
  func next() async throws -> [UInt8]? {
    left.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) }
  }
}
