import Ferry
import FerrySQLite
import Synchronization

/// Ends a device as a crash of its app does: from one moment on nothing more reaches its file.
final class SimulatedProcess: CommitListener {
  private struct State {
    var isDead = false
    /// How many saves of the app come before the one that is prevented; nil for none.
    var savesLeft: Int?
    /// The last number of a change in the file.
    var lastChange: Int64?
    var happened: String?
  }

  private let state = Mutex(State())
  private let network: SimulatedNetwork

  init(_ network: SimulatedNetwork) {
    self.network = network
    network.whenKilled { [weak self] in self?.kill() }
  }

  var isDead: Bool { state.withLock { $0.isDead } }

  /// A step begins: the device is killed before a save, after `saves` others.
  func begin(after saves: Int?) { state.withLock { $0.savesLeft = saves } }

  /// The step has ended; what went wrong in it.
  func end() -> String? {
    state.withLock { state in
      state.savesLeft = nil
      defer { state.happened = nil }
      return state.happened
    }
  }

  func kill() {
    state.withLock { $0.isDead = true }
    network.die()
  }

  func willCommit(_ connection: Connection, _ store: Store) throws(FerryError) {
    let last = try store.sql { () throws(SQLiteError) in
      try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'ferry_operation'")?
        .integer ?? 0
    }
    let (isDead, isKilled) = state.withLock { state -> (Bool, Bool) in
      guard !state.isDead else { return (true, false) }
      let isSave = last > (state.lastChange ?? 0)
      if isSave, state.savesLeft == 0 {
        state.isDead = true
        state.happened = "it is killed before it has saved"
        return (true, true)
      }
      if isSave { state.savesLeft = state.savesLeft.map { $0 - 1 } }
      state.lastChange = last
      return (false, false)
    }
    if isKilled { network.die() }
    guard isDead else { return }
    throw FerryError(
      .closed, "the simulated test has killed this device",
      hint: "Nothing of this change was saved.")
  }
}
