import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataClient
import FerryPersistence
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// Keeps credentials in memory, and what became of them.
final class TestStore: ODataCredentialStore {
  private let kept = Mutex<[ODataProtectionSpace: ODataCredentials]>([:])

  init(_ first: [ODataProtectionSpace: ODataCredentials] = [:]) { kept.withLock { $0 = first } }

  var all: [ODataProtectionSpace: ODataCredentials] { kept.withLock { $0 } }

  func credentials(for space: ODataProtectionSpace) async -> ODataCredentials? { all[space] }
  func keep(_ credentials: ODataCredentials, for space: ODataProtectionSpace) async {
    kept.withLock { $0[space] = credentials }
  }
  func remove(_ space: ODataProtectionSpace) async { kept.withLock { $0[space] = nil } }
}

/// Answers without a network, and keeps the requests.
final class RecordingTransport: MessagingChannel {
  private let state = Mutex<[TransportRequest]>([])
  private let answer: @Sendable (TransportRequest) -> (Int, HTTPHeaders)

  init(_ answer: @escaping @Sendable (TransportRequest) -> (Int, HTTPHeaders)) {
    self.answer = answer
  }

  var requests: [TransportRequest] { state.withLock { $0 } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    state.withLock { $0.append(request) }
    let (status, headers) = answer(request)
    return TransportResponse(status: status, headers: headers, body: Empty())
  }

  private final class Empty: TransportBody {
    func next() async throws(TransportError) -> [UInt8]? { nil }
    func cancel() {}
  }
}

