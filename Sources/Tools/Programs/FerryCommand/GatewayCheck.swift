import FerryArguments
import FerryIssuers
import FerryJSON
import FerryProxy
import FerryWorld

/// `ferry check --gateway`: which services of the file are there, and why the others are not.
enum GatewayCheck {
  static func run(_ path: String, asJSON: Bool) async throws -> ExitCode {
    let file = try GatewayFile(path: path)
    if let clients = file.clientCertificates {
      // Throws for a file that cannot be used.
      _ = try ClientAuthorities(
        authorities: clients.authorities, revocations: clients.revocations,
        world: World.system(log: SilentLog()))
    }
    var problems: [(service: BackEnd, problem: String?)] = []
    for service in file.services { problems.append((service, await service.check())) }
    let away = problems.count { $0.problem != nil }
    if asJSON {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("gateway", path)
      writer.field("errors", away)
      writer.key("services")
      writer.array(problems) { writer, found in
        writer.beginObject()
        writer.field("name", found.service.name)
        writer.field("address", found.service.address)
        writer.field("problem", found.problem)
        writer.endObject()
      }
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    } else {
      for (service, problem) in problems {
        let what = problem.map { "cannot be used: \($0)" } ?? "answers"
        Terminal.show("\(service.name) (\(service.address)): \(what)")
      }
      if file.door == nil {
        Terminal.show("\(path): no \"door\" is named, so that links are not rewritten")
      }
      Terminal.show(
        "\(path): " + Terminal.counted(problems.count, "service", "services") + ", "
          + Terminal.counted(away, "error", "errors"))
    }
    return away == 0 ? .success : .problems
  }
}
