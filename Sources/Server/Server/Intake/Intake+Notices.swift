import FerryConnector
import FerryModel
import FerryWorld

/// Since when writes of a row make a notice of it doubtful: a notice may have been on its way as long.
struct NoticeMarks {
  private var older: (mark: Mark, since: Timestamp)?
  private var newer: (mark: Mark, since: Timestamp)?
  private var lastNotice: Timestamp?

  /// How long a notice may be on its way.
  static let age: Duration = .seconds(120)
  /// After so long without a notice nothing is remembered for the next one.
  static let idle: Duration = .seconds(600)

  /// The mark that is old enough; nil where there is none yet.
  var mark: Mark? { older?.mark }

  /// Begins a mark where it is time for one; `ended` gets those that nobody needs any more.
  mutating func advance(_ now: Timestamp, isNotice: Bool, begin: () -> Mark?, ended: (Mark) -> Void)
  {
    if isNotice { lastNotice = now }
    guard let last = lastNotice else { return }
    if !isNotice, now >= last.advanced(by: NoticeMarks.idle) {
      for kept in [older, newer].compactMap({ $0 }) { ended(kept.mark) }
      (older, newer, lastNotice) = (nil, nil, nil)
      return
    }
    guard let young = newer else {
      newer = begin().map { ($0, now) }
      return
    }
    guard now >= young.since.advanced(by: NoticeMarks.age) else { return }
    if let old = older { ended(old.mark) }
    older = young
    newer = begin().map { ($0, now) }
  }
}

/// Deletions that nobody asked for: as many as in a load that is not believed are looked at by a load.
struct NoticeBrake {
  private var count = 0
  private var since: Timestamp?
  static let window: Duration = .seconds(60)

  /// Whether one more may be believed now.
  mutating func mayDelete(_ now: Timestamp, limit: Int) -> Bool {
    if let since, now < since.advanced(by: NoticeBrake.window) {
      count += 1
    } else {
      since = now
      count = 1
    }
    return count <= limit
  }
}

/// What somebody says was changed.
extension Intake {
  /// Takes notices in their order; gives what became of each, and whether a load must begin.
  ///
  /// Values count as of their arrival: they never overwrite an object that an operation may be changing,
  /// or that was written a short time ago. Where that is in doubt the object is read.
  func take(
    _ notices: [Notice], unwritten: @autoclosure () -> Set<ObjectName>
  ) throws(ServerError) -> (outcomes: [NoticeOutcome], needsLoad: Bool) {
    try advanceNoticeMarks(isNotice: true)
    var outcomes: [NoticeOutcome] = []
    var needsLoad = false
    var rest = notices[...]
    while !rest.isEmpty {
      // Of two notices of one object the second sees what the first has written.
      var names: Set<ObjectName> = []
      let part = rest.prefix { names.insert($0.name).inserted }
      rest = rest.dropFirst(part.count)
      let (some, isHeld) = try takePart(Array(part), unwritten: unwritten())
      outcomes += some
      needsLoad = needsLoad || isHeld
    }
    if readAgain.count > limits.hintedObjects { needsLoad = true }
    return (outcomes, needsLoad)
  }

  private func takePart(
    _ notices: [Notice], unwritten: @autoclosure () -> Set<ObjectName>
  ) throws(ServerError) -> (outcomes: [NoticeOutcome], isHeld: Bool) {
    let isLoaded = try isLoaded()
    let mark = noticeMarks.mark
    var later: [ObjectName] = []
    var outcomes: [NoticeOutcome] = []
    var isHeld = false
    let met: MetRows = try write { _, machine throws(StoreError) in
      var met = MetRows()
      for notice in notices {
        guard let position = rules.position(of: notice.entity.name) else {
          outcomes.append(.unfit(reason: "the model has no \(notice.entity.name)"))
          continue
        }
        let row = try cache.row(RowName(position, notice.key))
        let isThere = row.map { !$0.isDeleted } ?? false
        // It may be the work of a create that is not answered yet.
        let mayBeNew =
          !isThere
          && core.claims.mayHaveCreated(notice.entity.name, readAt: core.marks.moment)
        let isDoubtful =
          !isLoaded
          || mark.map {
            core.marks.isTouched(notice.name, version: row?.version, since: $0)
          } ?? true
        let known = NoticeRule.Known(
          values: isThere
            ? try row.map { row throws(StoreError) in try cache.values(of: row) } : nil,
          isClaimed: (core.claims.holds(notice.name) || mayBeNew) && !world.has(.noticeOverClaim),
          isDoubtful: isDoubtful && !world.has(.olderNoticeWins)
            && !(world.has(.noticeOverClaim) && core.claims.holds(notice.name)))
        switch NoticeRule.decide(notice, known) {
        case .ignore: outcomes.append(.older)
        case .read:
          if notice.content == .whole { isHeld = true }
          later.append(notice.name)
          outcomes.append(.readBack)
        case .write(nil):
          guard noticeBrake.mayDelete(world.clock.moment, limit: limits.massDeletionRows) else {
            isHeld = true
            outcomes.append(.held)
            continue
          }
          try met.take(
            RowImage(entity: notice.entity.name, key: notice.key, values: nil), position, &machine,
            cache)
          outcomes.append(.taken)
        case .write(let values?):
          let image = RowImage(entity: notice.entity.name, key: notice.key, values: values)
          if let problem = RowCheck.problem(image, notice.entity) {
            outcomes.append(.unfit(reason: "\(problem.attribute): \(problem.reason)"))
            continue
          }
          try met.take(image, position, &machine, cache)
          outcomes.append(.taken)
        }
      }
      try keep(&met)
      return (met, [])
    }
    for name in later { readLater(name, metAt: core.marks.moment) }
    for name in met.names { core.marks.confirm(name) }
    tell(met)
    settled(met.names, unwritten: unwritten())
    return (outcomes, isHeld)
  }

  /// As time goes on; `isNotice`: one has come.
  func advanceNoticeMarks(isNotice: Bool) throws(ServerError) {
    let clock = try clock()
    noticeMarks.advance(
      world.clock.moment, isNotice: isNotice, begin: { core.marks.begin(clock: clock) },
      ended: { core.marks.end($0) })
  }

  /// Whether somebody keeps marks for notices.
  var hasNoticeMarks: Bool { noticeMarks.isKept }
}

extension NoticeMarks {
  var isKept: Bool { lastNotice != nil }
}
