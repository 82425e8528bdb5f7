import FerryHTTP
import FerryHTTPClient
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// Answers as the test says, and keeps the questions and the pins.
final class TestListener: ServerTrustListener {
  private let state: Mutex<(decision: ServerTrustDecision, asked: [ServerTrustQuestion])>
  private let pins = Mutex<[String: String]>([:])

  init(_ decision: ServerTrustDecision) { state = Mutex((decision, [])) }

  var asked: [ServerTrustQuestion] { state.withLock { $0.asked } }
  var kept: [String: String] { pins.withLock { $0 } }

  func decide(_ question: ServerTrustQuestion) async -> ServerTrustDecision {
    state.withLock { state in
      state.asked.append(question)
      return state.decision
    }
  }

  func pin(of server: String) -> String? { pins.withLock { $0[server] } }
  func keep(_ pin: String, for server: String) { pins.withLock { $0[server] = pin } }
}

/// The status and the text of an answer.
func answer(
  _ transport: any Transport, _ request: TransportRequest
) async throws -> (status: Int, text: String) {
  let response = try await transport.send(request)
  let bytes = try await response.body.collect()
  return (response.status, String(decoding: bytes, as: UTF8.self))
}

@Suite("Trust of a server, and who the client is")
struct TrustTests {
  static let hello = "location / { return 200 hello; }"