@Suite("Credentials, cookies and channels of a session")
struct CredentialTests {
  static let challenge = [("WWW-Authenticate", #"Basic realm="Sales""#)]

  private static func space(_ server: ScriptedService, realm: String) -> ODataProtectionSpace {
    let address = HTTPAddress(server.root)
    return ODataProtectionSpace(
      host: "127.0.0.1", port: address?.port ?? 0, scheme: "http", realm: realm)
  }

  @Test(
    "What was accepted is kept by host, port, protocol and realm, and nobody is asked again",
    .reference("ios/REQ-23", "ios/REQ-25")
  )
  func stored() async throws {
    let server = ScriptedService { request, _ in
      request.headers["Authorization"] == "Basic YTox"
        ? .status(200) : .status(401, "", Self.challenge)
    }
    let store = TestStore([Self.space(server, realm: "Other"): .basic(user: "x", password: "y")])
    let source = ScriptedSource([.basic(user: "a", password: "1")])
    var options = ODataSessionOptions()
    options.credentialStore = store
    options.credentialSource = source
    let session = ODataSession(SystemTransport.make(), options: options)
    #expect(try await session.send(ODataRequest(server.root)).status == 200)
    #expect(store.all[Self.space(server, realm: "Sales")] == .basic(user: "a", password: "1"))
    #expect(store.all.count == 2)
    // Another start of the app.
    let later = ODataSession(SystemTransport.make(), options: options)
    #expect(try await later.send(ODataRequest(server.root)).status == 200)
    #expect(source.asked.count == 1)
  }

  @Test(
    "Kept sealed in a store of the device kit they serve the next process, each kind of them",
    .reference("ios/REQ-23", "ios/REQ-24", "ios/REQ-25")
  )
  func sealed() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let key = try Persistence.generateSecretKey()
    let service = ODataProtectionSpace(host: "h", port: 443, scheme: "https", realm: "Sales")
    let proxy = ODataProtectionSpace(
      host: "p", port: 3128, scheme: "http", realm: "Sales", isProxy: true)
    let kinds: [ODataCredentials] = [
      .basic(user: "anna", password: "se:cret"), .bearer("t"), .cookie(name: "S", value: "v"),
      .other(scheme: "X", value: "y"),
    ]
    for kind in kinds {
      let first = try ODataSealedCredentials(Persistence(folder: folder, key: key))
      await first.keep(kind, for: service)
      await first.keep(.basic(user: "gate", password: "g"), for: proxy)
      let later = try ODataSealedCredentials(Persistence(folder: folder, key: key))
      #expect(await later.credentials(for: service) == kind)
      #expect(await later.credentials(for: proxy) == .basic(user: "gate", password: "g"))
      let other = ODataProtectionSpace(host: "h", port: 443, scheme: "https", realm: "")
      #expect(await later.credentials(for: other) == nil)
    }
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
    for file in files {
      #expect(!file.contains("Sales"))
      let bytes = FileManager.default.contents(atPath: folder + "/" + file) ?? Data()
      for secret in ["anna", "secret", "Sales"] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file) has \(secret)")
      }
    }
    let store = try ODataSealedCredentials(Persistence(folder: folder, key: key))
    await store.remove(service)
    #expect(await store.credentials(for: service) == nil)
    let plain = try Persistence(folder: folder + "-plain", isSecure: false, key: nil)
    defer { try? FileManager.default.removeItem(atPath: folder + "-plain") }
    #expect(throws: PersistenceError.self) { _ = try ODataSealedCredentials(plain) }
  }

  @Test("Kept credentials that are refused are forgotten")
  func refused() async throws {
    let server = ScriptedService { _, _ in .status(401, "", Self.challenge) }
    let store = TestStore([Self.space(server, realm: "Sales"): .basic(user: "a", password: "old")])
    var options = ODataSessionOptions()
    options.credentialStore = store
    let session = ODataSession(SystemTransport.make(), options: options)
    #expect(try await session.send(ODataRequest(server.root)).status == 401)
    #expect(store.all.isEmpty)
    #expect(server.lines.count == 2)
  }

  @Test(
    "A proxy's credentials are its own: the service never sees them, nor the proxy the service's",
    .reference("ios/REQ-24")
  )
  func proxy() async throws {
    let proxy = ScriptedService { request, _ in
      guard request.headers["Proxy-Authorization"] == "Basic cDpw" else {
        return .status(407, "", [("Proxy-Authenticate", #"Basic realm="Gate""#)])
      }
      return request.headers["Authorization"] == "Basic YTox"
        ? .status(200) : .status(401, "", Self.challenge)
    }
    let store = TestStore()
    let source = ScriptedSource([
      .basic(user: "p", password: "p"), .basic(user: "a", password: "1"),
    ])
    var options = ODataSessionOptions()
    options.credentialStore = store
    options.credentialSource = source
    var transport = TransportOptions()
    let port = HTTPAddress(proxy.root)?.port ?? 0
    transport.proxy = .server(host: "127.0.0.1", port: port)
    let session = ODataSession(transport: transport, options: options)
    for _ in 0..<2 {
      #expect(try await session.send(ODataRequest("http://service.example/Items")).status == 200)
    }
    #expect(source.asked.map(\.space.isProxy) == [true, false])
    #expect(source.asked.map(\.realm) == ["Gate", "Sales"])
    let gate = ODataProtectionSpace(
      host: "127.0.0.1", port: port, scheme: "http", realm: "Gate", isProxy: true)
    #expect(store.all[gate] == .basic(user: "p", password: "p"))
    #expect(store.all.count == 2)
    #expect(proxy.lines.count == 4)
  }

  @Test(
    "Credentials of https are forgotten when the host is asked over http", .reference("ios/LSN-2"))
  func downgrade() async throws {
    let transport = RecordingTransport { request in
      request.headers["Authorization"] == nil
        ? (401, ["WWW-Authenticate": "Basic realm=\"r\""]) : (200, [:])
    }
    let source = ScriptedSource([.basic(user: "a", password: "1")])
    var options = ODataSessionOptions()
    options.credentialSource = source
    let session = ODataSession(transport, options: options)
    for url in ["https://h/x", "https://h/x", "http://h/x", "https://h/x"] {
      _ = try await session.send(ODataRequest(url))
    }
    let sent = transport.requests.map { $0.headers["Authorization"] != nil }
    #expect(sent == [false, true, true, false, false])
  }

  @Test(
    "A scheme's name is compared without its case, as is a token of single sign-on sent as a cookie"
  )
  func schemes() async throws {
    for (credentials, name, value) in [
      (ODataCredentials.other(scheme: "SapToken", value: "t1"), "Authorization", "SapToken t1"),
      (.cookie(name: "MYSAPSSO2", value: "t2"), "Cookie", "MYSAPSSO2=t2"),
      (.certificate(user: "a", base64: "MII="), "Authorization", "Basic YTpNSUk9"),
    ] {
      let server = ScriptedService { request, _ in
        request.headers[name] == value
          ? .status(200)
          : .status(401, "", [("WWW-Authenticate", "SAPTOKEN realm=\"x\", basic realm=\"y\"")])
      }
      var options = ODataSessionOptions()
      options.credentials = credentials
      let session = ODataSession(SystemTransport.make(), options: options)
      #expect(try await session.send(ODataRequest(server.root)).status == 200, "\(credentials)")
    }
  }

  @Test(
    "Cookies come back to their host, and a cleared session has neither them nor credentials",
    .reference("ios/REQ-7")
  )
  func cookies() async throws {
    let server = ScriptedService { request, number in
      request.headers["Authorization"] == nil && number != 3
        ? .status(401, "", Self.challenge)
        : .status(
          200, "", number == 1 ? [("Set-Cookie", "s=1; Path=/"), ("Set-Cookie", "u=2")] : [])
    }
    var options = ODataSessionOptions()
    options.credentialSource = ScriptedSource([.basic(user: "a", password: "1")])
    let session = ODataSession(SystemTransport.make(), options: options)
    let first = try await session.send(ODataRequest(server.root))
    #expect(first.cookies == "s=1; u=2")
    var own = ODataRequest(server.root)
    own.headers["Cookie"] = "mine=0"
    _ = try await session.send(own)
    await session.clear()
    _ = try await session.send(ODataRequest(server.root))
    #expect(server.requests.map { $0.headers["Cookie"] } == [nil, nil, "mine=0; s=1; u=2", nil])
    #expect(server.requests[3].headers["Authorization"] == nil)
  }

  @Test(
    "A token that belongs to a cookie is sent with it",
    .reference("ios/REQ-19", "ios/CS-11", "adr/XSR-1", "adr/A9", "adr/B6"))
  func tokenWithCookie() async throws {
    let server = ScriptedService { request, _ in
      if request.method == "GET" {
        return .status(
          200, "", [("X-CSRF-Token", "t1"), ("Set-Cookie", "sap=9; Path=/; HttpOnly")])
      }
      return request.headers["X-CSRF-Token"] == "t1" && request.headers["Cookie"] == "sap=9"
        ? .status(204) : .status(403, "", [("X-CSRF-Token", "Required")])
    }
    var options = ODataSessionOptions()
    options.usesCSRF = true
    let session = ODataSession(SystemTransport.make(), options: options)
    for method in [HTTPMethod.post, .put, .delete] {
      let answer = try await session.send(ODataRequest(server.root + "Items", method: method))
      #expect(answer.status == 204)
    }
    #expect(server.lines == ["GET /", "POST /Items", "PUT /Items", "DELETE /Items"])
  }

  @Test(
    "A challenge in the middle of an upload sends it again from its beginning, and progress begins anew",
    .reference("ios/REQ-31", "ios/CS-18")
  )
  func challengedUpload() async throws {
    let server = ScriptedService { request, _ in
      request.headers["Authorization"] == nil
        ? .status(401, "", Self.challenge) : .status(200, "\(request.body.utf8.count)")
    }
    let opened = Mutex(0)
    let steps = Mutex<[Int]>([])
    var options = ODataSessionOptions()
    options.credentials = .basic(user: "supuser2", password: "s3puser")
    let session = ODataSession(SystemTransport.make(), options: options)
    var request = ODataRequest(
      server.root + "TravelagencyCollection", method: .post,
      headers: ["Content-Type": "application/atom+xml"])
    request.acceptsCompressed = false
    request.upload = .source(lengthBytes: 400_000) {
      opened.withLock { $0 += 1 }
      return Pieces(4)
    }
    request.progress = { step in steps.withLock { $0.append(step.sentBytes) } }
    let answer = try await session.send(request)
    #expect(answer.text == "400000")
    #expect(opened.withLock { $0 } == 2)
    let seen = steps.withLock { $0 }
    #expect(seen.contains(0) && seen.last == 400_000)
    #expect(server.requests.allSatisfy { $0.headers["Accept-Encoding"] == nil })
  }

  private final class Pieces: TransportBodySource {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }
    func next() async throws -> [UInt8]? {
      left.withLock { left in
        left -= 1
        return left >= 0 ? [UInt8](repeating: 65, count: 100_000) : nil
      }
    }
  }

  @Test(
    "The channel is HTTP where nothing is set, and each request may choose",
    .reference("ios/CON-3", "adr/RQM-9")
  )
  func channels() async throws {
    let http = RecordingTransport { _ in (200, [:]) }
    let messaging = RecordingTransport { _ in (202, [:]) }
    var options = ODataSessionOptions()
    #expect(options.channel == .http)
    options.messaging = messaging
    let session = ODataSession(http, options: options)
    var request = ODataRequest("https://h/x")
    #expect(try await session.send(request).status == 200)
    request.channel = .messaging
    #expect(try await session.send(request).status == 202)
    #expect(http.requests.count == 1 && messaging.requests.count == 1)
    let error = await failure { () throws(ODataClientError) in
      _ = try await ODataSession(http).send(request)
    }
    #expect(error?.requestWasSent == false)
  }

  @Test(
    "Texts are asked for in the language of the system, unless another or none is set",
    .reference("ios/CON-10", "adr/PAR-1")
  )
  func language() async throws {
    #expect(ODataSessionOptions().language == SystemLanguage.preferred)
    let transport = RecordingTransport { _ in (200, [:]) }
    for language in ["pt-BR", nil] {
      var options = ODataSessionOptions()
      options.language = language
      _ = try await ODataSession(transport, options: options).send(ODataRequest("https://h/"))
    }
    #expect(transport.requests.map { $0.headers["sap-language"] } == ["pt-BR", nil])
    #expect(transport.requests.map { $0.headers["Accept-Language"] } == ["pt-BR", nil])
  }
}
