import FerryHTTPClient
import FerryOpenID
import FerryWorld

/// Login by a code of the company's issuer, `FERRY_ISSUER`, as the app `FERRY_CLIENT`; the issuer's
/// own authority is the file `FERRY_ISSUER_CA`.
struct CompanyLogin {
  let tokens: OpenIDTokens

  init?(_ environment: [String: String], _ database: String, _ output: Output) throws {
    guard let issuer = environment["FERRY_ISSUER"] else { return nil }
    let trust = environment["FERRY_ISSUER_CA"].map { TransportOptions.Trust.file($0) } ?? .system
    tokens = OpenIDTokens(
      issuer: issuer, app: OpenIDApp(clientID: environment["FERRY_CLIENT"] ?? "ferry-device"),
      login: .deviceCode(CodeAnnouncer(output: output)),
      secrets: FileSecrets(folder: database + ".login"),
      transport: SystemTransport.make(TransportOptions(trust: trust)))
  }
}

/// Writes the code as an event.
private final class CodeAnnouncer: DeviceCodePrompt {
  private let output: Output

  init(output: Output) { self.output = output }

  func show(_ code: DeviceCode) async {
    output.write { writer in
      writer.field("event", "deviceCode")
      writer.field("code", code.userCode)
      writer.field("address", code.address)
    }
  }
}
