import FerryModel
import FerryWire
import FerryWorld

/// Several nodes on one store: one leads, the others take in, answer, and follow.
extension Operations {
  /// Under which the business system knows who performs. Packages of one store may be led by different
  /// nodes, or replaced one by one: each has a name of its own.
  var leadership: String { "\(store.server) \(package.id)" }

  /// To be called each second, and when another node has committed something. A node that follows
  /// learns what the leader has done; the leader takes what other nodes have taken in.
  func catchUp() throws(ServerError) {
    guard store.isShared else { return }
    let asked = world.clock.moment
    try accounts.loadKeys()
    accounts.users.sessions.note(
      changes: try reading { () throws(StoreError) in try store.sessionChanges() })
    if store.leads {
      let arrived = try guarded { () throws(StoreError) in try store.arrivals() }
      for received in arrived { try take(received) }
    } else {
      if let news = try reading({ () throws(StoreError) in try store.news() }) { take(news) }
      try reading { () throws(StoreError) in try intake.readRejectedRows() }
    }
    core.lastLook = asked
  }

  /// Catches up; whether operations to perform have come. A store that fails is heard of by
  /// the event `storeFailed`.
  func catchUpFindsWork() -> Bool {
    let before = core.arrivedOperations
    do throws(ServerError) { try catchUp() } catch { return false }
    return core.arrivedOperations != before
  }

  private func take(_ news: StoreNews) {
    if news.isNewEra {
      core.memory.forget()
      directory.forget()
      core.tell(.newEra)
      return
    }
    if news.haveBeenRemoved { directory.forget() }
    if news.haveBeenRemoved || news.isNewDay { core.memory.forget() }
    core.memory.committed(news.partitions, clock: news.clock)
    core.memory.note(news.answered)
    core.tellChanged(partitions: news.partitions, answered: news.answered)
  }

  /// An operation that waits in the store: another node took it in, or heard of it.
  private func take(_ received: ReceivedOperation) throws(ServerError) {
    let id = received.operation.id
    guard queue.holds(id, of: ReplayQueue.Name(received)) else {
      guard !replays.values.contains(where: { $0.machine.operations.contains { $0.id == id } })
      else { return }
      let missing = try guarded { () throws(StoreError) in try self.missing(received) }
      enqueue(received, missing: missing)
      return
    }
    name([id], of: received.owner)
    let needed = references(of: received.operation)
    guard !needed.isEmpty else { return }
    let missing = try guarded { () throws(StoreError) in try self.missing(received) }
    for reference in needed.subtracting(missing) {
      queue.arrived(reference, of: received.owner.user)
      core.arrivedOperations += 1
    }
  }
}
