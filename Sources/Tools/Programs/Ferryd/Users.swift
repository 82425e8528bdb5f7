import FerryIssuers
import FerryPasswords
import FerrySecurity
import FerryServer
import FerryWorld
import Foundation

/// The users of a server with a user file, or without one where issuers let users in.
struct Users: Sendable {
  let provider: any AuthenticationProvider
  /// What their devices get.
  let templates: Templates
  /// Which roles of a model their roles are.
  let roles: RoleMapping
  private let file: ReloadedUsers?

  init(_ settings: Settings, world: World) throws {
    let log = world.log
    templates = try Templates(path: settings.templates)
    let isThere = FileManager.default.fileExists(atPath: settings.users)
    guard isThere || settings.issuers.isEmpty && settings.security == nil else {
      guard settings.loginAuthorities == nil else {
        throw StartFailure(
          "--login-authority needs a user file, and \(settings.users) does not exist",
          hint: "Add the users with ferry user add.")
      }
      file = nil
      (provider, roles) = try Users.stacks(settings.security, nil, TokenUsers(), world)
      return
    }
    let file = try ReloadedUsers(path: settings.users) { password, hash in
      do { return try PasswordHash.verify(password: password, hash: hash) } catch {
        log.error("a password hash of the user file cannot be read", ("reason", "\(error)"))
        return false
      }
    }
    self.file = file
    let users: any AuthenticationProvider =
      settings.loginAuthorities.map { CertificateUsers(file, authorities: $0, world: world) }
      ?? file
    (provider, roles) = try Users.stacks(settings.security, users, users, world)
  }

  /// The security configurations of a file; without one, `plain` alone.
  static func stacks(
    _ path: String?, _ userFile: (any AuthenticationProvider)?,
    _ plain: any AuthenticationProvider, _ world: World
  ) throws -> (any AuthenticationProvider, RoleMapping) {
    guard let path else { return (plain, RoleMapping()) }
    let sources = SecurityFile.Sources(userFile: userFile) { authorities throws(ServerError) in
      guard let userFile else { throw CertificateUsers.noUsers(authorities) }
      return try CertificateUsers(userFile, file: authorities, world: world)
    }
    let read = try SecurityFile(path: path, sources)
    let configurations = SecurityConfigurations(read.configurations, world: world)
    return (configurations, RoleMapping(read.roles) { configurations.domain(of: $0) })
  }

  var records: [UserRecord] { file?.records ?? [] }

  /// The same of the file of connection templates.
  func followTemplates(
    _ log: any Log, wait: @Sendable () async throws -> Void,
    changed: @Sendable () async -> Void
  ) async {
    while true {
      do { try await wait() } catch { return }
      do throws(ServerError) {
        guard try templates.reload() else { continue }
        log.info("the connection templates were read again")
        await changed()
      } catch {
        log.error(
          "the changed templates cannot be read; the server keeps the previous templates",
          ("reason", error.message), ("cure", error.hint))
      }
    }
  }

  /// Looks at the file after each `wait`, and reads it again where it has changed; returns when `wait`
  /// throws.
  func follow(
    _ log: any Log, wait: @Sendable () async throws -> Void,
    changed: @Sendable () async -> Void
  ) async {
    guard let file else { return }
    while true {
      do { try await wait() } catch { return }
      do throws(ServerError) {
        guard try file.reload() else { continue }
        log.info("the user file was read again", ("users", String(file.records.count)))
        await changed()
      } catch {
        log.error(
          "the changed user file cannot be read; the server keeps the previous users",
          ("reason", error.message), ("cure", error.hint))
      }
    }
  }
}
