import FerryConnector
import FerryMemoryConnector
import FerryModel
import FerryServer
import FerryWorld

/// What a business tells of its changes: some of it is lost, comes twice, late or in another order, and
/// some says no more than that there was a change.
final class SimulatedNotices {
  private let chance: SeededChance
  /// Commits that were looked at.
  private var seen = 0
  private var underWay: [(notice: Notice, due: Timestamp, end: Timestamp)] = []

  /// How old a notice may be when it comes: less than the server allows.
  private static let longest: Duration = .seconds(100)

  init(seed: UInt64) { chance = SeededChance(seed ^ 0x4071CE) }

  /// Looks at what was changed since.
  func see(_ history: [MemoryCommit], at moment: Timestamp) {
    guard seen < history.count else { return }
    for commit in history[seen...] {
      var last: [RowName: MemoryEffect] = [:]
      for effect in commit.parts.flatMap(\.effects) {
        last[RowName(entity: effect.entity, key: effect.key)] = effect
      }
      for (_, effect) in last.sorted(by: { "\($0.key)" < "\($1.key)" }) { tell(effect, moment) }
    }
    seen = history.count
  }

  private func tell(_ effect: MemoryEffect, _ moment: Timestamp) {
    guard let entity = SimulatedBusiness.package.entity(named: effect.entity) else { return }
    let isHint = chance.happens(200)
    let content: Notice.Content =
      isHint
      ? .hint
      : effect.after.map { values in
        .values(Dictionary(uniqueKeysWithValues: zip(values.indices, values)))
      } ?? .deleted
    let notice = Notice(entity, effect.key, content)
    // Not at all, once, or twice.
    for _ in 0..<chance.pick([0, 1, 1, 1, 2]) {
      let wait: Int = chance.happens(500) ? 0 : chance.number(below: 20_000)
      underWay.append(
        (
          notice, moment.advanced(by: .milliseconds(wait)),
          moment.advanced(by: SimulatedNotices.longest)
        ))
    }
  }

  /// Those that arrive now, in any order.
  func arriving(at moment: Timestamp) -> [Notice] {
    var arriving: [Notice] = []
    var rest: [(notice: Notice, due: Timestamp, end: Timestamp)] = []
    for one in underWay where moment < one.end {
      if moment < one.due {
        rest.append(one)
      } else {
        arriving.insert(one.notice, at: chance.number(below: arriving.count + 1))
      }
    }
    underWay = rest
    return arriving
  }

  /// Nothing comes any more.
  func end() { underWay = [] }
}
