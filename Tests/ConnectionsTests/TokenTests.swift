import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryConnections

/// A service that gives tokens, in memory.
final class TokenService: Transport {
  struct State {
    var status = 200
    var body = #"{"access_token": "t-1", "token_type": "Bearer", "expires_in": 300}"#
    var requests: [TransportRequest] = []
    var isAway = false
  }

  let state = Mutex(State())

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let (status, body, isAway) = state.withLock { state in
      state.requests.append(request)
      return (state.status, state.body, state.isAway)
    }
    if isAway {
      throw TransportError(
        code: .cannotConnect, message: "nobody listens", hint: "none", isTransient: true,
        requestWasSent: false)
    }
    return TransportResponse(
      status: status, headers: [:], body: BytesBody(Array(body.utf8)))
  }

  var asked: Int { state.withLock { $0.requests.count } }

  /// The fields of the last form.
  var form: [String: String] {
    let body = state.withLock { String(decoding: $0.requests.last?.body ?? [], as: UTF8.self) }
    var fields: [String: String] = [:]
    for pair in body.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      fields[parts[0]] = parts.count > 1 ? parts[1].removingPercentEncoding : ""
    }
    return fields
  }
}

final class BytesBody: TransportBody {
  private let bytes: Mutex<[UInt8]?>
  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }
  func next() async throws(TransportError) -> [UInt8]? {
    bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
  }
  func cancel() {}
}

final class HandClock: WorldClock {
  private let time = Mutex(Duration.seconds(1_000))
  var now: Timestamp { moment }
  var uptime: Duration { time.withLock { $0 } }
  func move(_ duration: Duration) { time.withLock { $0 += duration } }
}

@Suite("Tokens of users")
struct TokenTests {
  /// Made for this test.
  static let key = """
    -----BEGIN PRIVATE KEY-----
    \(Data((try? P256Key.generate().der) ?? []).base64EncodedString())
    -----END PRIVATE KEY-----

    """

  private let service = TokenService()
  private let clock = HandClock()
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func tokens(_ grant: TokenWay.Grant, scope: String? = nil) throws -> UserTokens {
    let way = TokenWay(
      grant: grant, address: "https://tokens.test/token",
      keyFile: try folder.write("key.pem", TokenTests.key), keyID: "k1",
      issuer: "https://ferry.test",
      audience: "https://tokens.test", client: "ferry", clientSecret: nil, scope: scope,
      resource: nil)
    return try UserTokens(way, transport: service, clock: clock)
  }

  private func ask(
    _ tokens: UserTokens, _ user: String, insteadOf rejected: Credential? = nil
  ) async throws -> Credential? {
    let thread = ThreadExecutor(name: "tokens")
    return try await withCheckedContinuation { continuation in
      thread.perform {
        continuation.resume(
          returning: Result { () throws(ConnectorError) in
            try tokens.credential(of: user, insteadOf: rejected)
          })
      }
    }.get()
  }

