import FerrySQLite
import Synchronization

/// Read-only connections, made when needed and kept: as many as ever read at one time.
final class ReaderPool: Sendable {
  private let path: String
  private let vfs: String?
  private let sealing: Sealing?
  private let idle = Mutex<[SharedConnection]>([])

  init(path: String, vfs: String?, sealing: Sealing?) {
    self.path = path
    self.vfs = vfs
    self.sealing = sealing
  }

  func withReader<Result>(
    wrap: (SQLiteError) -> FerryError, _ body: (Connection) throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    let reader: SharedConnection
    if let known = idle.withLock({ $0.popLast() }) {
      reader = known
    } else {
      do {
        // Not read-only: a reader must be able to take part in the write-ahead log.
        let connection = try Connection(path: path, mode: .readWrite, vfs: vfs, sealing: sealing)
        try connection.execute("PRAGMA query_only = ON")
        reader = SharedConnection(connection)
      } catch {
        throw wrap(error)
      }
    }
    defer { idle.withLock { $0.append(reader) } }
    return try reader.withConnection { connection throws(FerryError) in
      try connection.transaction(
        .deferred, wrap: wrap, { () throws(FerryError) -> Result in try body(connection) })
    }
  }
}

/// Tells whoever listens that something has changed; ringing twice is like ringing once.
package final class Bell: Sendable {
  private let listener = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  package func onRing(_ listener: (@Sendable () -> Void)?) {
    self.listener.withLock { $0 = listener }
  }

  package func ring() { listener.withLock { $0 }?() }
}
