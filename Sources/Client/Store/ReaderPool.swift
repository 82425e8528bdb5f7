import FerrySQLite
import Synchronization

/// Read-only connections, made when needed and kept: as many as ever read at one time.
final class ReaderPool: Sendable {
  private let path: String
  private let vfs: String?
  private let sealing: Sealing?
  /// Nil once the pool was closed.
  private let idle = Mutex<[Reader]?>([])

  private struct Reader {
    let connection: SharedConnection
    let file: OpenFile
  }

  init(path: String, vfs: String?, sealing: Sealing?) {
    self.path = path
    self.vfs = vfs
    self.sealing = sealing
  }

  func withReader<Result>(
    wrap: (SQLiteError) -> FerryError, _ body: (Connection) throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    let reader = try take(wrap)
    defer { idle.withLock { $0?.append(reader) } }
    return try reader.connection.withConnection(closed: Store.closed(path)) {
      connection throws(FerryError) in
      try connection.transaction(
        .deferred, wrap: wrap, { () throws(FerryError) -> Result in try body(connection) })
    }
  }

  private func take(_ wrap: (SQLiteError) -> FerryError) throws(FerryError) -> Reader {
    let (known, isClosed) = idle.withLock { ($0?.popLast(), $0 == nil) }
    if isClosed { throw Store.closed(path) }
    if let known { return known }
    do {
      // Not read-only: a reader must be able to take part in the write-ahead log.
      let connection = try Connection(path: path, mode: .readWrite, vfs: vfs, sealing: sealing)
      try connection.addNumberFunctions()
      try connection.execute("PRAGMA query_only = ON")
      return Reader(connection: SharedConnection(connection), file: OpenFile(path: path))
    } catch {
      throw wrap(error)
    }
  }

  /// What reads now goes on to its end; nothing begins any more.
  func close() { idle.withLock { $0 = nil } }
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
