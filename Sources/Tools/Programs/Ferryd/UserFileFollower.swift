import FerryPasswords
import FerryServer
import FerryWorld
import Foundation

/// The users of a gateway: a user file, and a thread of its own that reads it again when it changes.
final class UserFileFollower: Sendable {
  private let file: ReloadedUsers
  private let log: any Log

  init(path: String, log: any Log) throws {
    self.log = log
    file = try ReloadedUsers(path: path) { password, hash in
      do { return try PasswordHash.verify(password: password, hash: hash) } catch {
        log.error("a password hash of the user file cannot be read", ("reason", "\(error)"))
        return false
      }
    }
  }

  var provider: any AuthenticationProvider { file }

  var count: Int { file.records.count }

  /// Looks at the file twice a second for as long as the process lives.
  func begin() {
    let thread = Thread { [file, log] in
      while true {
        Thread.sleep(forTimeInterval: 0.5)
        do throws(ServerError) {
          if try file.reload() {
            log.info("the user file was read again", ("users", String(file.records.count)))
          }
        } catch {
          log.error(
            "the changed user file cannot be read; the server keeps the previous users",
            ("reason", error.message), ("cure", error.hint))
        }
      }
    }
    thread.start()
  }
}
