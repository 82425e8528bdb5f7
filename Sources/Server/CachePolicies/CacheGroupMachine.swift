import FerryWorld

/// Decides when the rows of one cache group are read, and who waits for that. Pure.
///
/// A load has a number. Who asks gets the number of the load to wait for; all who ask meanwhile get the
/// same one. Ages count by the time that never jumps, hours of the day by the time of day.
package struct CacheGroupMachine: Sendable {
  /// What an operator sees.
  package enum State: String, Sendable {
    case available, refreshing, suspended
  }

  /// What somebody who wants the rows has to do.
  package enum Answer: Sendable, Equatable {
    /// Take those that are there: the policy says that they are good.
    case cached
    /// Take those that are there: the business system has just failed.
    case away
    /// Wait for the load of this number.
    case load(Int64)
  }

  package private(set) var group: CacheGroup
  package private(set) var isSuspended: Bool
  /// Loads begun, and the last that has ended, well or not.
  package private(set) var begun: Int64 = 0
  private var finished: Int64 = 0
  /// When the load began that is under way.
  private var since: Duration?
  /// When the last load began: of several groups the one that was read longest ago is next.
  package private(set) var lastBegan: Duration?
  /// The last load that ended well, and when it began.
  private var lastGood: (number: Int64, began: Duration)?
  /// The last load that was under way when the group was suspended: nobody may wait for it.
  private var givenUp: Int64 = 0
  /// What was read before this may lack what an operation has changed.
  private var staleBefore: Duration?
  private var isWanted = false
  private var failures = 0
  private var retryAt: Duration?
  /// Why the last load failed; nil where it ended well.
  package private(set) var failure: String?
  /// When the schedule says so next, and the time of day at the last look.
  private var due: Timestamp?
  private var lastLook: Timestamp?

  package init(_ group: CacheGroup, isSuspended: Bool = false) {
    self.group = group
    self.isSuspended = isSuspended
  }

  package var state: State {
    if isSuspended { return .suspended }
    return since == nil ? .available : .refreshing
  }

  /// Whether a load is to begin as soon as one can.
  package var wantsLoad: Bool { isWanted && !isSuspended && since == nil }

  /// How old the rows are; nil where that is not known.
  package func age(at now: Duration) -> Duration? { lastGood.map { now - $0.began } }

  // Who asks.

  /// A device wants the rows.
  package mutating func ask(at now: Duration) -> Answer {
    guard case .onDemand(let interval) = group.refresh, !isSuspended else { return .cached }
    if let lastGood, isFresh(lastGood.began, at: now, interval) { return .cached }
    // What began long ago may lack what the asker must see: then it waits for the next one.
    if let since, begun != givenUp, isFresh(since, at: now, interval) { return .load(begun) }
    if let retryAt, now < retryAt { return .away }
    isWanted = true
    return .load(begun + 1)
  }

  private func isFresh(_ began: Duration, at now: Duration, _ interval: Duration) -> Bool {
    now - began < interval && (staleBefore.map { began > $0 } ?? true)
  }

  /// An operation was performed that changes other rows of the group too. On demand it is read when the
  /// next device asks, whatever its interval; else as soon as it can be.
  package mutating func invalidate(at now: Duration) {
    staleBefore = now
    if case .onDemand = group.refresh { return }
    isWanted = true
  }

  /// Whether nobody needs to wait for the load any more.
  package func isDone(_ number: Int64) -> Bool { isSuspended || finished >= number }

  /// Whether this load, or a later one, has ended well.
  package func hasBrought(_ number: Int64) -> Bool { lastGood.map { $0.number >= number } ?? false }

  /// The operator or a notice wants the rows to be read. Returns the number of the load.
  package mutating func refresh() -> Int64 {
    isWanted = true
    retryAt = nil
    return begun + 1
  }

  // Time.

  /// Looks whether it is time for a load. Returns true if the time of day was set back so far that the
  /// schedule begins anew.
  package mutating func advance(to now: Duration, _ time: Timestamp) -> Bool {
    defer { lastLook = time }
    switch group.refresh {
    case .onDemand, .notice: return false
    case .every(let interval):
      if since == nil, age(at: now).map({ $0 >= interval }) ?? true { isWanted = true }
      return false
    case .scheduled(let schedule):
      let isSetBack =
        lastLook.map { time.advanced(by: CacheGroupMachine.clockStep) < $0 } ?? false
      guard let due, !isSetBack else {
        // An hour may have passed while nobody looked.
        if lastGood == nil { isWanted = true }
        self.due = schedule.next(after: time)
        return isSetBack
      }
      guard time >= due else { return false }
      isWanted = true
      self.due = schedule.next(after: time)
      return false
    }
  }

  /// A clock that is corrected by less does not count as set back.
  private static let clockStep: Duration = .seconds(60)

  // Loads.

  /// Whether a load is wanted and may begin now.
  package func mayBegin(at now: Duration) -> Bool {
    wantsLoad && (retryAt.map { now >= $0 } ?? true)
  }

  /// Begins the load that is wanted; nil where none is, or not yet.
  package mutating func begin(at now: Duration) -> Int64? {
    guard mayBegin(at: now) else { return nil }
    assert(since == nil && finished <= begun, "two loads of a cache group are under way")
    isWanted = false
    begun += 1
    since = now
    lastBegan = now
    return begun
  }

  /// The load has ended; `failure`: why it has brought nothing.
  package mutating func end(_ number: Int64, failure: String?, at now: Duration) {
    guard number == begun, let began = since else { return }
    since = nil
    finished = number
    if let failure {
      // Who has suspended the group has stopped the load; it may be resumed by now.
      if number != givenUp { fail(failure, at: now) }
    } else {
      brought(number, began)
    }
  }

  /// A load of everything has ended well that began then.
  package mutating func loadedWithAll(began: Duration) {
    // It is no load that anybody waits for, and may have begun before one of these.
    guard lastGood.map({ $0.began < began }) ?? true else { return }
    brought(lastGood?.number ?? 0, began)
  }

  private mutating func brought(_ number: Int64, _ began: Duration) {
    assert(number <= begun, "a load that did not begin has brought rows")
    assert(lastGood.map { $0.began <= began } ?? true, "an older load replaces a newer one")
    lastGood = (number, began)
    (failures, retryAt, failure) = (0, nil, nil)
  }

  private mutating func fail(_ reason: String, at now: Duration) {
    failure = reason
    let wait = min(Int64(1) << Int64(min(failures, 6)), 60)
    failures += 1
    retryAt = now + .seconds(wait)
    // What nobody asks for again is tried again by itself.
    if case .onDemand = group.refresh { return }
    isWanted = true
  }

  // The operator.

  /// Nothing is read any more, and nobody waits. Gives whether a load is under way, which is to stop.
  package mutating func suspend() -> Bool {
    isSuspended = true
    isWanted = false
    if since != nil { givenUp = begun }
    return since != nil
  }

  /// Ends a suspension.
  package mutating func resume() {
    isSuspended = false
    (due, retryAt) = (nil, nil)
    if case .onDemand = group.refresh { return }
    if case .notice = group.refresh { return }
    isWanted = true
  }

  /// Another policy holds from now on. What was read stays; its age is not known where the group has
  /// other entities than before.
  package mutating func change(to group: CacheGroup) {
    guard group != self.group else { return }
    if Set(group.entities) != Set(self.group.entities) { lastGood = nil }
    self.group = group
    due = nil
    isWanted = false
  }
}
