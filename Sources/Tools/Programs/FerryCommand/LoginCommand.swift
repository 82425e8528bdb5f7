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
    "explain which rights a token of a company's issuer gives, or why it is refused"
  static let operands = "(--try <token> | --client <name>) --issuer <URL> [options]"
  static let options = [
    CommandOption("try", "<token>", "the token; - reads it from standard input"),
    CommandOption(
      "client", "<name>", "log in to get a token; <name> is the app's client id at the issuer"),
    CommandOption("code", nil, "log in with a code on another device instead of in a browser"),
    CommandOption(
      "scope", "<name>", "a scope to ask for (default openid and offline_access); may be repeated"),
    CommandOption("identity", nil, "use the identity token instead of the access token"),
    CommandOption("issuer", "<URL>", "as for ferryd"),
    CommandOption("audience", "<name>", "as for ferryd (default ferry); may be repeated"),
    CommandOption("mapping", "<file>", "as for ferryd"),
    CommandOption(
      "model", "<model.json>", "warn if the claims do not fit the partition rules of this model"),
    CommandOption("issuer-ca", "<file>", "as for ferryd"),
    .json,
  ]
  static let discussion = """
    Checks a token as ferryd would check it now, with the current keys of the issuer. No user is
    logged in at a server. Each rule of the mapping is shown, and whether it matches the token. The
    token is never printed.

    With --client you log in like a user of the app. Open the printed address in a browser on this
    machine; the issuer then sends the browser to http://127.0.0.1:<port>/callback. The issuer must
    accept http://127.0.0.1/callback for the app. Nothing of the login is stored.

    Example: ferry login --try - --issuer https://login.example.com/acme --mapping mapping.json
    Exit codes: 0 ferryd would accept the token; 1 it would not, and the reason is printed; 2 wrong
    usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let issuer = try arguments.required("issuer", "https://login.example.com/acme")
    guard IssuerAddress.isSafe(issuer) else {
      throw UsageError(
        "the address of the issuer \(issuer) does not begin with https://",
        hint: "Write --issuer https://….")
    }
    let trust = try arguments.value("issuer-ca").map { TransportOptions.Trust.file($0) } ?? .system
    let token: String
    if let client = try arguments.value("client") {
      guard try arguments.value("try") == nil else {
        throw UsageError(
          "--try and --client cannot be used together", hint: "Leave out one of them.")
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
      throw CommandError(
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
      if let packages = record.packages.names {
        writer.key("packages")
        writer.array(packages) { $0.string($1) }
      }
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
      Terminal.show(writer.text, asJSON: true)
      return
    }
    Terminal.show("user    \(Terminal.harmless(record.name))")
    Terminal.show("roles   \(Terminal.harmless(record.roles.joined(separator: ", ")))")
    if let packages = record.packages.names {
      let names = packages.isEmpty ? "none" : packages.joined(separator: ", ")
      Terminal.show("packages \(Terminal.harmless(names))")
    }
    for (name, values) in record.claims.sorted(by: { $0.key < $1.key }) {
      Terminal.show("claim   \(Terminal.harmless("\(name) = \(values.joined(separator: ", "))"))")
    }
    for (rule, fits) in zip(mapping.rules, judgement.outcome.fits) {
      Terminal.show("\(fits ? "fits    " : "no      ")\(Terminal.harmless(rule.name))")
    }
    for fault in faults { Terminal.show("Warning: \(Terminal.harmless(fault))") }
  }
}

/// Keeps nothing: the login is of this call alone.
private final class NoSecrets: SecretStore {
  func secret(_ name: String) throws -> [UInt8]? { nil }
  func setSecret(_ name: String, _ value: [UInt8]) throws {}
  func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8] { value }
  func removeSecret(_ name: String) throws {}
}
