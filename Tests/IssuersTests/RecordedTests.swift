import FerryJSON
import FerryServer
import FerryWorld
import Foundation
import Testing

@testable import FerryIssuers

/// The documents of Keycloak and Entra ID, as their makers describe them; the keys are of nobody.
@Suite("Recorded documents of Keycloak and Entra ID")
struct RecordedTests {
  private static func fixture(_ name: String) -> [UInt8] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/issuers/\(name)")
    return [UInt8]((try? Data(contentsOf: path)) ?? Data())
  }

  /// What is wrong with a token of the right issuer that somebody else has signed.
  private func judge(
    _ maker: String, _ issuer: String, kid: String
  ) async throws
    -> IssuerError.Code?
  {
    let judge = Issuer(
      name: issuer, audiences: ["ferry"],
      mapping: try Mapping(Array(IssuerBench.mapping.utf8), name: "mapping.json"),
      world: World(clock: TestClock(), chance: SystemChance(), log: SilentLog())
    ) { address throws(IssuerError) in
      if address == issuer + "/.well-known/openid-configuration" {
        return Self.fixture("\(maker)-configuration.json")
      }
      #expect(
        address.hasPrefix("https://") && address.hasSuffix(maker == "entra" ? "keys" : "certs"))
      return Self.fixture("\(maker)-keys.json")
    }
    let token = try TestKey.rsa.token(Claims.good.with("iss", "\"\(issuer)\""), kid: kid)
    do throws(IssuerError) {
      _ = try await judge.judge(token, now: TokenTests.now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("Configuration and keys are found and read; a key for encryption signs nothing")
  func read() async throws {
    let keycloak = "https://sso.example.com/realms/acme"
    let entra = "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0"
    // The key is found, and the signature is not its own.
    #expect(
      try await judge("keycloak", keycloak, kid: "fJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE")
        == .signature)
    #expect(
      try await judge("keycloak", keycloak, kid: "Cz3nC7sTpKc9tQ1p5w2rWJv0m4hX8yZbLq6dEfGhIjK")
        == .unknownKey)
    for kid in ["nOo3ZDrODXEK1jKWhXslHR_KXEg", "L1KfKFI_jnXbwWc22xZxw1sUHH0"] {
      #expect(try await judge("entra", entra, kid: kid) == .signature)
    }
    #expect(try await judge("entra", entra, kid: "nOo3ZDrODXEK1jKWhXslHR_KXEG") == .unknownKey)
  }
}
