import FerrySQLite
import Synchronization

/// Closes the data of a device that was without its server for too long.
extension Store {
  /// Before objects are read or changed. Costs nothing where the server gave no lease.
  func checkLease() throws(FerryError) {
    guard hasLease.load(ordering: .relaxed) else { return }
    let now = world.clock.now.milliseconds
    guard lease.withLock({ $0?.judge(now: now) }) == .over else { return }
    throw FerryError(
      .leaseEnded, "this device was without its server for too long: its data is closed",
      hint: "Connect to the server: its answer opens the data. Pending changes are safe.")
  }

  /// Takes up what the database says.
  package func openLease() throws(FerryError) {
    let text = try read { connection throws(SQLiteError) in try Settings.get(.lease, connection) }
    set(text.flatMap(LeaseMachine.init))
  }

  /// Keeps a new one in the database, or none.
  package func keepLease(_ machine: LeaseMachine?) throws(FerryError) {
    try write { connection throws(SQLiteError) in
      try Settings.set(.lease, machine?.text, connection)
    }
    set(machine)
  }

  private func set(_ machine: LeaseMachine?) {
    lease.withLock { $0 = machine }
    hasLease.store(machine != nil, ordering: .relaxed)
  }
}
