import FerryModel
import FerryWorld
import Synchronization

/// Refusals that anybody can cause, counted by address and minute: the first is told at once, the
/// others as one line with their number. So nobody fills a disk with them. Any thread.
final class StrangerTally: Sendable {
  /// What was refused to whom.
  struct Kind: Hashable, Sendable {
    /// Nil for what stands in the server's log alone.
    let event: AuditLog.Event?
    let what: String
    let network: ExactText
  }

  /// A number of refusals in the minute that is over, beside the one that was told.
  struct Line: Sendable {
    let event: AuditLog.Event?
    let what: String
    /// Nil for those of very many addresses together.
    let network: String?
    let count: Int
  }

  private let tally = Mutex(MinuteTally<Kind>())
  private let clock: any WorldClock

  init(clock: any WorldClock) { self.clock = clock }

  /// Whether this one is told, and what is to be told of the minute before.
  func note(
    _ event: AuditLog.Event?, _ what: String, from address: String
  ) -> (isTold: Bool, past: [Line]) {
    let kind = Kind(
      event: event, what: what, network: ExactText(LoginGuard.network(of: address)))
    let minute = minute
    return tally.withLock { tally in
      let past = tally.past(minute: minute)
      return (tally.note(kind), StrangerTally.lines(past))
    }
  }

  /// What is to be told of the minute before, if it is over. `isEnd`: of this one, too.
  func past(isEnd: Bool = false) -> [Line] {
    let minute = isEnd ? .max : minute
    return StrangerTally.lines(tally.withLock { $0.past(minute: minute) })
  }

  private var minute: Int64 { clock.moment.milliseconds / 60_000 }

  private static func lines(_ past: MinuteTally<Kind>.Past) -> [Line] {
    var lines = past.more.map { kind, count in
      Line(event: kind.event, what: kind.what, network: kind.network.text, count: count)
    }
    if past.others > 0 {
      lines.append(
        Line(
          event: .sessionRefused, what: "requests of many addresses were refused", network: nil,
          count: past.others))
    }
    return lines
  }
}
