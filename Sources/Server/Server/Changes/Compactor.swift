import FerryWorld

/// Purges leaves that every device has had time to see; whoever comes later starts the partition
/// again.
struct Compactor {
  let store: any Store
  let limits: ServiceLimits
  let now: Timestamp

  struct Summary {
    var leaves: Int64 = 0
    var rows: Int64 = 0
    var operations: Int64 = 0
    var partitions: Int64 = 0
  }

  /// `safeVersion`: no reader of the business system that is busy has an earlier mark. `inUse`:
  /// partitions of exchanges that are open.
  func compact(
    _ transaction: NumberedTransaction, _ directory: PartitionDirectory, safeVersion: Int64,
    inUse: Set<Int64>
  ) throws(StoreError) -> Summary {
    let old = try store.version(daysAgo: limits.tombstoneDays)
    var summary = Summary()
    for (partition, rows, left) in try store.leftPartitions() {
      var upTo = old
      let kept = max(limits.tombstonesKept, rows)
      if left > kept {
        upTo = max(upTo, try store.leave(of: partition, after: left - kept - 1) ?? 0)
      }
      summary.leaves += try store.purgeLeaves(of: partition, upTo: upTo, transaction)
    }
    let unasked = try store.emptyPartitions(unaskedForDays: limits.unaskedPartitionDays)
      .filter { !inUse.contains($0) }
    for partition in unasked {
      summary.leaves += try store.purgeLeaves(of: partition, upTo: .max, transaction)
    }
    try directory.remove(unasked, transaction)
    summary.partitions = Int64(unasked.count)
    summary.rows = try store.purgeRows(upTo: safeVersion)
    try forgetAnswersOfPrograms()
    let day: Int64 = 86_400_000
    try store.emptyRefused(
      afterDays: limits.refusedDays, before: now.milliseconds - limits.refusedDays * day)
    summary.operations = try store.forgetOperations(afterDays: limits.operationMemoryDays)
    try store.forgetReports(afterDays: limits.reportDays)
    return summary
  }

  /// A program does not confirm what it was answered.
  private func forgetAnswersOfPrograms() throws(StoreError) {
    let old = try store.unconfirmedAnswers(
      ofDevices: CallerDevice.prefix, afterDays: limits.programAnswerDays,
      count: Compactor.answersAtOnce)
    for answer in old {
      try store.confirm([answer.id], upTo: answer.version, user: answer.user)
    }
  }

  /// The rest is done an hour later.
  private static let answersAtOnce: Int = 10_000
}
