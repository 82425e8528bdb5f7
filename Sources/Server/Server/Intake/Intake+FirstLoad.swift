import FerryModel

/// The first load: nothing is compared where there is nothing to compare with. Rows go straight into
/// the cache, where devices do not see them until the load has ended.
extension Intake {
  func hasRows() throws(ServerError) -> Bool {
    try guarded { () throws(StoreError) in
      for entity in package.entities.indices where try store.hasRow(of: entity) { return true }
      return false
    }
  }

  func takeFirst(
    _ batch: LoadBatch, _ load: ActiveLoad, moment: Int64
  ) throws(ServerError) {
    let written = try guarded { () throws(StoreError) -> Written? in
      // Children that are there already move when their parent comes: that is decided at the end.
      for child in rules.children[batch.entity] where try store.hasRow(of: child) {
        try loads.stage(batch, moment: moment)
        return nil
      }
      var (rows, later) =
        load.compares ? try loads.unknown(batch.rows) : (batch.rows, [])
      let entity = package.entities[batch.entity].name
      rows.removeAll { row in
        let name = ObjectName(entity: entity, key: row.name.key)
        guard mayBeOld(name, nil, isThere: false, load.ticket, readAt: moment) else { return false }
        later.append(row)
        return true
      }
      let written = try write(rows)
      // Somebody wrote these meanwhile, or the load brings them twice.
      later += zip(rows, written.numbers).filter { $0.1 == nil }.map(\.0)
      if load.compares { loads.see(written.numbers.compactMap { $0 }) }
      try loads.keep(later, batch.rejected, moment: moment)
      return written
    }
    guard let written else { return }
    core.memory.committed(written.partitions, clock: written.clock)
    self.load?.summary.changedRows += written.numbers.count { $0 != nil }
  }

  private struct Written {
    var numbers: [Int64?] = []
    var partitions: Set<Int64> = []
    var clock: Int64?
  }

  private func write(_ rows: [LoadRow]) throws(StoreError) -> Written {
    guard !rows.isEmpty else { return Written() }
    return try store.numbered { transaction throws(StoreError) in
      try rules.windows.know(store, rules)
      var parents: [ParentName: Place?] = [:]
      var new: [NewRow] = []
      new.reserveCapacity(rows.count)
      for row in rows { new.append(try newRow(row, &parents, transaction)) }
      let numbers = try store.insert(new, transaction)
      return Written(
        numbers: numbers, partitions: Set(new.compactMap(\.partition)),
        clock: transaction.hasWritten ? transaction.version : nil)
    }
  }

  /// `parents`: the places of parents that were looked up already.
  private func newRow(
    _ row: LoadRow, _ parents: inout [ParentName: Place?], _ transaction: NumberedTransaction
  ) throws(StoreError) -> NewRow {
    let entity = row.name.entity
    let place = try rules.place(of: entity, values: row.values) { name throws(StoreError) in
      if let known = parents[name] { return known }
      let number = try store.parents(name).first?.partition
      let place = try number.flatMap { number throws(StoreError) in
        try directory.place(of: number)
      }
      parents[name] = .some(place)
      return place
    }
    let partition = try place.map { place throws(StoreError) in
      try directory.number(of: place, making: transaction, for: nil)
    }
    var alternates: [NewRow.Alternate] = []
    if let day = rules.windows.dayKey(of: entity, row.values) {
      alternates.append(NewRow.Alternate(attributes: PartitionWindows.index, key: day))
    }
    for child in rules.children[entity] {
      guard case .parent(let path) = rules.rules[child].path, !path.isKey,
        let key = path.name(of: row.values),
        !alternates.contains(where: { $0.attributes == path.name })
      else { continue }
      alternates.append(NewRow.Alternate(attributes: path.name, key: key))
    }
    return NewRow(
      name: row.name, parentKey: rules.parentKey(of: entity, row.values), partition: partition,
      body: row.body, hash: row.hash, alternates: alternates)
  }
}
