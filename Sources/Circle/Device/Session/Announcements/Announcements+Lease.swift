import FerryWire
import FerryWorld

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How long the data may be used without the server, and how long the user stays logged in.
extension Announcements {
  /// How often the time of the last answer is written, and the highest time that was seen.
  private static let noteInterval: Int64 = 60_000
  private static let highestInterval: Int64 = 600_000
  /// How long before its end the app hears that the user has to log in again.
  private static let sessionNotice: Int64 = 7 * 86_400_000
  private static let longestLease: Int64 = 3_650 * 86_400

  private var now: Int64 { store.world.clock.now.milliseconds }

  /// What a login or a renewal says.
  func take(lease seconds: Int64?, sessionExpiresIn: Int64?) throws(FerryError) {
    let now = now
    if let seconds, seconds > 0 {
      let length = min(seconds, Announcements.longestLease) * 1_000
      try store.keepLease(LeaseMachine(length: length, contact: now))
    } else if store.lease.withLock({ $0 }) != nil {
      try store.keepLease(nil)
    }
    guard let sessionExpiresIn else { return }
    let end = now + min(max(0, sessionExpiresIn), Announcements.longestLease) * 1_000
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.sessionEnd, String(end))
    }
    try sessionEnd()
  }

  /// The server answered.
  func notedContact() throws(FerryError) {
    guard let lease = store.lease.withLock({ $0 }) else { return }
    let now = now
    guard
      now < lease.contact || now >= lease.contact + Announcements.noteInterval
        || lease.highest > now
    else { return }
    try store.keepLease(LeaseMachine(length: lease.length, contact: now))
    again(.leaseEnds)
  }

  /// Announces that the data closes soon, or is closed; keeps the highest time that was seen.
  func lease() throws(FerryError) {
    guard var lease = store.lease.withLock({ $0 }) else { return }
    let before = lease.highest
    let state = lease.judge(now: now)
    if lease.highest >= (storedHighest ?? before) + Announcements.highestInterval {
      storedHighest = lease.highest
      try store.keepLease(lease)
    }
    let isOver = state == .over
    guard state != .open,
      !announced.contains(.leaseEnds) || isOver && !announced.contains(.leaseEnded)
    else { return }
    announced.insert(.leaseEnds)
    if isOver { announced.insert(.leaseEnded) } else { announced.remove(.leaseEnded) }
    let end = Date(Timestamp(milliseconds: lease.end))
    observers.tell(.leaseEnds(at: end, isOver: isOver), .lasting)
  }

  /// Seven days before the user has to log in again, once for each session.
  func sessionEnd() throws(FerryError) {
    guard let text = try store.setting(.sessionEnd), let end = Int64(text),
      now >= end - Announcements.sessionNotice
    else { return }
    // Each renewal says it anew, a little earlier or later.
    if let announced = try store.setting(.sessionEndTold).flatMap({ Int64($0) }),
      (-86_400_000..<86_400_000).contains(announced.subtractingReportingOverflow(end).partialValue)
    {
      return
    }
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.sessionEndTold, text)
    }
    observers.tell(.sessionEnds(at: Date(Timestamp(milliseconds: end))), .lasting)
  }
}
