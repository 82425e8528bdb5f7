import FerryConnector
import FerryModel
import FerryWire

/// What the driver does now and then, and what an operator decides.
extension Service {
  /// What a compaction purged.
  public struct Compaction: Sendable, Equatable {
    public let purgedLeaves: Int64
    public let purgedRows: Int64
    public let forgottenOperations: Int64
    /// Partitions without a row that no device has asked for in a long time.
    public let removedPartitions: Int64
  }

  /// Purges what is old or too much. Call it once an hour; days count as they are seen.
  @discardableResult
  public func compact() throws(ServerError) -> Compaction {
    try accounts.keepAllVisits()
    try accounts.forgetInactive()
    let compactor = Compactor(store: store, limits: limits)
    let safe = core.marks.earliestVersion
    let summary = try guarded { () throws(StoreError) in
      try store.countDay()
      try accounts.sessions.forgetOld()
      let month = world.clock.now.advanced(by: .zero - Sessions.greatestAge)
      try store.forgetTokenUsers(issuedBefore: month.milliseconds)
      try store.forgetDevices(unseenForDays: limits.operationMemoryDays)
      try purgeContents()
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

  /// What a person found out about an operation whose outcome is unknown.
  public enum Decision: Sendable, Equatable {
    /// The business system has taken it; `key` is the object's business key.
    case accepted(key: ObjectKey)
    case refused(message: String)
    /// It was not performed: perform it, where its user may still do that. A business system that
    /// remembers operations is asked first; what it knows of is not performed again.
    case again
  }

  /// Ends an unknown outcome. `accepted` reads the object first, so its answer comes with the next
  /// replays. Throws `badRequest` when there is no such operation, its outcome is known, or it is being
  /// decided.
  public func decide(_ id: OperationID, _ decision: Decision) throws(ServerError) {
    let known = try guarded { () throws(StoreError) in try store.known([id])[0] }
    guard let known, known.outcome == .unknown, known.hasPayload else {
      throw ServerError(
        .badRequest, "there is no operation \(id) with an unknown outcome",
        hint: "`ferry why` shows the operations of an object.")
    }
    // Two would come to different ends, and what one says was told by then.
    guard known.state != .claimed else {
      throw ServerError(
        .badRequest,
        "the decision about operation \(id) is being made, and waits for the business system",
        hint: "`ferry why` shows when it has ended.")
    }
    let received = try guarded { () throws(StoreError) in try store.operation(id) }
    try decide(received, decision)
  }
}
