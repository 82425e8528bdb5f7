import FerryWire
import FerryWorld

/// How long the data may be used without the server, and how long the user stays logged in.
extension Session {
  /// How often the time of the last answer is written, and the highest time that was seen.
  private static let noteInterval: Int64 = 60_000
  private static let highestInterval: Int64 = 600_000
  /// How long before its end the app hears that the user has to log in again.
  private static let sessionNotice: Int64 = 7 * 86_400_000

  /// What a login or a renewal says.
  func take(lease seconds: Int64?, sessionExpiresIn: Int64?) throws(FerryError) {
    let now = store.world.clock.now.milliseconds
    if let seconds, seconds > 0 {
      let length = min(seconds, Session.longestLease) * 1_000
      try store.keepLease(LeaseMachine(length: length, contact: now))
    } else if store.lease.withLock({ $0 }) != nil {
      try store.keepLease(nil)
    }
    guard let sessionExpiresIn else { return }
    let end = now + min(max(0, sessionExpiresIn), Session.longestLease) * 1_000
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.sessionEnd, String(end))
    }
    try tellSessionEnd()
  }

  private static let longestLease: Int64 = 3_650 * 86_400

  /// The server answered.
  func notedContact() throws(FerryError) {
    guard let lease = store.lease.withLock({ $0 }) else { return }
    let now = store.world.clock.now.milliseconds
    guard
      now < lease.contact || now >= lease.contact + Session.noteInterval
        || lease.highest > now
    else { return }
    try store.keepLease(LeaseMachine(length: lease.length, contact: now))
    isLeaseTold = false
  }

  /// Announces that the data closes soon, or is closed; keeps the highest time that was seen.
  func tellLease() throws(FerryError) {
    guard var lease = store.lease.withLock({ $0 }) else { return }
    let before = lease.highest
    let state = lease.judge(now: store.world.clock.now.milliseconds)
    if lease.highest >= (storedHighest ?? before) + Session.highestInterval {
      storedHighest = lease.highest
      try store.keepLease(lease)
    }
    guard state != .open, !isLeaseTold || state == .over && !isLeaseEndTold else { return }
    isLeaseTold = true
    isLeaseEndTold = state == .over
    let end = Timestamp(milliseconds: lease.end)
    let isOver = state == .over
    observers.tell(.leaseEnds(at: end, isOver: isOver), .lasting)
  }

  /// Seven days before the user has to log in again, once for each session.
  func tellSessionEnd() throws(FerryError) {
    guard let text = try setting(.sessionEnd), let end = Int64(text),
      store.world.clock.now.milliseconds >= end - Session.sessionNotice
    else { return }
    // Each renewal says it anew, a little earlier or later.
    if let told = try setting(.sessionEndTold).flatMap({ Int64($0) }),
      (-86_400_000..<86_400_000).contains(told.subtractingReportingOverflow(end).partialValue)
    {
      return
    }
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.sessionEndTold, text)
    }
    let moment = Timestamp(milliseconds: end)
    observers.tell(.sessionEnds(at: moment), .lasting)
  }
}