  private func part(_ token: String, _ place: Int) throws -> JSONNode {
    var text = String(token.split(separator: ".")[place]).replacing("-", with: "+")
      .replacing("_", with: "/")
    while !text.count.isMultiple(of: 4) { text += "=" }
    return try JSONNode.parse([UInt8](try #require(Data(base64Encoded: text))))
  }

  @Test("What is signed names the user, and the service's token is what requests carry")
  func bearer() async throws {
    let tokens = try tokens(.bearer, scope: "shop")
    let found = try #require(try await ask(tokens, "anna"))
    #expect(found.kind == .bearer("t-1"))
    #expect(service.form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
    #expect(service.form["scope"] == "shop" && service.form["client_id"] == "ferry")
    let token = try #require(service.form["assertion"])
    let payload = try part(token, 1)
    #expect(payload["sub"]?.string == "anna" && payload["iss"]?.string == "https://ferry.test")
    #expect(payload["aud"]?.string == "https://tokens.test")
    #expect(payload["exp"]?.integer == (payload["iat"]?.integer ?? 0) + 300)
    let header = try part(token, 0)
    #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == "k1")
  }

  @Test("A token is exchanged for what we have signed")
  func exchange() async throws {
    let tokens = try tokens(.exchange)
    #expect(try await ask(tokens, "anna")?.kind == .bearer("t-1"))
    #expect(service.form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
    #expect(service.form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
    #expect(try part(try #require(service.form["subject_token"]), 1)["sub"]?.string == "anna")
  }

  @Test("A token is kept for its time, for its user alone, and not when it was not accepted")
  func kept() async throws {
    let tokens = try tokens(.bearer)
    let first = try await ask(tokens, "anna")
    _ = try await ask(tokens, "anna")
    #expect(service.asked == 1)
    _ = try await ask(tokens, "bill")
    #expect(service.asked == 2)
    _ = try await ask(tokens, "anna", insteadOf: first)
    #expect(service.asked == 3)
    clock.move(.seconds(239))
    _ = try await ask(tokens, "anna")
    #expect(service.asked == 3)
    clock.move(.seconds(2))
    _ = try await ask(tokens, "anna")
    #expect(service.asked == 4, "its last minute is not used")
  }

  @Test("A user that the service does not know has none; a service that fails is asked again")
  func none() async throws {
    let tokens = try tokens(.bearer)
    service.state.withLock {
      $0.status = 400; $0.body = #"{"error": "invalid_grant"}"#
    }
    #expect(try await ask(tokens, "anna") == nil)
    service.state.withLock { $0.body = #"{"error": "invalid_client"}"# }
    await #expect(throws: ConnectorError.self) { try await ask(tokens, "anna") }
    service.state.withLock {
      $0.status = 502; $0.body = "<html>"
    }
    await #expect(throws: ConnectorError.self) { try await ask(tokens, "anna") }
    service.state.withLock { $0.isAway = true }
    await #expect(throws: ConnectorError.self) { try await ask(tokens, "anna") }
    service.state.withLock {
      $0.isAway = false; $0.status = 200; $0.body = #"{"access_token": "a b"}"#
    }
    await #expect(throws: ConnectorError.self) { try await ask(tokens, "anna") }
  }

  @Test("Keys of P-256 and RSA are read from PKCS#8, SEC 1 and PKCS#1; others are refused")
  func keys() throws {
    let rsa = try RSAKey.generate()
    let text =
      "-----BEGIN RSA PRIVATE KEY-----\n\(Data(rsa.der).base64EncodedString())\n-----END RSA PRIVATE KEY-----\n"
    let signer = try TokenSigner(file: folder.write("rsa.pem", text), keyID: nil)
    let token = try signer.token([("sub", "anna")], at: clock.now)
    #expect(try part(token, 0)["alg"]?.string == "RS256")
    // PKCS#8 around it.
    func length(_ count: Int) -> [UInt8] { [0x82, UInt8(count >> 8), UInt8(count & 255)] }
    let algorithm: [UInt8] = [
      0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    let inner = [0x02, 0x01, 0x00] + algorithm + [0x04] + length(rsa.der.count) + rsa.der
    let outer = [0x30] + length(inner.count) + inner
    let wrapped =
      "-----BEGIN PRIVATE KEY-----\n\(Data(outer).base64EncodedString())\n-----END PRIVATE KEY-----\n"
    #expect(throws: Never.self) {
      try TokenSigner(file: folder.write("p8.pem", wrapped), keyID: nil)
    }
    #expect(throws: ConnectionsError.self) {
      try TokenSigner(file: folder.write("no.pem", "hello"), keyID: nil)
    }
    #expect(throws: ConnectionsError.self) {
      try TokenSigner(file: folder.write("open.pem", wrapped, mode: 0o644), keyID: nil)
    }
  }
}

@Suite("Credentials of a connection")
struct ConnectionCredentialsTests {
  private let clock = HandClock()

  @Test("The technical user's are never given for a user, nor a user's for another")
  func apart() throws {
    let folder = try TemporaryFolder()
    let key = Secret.file(try folder.write("key", String(repeating: "ab", count: 32)))
    let path = folder.url.appending(path: "passwords.json").path
    let passwords = SealedPasswords(file: path, key: key)
    let content = try passwords.content(
      setting: "hunter2", of: "anna", as: "ANNA", existing: false)
    #expect(!String(decoding: content, as: UTF8.self).contains("hunter2"))
    _ = try folder.write("passwords.json", String(decoding: content, as: UTF8.self))
    let technical = Secret.file(try folder.write("t", "technical"))
    let source = ConnectionCredentials(
      technical: .password(user: "ferry", technical), way: passwords, clock: clock)
    #expect(
      try source.credential(for: "anna")?.kind == .password(user: "ANNA", password: "hunter2"))
    #expect(try source.credential(for: "bill") == nil)
    #expect(
      try source.credential(for: nil)?.kind == .password(user: "ferry", password: "technical"))
    let alone = ConnectionCredentials(
      technical: .password(user: "ferry", technical), way: nil, clock: clock)
    #expect(try alone.credential(for: "anna") == nil)
    let other = SealedPasswords(
      file: path, key: .file(try folder.write("k2", String(repeating: "cd", count: 32))))
    #expect(try other.password(of: "anna") == nil, "another key opens nothing")
    let removed = try passwords.content(setting: nil, of: "anna", as: "", existing: true)
    #expect(String(decoding: removed, as: UTF8.self) == "{}\n")
  }

  @Test("A password that was not accepted is tried again after 30 seconds, and a new one at once")
  func rejected() throws {
    let folder = try TemporaryFolder()
    let source = ConnectionCredentials(
      technical: .token(.file(try folder.write("t", "one"))), way: nil, clock: clock)
    let first = try #require(try source.credential(for: nil))
    #expect(try source.credential(for: nil, insteadOf: first) == nil)
    clock.move(.seconds(29))
    #expect(try source.credential(for: nil, insteadOf: first) == nil)
    clock.move(.seconds(2))
    #expect(try source.credential(for: nil, insteadOf: first) == first)
    #expect(try source.credential(for: nil, insteadOf: first) == nil)
    _ = try folder.write("t", "two")
    #expect(try source.credential(for: nil, insteadOf: first)?.kind == .bearer("two"))
  }
}
