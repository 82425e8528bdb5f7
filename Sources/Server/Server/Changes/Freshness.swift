/// How far the cache is known to hold what the business system had. Pure.
///
/// The connector looks for changes of others again and again. A look is complete when everything that
/// it found has been read: then the cache holds every change that was committed before the look began.
/// It finds no changes of the server's own operations. So it also waits for what those replays wrote
/// that were being performed when it began.
struct Freshness {
  /// A look whose findings are not all read.
  private struct Open {
    let look: Int64
    var objects: Set<ObjectName>
    /// It is complete only after a load that began later than this one.
    var loadAfter: Int64?
    /// Replays that may have committed before it, and of which nothing is reported yet.
    var replays: Set<Int64>
  }

  /// Looks begun.
  private(set) var begun: Int64 = 0
  /// The last look that is complete.
  private(set) var completed: Int64 = 0
  /// The last look, if it failed.
  private(set) var failed: Int64?
  /// The look that is being read, and the newest one behind it.
  private var open: [Open] = []

  /// Looks that have not ended, and the replays that were being performed when they began.
  private var underWay: [Int64: Set<Int64>] = [:]

  /// Whether a look has found what is not read yet.
  var isWaiting: Bool { !open.isEmpty }

  /// The look that must be complete for whoever asks now.
  var needed: Int64 { begun + 1 }

  /// `performing`: replays of which the business system has not answered.
  mutating func begin(performing replays: Set<Int64> = []) -> Int64 {
    begun += 1
    underWay[begun] = replays
    return begun
  }

  mutating func fail(_ look: Int64) {
    failed = look
    underWay[look] = nil
  }

  /// `waiting`: objects that are to be read by now; `loadAfter`: a load is needed too, and the last one
  /// that has begun has this number.
  mutating func end(_ look: Int64, waiting: Set<ObjectName>, loadAfter: Int64?) {
    failed = nil
    // What the look in whose place this one comes had to read is in `waiting`.
    let replaced = open.count > 1 ? open.removeLast() : nil
    // A load that an earlier look waits for is waited for here too.
    let load = loadAfter ?? replaced?.loadAfter ?? open.last?.loadAfter
    open.append(
      Open(
        look: look, objects: waiting, loadAfter: load,
        replays: underWay.removeValue(forKey: look) ?? []))
    close()
  }

  /// These were read, and nobody has to read them again.
  mutating func read(_ objects: some Sequence<ObjectName>) {
    for place in open.indices { open[place].objects.subtract(objects) }
    close()
  }

  /// The business system has answered a replay, or it has ended; `unwritten`: objects that it has
  /// changed and that the cache does not hold yet.
  mutating func reported(_ replay: Int64, unwritten: Set<ObjectName>) {
    for look in underWay.keys { underWay[look]?.remove(replay) }
    for place in open.indices where open[place].replays.remove(replay) != nil {
      open[place].objects.formUnion(unwritten)
    }
    close()
  }

  /// A load has ended; `waiting` as above.
  mutating func loaded(_ load: Int64, waiting: Set<ObjectName>) {
    for place in open.indices {
      guard let after = open[place].loadAfter, load > after else { continue }
      open[place].loadAfter = nil
      open[place].objects.formUnion(waiting)
    }
    close()
  }

  private mutating func close() {
    while let first = open.first, first.objects.isEmpty, first.loadAfter == nil,
      first.replays.isEmpty
    {
      completed = first.look
      open.removeFirst()
    }
  }
}
