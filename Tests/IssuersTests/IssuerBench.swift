import FerryCrypto
import FerryJSON
import FerryServer
import FerryText
import FerryWorld
import Synchronization

@testable import FerryIssuers

/// An issuer whose documents the test gives.
final class IssuerBench: Sendable {
  let clock = TestClock()
  private let issuer: Issuer

  private let shared: Shared

  private struct State {
    var keys = ""
    var document = ""
    var requests = 0
    var failure: IssuerError?
  }

  static let mapping = """
    {"tenant": "t-1", "rules": [
      {"from": "agency", "claim": "agency"},
      {"from": ["realm_access", "roles"], "is": "ferry-sales", "role": "sales"},
      {"from": "groups", "is": ["g-1", "g-2"], "claims": {"agency": "AG-02"}}]}
    """

  init(keys: [String: TestKey]) throws {
    let document = """
      {"issuer":"\(TokenTests.name)","jwks_uri":"https://login.example.com/keys"}
      """
    let shared = Shared(State(keys: IssuerBench.set(keys), document: document))
    self.shared = shared
    issuer = Issuer(
      name: TokenTests.name, audiences: ["ferry"],
      mapping: try Mapping(Array(IssuerBench.mapping.utf8), name: "mapping.json"),
      world: World(clock: clock, chance: SystemChance(), log: NoLog())
    ) { address throws(IssuerError) in
      let (text, failure) = shared.state.withLock { state in
        state.requests += 1
        return (
          address.hasSuffix("openid-configuration") ? state.document : state.keys, state.failure
        )
      }
      if let failure { throw failure }
      return Array(text.utf8)
    }
  }

  private final class Shared: Sendable {
    let state: Mutex<State>
    init(_ state: sending State) { self.state = Mutex(state) }
  }

  var requests: Int { shared.state.withLock { $0.requests } }
  var failure: IssuerError? {
    get { shared.state.withLock { $0.failure } }
    set { shared.state.withLock { $0.failure = newValue } }
  }
  var document: String {
    get { shared.state.withLock { $0.document } }
    set { shared.state.withLock { $0.document = newValue } }
  }

  func publish(_ keys: [String: TestKey]) {
    shared.state.withLock { $0.keys = IssuerBench.set(keys) }
  }

  func judge(_ token: String) async throws(IssuerError) -> Issuer.Judgement {
    try await issuer.judge(token, now: TokenTests.now)
  }

  private static func set(_ keys: [String: TestKey]) -> String {
    "{\"keys\":[\(keys.map { $1.webKey($0) }.joined(separator: ","))]}"
  }
}

final class TestClock: WorldClock {
  private let passed = Mutex<Int64>(0)
  var now: Timestamp { TokenTests.now }
  var uptime: Duration { .seconds(passed.withLock { $0 }) }
  func advance(_ seconds: Int64) { passed.withLock { $0 += seconds } }
}

struct SystemChance: Chance {
  func next() -> UInt64 { UInt64.random(in: 0...UInt64.max) }
}

struct NoLog: Log {
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {}
}

/// The claims of a token, as JSON texts by name.
struct Claims {
  var members: [(String, String)]

  static var good: Claims {
    let seconds = TokenTests.now.milliseconds / 1_000
    return Claims(members: [
      ("iss", "\"\(TokenTests.name)\""), ("aud", "[\"ferry\",\"other\"]"), ("sub", "\"u-1\""),
      ("tid", "\"t-1\""), ("iat", "\(seconds - 5)"), ("exp", "\(seconds + 300)"),
      ("agency", "\"AG-01\""), ("groups", "[\"g-0\",\"g-2\"]"),
      ("realm_access", "{\"roles\":[\"offline\",\"ferry-sales\"]}"),
    ])
  }

  func with(_ name: String, _ value: String) -> Claims {
    var claims = self
    claims.members.removeAll { $0.0 == name }
    if value != "null" { claims.members.append((name, value)) }
    return claims
  }

  var text: String { "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}" }
}

/// A key of the issuer, with real signatures.
enum TestKey: Sendable {
  case rsa, p256

  private static let rsaKey = Result { try RSAKey.generate() }
  private static let p256Key = Result { try P256Key.generate() }

  func token(_ claims: Claims, kid: String, head: String? = nil) throws -> String {
    let algorithm = self == .rsa ? "RS256" : "ES256"
    let head = #"{"kid":"\#(kid)",\#(head ?? #""alg":"\#(algorithm)","typ":"JWT""#)}"#
    let text =
      "\(Base64.encode(Array(head.utf8), .url)).\(Base64.encode(Array(claims.text.utf8), .url))"
    let bytes = Array(text.utf8)
    let signature: [UInt8]
    switch self {
    case .rsa: signature = try TestKey.rsaKey.get().sign(bytes, .sha256)
    case .p256: signature = TestKey.plain(try TestKey.p256Key.get().sign(bytes))
    }
    return "\(text).\(Base64.encode(signature, .url))"
  }

  /// Signed with the public key as if it were a shared secret.
  func hs256(_ claims: Claims, kid: String) throws -> String {
    let head = #"{"kid":"\#(kid)","alg":"HS256","typ":"JWT"}"#
    let text =
      "\(Base64.encode(Array(head.utf8), .url)).\(Base64.encode(Array(claims.text.utf8), .url))"
    let key = try TestKey.rsaKey.get().publicDER
    let seal = SHA256Digest.authenticate(Array(text.utf8), key: key)
    return "\(text).\(Base64.encode(seal, .url))"
  }

  func webKey(_ kid: String) -> String {
    switch self {
    case .rsa:
      // RSAPublicKey of 2,048 bits: SEQUENCE (4 bytes), INTEGER (4 bytes), 00 and the modulus.
      let der = (try? TestKey.rsaKey.get().publicDER) ?? []
      let modulus = Base64.encode(Array(der[9..<265]), .url)
      return #"{"kty":"RSA","use":"sig","kid":"\#(kid)","n":"\#(modulus)","e":"AQAB"}"#
    case .p256:
      let info = (try? TestKey.p256Key.get().publicKeyInfo) ?? []
      let (x, y) = (
        Base64.encode(Array(info.suffix(64).prefix(32)), .url),
        Base64.encode(Array(info.suffix(32)), .url)
      )
      return #"{"kty":"EC","crv":"P-256","use":"sig","kid":"\#(kid)","x":"\#(x)","y":"\#(y)"}"#
    }
  }

  /// r and s, 32 bytes each, from the sequence of two numbers.
  private static func plain(_ der: [UInt8]) -> [UInt8] {
    var place = 2
    var plain: [UInt8] = []
    for _ in 0..<2 {
      let count = Int(der[place + 1])
      let number = Array(der[(place + 2)..<(place + 2 + count)].drop { $0 == 0 })
      plain += [UInt8](repeating: 0, count: 32 - number.count) + number
      place += 2 + count
    }
    return plain
  }
}
