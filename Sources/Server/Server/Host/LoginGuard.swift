import FerryModel
import FerryWorld

/// Counts wrong logins and tells who may not try again yet.
///
/// - An address that failed for a user is locked for that user: after five failures for one second,
///   and twice as long after each further one, up to 15 minutes.
/// - An address that failed for many users is locked in the same way after 50 failures.
/// - A user for whom 100 strangers' logins failed is locked for strangers for one minute, then the
///   count begins again. A stranger is a device and an address that never logged in as this user
///   since the server's start. So an attacker cannot lock out a user who was here before, and
///   everybody else for one minute at a time.
///
/// `now` never jumps (`WorldClock.moment`). What is 15 minutes old is forgotten. At most 10,000 of each kind are remembered; the oldest go
/// first.
struct LoginGuard {
  /// Who tries.
  struct Attempt: Hashable {
    let user: ExactText
    let device: ExactText
    /// The address, or the network of an IPv6 address; empty where it is not known.
    let network: ExactText

    init(user: String, device: String, address: String) {
      self.user = ExactText(user)
      self.device = ExactText(device)
      network = ExactText(LoginGuard.network(of: address))
    }
  }

  private struct Pair: Hashable {
    let user: ExactText
    let other: ExactText
  }

  private struct Failures {
    var count: Int
    var last: Timestamp
    var lockedUntil: Timestamp
  }

  static let pairFailures: Int = 5
  static let networkFailures: Int = 50
  static let userFailures: Int = 100
  static let userLock: Duration = .seconds(60)
  static let longestLock: Duration = .seconds(900)
  static let memory: Int = 10_000

  private var pairs = RecentTable<Pair, Failures>(limit: memory)
  private var networks = RecentTable<ExactText, Failures>(limit: memory)
  private var users = RecentTable<ExactText, Failures>(limit: memory)
  /// Devices and networks from which a user logged in.
  private var known = RecentTable<Pair, Bool>(limit: memory)

  /// When the attempt may be made; nil: now.
  func lockEnd(_ attempt: Attempt, now: Timestamp) -> Timestamp? {
    var ends: [Timestamp] = []
    let pair = Pair(user: attempt.user, other: attempt.network)
    if let failures = pairs[pair] { ends.append(failures.lockedUntil) }
    if !isKnown(attempt) {
      if let failures = networks[attempt.network] { ends.append(failures.lockedUntil) }
      if let failures = users[attempt.user] { ends.append(failures.lockedUntil) }
    }
    return ends.filter { now < $0 }.max()
  }

  /// Whether nobody failed of late from there: such a login is verified before others.
  func isUnsuspicious(_ attempt: Attempt, now: Timestamp) -> Bool {
    if isKnown(attempt) { return true }
    guard let failures = networks[attempt.network] else { return true }
    return LoginGuard.isOld(failures, now)
  }

  mutating func failed(_ attempt: Attempt, now: Timestamp) {
    let pair = Pair(user: attempt.user, other: attempt.network)
    pairs[pair] = LoginGuard.next(pairs[pair], now, after: LoginGuard.pairFailures)
    networks[attempt.network] = LoginGuard.next(
      networks[attempt.network], now, after: LoginGuard.networkFailures)
    guard !isKnown(attempt) else { return }
    var failures = LoginGuard.next(users[attempt.user], now, after: .max)
    if failures.count >= LoginGuard.userFailures {
      failures = Failures(
        count: 0, last: now, lockedUntil: now.advanced(by: LoginGuard.userLock))
    }
    users[attempt.user] = failures
  }

  mutating func succeeded(_ attempt: Attempt) {
    pairs[Pair(user: attempt.user, other: attempt.network)] = nil
    known[Pair(user: attempt.user, other: attempt.device)] = true
    guard !attempt.network.text.isEmpty else { return }
    known[Pair(user: attempt.user, other: attempt.network)] = true
  }

  private func isKnown(_ attempt: Attempt) -> Bool {
    known[Pair(user: attempt.user, other: attempt.device)] != nil
      || known[Pair(user: attempt.user, other: attempt.network)] != nil
  }

  private static func isOld(_ failures: Failures, _ now: Timestamp) -> Bool {
    failures.last.advanced(by: longestLock) < now
  }

  private static func next(
    _ before: Failures?, _ now: Timestamp, after free: Int
  ) -> Failures {
    guard let before, !isOld(before, now) else {
      return Failures(count: 1, last: now, lockedUntil: now)
    }
    let count = before.count + 1
    guard count >= free else {
      return Failures(count: count, last: now, lockedUntil: before.lockedUntil)
    }
    let seconds: Int64 = min(1 << Int64(min(count - free, 20)), 900)
    return Failures(count: count, last: now, lockedUntil: now.advanced(by: .seconds(seconds)))
  }

  /// The address of IPv4; of IPv6 the first 64 bits, which one household has.
  static func network(of address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return address }
    let bare = address.split(separator: "%", maxSplits: 1).first.map(String.init) ?? address
    let sides = bare.lowercased().split(
      separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    var groups = sides[0].split(separator: ":").map(String.init)
    if sides.count == 2 {
      let rest = sides[1].split(separator: ":").map(String.init)
      // IPv4 inside IPv6: each address is a household of its own.
      if let last = rest.last, last.contains(".") { return last }
      groups += Array(repeating: "0", count: max(0, 8 - groups.count - rest.count)) + rest
    }
    return groups.prefix(4).map { group in
      let digits = group.drop { $0 == "0" }
      return digits.isEmpty ? "0" : String(digits)
    }.joined(separator: ":") + "::/64"
  }
}

/// A dictionary that forgets what was set longest ago when it is full.
package struct RecentTable<Key: Hashable, Value> {
  private var values: [Key: (value: Value, turn: Int)] = [:]
  /// Keys in the order in which they were set; those that were set again since are passed over.
  private var order: [(key: Key, turn: Int)] = []
  private var first: Int = 0
  private var turn: Int = 0
  private let limit: Int

  package init(limit: Int) { self.limit = limit }

  package var count: Int { values.count }

  package subscript(key: Key) -> Value? {
    get { values[key]?.value }
    set {
      guard let newValue else {
        values[key] = nil
        return
      }
      turn += 1
      values[key] = (newValue, turn)
      order.append((key, turn))
      while values.count > limit || order.count - first > 2 * limit { forgetOldest() }
      if first > limit {
        order.removeFirst(first)
        first = 0
      }
    }
  }

  private mutating func forgetOldest() {
    guard first < order.count else { return }
    let oldest = order[first]
    first += 1
    guard let known = values[oldest.key] else { return }
    if known.turn == oldest.turn { values[oldest.key] = nil }
  }
}
