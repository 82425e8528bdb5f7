import FerryModel
import FerryWorld

/// Logins that wait to be looked at, with a number each, and whose turn it is. Pure.
///
/// Who was not refused of late comes first, then the address that was served longest ago, then the
/// one with the fewest logins that wait. So many wrong logins from some addresses do not hold up a
/// right one from another.
struct LoginQueue {
  typealias Number = Int

  static let waitingPerAddress: Int = 256
  static let waitingInAll: Int = 1_024

  enum Entry: Equatable {
    /// It waits; `insteadOf` has to come again, as its address has the most.
    case waits(Number, insteadOf: Number?)
    case full
  }

  private struct Waiting {
    let number: Number
    let attempt: LoginGuard.Attempt
  }

  /// In the order in which they came.
  private var waiting: [Waiting] = []
  private var counts: [ExactText: Int] = [:]
  private var lastNumber: Number = 0
  /// When each address was served last, as a count of turns.
  private var turns = RecentTable<ExactText, Int>(limit: LoginGuard.memory)
  private var turn = 0

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ attempt: LoginGuard.Attempt) -> Entry {
    let same = counts[attempt.network] ?? 0
    guard same < LoginQueue.waitingPerAddress else { return .full }
    var leaves: Number?
    if waiting.count >= LoginQueue.waitingInAll {
      guard let most = counts.values.max(), most > same + 1,
        let last = waiting.last(where: { counts[$0.attempt.network] == most })
      else { return .full }
      leaves = last.number
      remove(last.number)
    }
    lastNumber += 1
    waiting.append(Waiting(number: lastNumber, attempt: attempt))
    counts[attempt.network, default: 0] += 1
    return .waits(lastNumber, insteadOf: leaves)
  }

  /// Whether it waited.
  @discardableResult mutating func remove(_ number: Number) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return false }
    let network = waiting.remove(at: index).attempt.network
    counts[network, default: 0] -= 1
    if counts[network] == 0 { counts[network] = nil }
    return true
  }

  /// Whose turn it is; it waits no longer.
  mutating func next(
    _ login: LoginGuard, now: Timestamp
  ) -> (number: Number, attempt: LoginGuard.Attempt)? {
    let ranks = waiting.indices.map { index -> (Int, Int, Int, Int) in
      let attempt = waiting[index].attempt
      let suspicion = login.isUnsuspicious(attempt, now: now) ? 0 : 1
      return (suspicion, turns[attempt.network] ?? 0, counts[attempt.network] ?? 0, index)
    }
    guard let index = ranks.min(by: { $0 < $1 })?.3 else { return nil }
    let chosen = waiting[index]
    remove(chosen.number)
    turn += 1
    turns[chosen.attempt.network] = turn
    return (chosen.number, chosen.attempt)
  }
}
