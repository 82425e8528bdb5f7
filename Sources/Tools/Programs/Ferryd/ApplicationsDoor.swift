import FerryApplications
import FerryArguments
import FerryHTTP
import FerryModel
import FerryProxy
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// The register of connections over HTTP, and the services of a gateway behind it.
struct ApplicationsDoor: Sendable {
  let applications: Applications
  private let gateway: Gateway?
  /// Whose `/health` shows what does not work; nil: nobody's.
  private let server: ServerHost?

  init(_ applications: Applications, _ gateway: Gateway?, _ server: ServerHost? = nil) {
    self.applications = applications
    self.gateway = gateway
    self.server = server
  }

  /// Beside packages, whose server has the register.
  static func beside(
    _ server: ServerHost, _ file: ApplicationsFile, _ served: ServedGateway?,
    _ logins: BasicLogins, _ users: any AuthenticationProvider, _ audit: AuditLog, _ world: World
  ) -> ApplicationsDoor {
    let applications = Applications(
      file, door: served?.setup.file.door, logins: logins, provider: users, audit: audit,
      world: world
    ) { server.registerHost }
    return ApplicationsDoor(applications, served?.gateway, server)
  }

  /// Nil where the command line names no file of applications.
  static func file(_ arguments: Arguments) throws -> ApplicationsFile? {
    try arguments.value("applications").map { try ApplicationsFile(path: $0) }
  }

  /// Whether a request is for this, and not for the devices of a package.
  func isMeant(by request: HTTPRequest) -> Bool {
    Applications.isMeant(by: request) || gateway?.isMeant(by: request) == true
  }

  func admit(_ request: HTTPRequest) -> HTTPAdmission {
    if Applications.isMeant(by: request) { return applications.admit(request) }
    if let no = applications.refusal(byHead: request) { return .refuse(no) }
    return gateway?.admit(request) ?? .refuse(HTTPResponse(status: 404))
  }

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    if Applications.isMeant(by: request) { return await applications.answer(request) }
    if let no = await applications.refusal(of: request) { return no }
    return await gateway?.answer(request) ?? HTTPResponse(status: 404)
  }

  /// Beside no package: the register has a store of its own in the data folder.
  static func alone(
    _ file: ApplicationsFile, _ served: ServedGateway, _ logins: BasicLogins,
    _ users: any AuthenticationProvider, _ data: String, _ world: World
  ) throws -> ApplicationsDoor {
    let templates = try Templates(path: "\(data)/templates.json")
    let kept = KeptHost()
    let applications = Applications(
      file, door: served.setup.file.door, logins: logins, provider: users,
      audit: AuditLog(path: "\(data)/audit.jsonl", world: world), world: world
    ) { kept.host }
    Task {
      do throws(ServerError) {
        kept.set(
          try await ServiceHost(world: world) { () throws(ServerError) in
            let service = try Service(
              package: Package(name: "Applications", version: "1.0", entities: [], groups: []),
              folder: data, world: world)
            service.templates = templates
            return service
          })
      } catch {
        FileHandle.standardError.write(Data("ferryd: \(error)\n".utf8))
        ServerProgram.leave(1)
      }
    }
    return ApplicationsDoor(applications, served.gateway)
  }

  /// Silent channels say that they are alive, for as long as the process lives.
  func begin() {
    let (applications, server) = (applications, server)
    Task {
      while !Task.isCancelled {
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
        await applications.tick()
        server?.tell(troubles: await applications.troubles)
      }
    }
  }
}

/// The register of a server without packages, once its store is open.
private final class KeptHost: Sendable {
  private let state = Mutex<ServiceHost?>(nil)

  var host: ServiceHost? { state.withLock { $0 } }

  func set(_ host: ServiceHost) { state.withLock { $0 = host } }
}
