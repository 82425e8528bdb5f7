import FerryCrypto
import FerryJSON
import FerryServer
import FerryWorld
import Synchronization
import Testing

@testable import FerryIssuers

/// Tokens with real signatures, and what is refused of them.
struct TokenTests {
  static let now = Timestamp(milliseconds: 1_764_000_000_000)
  static let name = "https://login.example.com/acme"

  @Test("A token of RS256 and one of ES256 let their user in with what the mapping gives")
  func good() async throws {
    for key in [TestKey.rsa, TestKey.p256] {
      let bench = try IssuerBench(keys: ["k1": key])
      let login = try await bench.judge(try key.token(Claims.good, kid: "k1")).login
      #expect(login.record.name == "\(Self.name)|u-1")
      #expect(login.record.claims == ["agency": ["AG-01", "AG-02"]])
      #expect(login.record.roles == ["sales"])
      #expect(login.issued.milliseconds == Self.now.milliseconds - 5_000)
    }
  }

  @Test("What is wrong with a token is refused by name")
  func refused() async throws {
    let key = TestKey.rsa
    let bench = try IssuerBench(keys: ["k1": key, "k2": .p256])
    let good = Claims.good
    let seconds = Self.now.milliseconds / 1_000
    let cases: [(IssuerError.Code, String)] = [
      (.algorithm, try key.token(good, kid: "k1", head: #""alg":"none""#)),
      (.algorithm, try key.hs256(good, kid: "k1")),
      (.notAToken, "a.b"), (.notAToken, "a.b.c"), (.notAToken, ""),
      (.notAToken, String(repeating: "x", count: 1 << 20)),
      (
        .notAToken,
        try key.token(good.with("pad", "\"\(String(repeating: "y", count: 1 << 20))\""), kid: "k1")
      ),
      (.unknownKey, try key.token(good, kid: "k9")),
      // The key of another kind under the right name.
      (.signature, try key.token(good, kid: "k2")),
      (.signature, try key.token(good, kid: "k1").dropLast(4) + "AAAA"),
      (.type, try key.token(good, kid: "k1", head: #""alg":"RS256","typ":"logout+jwt""#)),
      (.type, try key.token(good, kid: "k1", head: #""alg":"RS256","crit":["b64"],"b64":false"#)),
      (.notAToken, try key.token(good.with("sub\",\"sub", "\"u-2\""), kid: "k1")),
      (
        .otherIssuer,
        try key.token(good.with("iss", "\"https://login.example.com/other\""), kid: "k1")
      ),
      (.otherAudience, try key.token(good.with("aud", "\"mail\""), kid: "k1")),
      (.otherAudience, try key.token(good.with("aud", "null"), kid: "k1")),
      (.otherTenant, try key.token(good.with("tid", "\"t-2\""), kid: "k1")),
      (.notYetValid, try key.token(good.with("nbf", "\(seconds + 61)"), kid: "k1")),
      (.notYetValid, try key.token(good.with("iat", "\(seconds + 3_600)"), kid: "k1")),
      (.expired, try key.token(good.with("exp", "\(seconds - 365 * 86_400)"), kid: "k1")),
      (.expired, try key.token(good.with("exp", "\(seconds - 60)"), kid: "k1")),
      (.expired, try key.token(good.with("exp", "null"), kid: "k1")),
      (.noIdentity, try key.token(good.with("sub", "null"), kid: "k1")),
      (.noIdentity, try key.token(good.with("sub", "\"\""), kid: "k1")),
      (
        .nothingMapped,
        try key.token(
          good.with("agency", "null").with("groups", "[\"g-9\"]").with("realm_access", "null"),
          kid: "k1")
      ),
      (
        .tooManyGroups,
        try key.token(
          good.with("groups", "null").with("_claim_names", "{\"groups\":\"src1\"}"), kid: "k1")
      ),
    ]
    for (code, token) in cases {
      await #expect("\(code)") { try await bench.judge(String(token)) } throws: { error in
        let error = error as? IssuerError
        return error?.code == code && error?.hint.isEmpty == false
          && error.map { !"\($0)".contains(token.isEmpty ? "-" : String(token)) } ?? false
      }
    }
    _ = try await bench.judge(try key.token(good.with("exp", "\(seconds - 59)"), kid: "k1"))
    _ = try await bench.judge(try key.token(good.with("nbf", "\(seconds + 60)"), kid: "k1"))
  }

  @Test("No time of a token ends the program, whatever its size")
  func extremeTimes() async throws {
    let bench = try IssuerBench(keys: ["k1": .p256])
    let times = [
      "9223372036854775807", "-9223372036854775808", "9223372036854775", "-9223372036854776",
      "1e400", "-1e400", "1e308", "1e14", "-1e14", "1e-9223372036854775808", "-0", "0.5",
      "18446744073709551615", String(repeating: "9", count: 4_000),
    ]
    for claim in ["exp", "nbf", "iat"] {
      for time in times {
        let token = try TestKey.p256.token(Claims.good.with(claim, time), kid: "k1")
        _ = try? await bench.judge(token)
      }
    }
    await #expect(throws: IssuerError.self) {
      try await bench.judge(
        try TestKey.p256.token(Claims.good.with("exp", "-9223372036854775808"), kid: "k1"))
    }
  }

  @Test("Two users with one email are two users")
  func email() async throws {
    let bench = try IssuerBench(keys: ["k1": .rsa])
    var names: Set<String> = []
    for user in ["u-1", "u-2"] {
      let claims = Claims.good.with("sub", "\"\(user)\"").with("email", "\"anna@example.com\"")
      names.insert(
        try await bench.judge(try TestKey.rsa.token(claims, kid: "k1")).login.record.name)
    }
    #expect(names.count == 2)
    #expect(throws: IssuerError.self) {
      try Mapping(
        Array(#"{"identity":"email","rules":[{"from":"a","claim":"a"}]}"#.utf8), name: "m")
    }
  }

  @Test("Once a rule names packages, a user has those of the rules that fit, and no others")
  func packages() throws {
    func allowed(_ rules: String, _ token: String) throws -> AllowedPackages {
      let mapping = try Mapping(Array(#"{"rules":[\#(rules)]}"#.utf8), name: "m")
      return try mapping.apply(to: try JSONNode.parse(Array(token.utf8))).packages
    }
    let role = #"{"from":"groups","is":"sales","role":"sales"}"#
    let rules = [
      role, #"{"from":"groups","is":"sales","packages":["Travel","Hr"]}"#,
      #"{"from":"groups","is":["boss","sales"],"packages":"Hr"}"#,
    ].joined(separator: ",")
    #expect(try allowed(role, #"{"groups":["sales"]}"#) == .all)
    #expect(try allowed(rules, #"{"groups":["sales"]}"#) == .only(["Travel", "Hr"]))
    #expect(try allowed(rules, #"{"groups":["boss"]}"#) == .only(["Hr"]))
    #expect(try allowed(rules, #"{"groups":["other"]}"#) == .only([]))
  }

  @Test("A rotated key is fetched once; made-up key names cost one request a minute")
  func rotation() async throws {
    let bench = try IssuerBench(keys: ["k1": .rsa])
    _ = try await bench.judge(try TestKey.rsa.token(Claims.good, kid: "k1"))
    #expect(bench.requests == 2)
    bench.publish(["k1": .rsa, "k2": .p256])
    bench.clock.advance(61)
    _ = try await bench.judge(try TestKey.p256.token(Claims.good, kid: "k2"))
    _ = try await bench.judge(try TestKey.rsa.token(Claims.good, kid: "k1"))
    #expect(bench.requests == 4)
    for name in 0..<50 {
      await #expect(throws: IssuerError.self) {
        try await bench.judge(try TestKey.rsa.token(Claims.good, kid: "made-up-\(name)"))
      }
    }
    #expect(bench.requests == 4)
    bench.clock.advance(60)
    await #expect(throws: IssuerError.self) {
      try await bench.judge(try TestKey.rsa.token(Claims.good, kid: "made-up"))
    }
    #expect(bench.requests == 6)
  }

  @Test("An issuer that is away keeps its keys good for a day")
  func withdrawn() async throws {
    let bench = try IssuerBench(keys: ["k1": .rsa])
    let token = try TestKey.rsa.token(Claims.good.with("exp", "99999999999"), kid: "k1")
    _ = try await bench.judge(token)
    bench.failure = IssuerError(.away, "nobody is there", hint: "Wait.")
    bench.clock.advance(86_399)
    _ = try await bench.judge(token)
    bench.clock.advance(6)
    await #expect { try await bench.judge(token) } throws: { ($0 as? IssuerError)?.code == .away }
  }

  @Test(
    "Documents of an issuer that lies are not used, and the keys of before stay",
    arguments: [
      #"{"issuer":"https://evil.example.com","jwks_uri":"https://login.example.com/keys"}"#,
      #"{"issuer":"https://login.example.com/acme","jwks_uri":"http://login.example.com/keys"}"#,
      #"{"issuer":"https://login.example.com/acme"}"#, "[]", "<html>",
    ])
  func lies(document: String) async throws {
    let bench = try IssuerBench(keys: ["k1": .rsa])
    let token = try TestKey.rsa.token(Claims.good, kid: "k1")
    _ = try await bench.judge(token)
    bench.document = document
    bench.clock.advance(61)
    await #expect {
      try await bench.judge(try TestKey.p256.token(Claims.good, kid: "k2"))
    } throws: {
      ($0 as? IssuerError)?.code == .badDocument
    }
    _ = try await bench.judge(token)
  }

  @Test("A set of 10,000 keys, of weak keys or of none is refused")
  func keySets() throws {
    let key = TestKey.rsa.webKey("k")
    let many = Array(repeating: key, count: 10_000).joined(separator: ",")
    for text in [
      "{\"keys\":[\(many)]}", #"{"keys":[]}"#, "{}",
      #"{"keys":[{"kty":"RSA","kid":"k","n":"AQAB","e":"AQAB"}]}"#,
      #"{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}"#,
    ] {
      #expect { try KeySet(Array(text.utf8), from: "keys") } throws: {
        ($0 as? IssuerError)?.code == .badDocument
      }
    }
    _ = try KeySet(Array("{\"keys\":[\(key)]}".utf8), from: "keys")
  }

  @Test("A mapping names the place of each mistake")
  func mapping() {
    for (text, part) in [
      ("{", "m.json:1"), ("{}", "no rules"), (#"{"rules":[{}]}"#, "from"),
      (#"{"rules":[{"from":"a"}]}"#, "gives nothing"),
      (#"{"rules":[{"from":"a","role":"boss"}]}"#, "every value"),
      (#"{"rules":[{"from":"a","is":"b","packages":["Travel:1.0"]}]}"#, "list of names"),
      (#"{"rules":[{"from":"a","is":"b","packages":[["Travel"]]}]}"#, "list of names"),
      (#"{"rules":[{"from":"a","packages":["Travel"]}]}"#, "every value"),
      (#"{"rules":[{"form":"a"}]}"#, "\"form\" is unknown"),
    ] {
      #expect { try Mapping(Array(text.utf8), name: "m.json") } throws: { error in
        let error = error as? IssuerError
        return error?.code == .badMapping && error?.message.contains(part) == true
      }
    }
  }
}