  @Test(
    "A chain that is trusted never asks, and one that nobody decides about is refused",
    .reference("ios/LSN-1", "ios/CS-23", "adr/TLS-2")
  )
  func trusted() async throws {
    let server = try NginxServer(Self.hello)
    let listener = TestListener(.refuse)
    var options = TransportOptions(trust: .file(server.authority))
    options.trustListener = listener
    #expect(
      try await answer(CurlTransport(options), TransportRequest(url: server.url)).text == "hello")
    #expect(listener.asked.isEmpty)
    let error = await failure(CurlTransport(), TransportRequest(url: server.url))
    #expect(error?.code == .tls)
    #expect(error?.requestWasSent == false)
    #expect(server.requests == ["GET / HTTP/1.1"])
  }

  @Test(
    "The listener sees subject, issuer, dates and fingerprint, and a refusal sends nothing",
    .reference("ios/CS-130", "ios/CS-22", "adr/A15", "adr/A62")
  )
  func refused() async throws {
    let server = try NginxServer(Self.hello)
    let listener = TestListener(.refuse)
    var options = TransportOptions()
    options.trustListener = listener
    let error = await failure(
      CurlTransport(options), TransportRequest(url: server.url, method: .post, body: [1, 2]))
    #expect(error?.code == .tls)
    #expect(error?.requestWasSent == false)
    #expect(server.requests.isEmpty)
    let own = try #require(listener.asked.first?.chain.first)
    #expect(listener.asked.map(\.server) == ["127.0.0.1:\(server.port)"])
    #expect(listener.asked.first?.isChanged == false)
    #expect(listener.asked.first?.problem.contains("certificate") == true)
    #expect(own.subject == "O=Company, CN=service")
    #expect(own.issuer == "CN=Authority")
    #expect(own.validFrom < own.validUntil && own.validUntil.hasSuffix("Z"))
    // The fingerprint that OpenSSL states.
    try NginxServer.shell(
      "openssl x509 -in s.pem -noout -fingerprint -sha256 > print", in: server.folder)
    let text = try String(contentsOf: server.folder.appending(path: "print"), encoding: .utf8)
    #expect(text.contains("=" + own.fingerprint))
  }

  @Test(
    "A server is trusted by the system's authorities, by the app's own file, or by the app's decision",
    .reference("adr/RST-7")
  )
  func threeTrusts() async throws {
    let server = try NginxServer(Self.hello)
    let request = TransportRequest(url: server.url)
    // The system does not know the authority of this server, and says so.
    #expect(TransportOptions().trust == .system)
    #expect(await failure(CurlTransport(), request)?.code == .tls)
    let file = TransportOptions(trust: .file(server.authority))
    #expect(try await answer(CurlTransport(file), request).text == "hello")
    for (decision, isTrusted) in [
      (ServerTrustDecision.acceptOnce, true), (.acceptForGood, true), (.refuse, false),
    ] {
      let listener = TestListener(decision)
      var options = TransportOptions()
      options.trustListener = listener
      let transport = CurlTransport(options)
      if isTrusted {
        #expect(try await answer(transport, request).text == "hello")
      } else {
        #expect(await failure(transport, request)?.code == .tls)
      }
      #expect(listener.asked.count == 1)
    }
    #expect(server.requests.count == 3, "what is not trusted sees no request")
  }

  @Test("Accepted once, a server is not asked about again while the transport lives, even by many")
  func once() async throws {
    let server = try NginxServer(Self.hello, listen: "http2")
    let listener = TestListener(.acceptOnce)
    var options = TransportOptions()
    options.trustListener = listener
    let transport = CurlTransport(options)
    let url = server.url
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 {
        group.addTask { try await answer(transport, TransportRequest(url: url)).text }
      }
      for try await text in group { #expect(text == "hello") }
    }
    #expect(listener.asked.count == 1)
    #expect(listener.kept.isEmpty)
    #expect(try await answer(CurlTransport(options), TransportRequest(url: url)).text == "hello")
    #expect(listener.asked.count == 2)
  }

  @Test("Accepted for good, another start asks nothing, until the server shows another key")
  func forGood() async throws {
    var server = try NginxServer(Self.hello)
    let port = server.port
    let folder = server.folder
    let listener = TestListener(.acceptForGood)
    var options = TransportOptions()
    options.trustListener = listener
    let url = server.url
    for _ in 0..<2 {
      #expect(try await answer(CurlTransport(options), TransportRequest(url: url)).text == "hello")
    }
    #expect(listener.asked.count == 1)
    let transport = CurlTransport(options)
    #expect(try await answer(transport, TransportRequest(url: url)).status == 200)
    server.stop()
    let first = server
    server = try NginxServer(Self.hello, certificate: "other", port: port, folder: folder)
    defer { _ = first }
    #expect(try await answer(transport, TransportRequest(url: url)).status == 200)
    #expect(listener.asked.map(\.isChanged) == [false, true])
    #expect(listener.asked.last?.chain.first?.subject == "CN=other")
  }

  @Test(
    "A client shows the certificate of its PKCS#12 file",
    .reference("ios/CRT-3", "ios/REQ-21", "ios/RST-4", "adr/RST-8"))
  func identity() async throws {
    let server = try NginxServer(
      "ssl_verify_client on; location / { return 200 $ssl_client_s_dn; }")
    var options = TransportOptions(trust: .file(server.authority))
    #expect(
      try await answer(CurlTransport(options), TransportRequest(url: server.url)).status == 400)
    let file = Array(try Data(contentsOf: server.identity))
    options.identity = ClientIdentity(pkcs12: file, password: "secret")
    #expect(
      try await answer(CurlTransport(options), TransportRequest(url: server.url)).text == "CN=alice"
    )
    #expect(!"\(options)".contains("secret"))
    options.identity = ClientIdentity(pkcs12: file, password: "wrong")
    let error = await failure(CurlTransport(options), TransportRequest(url: server.url))
    #expect(error?.code == .tls)
    #expect(error?.requestWasSent == false)
  }

  @Test("HTTP/2 is spoken where the server offers it, unless it is switched off")
  func http2() async throws {
    let server = try NginxServer(
      "location / { return 200 $server_protocol; }", listen: "http2")
    var options = TransportOptions(trust: .file(server.authority))
    let request = TransportRequest(url: server.url)
    #expect(try await answer(CurlTransport(options), request).text == "HTTP/2.0")
    options.usesHTTP2 = false
    #expect(try await answer(CurlTransport(options), request).text == "HTTP/1.1")
  }
}
