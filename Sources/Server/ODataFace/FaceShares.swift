import FerryODataService
import Synchronization

/// How many requests of one user are answered at once, so that one user leaves room for others.
package final class FaceShares: Sendable {
  /// A browser opens six connections, a program for tables sixteen.
  package static let usual: Int = 32

  private let most: Int
  private let running = Mutex<[String: Int]>([:])

  package init(requestsPerUser: Int = usual) { most = requestsPerUser }

  /// Throws 429 where the user has too many already. Each call that returns is followed by `end`.
  func begin(_ user: String) throws(ODataRefusal) {
    let isFull = running.withLock { running in
      let count = running[user] ?? 0
      guard count < most else { return true }
      running[user] = count + 1
      return false
    }
    guard isFull else { return }
    var refusal = ODataRefusal(
      429, "tooManyRequests",
      "\(most) requests of this user are being answered already. Send fewer at once, and this one "
        + "again.")
    refusal.headers["Retry-After"] = "1"
    throw refusal
  }

  func end(_ user: String) {
    running.withLock { running in
      guard let count = running[user] else { return }
      running[user] = count > 1 ? count - 1 : nil
    }
  }
}
