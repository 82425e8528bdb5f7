import FerryModel

/// Windows of partition rules: which days devices have, and the hour at which that changes.
extension Intake {
  /// Moves the windows whose hour has come, in one numbered transaction: rows leave, and others enter.
  /// Call it each second, and at a start before anything is placed. Whether there was one.
  @discardableResult
  func moveWindows() throws(ServerError) -> Bool {
    let windows = rules.windows
    guard store.leads, !windows.isEmpty else { return false }
    try guarded { () throws(StoreError) in try windows.know(store, rules) }
    let now = world.clock.now
    guard !windows.due(at: now, after: windows.kept.all).isEmpty else { return false }
    let moved = try write { transaction, machine throws(StoreError) in
      let known = windows.kept.all
      let due = windows.due(at: now, after: known)
      let next = known.merging(due) { $1 }
      if !world.has(.windowForgotten) { try machine.moveWindows(to: next, cache) }
      try store.keep(windows.stored(due, of: package), transaction)
      return ((known: known, next: next, due: due), [])
    }
    windows.kept.set(moved.next)
    for border in windows.stored(moved.due, of: package) {
      let old = rules.position(of: border.entity).flatMap { moved.known[$0] }
      let fields = [
        ("entity", border.entity), ("from", border.shownFirst), ("to", border.shownLast),
      ]
      if let old, old.lowerBound > border.days.lowerBound {
        world.log.write(.warn, "a window was moved back: the clock had been ahead", fields)
      } else {
        world.log.write(.info, "a window was moved", fields)
      }
    }
    return true
  }

  /// The same where nobody waits for it. What fails is logged once, and tried again.
  func moveWindowsOrLog() -> Bool {
    do throws(ServerError) {
      let hasMoved = try moveWindows()
      hasWindowTrouble = false
      return hasMoved
    } catch {
      if !hasWindowTrouble {
        world.log.error(
          "the windows of partition rules could not be moved; it is tried again each second",
          ("reason", error.message))
      }
      hasWindowTrouble = true
      return false
    }
  }
}
