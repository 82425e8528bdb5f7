public import FerryModel
import Synchronization

/// How often operations were tried without an answer for their users, on any connection.
public final class SQLAttempts: Sendable {
  private let counts = Mutex<[OperationID: Int]>([:])
  /// More than wait at one time; beyond it the count begins anew.
  private static let most: Int = 10_000

  public init() {}

  /// Counts one more try.
  public func count(_ id: OperationID) -> Int {
    counts.withLock { counts in
      if counts.count >= SQLAttempts.most { counts = [:] }
      counts[id, default: 0] += 1
      return counts[id] ?? 1
    }
  }

  /// The next try of these is the first.
  public func forget(_ ids: [OperationID]) {
    counts.withLock { counts in for id in ids { counts[id] = nil } }
  }
}
