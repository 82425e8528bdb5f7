import FerryWorld

/// Lines about requests that were refused before a handler saw them: the first of an address in a
/// minute at once, and of others their number. Nobody fills the log.
///
/// Belongs to the loop's thread.
struct RefusalLog {
  private struct Refused: Hashable {
    let status: Int
    let peer: String
  }

  private let log: any Log
  private let begun = ContinuousClock.now
  private var tally = MinuteTally<Refused>()

  init(_ log: any Log) { self.log = log }

  mutating func note(_ status: Int, _ peer: Peer, now: ContinuousClock.Instant) {
    tell(now: now)
    guard tally.note(Refused(status: status, peer: peer.address ?? "")) else { return }
    log.info("request refused", ("status", "\(status)"), ("peer", peer.address ?? ""))
  }

  /// Of the minutes that have passed; nil: of all.
  mutating func tell(now: ContinuousClock.Instant?) {
    let past = tally.past(minute: now.map { ($0 - begun).components.seconds / 60 } ?? .max)
    guard !past.isEmpty else { return }
    for (refused, count) in past.more {
      log.info(
        "more requests refused in the same minute", ("status", "\(refused.status)"),
        ("peer", refused.peer), ("count", "\(count)"))
    }
    guard past.others > 0 else { return }
    log.info("requests of many addresses refused", ("count", "\(past.others)"))
  }
}
