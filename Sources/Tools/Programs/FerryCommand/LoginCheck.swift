import FerryArguments
import FerryCertificates
import FerryIssuers
import FerryJSON
import FerryPasswords
import FerrySecurity
import FerryServer
import FerryWorld
import Foundation

/// `ferry check --login`: what each provider of a security configuration says of one login.
enum LoginCheck {
  static func run(_ configuration: String, _ arguments: Arguments) throws -> ExitCode {
    let user = try arguments.operands("user")[0]
    guard let path = try arguments.value("security") else {
      throw UsageError(
        "--login needs --security", hint: "Name the file of security configurations.")
    }
    let world = World.system(log: SilentLog())
    let folder = (path as NSString).deletingLastPathComponent
    let usersPath = try arguments.value("users") ?? "\(folder.isEmpty ? "." : folder)/users.json"
    let users =
      FileManager.default.fileExists(atPath: usersPath)
      ? try UserFile(path: usersPath) { password, hash in
        (try? PasswordHash.verify(password: password, hash: hash)) ?? false
      } : nil
    let sources = SecurityFile.Sources(userFile: users) { authorities throws(ServerError) in
      guard let users else { throw CertificateUsers.noUsers(authorities) }
      return try CertificateUsers(users, file: authorities, world: world)
    }
    let file = try SecurityFile(path: path, sources)
    let configurations = SecurityConfigurations(file.configurations, world: world)
    let password =
      arguments.flag("password-stdin")
      ? readLine(strippingNewline: true) ?? "" : try PasswordPrompt.askOnce()
    guard
      let (verdict, steps) = configurations.explain(configuration, user: user, password: password)
    else {
      throw UsageError(
        "\(path) has no configuration \(configuration)",
        hint: "It has "
          + file.configurations.map(\.name).joined(separator: ", ") + ".")
    }
    let (word, roles) = words(verdict)
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("configuration", configuration)
      writer.field("user", user)
      writer.field("verdict", word)
      writer.key("roles")
      writer.array(roles) { $0.string($1) }
      writer.key("steps")
      writer.array(steps) { writer, step in
        writer.beginObject()
        writer.field("provider", step.kind)
        writer.field("flag", step.flag.rawValue)
        writer.field("outcome", text(step.outcome))
        writer.endObject()
      }
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    } else {
      for (place, step) in steps.enumerated() {
        Terminal.show("\(place + 1). \(step.kind) (\(step.flag.rawValue)): \(text(step.outcome))")
      }
      let suffix = roles.isEmpty ? "" : "; roles: \(roles.joined(separator: ", "))"
      Terminal.show("\(user) at \(configuration): \(word)\(suffix)")
    }
    guard case .accepted = verdict else { return .problems }
    return .success
  }

  private static func words(_ verdict: SecurityStack.Verdict) -> (String, [String]) {
    switch verdict {
    case .accepted(let record): ("accepted", record.roles)
    case .refused: ("refused", [])
    case .away: ("nobody can say now", [])
    }
  }

  private static func text(_ outcome: LoginOutcome) -> String {
    switch outcome {
    case .accepted(let record):
      "accepted" + (record.roles.isEmpty ? "" : "; roles: \(record.roles.joined(separator: ", "))")
    case .refused(let reason): "refused: \(reason)"
    case .away(let reason): "cannot be reached: \(reason)"
    }
  }
}
