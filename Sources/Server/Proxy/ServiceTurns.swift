import Synchronization

/// How many requests of each caller are under way at one service: its connections are for all.
final class ServiceTurns: Sendable {
  private let perCaller: Int
  private let counts = Mutex<[[UInt8]: Int]>([:])

  init(perCaller: Int) { self.perCaller = perCaller }

  /// Nil where the caller has its share. The turn ends when nobody holds it any more.
  func take(_ caller: String) -> ServiceTurn? {
    let key = Array(caller.utf8)
    let isTaken = counts.withLock { counts in
      let count = counts[key, default: 0]
      guard count < perCaller else { return false }
      counts[key] = count + 1
      return true
    }
    return isTaken ? ServiceTurn(self, key) : nil
  }

  fileprivate func release(_ key: [UInt8]) {
    counts.withLock { counts in
      let left = counts[key, default: 1] - 1
      counts[key] = left > 0 ? left : nil
    }
  }
}

/// One request under way.
final class ServiceTurn: Sendable {
  private let turns: ServiceTurns
  private let key: [UInt8]

  fileprivate init(_ turns: ServiceTurns, _ key: [UInt8]) {
    self.turns = turns
    self.key = key
  }

  deinit { turns.release(key) }
}
