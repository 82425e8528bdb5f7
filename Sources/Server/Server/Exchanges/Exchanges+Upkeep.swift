import FerryConnector
import FerryModel
import FerryWire

/// What a compaction purged.
package struct Compaction: Sendable, Equatable {
  package let purgedLeaves: Int64
  package let purgedRows: Int64
  package let forgottenOperations: Int64
  /// Partitions without a row that no device has asked for in a long time.
  package let removedPartitions: Int64
}

/// What the driver does now and then.
extension Exchanges {
  /// Purges what is old or too much. Call it once an hour; days count as they are seen.
  func compact() throws(ServerError) -> Compaction {
    try accounts.keepAllVisits()
    try accounts.forgetInactive()
    let compactor = Compactor(store: store, limits: limits, now: world.clock.now)
    let safe = core.marks.earliestVersion
    let summary = try guarded { () throws(StoreError) in
      try store.countDay()
      try accounts.sessions.forgetOld()
      let month = world.clock.now.advanced(by: .zero - Sessions.greatestAge)
      try store.forgetTokenUsers(issuedBefore: month.milliseconds)
      try store.forgetDevices(unseenForDays: limits.operationMemoryDays)
      try operations.purgeContents()
      let inUse = partitionsInUse()
      return try store.numbered { transaction throws(StoreError) in
        try compactor.compact(
          transaction, directory, safeVersion: safe ?? transaction.version, inUse: inUse)
      }
    }
    core.memory.committedAll()
    core.memory.dayEnded()
    return Compaction(
      purgedLeaves: summary.leaves, purgedRows: summary.rows,
      forgottenOperations: summary.operations, removedPartitions: summary.partitions)
  }
}
