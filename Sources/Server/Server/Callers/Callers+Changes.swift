import FerryModel
import FerryWire

/// What was changed since a caller asked last.
extension Callers {
  /// Where the changes begin that come from now on; nil where the user has too many partitions.
  func mark(of entity: Int, for user: String) throws(ServerError) -> CallerMark? {
    let partitions = try partitions(of: entity, try record(of: user))
    guard partitions.count <= CallerMark.partitionLimit else { return nil }
    return try reading { () throws(StoreError) in
      try store.snapshot { view throws(StoreError) in mark(view, try view.eras(), partitions) }
    }
  }

  private func mark(
    _ view: any StoreSnapshot, _ eras: EraList, _ partitions: [Int64]
  ) -> CallerMark {
    CallerMark(
      era: eras.eras.last?.id ?? store.era, version: view.clock, partitions: partitions)
  }

  /// Keys of an entity's rows that were written since the mark, or left a partition of the user. At
  /// most `limit` changes are read, of all entities in these partitions.
  func changes(
    of entity: Int, for user: String, since mark: CallerMark, limit: Int
  ) throws(ServerError) -> CallerChanges {
    let partitions = try partitions(of: entity, try record(of: user))
    // What was there is not the user's any more, and nothing says which rows those were.
    guard Set(mark.partitions).isSubset(of: partitions) else { return .lost(.partition) }
    guard partitions.count <= CallerMark.partitionLimit else { return .lost(.tooMany) }
    return try reading { () throws(StoreError) in
      try store.snapshot { view throws(StoreError) in
        let eras = try view.eras()
        guard eras.holds(era: mark.era, version: mark.version, clock: view.clock) else {
          return .lost(.history)
        }
        var found = ChangedKeys(entity: package.entities[entity], left: limit)
        for partition in partitions {
          let start =
            mark.partitions.contains(partition) ? Cursor.end(of: mark.version) : Cursor.start
          if let loss = try read(partition, from: start, view, &found) { return .lost(loss) }
        }
        return .changed(found.keys, now: self.mark(view, eras, partitions))
      }
    }
  }

  private func read(
    _ partition: Int64, from start: Cursor, _ view: any StoreSnapshot, _ found: inout ChangedKeys
  ) throws(StoreError) -> CallerLoss? {
    guard let state = try view.partition(partition),
      !WelcomeMachine.isBelow(start, floor: state.floor)
    else { return .history }
    var cursor = start
    while cursor < .end(of: state.version) {
      var limits = limits
      limits.pageRows = min(limits.pageRows, found.left + 1)
      let page = try view.page(partition, from: cursor, upTo: .max, limits)
      found.left -= page.rows
      guard found.left >= 0 else { return .tooMany }
      try found.add(page, package)
      cursor = page.to
    }
    return nil
  }
}

/// Keys of one entity out of pages, each once and in the order of its first change.
private struct ChangedKeys {
  let entity: Entity
  /// How many changes may still be read.
  var left: Int
  private(set) var keys: [ObjectKey] = []
  private var known: Set<ObjectKey> = []

  init(entity: Entity, left: Int) {
    self.entity = entity
    self.left = left
  }

  mutating func add(_ page: Page, _ package: Package) throws(StoreError) {
    let rows: RowsPage
    do throws(WireError) { rows = try RowsPage(kept: page.bytes) } catch {
      throw StoreError.damaged("a page cannot be read: \(error.message)")
    }
    var found: [ObjectKey] = []
    try rows.read(
      of: package, wrap: { StoreError.damaged("a page cannot be read: \($0.problem)") },
      row: { entity, values, _ throws(StoreError) in
        guard entity.name == self.entity.name else { return }
        found.append(ObjectKey(entity.key.map { values[$0] }))
      },
      left: { entity, key throws(StoreError) in
        if entity.name == self.entity.name { found.append(key) }
      })
    for key in found where known.insert(key).inserted { keys.append(key) }
  }
}
