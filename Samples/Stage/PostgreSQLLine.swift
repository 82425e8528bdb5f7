import FerryPostgreSQL
import Foundation

/// A connection to the business database that is made again when the server was killed.
final class PostgreSQLLine {
  private let address: PostgreSQLAddress
  private var connection: PostgreSQLConnection?

  init(_ address: PostgreSQLAddress) { self.address = address }

  /// An open connection; waits for a server that starts again.
  func open() throws(PostgreSQLError) -> PostgreSQLConnection {
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      if let connection, connection.isOpen { return connection }
      do throws(PostgreSQLError) {
        let made = try PostgreSQLConnection(address)
        connection = made
        return made
      } catch {
        guard error.isLost, ContinuousClock.now < deadline else { throw error }
        usleep(20_000)
      }
    }
  }

  /// Reads, once more where the server was killed meanwhile.
  func rows(_ sql: String) throws(PostgreSQLError) -> PostgreSQLRows {
    let deadline = ContinuousClock.now + ChildProcess.patience
    while true {
      do throws(PostgreSQLError) { return try open().rows(sql) } catch {
        guard error.isLost || error.stateClass == "57", ContinuousClock.now < deadline else {
          throw error
        }
        connection?.close()
      }
    }
  }
}
