import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryProxy
import FerryTestSupport
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("What the gateway proves to a service", .serialized)
struct CredentialTests {
  private static func makeService() -> RawService {
    RawService { socket, next in
      while let head = next() {
        write(socket, "HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\n\r\n" + head)
      }
    }
  }

  private static func backEnd(
    _ address: String, _ credentials: BackEnd.Credentials = .none, publicPaths: [String] = [],
    trust: TransportOptions.Trust = .system, identity: ClientIdentity? = nil
  ) -> BackEnd {
    BackEnd(
      name: "flights", address: address, credentials: credentials, limits: .patient, trust: trust,
      networks: [.loopback], publicPaths: publicPaths, identity: identity)
  }

  @Test("The cookie of a single sign-on goes on, and no other cookie", .reference("ios/SRV-20"))
  func cookie() async throws {
    let service = Self.makeService()
    let door = try LiveDoor([
      Self.backEnd("http://127.0.0.1:\(service.port)/odata/", .cookie("MYSAPSSO2"))
    ])
    for (sent, passed) in [
      ("a=b; MYSAPSSO2=AjQx==; c=d", "Cookie: MYSAPSSO2=AjQx==\r\n"),
      ("MYSAPSSO2=1; MYSAPSSO2=2", nil), ("xMYSAPSSO2=1; mysapsso2=1", nil),
    ] {
      let answer = try await door.send("/flights/x", headers: ["Cookie": sent])
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(text.contains("Cookie: ") == (passed != nil), "\(text)")
      if let passed { #expect(text.contains(passed)) }
      #expect(!text.contains("Authorization"))
    }
    door.live.stop()
    service.end()
  }

  @Test("Only open paths need no login, in no spelling of another one")
  func open() async throws {
    let service = Self.makeService()
    let door = try LiveDoor([
      Self.backEnd("http://127.0.0.1:\(service.port)/odata/", publicPaths: ["public/", "logo"])
    ])
    for path in ["public/x", "logo", "logo/x", "public/a/b"] {
      #expect(try await door.send("/flights/\(path)", as: nil).status == 200, "\(path)")
    }
    for path in ["", "x", "public", "logos", "Public/x", "publicx", "%70ublic/x"] {
      #expect(try await door.send("/flights/\(path)", as: nil).status == 401, "\(path)")
    }
    for path in ["public/..%2fx", "public/%2e%2e/x", "public/..;/x"] {
      #expect(try await door.send("/flights/\(path)", as: nil).status == 400, "\(path)")
    }
    #expect(try await door.send("/flights/x").status == 200)
    door.live.stop()
    service.end()
  }

  @Test("A service that asks for a certificate gets the gateway's own", .reference("ios/SRV-30"))
  func identity() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-gate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/certificates.sh").path
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      "sh '\(script)' service=/CN=service gate=/CN=gate && openssl pkcs12 -export -inkey gate.key "
        + "-in gate.pem -out gate.p12 -passout pass:p",
    ]
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
    let tls = TLSIdentity(
      certificates: try text("service.pem"), key: try text("service.key"),
      clientAuthorities: try text("ca.pem"))
    let service = try Live(
      tls: tls, doorman: { _ in .stream(bodyBytes: .max) }
    ) { request in .text(200, request.clientCertificate == nil ? "none" : "one") }
    let file = [UInt8](try Data(contentsOf: folder.appending(path: "gate.p12")))
    for (identity, words) in [
      (nil, "none"), (ClientIdentity(pkcs12: file, password: "p"), "one"),
    ] {
      let door = try LiveDoor([
        Self.backEnd(
          "https://127.0.0.1:\(service.port)/odata/",
          trust: .file(folder.appending(path: "ca.pem").path), identity: identity)
      ])
      let answer = try await door.send("/flights/x")
      #expect(String(decoding: answer.body, as: UTF8.self) == words)
      door.live.stop()
    }
    service.stop()
  }
}
