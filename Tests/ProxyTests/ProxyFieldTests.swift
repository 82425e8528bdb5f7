import FerryHTTP
import FerryHTTPClient
import FerryProxy
import FerryTestTraits
import Foundation
import Testing

@Suite("What proxies before the gateway say", .serialized)
struct ProxyFieldTests {
  private static func makeService() -> RawService {
    RawService { socket, next in
      while let head = next() {
        write(
          socket,
          "HTTP/1.1 302 Found\r\nContent-Type: text/plain\r\nLocation: /odata/F(1)\r\n"
            + "Content-Location: /other/x\r\nLink: </odata/a>; rel=a, <F(2)>; rel=b, "
            + "</odata>; rel=c\r\nOData-EntityId: //127.0.0.1/odata/x\r\n"
            + "Set-Cookie: a=b\r\nContent-Length: \(head.utf8.count)\r\n\r\n" + head)
      }
    }
  }

  private static func backEnd(_ port: Int) -> BackEnd {
    BackEnd(
      name: "flights", address: "http://127.0.0.1:\(port)/odata/", networks: [.loopback])
  }

  private static func text(
    _ door: LiveDoor, _ headers: HTTPHeaders, as user: String? = LiveDoor.anna
  ) async throws -> String {
    String(
      decoding: try await door.send("/flights/x", headers: headers, as: user).body, as: UTF8.self)
  }

  @Test("Links without a host lead back to the door, also behind a path")
  func paths() async throws {
    let service = Self.makeService()
    for (door, path) in [("https://gate.example.com", ""), ("https://gate.example.com/in/", "/in")]
    {
      let live = try LiveDoor([Self.backEnd(service.port)], door: door)
      let answer = try await live.send("/flights/x")
      #expect(answer.headers["Location"] == "\(path)/flights/F(1)")
      #expect(answer.headers["Content-Location"] == "/other/x")
      #expect(
        answer.headers["Link"]
          == "<\(path)/flights/a>; rel=a, <F(2)>; rel=b, <\(path)/flights>; rel=c")
      #expect(answer.headers["OData-EntityId"] == "//127.0.0.1/odata/x")
      #expect(answer.headers["Set-Cookie"]?.contains("; Path=\(path)/flights/") == true)
      live.live.stop()
    }
    service.end()
  }

  @Test("Of a proxy that is not named nothing is believed")
  func stranger() async throws {
    let service = Self.makeService()
    let door = try LiveDoor([Self.backEnd(service.port)])
    let text = try await Self.text(
      door,
      ["X-Forwarded-For": "9.9.9.9", "Forwarded": "for=9.9.9.9", "SSL_CLIENT_CERT": "YW5uYQ=="])
    #expect(text.contains("X-Forwarded-For: 127.0.0.1\r\n"))
    #expect(!text.contains("9.9.9.9") && !text.contains("YW5uYQ"))
    #expect(door.addresses == ["127.0.0.1"])
    door.live.stop()
    service.end()
  }

  @Test("Of a named proxy one field is believed, and the last address that is no proxy's")
  func named() async throws {
    let service = Self.makeService()
    let cases: [(TrustedProxies.Field, HTTPHeaders, String)] = [
      (.xForwardedFor, ["X-Forwarded-For": "1.1.1.1, 2.2.2.2"], "2.2.2.2"),
      (.xForwardedFor, ["X-Forwarded-For": "1.1.1.1, 127.0.0.1"], "1.1.1.1"),
      (.xForwardedFor, ["Forwarded": "for=3.3.3.3"], "127.0.0.1"),
      (
        .forwarded, ["Forwarded": "for=1.1.1.1;proto=https, for=\"[2001:db8::1]:47\""],
        "2001:db8::1"
      ),
      (.forwarded, ["Forwarded": "by=5.5.5.5;FOR=\"4.4.4.4:80\""], "4.4.4.4"),
      (.forwarded, ["X-Forwarded-For": "1.1.1.1"], "127.0.0.1"),
    ]
    for (field, headers, address) in cases {
      let door = try LiveDoor(
        [Self.backEnd(service.port)], proxies: TrustedProxies(["127.0.0.1"], field: field))
      let text = try await Self.text(door, headers)
      #expect(door.addresses == [address], "\(headers)")
      let way = address == "127.0.0.1" ? address : "\(address), 127.0.0.1"
      #expect(text.contains("X-Forwarded-For: \(way)\r\n"), "\(text)")
      door.live.stop()
    }
    service.end()
  }

  @Test(
    "A certificate that a named proxy passes on proves a user, and others do not",
    .reference("facts/2.9"))
  func certificates() async throws {
    let service = Self.makeService()
    let certificates = GatewayCertificates(requiredFrom: nil, comeThroughProxies: true) { _ in nil }
    let door = try LiveDoor(
      [Self.backEnd(service.port)], proxies: TrustedProxies(["127.0.0.1"]),
      certificates: certificates)
    // "anna", in place of a certificate: who judges them is not this module.
    let pem = "-----BEGIN CERTIFICATE----- YW5u YQ== -----END CERTIFICATE-----"
    let escaped = "-----BEGIN%20CERTIFICATE-----%0AYW5uYQ==%0A-----END%20CERTIFICATE-----%0A"
    for text in ["YW5uYQ==", pem, escaped] {
      let answer = try await door.send(
        "/flights/x", headers: ["SSL_CLIENT_CERT": text], as: nil)
      #expect(answer.status == 302, "\(text)")
    }
    for text in ["YmVydGE=", "", "????"] {
      let answer = try await door.send(
        "/flights/x", headers: ["SSL_CLIENT_CERT": text], as: nil)
      #expect(answer.status == 401, "\(text)")
    }
    let stranger = try LiveDoor(
      [Self.backEnd(service.port)], proxies: TrustedProxies(["10.0.0.1"]),
      certificates: certificates)
    let answer = try await stranger.send(
      "/flights/x", headers: ["SSL_CLIENT_CERT": "YW5uYQ=="], as: nil)
    #expect(answer.status == 401)
    for door in [door, stranger] { door.live.stop() }
    service.end()
  }

  @Test("Where a certificate is required nobody passes without a good one")
  func required() async throws {
    let service = Self.makeService()
    for (from, status) in [(Set<String>(), 403), (["127.0.0.1"], 403), (["10.0.0.1"], 302)] {
      let certificates = GatewayCertificates(requiredFrom: from, comeThroughProxies: true) { der in
        String(decoding: der, as: UTF8.self) == "anna" ? nil : "revoked"
      }
      let door = try LiveDoor(
        [Self.backEnd(service.port)], proxies: TrustedProxies(["127.0.0.1"]),
        certificates: certificates)
      #expect(try await door.send("/flights/x").status == status)
      let revoked = try await door.send(
        "/flights/x", headers: ["SSL_CLIENT_CERT": "YmVydGE="])
      #expect(revoked.status == status)
      let good = try await door.send("/flights/x", headers: ["SSL_CLIENT_CERT": "YW5uYQ=="])
      #expect(good.status == 302)
      door.live.stop()
    }
    service.end()
  }

  @Test("Nobody to ask is 503, and not a wrong password")
  func away() async throws {
    let service = Self.makeService()
    let door = try LiveDoor([Self.backEnd(service.port)])
    let answer = try await door.send("/flights/x", as: "Basic YXdheTp4")
    #expect(answer.status == 503 && answer.headers["Retry-After"] == "9")
    door.live.stop()
    service.end()
  }
}
