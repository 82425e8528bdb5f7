import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("TLS by the server itself", .apart)
struct TLSTests {
  /// Certificates of this test alone.
  final class Papers {
    let folder: URL
    let identity: TLSIdentity
    private let texts: (certificates: String, key: String)

    init(_ name: String = "s") throws {
      folder = FileManager.default.temporaryDirectory.appending(
        path: "ferry-tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let checkout = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = [
        checkout.appending(path: "Fixtures/certificates.sh").path, "s=/CN=\(name)",
      ]
      process.currentDirectoryURL = folder
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      texts = (
        try String(contentsOf: folder.appending(path: "s.pem"), encoding: .utf8),
        try String(contentsOf: folder.appending(path: "s.key"), encoding: .utf8)
      )
      identity = TLSIdentity(certificates: texts.certificates, key: texts.key)
    }

    /// The same, and clients are asked for a certificate of the test's authority.
    func asking() throws -> TLSIdentity {
      TLSIdentity(
        certificates: texts.certificates, key: texts.key,
        clientAuthorities: try String(
          contentsOf: folder.appending(path: "ca.pem"), encoding: .utf8))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var transport: CurlTransport {
      CurlTransport(TransportOptions(trust: .file(folder.appending(path: "ca.pem").path)))
    }
  }

  private static func url(_ live: LiveServer) -> String { "https://127.0.0.1:\(live.port)/" }

  @Test("Uploads and answers as streams go over TLS, and refusals too")
  func streams() async throws {
    let papers = try Papers()
    let live = try LiveServer(
      tls: papers.identity,
      doorman: { request in
        request.headers["X-Key"] == nil
          ? .refuse(.text(401, "no key")) : .stream(bodyBytes: 3 << 20)
      }
    ) { request in
      var count = 0
      while case .bytes(let bytes)? = await request.bodyStream?.next() {
        count += bytes.count
        await Task.detached { Patience.moment() }.value
      }
      return .text(200, "\(count)")
    }
    let transport = papers.transport
    for method in [HTTPMethod.post, .patch] {
      var request = TransportRequest(url: Self.url(live), method: method)
      request.body = [UInt8](repeating: 7, count: 2_000_000)
      let refused = try await transport.send(request)
      #expect(refused.status == 401, "\(method)")
      request.headers["X-Key"] = "1"
      let taken = try await transport.send(request)
      #expect(String(decoding: try await taken.body.collect(), as: UTF8.self) == "2000000")
      request.body = [UInt8](repeating: 7, count: 4_000_000)
      if method == .post {
        let large = try await transport.send(request)
        #expect(large.status == 413)
      }
    }
    #expect(live.stop())
  }

  @Test("A part of a handshake costs no processor while it stays")
  func halfHandshake() throws {
    let papers = try Papers()
    let live = try LiveServer(tls: papers.identity) { _ in .text(200, "hello") }
    let clients = (0..<4).map { _ in RawClient(live.port) }
    for client in clients { client.send([0x16, 0x03, 0x01]) }
    for client in clients { #expect(eventually { client.isRead() }) }
    // It waits for a millisecond each time; a loop that spins goes round a hundred times as often.
    #expect(Patience.growth { live.rounds } < 3_000)
    #expect(live.stop())
  }

  @Test("A key that is not the certificate's is refused by name at the start")
  func wrongKey() throws {
    let (one, other) = (try Papers(), try Papers())
    let certificates = try String(
      contentsOf: one.folder.appending(path: "s.pem"), encoding: .utf8)
    let key = try String(contentsOf: other.folder.appending(path: "s.key"), encoding: .utf8)
    let wrong = TLSIdentity(certificates: certificates, key: key)
    #expect(throws: HTTPServerError.self) {
      try LiveServer(tls: wrong) { _ in .text(200, "hello") }
    }
  }

  @Test("TLS 1.1 is refused")
  func oldTLS() throws {
    let papers = try Papers()
    let live = try LiveServer(tls: papers.identity) { _ in .text(200, "hello") }
    for (version, isTaken) in [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/openssl")
      process.arguments = [
        "s_client", "-connect", "127.0.0.1:\(live.port)", version, "-cipher", "ALL:@SECLEVEL=0",
      ]
      process.standardInput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect((process.terminationStatus == 0) == isTaken, "\(version)")
    }
    #expect(live.stop())
  }

  /// The name in the certificate that the server shows now.
  private func shown(_ live: LiveServer, _ client: [String] = []) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = ["s_client", "-connect", "127.0.0.1:\(live.port)"] + client
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? ""
  }

  @Test("A certificate changes while the server runs, and one that is none changes nothing")
  func change() async throws {
    let (one, other) = (try Papers("one"), try Papers("other"))
    let live = try LiveServer(tls: one.identity) { _ in .text(200, "hello") }
    #expect(try shown(live).contains("one"))
    // A connection that is open stays.
    let transport = one.transport
    #expect(try await transport.send(TransportRequest(url: Self.url(live))).status == 200)
    try live.server.change(to: other.identity)
    #expect(try shown(live).contains("other"))
    #expect(try await transport.send(TransportRequest(url: Self.url(live))).status == 200)
    #expect(throws: HTTPServerError.self) {
      try live.server.change(to: TLSIdentity(certificates: "none", key: "none"))
    }
    #expect(try shown(live).contains("other"))
    #expect(live.stop())
  }

  @Test(
    "A client is asked for a certificate, and the handler sees the one whose key it has",
    .reference("ios/SRV-30", "adr/SV-21"))
  func clientCertificate() async throws {
    let papers = try Papers()
    let live = try LiveServer(tls: try papers.asking()) { request in
      .text(200, "\(request.clientCertificate?.count ?? 0)\n")
    }
    for (options, hasOne) in [
      ([], false),
      (["--cert", "\(papers.folder.path)/s.pem", "--key", "\(papers.folder.path)/s.key"], true),
    ] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/curl")
      process.arguments =
        ["--silent", "--cacert", "\(papers.folder.path)/ca.pem"] + options + [Self.url(live)]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect((Int(text.dropLast()) ?? -1 > 200) == hasOne, "\(text)")
    }
    #expect(live.stop())
  }
}
