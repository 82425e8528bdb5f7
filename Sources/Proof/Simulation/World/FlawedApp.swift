import Ferry
import FerryModel
import FerryWorld

/// What a planted bug does to the calls of an app before they reach the device's database.
enum FlawedApp {
  static func rollback(_ store: Store, _ flaws: Set<PlantedBug>) throws(FerryError) {
    guard !flaws.contains(.rollbackKeeps) else { return }
    try store.rollback()
  }

  static func spoiled(_ change: LocalChange, _ flaws: Set<PlantedBug>) -> LocalChange {
    guard flaws.contains(.saveDropsValue), change.kind == .update, var after = change.after else {
      return change
    }
    let changed = after.indices.filter { after[$0] != change.seen[$0] }
    guard changed.count > 1, let last = changed.last else { return change }
    after[last] = change.seen[last]
    var spoiled = change
    spoiled.after = after
    return spoiled
  }
}
