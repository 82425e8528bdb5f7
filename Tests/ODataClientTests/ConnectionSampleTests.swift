import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryTestSupport
import FerryTestTraits
import Foundation
import Testing

/// What the reference's chapters say of logins, headers and errors of a connection.
@Suite("Samples of connections")
struct ConnectionSampleTests {
  private static let challenge = [("WWW-Authenticate", #"Basic realm="Relay""#)]

  private static func flights(
    _ answer: @escaping @Sendable (ScriptedService.Request, Int) -> ScriptedService.Answer
  ) -> ScriptedService { ScriptedService(answer) }

  @Test(
    "A name and a password in the address answer the challenge, and leave the address",
    .reference("ios/REQ-1")
  )
  func inTheAddress() async throws {
    let server = Self.flights { request, _ in
      request.headers["Authorization"] == "Basic YW5uYTpzZTpjK3JldA=="
        ? .status(200) : .status(401, "", Self.challenge)
    }
    let address = server.root.replacing("://", with: "://anna:se%3Ac+ret@")
    var options = ODataSessionOptions()
    options.credentials = .basic(user: "other", password: "x")
    let transport = RecordingTransport { request in
      request.headers["Authorization"] == nil
        ? (401, ["WWW-Authenticate": "Basic"]) : (200, [:])
    }
    let session = ODataSession(SystemTransport.make(), options: options)
    let answer = try await session.send(ODataRequest(address + "Items?$top=1"))
    #expect(answer.status == 200 && answer.address == server.root + "Items?$top=1")
    #expect(server.requests.map { $0.headers["Authorization"] }.first == .some(nil))
    #expect(server.lines == ["GET /Items?$top=1", "GET /Items?$top=1"])
    _ = try await ODataSession(transport).send(ODataRequest("https://anna@h/x@y"))
    #expect(transport.requests.map(\.url) == ["https://h/x@y", "https://h/x@y"])
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataSession(RecordingTransport { _ in (500, [:]) }).sendChecked(
        ODataRequest("https://anna:secret@h/"))
    }
    #expect(error?.description.contains("secret") == false)
  }

  @Test(
    "Headers and cookies of the app go with every request, or there are none",
    .reference("ios/APP-5"))
  func channelHeaders() async throws {
    let server = Self.flights { _, _ in .status(200) }
    for headers in [["X-Edge": "e1", "Cookie": "MYSAPSSO2=abc"], [:]] as [HTTPHeaders] {
      var options = ODataSessionOptions()
      options.headers = headers
      let session = ODataSession(SystemTransport.make(), options: options)
      for method in [HTTPMethod.get, .post] {
        _ = try await session.send(ODataRequest(server.root, method: method))
      }
    }
    #expect(server.requests.map { $0.headers["X-Edge"] } == ["e1", "e1", nil, nil])
    #expect(
      server.requests.map { $0.headers["Cookie"] } == ["MYSAPSSO2=abc", "MYSAPSSO2=abc", nil, nil])
  }

  @Test(
    "A silent server, a cut line, nobody there and a request taken back are four errors",
    .reference("ios/SRV-33")
  )
  func networkErrors() async throws {
    let server = ScriptedServer { line in
      if line.receiveHead().hasPrefix("GET /silent") { _ = line.waitForEnd() }
    }
    defer { server.close() }
    let session = ODataSession(SystemTransport.make())
    func code(_ request: ODataRequest) async -> TransportError.Code? {
      let error = await failure { () throws(ODataClientError) in _ = try await session.send(request)
      }
      guard case .transport(let reason) = error?.cause else { return nil }
      return reason.code
    }
    var silent = ODataRequest(server.url + "silent")
    silent.deadlines = TransportDeadlines(idle: .milliseconds(200))
    #expect(await code(silent) == .timedOut)
    #expect(await code(ODataRequest(server.url + "cut")) == .cut)
    #expect(await code(ODataRequest("http://127.0.0.1:1/")) == .cannotConnect)
    let task = Task { await code(ODataRequest(server.url + "silent")) }
    #expect(await eventually { server.connections == 3 })
    task.cancel()
    #expect(await task.value == .cancelled)
  }

  @Test(
    "Basic, a cookie of single sign-on and a certificate log in, over kept connections, packed and with time-outs",
    .reference("ios/FRM-6", "adr/PAR-1")
  )
  func overview() async throws {
    let peer = try NginxServer(
      """
      gzip on; gzip_min_length 1; gzip_types text/plain; ssl_verify_client on;
      location / {
        default_type text/plain;
        return 200 "$ssl_client_s_dn $http_authorization $http_cookie $http_accept_language $connection_requests";
      }
      """)
    let request = ODataRequest(peer.url)
    var transport = TransportOptions(trust: .file(peer.authority))
    transport.connectionsPerHost = 1
    transport.identity = ClientIdentity(
      pkcs12: Array(try Data(contentsOf: peer.identity)), password: "secret")
    var options = ODataSessionOptions()
    options.language = "pt-BR"
    options.usesCSRF = true
    options.deadlines = TransportDeadlines(connect: .seconds(120), idle: .seconds(120))
    options.presentsCredentialsBeforeChallenge = true
    for (credentials, shown) in [
      (ODataCredentials.basic(user: "a", password: "1"), "Basic YTox"),
      (.cookie(name: "MYSAPSSO2", value: "t"), "MYSAPSSO2=t"),
    ] {
      options.credentials = credentials
      let session = ODataSession(transport: transport, options: options)
      async let first = session.send(request)
      async let second = session.send(request)
      let answers = try await [first, second]
      #expect(answers.allSatisfy { $0.text.hasPrefix("CN=alice ") && $0.text.contains(shown) })
      #expect(answers.allSatisfy { $0.text.contains("pt-BR") })
      #expect(answers.filter(\.isCompressed).count == 2)
      #expect(Set(answers.map { $0.text.suffix(1) }) == ["1", "2"], "one connection for both")
    }
  }

  @Test(
    "The head of an answer comes before its data, the app takes the bytes itself, and hears the end or the failure",
    .reference("ios/REQ-12")
  )
  func steps() async throws {
    let gate = Gate()
    let server = ScriptedServer { line in
      let head = line.receiveHead()
      line.send("HTTP/1.1 200 OK\r\nX-Kept: yes\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
      line.send("ab")
      gate.wait()
      if head.hasPrefix("GET /whole") { line.send("cd") }
    }
    defer { server.close() }
    let session = ODataSession(SystemTransport.make())
    var took: [String] = []
    for name in ["whole", "cut"] {
      var request = ODataRequest(server.url + name)
      request.deadlines = TransportDeadlines(connect: .seconds(600), idle: .seconds(600))
      let (response, _) = try await session.open(request)
      took.append("\(response.status) \(response.headers["X-Kept"] ?? "")")
      gate.open()
      do throws(TransportError) {
        var bytes: [UInt8] = []
        while let piece = try await response.body.next() { bytes += piece }
        took.append("finished \(String(decoding: bytes, as: UTF8.self))")
      } catch {
        took.append("failed \(error.code.rawValue)")
      }
    }
    #expect(took == ["200 yes", "finished abcd", "200 yes", "failed cut"])
  }
}
