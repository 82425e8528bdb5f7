import FerryWorld

/// Decides what a presented refresh token of a session is worth. Pure.
///
/// A session's tokens are numbered from 1. The used token gives the same successor again until that
/// was used: an answer that is lost logs nobody out. A token whose successor was used is in two hands,
/// and ends the session for both.
///
/// Two hands that keep step are never behind each other, but each round of theirs has a repeat. So
/// repeats are counted, and one round after the other that has some ends the session too.
struct RefreshMachine {
  /// What a session may repeat.
  struct Bounds: Equatable {
    /// Of one token; nil: any number.
    let repeats: Int?
    /// Rounds one after the other that have a repeat.
    let rounds: Int
    /// From the first use of a token to its last repeat; nil: any time.
    let time: Duration?

    /// Of a device that proves with each renewal that it has its key. Lost answers are all that
    /// repeats a token of it, or a copy of the whole device.
    static let bound = Bounds(repeats: nil, rounds: 16, time: nil)
    /// Of a device without a key: whoever has the token may be anybody.
    static let unbound = Bounds(repeats: 3, rounds: 3, time: .seconds(600))
  }

  /// The repeats of a session so far.
  struct Repeats: Equatable {
    /// The token that was presented last.
    var number: Int64 = 0
    var count = 0
    /// Rounds up to this one that had a repeat, one after the other.
    var rounds = 0
  }

  enum Verdict: Equatable {
    /// The successor's number; it is the highest one that was presented that comes before it.
    case next(Int64)
    /// The same, once more.
    case again(Int64)
    case reused
  }

  let bounds: Bounds

  /// `used`: the highest number that was presented, for the first time at `since`. A number beyond
  /// what was given out is of a store that was restored to an earlier state: the token is good, and
  /// the store catches up.
  func judge(
    _ number: Int64, used: Int64, since: Timestamp, now: Timestamp, _ past: inout Repeats
  ) -> Verdict {
    assert(used >= 0 && past.count >= 0 && past.rounds >= 0, "a session has negative counts")
    guard number >= used else { return .reused }
    guard number == used else {
      let isInRow = past.number == used && past.count > 0
      past = Repeats(number: number, count: 0, rounds: isInRow ? past.rounds : 0)
      return .next(number + 1)
    }
    if past.number != number { past = Repeats(number: number) }
    past.count += 1
    if past.count == 1 { past.rounds += 1 }
    // A token of before sessions were numbered is 0: of its first use nothing is known.
    let isInTime = number == 0 || bounds.time.map { now <= since.advanced(by: $0) } ?? true
    guard isInTime, past.rounds <= bounds.rounds, past.count <= bounds.repeats ?? .max else {
      return .reused
    }
    assert(past.number == number, "a repeat is counted for another token")
    return .again(number + 1)
  }
}

/// The repeats of sessions, since the server began. On the service's thread.
final class RefreshRepeats {
  /// More than these are sessions of long ago: what is forgotten begins anew.
  static let limit = 10_000
  private var known: [String: RefreshMachine.Repeats] = [:]

  subscript(session: String) -> RefreshMachine.Repeats {
    get { known[session] ?? RefreshMachine.Repeats() }
    set {
      if known.count >= RefreshRepeats.limit { known = [:] }
      known[session] = newValue
    }
  }
}
