import FerryArguments
import FerryGenerator
import FerryHTTPClient
import FerryIssuers
import FerryJSON
import FerryModel
import FerryOpenID
import FerryServer
import FerryWorld
import Foundation

/// `ferry login --try`: what a token of an issuer would give its user, and why.
enum LoginCommand: Subcommand {
  static let name = "login"
  static let summary =
    "explain what a token of a company's issuer gives its user, or why it is refused"
  static let operands = "(--try <token> | --client <name>) --issuer <URL> [options]"
  static let options = [
    CommandOption("try", "<token>", "the token; - reads it from standard input"),
    CommandOption(
      "client", "<name>", "get a token by a login: the name of the app at the issuer"),
    CommandOption("code", nil, "log in by a code on another device, in place of a page"),
    CommandOption(
      "scope", "<name>", "ask for this (default openid and offline_access); may be repeated"),
    CommandOption("identity", nil, "take the identity token in place of the one for an API"),
    CommandOption("issuer", "<URL>", "as for ferryd"),
    CommandOption("audience", "<name>", "as for ferryd (default ferry); may be repeated"),
    CommandOption("mapping", "<file>", "as for ferryd"),
    CommandOption("model", "<model.json>", "the model, whose partition rules ask for claims"),
    CommandOption("issuer-ca", "<file>", "as for ferryd"),
    .json,
  ]
  static let discussion = """
    Nobody is logged in: the token is judged as ferryd would judge it now, with the issuer's keys of
    now. Each rule of the mapping is shown with whether it fits. The token itself is never printed.

    With --client the token comes from a login as an app makes it: its page is opened in a browser of
    this machine, and comes back to http://127.0.0.1 on a port of its own. Let the issuer accept
    http://127.0.0.1/callback for the app. Nothing of the login is kept.

    Example: ferry login --try - --issuer https://login.example.com/acme --mapping mapping.json
    Exit codes: 0 the token would let its user in; 1 it would not, and the reason; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let issuer = try arguments.required("issuer", "https://login.example.com/acme")
    guard IssuerAddress.isSafe(issuer) else {
      throw UsageError(
        "the issuer \(issuer) has no address with TLS", hint: "Write --issuer https://….")
    }
    let trust = try arguments.value("issuer-ca").map { TransportOptions.Trust.file($0) } ?? .system
    let token: String
    if let client = try arguments.value("client") {
      guard try arguments.value("try") == nil else {
        throw UsageError("--try and --client are given", hint: "Give one of them.")
      }
      token = try await logIn(client, issuer, trust, arguments)
    } else {
      let given = try arguments.required("try", "-")
      token = given == "-" ? readLine(strippingNewline: true) ?? "" : given
    }
    let package = try package(arguments)
    let audiences = arguments.values("audience")
    let world = World.system()
    let mapping = try mapping(arguments, package)
    let judge = Issuer(
      name: issuer, audiences: audiences.isEmpty ? ["ferry"] : audiences, mapping: mapping,
      transport: SystemTransport.make(TransportOptions(trust: trust)), world: world)
    let judgement = try await judge.judge(token, now: world.clock.now)
    let faults = package.map { ClaimCheck($0).faults(of: judgement.login.record) } ?? []
    show(judgement, mapping, faults, asJSON: arguments.flag("json"))
    return .success
  }

  private static func logIn(
    _ client: String, _ issuer: String, _ trust: TransportOptions.Trust, _ arguments: Arguments
  ) async throws -> String {
    var app = OpenIDApp(
      clientID: client, token: arguments.flag("identity") ? .identity : .access)
    if !arguments.values("scope").isEmpty { app.scopes = arguments.values("scope") }
    let tokens = OpenIDTokens(
      issuer: issuer, app: app,
      login: arguments.flag("code") ? .deviceCode(TerminalCode()) : .browser(LoopbackBrowser()),
      secrets: NoSecrets(), transport: SystemTransport.make(TransportOptions(trust: trust)))
    return try await tokens.token(for: .login)
  }

  private static func package(_ arguments: Arguments) throws -> Package? {
    guard let file = try arguments.value("model") else { return nil }
    guard let package = ModelReader.read(try TextFile.read(file), file: file).package else {
      throw UserError(
        "the model \(file) has errors", hint: "`ferry check \(file)` explains them.")
    }
    return package
  }

  private static func mapping(_ arguments: Arguments, _ package: Package?) throws -> Mapping {
    if let file = try arguments.value("mapping") {
      return try Mapping(try TextFile.read(file), name: file)
    }
    let check = package.map { ClaimCheck($0) }
    return Mapping(claims: check?.claimNames ?? [], roles: check?.roleNames ?? [])
  }

  private static func show(
    _ judgement: Issuer.Judgement, _ mapping: Mapping, _ faults: [String], asJSON: Bool
  ) {
    let record = judgement.login.record
    guard !asJSON else {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("user", record.name)
      writer.key("roles")
      writer.array(record.roles) { $0.string($1) }
      writer.key("claims")
      writer.raw(ClaimText.encode(record.claims).utf8)
      writer.key("rules")
      writer.array(zip(mapping.rules, judgement.outcome.fits).map { ($0, $1) }) { writer, rule in
        writer.beginObject()
        writer.field("rule", rule.0.name)
        writer.field("fits", rule.1)
        writer.endObject()
      }
      writer.key("warnings")
      writer.array(faults) { $0.string($1) }
      writer.endObject()
      print(writer.text)
      return
    }
    print("user    \(Terminal.harmless(record.name))")
    print("roles   \(Terminal.harmless(record.roles.joined(separator: ", ")))")
    for (name, values) in record.claims.sorted(by: { $0.key < $1.key }) {
      print("claim   \(Terminal.harmless("\(name) = \(values.joined(separator: ", "))"))")
    }
    for (rule, fits) in zip(mapping.rules, judgement.outcome.fits) {
      print("\(fits ? "fits    " : "no      ")\(Terminal.harmless(rule.name))")
    }
    for fault in faults { print("Warning: \(Terminal.harmless(fault))") }
  }
}

/// Keeps nothing: the login is of this call alone.
private final class NoSecrets: SecretStore {
  func secret(_ name: String) throws -> [UInt8]? { nil }
  func setSecret(_ name: String, _ value: [UInt8]) throws {}
  func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8] { value }
  func removeSecret(_ name: String) throws {}
}
