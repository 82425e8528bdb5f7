import CPostgreSQL
import Glibc

extension PostgreSQLConnection {
  /// Waits for what `NOTIFY` says on the channels that this connection listens to; gives their names,
  /// none after `patience`. Throws `.connection` where the line broke.
  package func notifications(patience: Duration) throws(PostgreSQLError) -> Set<String> {
    let handle = try live()
    var found = channels(handle)
    guard found.isEmpty else { return found }
    var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: Int64(patience / .milliseconds(1)))
    let count = poll(&descriptor, 1, milliseconds)
    guard count > 0 else { return [] }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    found = channels(handle)
    return found
  }

  private func channels(_ handle: OpaquePointer) -> Set<String> {
    var found: Set<String> = []
    while let note = PQnotifies(handle) {
      found.insert(String(cString: note.pointee.relname))
      PQfreemem(note)
    }
    return found
  }
}
