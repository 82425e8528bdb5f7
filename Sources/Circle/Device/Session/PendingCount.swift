/// How much waits on this device.
struct PendingCount {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Changes that the business system may not have: pending ones, and sent ones without an answer.
  func all() throws(FerryError) -> Int64 {
    try transaction.value(
      "SELECT count(*) FROM ferry_operation WHERE state <> 'withdrawn' OR sent = 1")?.integer ?? 0
  }

  /// 1 where there is a change that the server does not get before, or with, this request: to count
  /// them all would make each request dearer by what waits. What was sent the server counts itself.
  func leastUnsent() throws(FerryError) -> Int64 {
    try transaction.value(
      """
      SELECT 1 FROM ferry_operation WHERE sequence NOT IN (
        SELECT sequence FROM ferry_operation
        WHERE sent = 1 AND state IN ('submitted', 'withdrawn', 'unknown')) LIMIT 1
      """)?.integer ?? 0
  }

  /// `pendingChanges` where a change is not sent or not answered.
  func checkNone() throws(FerryError) {
    let count = try all()
    guard count > 0 else { return }
    throw FerryError(
      .pendingChanges,
      count == 1
        ? "one change of this user was not sent or is not answered"
        : "\(count) changes of this user were not sent or are not answered",
      hint: "Synchronize first, or discard them with signOut(discardingPending: true).")
  }
}
