import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// The calls about operations of devices, and about other nodes.
extension Service {
  /// How many operations were taken in since the start.
  var arrivedOperations: Int64 { core.arrivedOperations }

  /// What waits to be performed.
  var queue: ReplayQueue { operations.queue }

  /// The next chain to perform, claimed; nil when none is ready. What a crash left comes first,
  /// with a step that asks whether it was performed.
  package func nextReplay() throws(ServerError) -> ReplayTask? {
    defer { handOut() }
    return try operations.nextReplay()
  }

  /// The next chains, claimed in one transaction. No two are about one object; they must be
  /// performed one after the other, in this order.
  /// `connection`: only what it performs; nil: any.
  package func nextReplays(
    limit: Int, of connection: Int? = nil
  ) throws(ServerError) -> [ReplayTask] {
    defer { handOut() }
    return try operations.nextReplays(limit: limit, of: connection)
  }

  /// When `nextReplay` may have something that it has not now; nil when nothing waits for a time.
  package var nextReplayMoment: Timestamp? { operations.nextReplayMoment }

  /// Takes what the business system said to the task's last step, and says what to do next.
  package func report(_ task: ReplayTask, _ report: ReplayReport) throws(ServerError) -> ReplayStep
  {
    defer { handOut() }
    return try operations.report(task, report)
  }

  /// The same for several, in the order in which they were performed; those that come to their
  /// answers are answered in one numbered transaction.
  package func report(
    _ reports: [(task: ReplayTask, report: ReplayReport)]
  ) throws(ServerError) -> [ReplayStep] {
    defer { handOut() }
    return try operations.report(reports)
  }

  /// Ends an unknown outcome. `accepted` reads the object first, so its answer comes with the next
  /// replays. Throws `badRequest` when there is no such operation, its outcome is known, or it is being
  /// decided.
  package func decide(_ id: OperationID, _ decision: OperationDecision) throws(ServerError) {
    defer { handOut() }
    try operations.decide(id, decision)
  }

  /// Operations whose outcome nobody knows, with what was sent and what was found.
  package func openOutcomes() throws(ServerError) -> [OpenOutcome] {
    defer { handOut() }
    return try guarded { () throws(StoreError) in
      let found = try store.unknownOutcomes()
      return zip(found, try store.operations(found.map(\.operation))).map { found, received in
        OpenOutcome(
          operation: received.operation, user: received.user, device: received.owner.device.text,
          found: found)
      }
    }
  }

  /// Takes a piece, or tells how far the content is. `progress` is where the device goes on; with
  /// `isTaken` false the piece began elsewhere and was not kept.
  package func take(
    _ piece: ContentPiece, from identity: Identity
  ) throws(ServerError) -> Result<(progress: ContentProgress, isTaken: Bool), ContentRefusal> {
    defer { handOut() }
    return try operations.take(piece, from: identity)
  }

  /// Under which the business system knows who performs.
  var leadership: String { operations.leadership }

  /// To be called each second, and when another node has committed something. A node that follows
  /// learns what the leader has done; the leader takes what other nodes have taken in.
  package func catchUp() throws(ServerError) {
    defer { handOut() }
    try operations.catchUp()
  }

  /// Catches up; whether operations to perform have come. A store that fails is heard of by the event
  /// `storeFailed`.
  func catchUpFindsWork() -> Bool {
    defer { handOut() }
    return operations.catchUpFindsWork()
  }

  /// Throws where what is remembered may be too old to be given to a device.
  package func requireRecentView() throws(ServerError) {
    defer { handOut() }
    try core.requireRecentView()
  }
}
