import FerryCrypto
import FerryHTTPClient
import FerryText
import FerryWorld
import Foundation
import Testing

@testable import FerryOpenID

@Suite("Documents of issuers, and what a device makes of them")
struct DocumentTests {
  private static func fixture(_ name: String) throws -> [UInt8] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/issuers/\(name)")
    return [UInt8](try Data(contentsOf: path))
  }

  private static let tenant =
    "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0"

  @Test("The documents of Keycloak and of Entra ID are read")
  func known() throws {
    let keycloak = try OpenIDProvider(
      document: Self.fixture("keycloak-configuration.json"),
      of: "https://sso.example.com/realms/acme")
    #expect(
      keycloak.tokenAddress
        == "https://sso.example.com/realms/acme/protocol/openid-connect/token")
    #expect(
      keycloak.deviceAddress
        == "https://sso.example.com/realms/acme/protocol/openid-connect/auth/device")
    #expect(keycloak.namesItself)
    let entra = try OpenIDProvider(
      document: Self.fixture("entra-configuration.json"), of: Self.tenant)
    #expect(entra.authorizationAddress.hasSuffix("/oauth2/v2.0/authorize"))
    #expect(entra.deviceAddress?.hasSuffix("/oauth2/v2.0/devicecode") == true)
    #expect(!entra.namesItself)
    // A slash at the end is no other issuer.
    _ = try OpenIDProvider(
      document: Self.fixture("entra-configuration.json"), of: Self.tenant + "/")
  }

  @Test("A document of somebody else, without TLS, without PKCE or of no use is refused by name")
  func refused() throws {
    func code(
      _ text: String, of issuer: String = "https://sso.example.com/realms/acme"
    )
      -> OpenIDError.Code?
    {
      do throws(OpenIDError) {
        _ = try OpenIDProvider(document: Array(text.utf8), of: issuer)
        return nil
      } catch { return error.code }
    }
    let good = String(
      decoding: try Self.fixture("keycloak-configuration.json"), as: UTF8.self)
    #expect(code(good) == nil)
    #expect(code(good, of: "https://sso.example.com/realms/other") == .otherIssuer)
    #expect(code(good, of: "https://sso.example.com/realms/ACME") == .otherIssuer)
    #expect(code(good.replacing("\"S256\"", with: "\"S1\"")) == .notOffered)
    let plain = good.replacing(
      "\"token_endpoint\": \"https", with: "\"token_endpoint\": \"http")
    #expect(plain != good && code(plain) == .insecure)
    #expect(code(good.replacing("\"token_endpoint\"", with: "\"x\"")) == .badDocument)
    for text in ["", "{", "[]", "null", "<html></html>"] { #expect(code(text) == .badDocument) }
    let entra = String(decoding: try Self.fixture("entra-configuration.json"), as: UTF8.self)
    let common = entra.replacing(
      "11111111-2222-3333-4444-555555555555/v2.0\"", with: "{tenantid}/v2.0\"")
    #expect(common != entra)
    do throws(OpenIDError) {
      _ = try OpenIDProvider(document: Array(common.utf8), of: Self.tenant)
      Issue.record("every tenant is taken")
    } catch {
      #expect(error.code == .otherIssuer && error.hint.contains("tenant"))
    }
  }

  @Test("An issuer without TLS is not asked")
  func insecure() async {
    struct Nobody: Transport {
      func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        Issue.record("asked \(request.url)")
        throw TransportError(
          code: .cannotConnect, message: "", hint: "", isTransient: false, requestWasSent: false)
      }
    }
    for issuer in ["http://sso.example.com", "sso.example.com", "", "ftp://x"] {
      do throws(OpenIDError) {
        _ = try await OpenIDProvider.discover(issuer, over: Nobody())
        Issue.record("no error")
      } catch { #expect(error.code == .insecure) }
    }
  }

  @Test("The challenge is that of RFC 7636's appendix B")
  func challenge() {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    #expect(
      Base64.encode(SHA256Digest.hash(Array(verifier.utf8)), .url)
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    for count in 0..<40 {
      let bytes = randomBytes(count)
      #expect(Base64.decode(Base64.encode(bytes, .url), .url) == bytes)
    }
  }

  @Test("What the issuer gives with a token is read with care")
  func answers() throws {
    func answer(_ text: String) -> TokenAnswer? {
      try? TokenAnswer(Array(text.utf8), from: "https://h/token")
    }
    #expect(answer(#"{"access_token":"a","expires_in":3599}"#)?.validSeconds == 3_599)
    #expect(answer(#"{"access_token":"a","expires_in":"3599"}"#)?.validSeconds == 3_599)
    #expect(answer(#"{"access_token":"a"}"#)?.validSeconds == 300)
    #expect(answer(#"{"access_token":"a","expires_in":-5}"#)?.validSeconds == 0)
    #expect(answer(#"{"access_token":"a","expires_in":99999999}"#)?.validSeconds == 86_400)
    #expect(answer(#"{"access_token":"a","token_type":"bearer"}"#) != nil)
    for text in [
      "", "{}", #"{"access_token":""}"#, #"{"access_token":5}"#, "<html>",
      #"{"access_token":"a","token_type":"mac"}"#,
    ] { #expect(answer(text) == nil) }
  }

  @Test(
    "A device asks at the issuer's pace: slower when told, slower when it is away, until the end")
  func pace() {
    let start = Timestamp(milliseconds: 0)
    func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }
    var machine = DeviceCodeMachine(interval: nil, end: at(600))
    #expect(machine.next(after: nil, now: start) == .seconds(5))
    #expect(machine.next(after: .pending, now: start) == .seconds(5))
    #expect(machine.next(after: .slowDown, now: start) == .seconds(10))
    #expect(machine.next(after: .pending, now: start) == .seconds(10))
    #expect(machine.next(after: .away, now: start) == .seconds(20))
    for _ in 0..<9 { _ = machine.next(after: .away, now: start) }
    #expect(machine.next(after: .away, now: at(599)) == .seconds(60))
    #expect(machine.next(after: .pending, now: at(600)) == nil)
    for (given, used): (Int64, Int64) in [(0, 1), (-7, 1), (7, 7), (9_999, 60)] {
      var one = DeviceCodeMachine(interval: given, end: at(600))
      #expect(one.next(after: nil, now: start) == .seconds(used))
    }
  }

  @Test("Words of an issuer are cut and cannot command a terminal")
  func words() {
    let error = AuthorizationRequest.failure(
      "odd", "\u{1B}[2Jline\nnext" + String(repeating: "x", count: 1_000))
    #expect(error.code == .refused)
    #expect(!error.message.contains("\u{1B}") && !error.message.contains("\n"))
    #expect(error.message.utf8.count < 400)
  }

  @Test("The answer of the page is read as a form, and a field that is there twice is no answer")
  func forms() {
    #expect(FormText.decode("a=1&b=%20+x&c") == ["a": "1", "b": "  x", "c": ""])
    for text in ["a=1&a=2", "a=%4", "a=%FF"] { #expect(FormText.decode(Substring(text)) == nil) }
    #expect(FormText.encode([("a b", "c&d=é")]) == "a%20b=c%26d%3D%C3%A9")
  }
}
