import FerrySQLite
import Synchronization

/// Read-only connections, made when needed and kept: as many as ever read at one time.
final class ReaderPool: Sendable {
  private let path: String
  private let vfs: String?
  private let sealing: Sealing?
  private let state: Mutex<State>

  private struct State {
    /// Nil once the pool was closed.
    var idle: [SharedConnection]? = []
    var reading = 0
    /// Nil once the pool was closed and nobody reads any more.
    var file: OpenFile?
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// Whoever waits for the end, where this is it.
    mutating func end() -> [CheckedContinuation<Void, Never>] {
      guard idle == nil, reading == 0 else { return [] }
      file = nil
      defer { waiting = [] }
      return waiting
    }
  }

  init(path: String, vfs: String?, sealing: Sealing?) {
    self.path = path
    self.vfs = vfs
    self.sealing = sealing
    state = Mutex(State(file: OpenFile(path: path)))
  }

  func withReader<Result>(
    wrap: (SQLiteError) -> FerryError, _ body: (Connection) throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    let reader = try take(wrap)
    defer { giveBack(reader) }
    return try reader.withConnection(closed: Store.closed(path)) {
      connection throws(FerryError) in
      try connection.transaction(
        .deferred, wrap: wrap, { () throws(FerryError) -> Result in try body(connection) })
    }
  }

  private func take(_ wrap: (SQLiteError) -> FerryError) throws(FerryError) -> SharedConnection {
    let (known, isClosed) = state.withLock { state in
      if state.idle != nil { state.reading += 1 }
      return (state.idle?.popLast(), state.idle == nil)
    }
    if isClosed { throw Store.closed(path) }
    if let known { return known }
    do {
      // Not read-only: a reader must be able to take part in the write-ahead log.
      let connection = try Connection(path: path, mode: .readWrite, vfs: vfs, sealing: sealing)
      try connection.addNumberFunctions()
      try connection.execute("PRAGMA query_only = ON")
      return SharedConnection(connection)
    } catch {
      giveBack(nil)
      throw wrap(error)
    }
  }

  private func giveBack(_ reader: SharedConnection?) {
    let isKept = state.withLock { state in
      guard let reader, state.idle != nil else { return false }
      state.idle?.append(reader)
      state.reading -= 1
      return true
    }
    if isKept { return }
    reader?.close()
    update { $0.reading -= 1 }
  }

  /// What reads now goes on to its end; nothing begins any more.
  func close() { update { $0.idle = nil } }

  /// After `close`: returns when nobody reads any more.
  func waitUntilUnused() async {
    await withCheckedContinuation { continuation in update { $0.waiting.append(continuation) } }
  }

  /// Changes the state, and resumes whoever waits where that was the end.
  private func update(_ change: (inout State) -> Void) {
    let ended = state.withLock { state in
      change(&state)
      return state.end()
    }
    for continuation in ended { continuation.resume() }
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
