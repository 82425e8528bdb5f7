import FerryModel
import FerryWire
import FerryWorld

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Whether the device shows what the business system has.
public enum DataState: Sendable, Equatable {
  /// Everything that was committed in the business system before the call is visible. Pending
  /// changes of this device are shown on top.
  case current
  /// The data is not current, or it is unknown whether it is, for this reason. The visible data is
  /// at least as new as `asOf`, by the device's clock; nil before the first import, and where the
  /// server does not know how old its rows are.
  case stale(StaleReason, asOf: Date?)
}

/// Why the device cannot show what the business system has now.
public enum StaleReason: String, Sendable, Hashable {
  /// The server cannot be reached.
  case offline = "no connection to the server"
  /// The server did not answer in time.
  case serverSilent = "the server did not answer in time"
  /// The server reads its business system for the first time.
  case serverLoading = "the server is loading its data"
  /// The server cannot reach the business system.
  case businessAway = "the server cannot reach the business system"
  /// The server shows what it read earlier: its policies say when it asks the business system.
  case cached = "the server shows what it read earlier"
  /// The server has not read every change of the business system in time.
  case serverBehind = "the server is still reading changes"
  /// Nobody is logged in.
  case notLoggedIn = "nobody is logged in"
  /// `subscribe` was not called, or the subscription is suspended.
  case notSubscribed = "nothing is subscribed"
  /// The server has an older version that cannot answer this.
  case unknown = "the server cannot tell"
}

extension FerryDatabase {
  /// Fetches what is new and says whether that is everything.
  ///
  /// ```swift
  /// switch try await database.current(within: .seconds(2)) {
  /// case .current: banner.isHidden = true
  /// case .stale(let reason, let asOf): banner.show(reason, asOf)
  /// }
  /// ```
  /// Returns `current` when every change that was committed in the business system before this call
  /// is visible, in all groups. Returns `stale` with the reason otherwise: at once if the server or its
  /// business system cannot be reached, else after `limit`. Whatever came by then is visible.
  ///
  /// In a message-based database it sends what is submitted, like `synchronize`; a replication-based
  /// one sends nothing here. The callback handler hears of imports only. Throws `cancelled` if the
  /// task is cancelled and `closed` if the database is.
  public func current(within limit: Duration = .seconds(2)) async throws(FerryError) -> DataState {
    let groups = store.model.groups.map(\.name)
    let session = SynchronizationSession(groups: groups)
    // The device waits a little longer than the server, for the way back.
    let wait = min(Requests.answerWait, Int64(limit / .milliseconds(1)) * 8 / 10)
    act { [runner] owner in
      let number = owner.nextPlanNumber()
      var plan = SynchronizationPlan(number: number, groups: groups, session: session)
      plan.currentWait = max(1, wait)
      owner.begin(plan)
      session.onCancel {
        runner.enqueue { owner throws(FerryError) in try owner.cancelPlan(number) }
        Task { await runner.drain() }
      }
    }
    do throws(FerryError) { try await session.value(within: limit) } catch {
      session.cancel()
      return .stale(try reason(of: error), asOf: try asOf(groups))
    }
    let currencies = session.currencies
    let open = groups.compactMap { group -> StaleReason? in
      switch currencies[group]?.word {
      case .current: nil
      case .loading: .serverLoading
      case .businessAway: .businessAway
      case .behind: .serverBehind
      case .cached: .cached
      case nil: .unknown
      }
    }
    guard let first = open.first else { return .current }
    return .stale(first, asOf: try asOf(groups, ages: currencies.compactMapValues(\.age)))
  }

  private func reason(of error: FerryError) throws(FerryError) -> StaleReason {
    switch error.code {
    case .cancelled, .closed: throw error
    case .notLoggedIn: return .notLoggedIn
    case .notSubscribed: return .notSubscribed
    case .offline: return .offline
    default:
      if state.isServerLoading { return .serverLoading }
      return state.failure?.code == .offline ? .offline : .serverSilent
    }
  }

  /// When the oldest of the groups was imported, or read by the server. `ages`: how old the server says
  /// that its rows are, in milliseconds; nil where that is not known of one of them.
  private func asOf(
    _ groups: [String], ages: [String: Int64] = [:]
  ) throws(FerryError) -> Date? {
    var oldest: Timestamp?
    for group in groups {
      guard var time = try lastImport(of: group) else { return nil }
      if let age = ages[group] {
        guard age < Checkpoint.unknownAge else { return nil }
        time = min(time, store.world.clock.now.advanced(by: .milliseconds(-age)))
      }
      oldest = oldest.map { min($0, time) } ?? time
    }
    return oldest.map { Date($0) }
  }
}
