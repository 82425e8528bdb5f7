import FerryWire
import FerryWorld

/// One synchronization that was asked for: what it is of, and how far it is.
package struct SynchronizationPlan: Sendable {
  /// Why it begins.
  package enum Origin: Sendable, Equatable {
    case app
    /// The server has ended the replay of all operations of a batch.
    case completion(batch: Int64)
    case notification
  }

  package let number: Int
  /// In the order in which they are downloaded.
  package let groups: [String]
  package let isUploadOnly: Bool
  /// It ends when the operations that it sent are answered.
  package let awaitsAnswers: Bool
  package let origin: Origin
  let session: SynchronizationSession?
  /// How long the server may hold its answer until everything that was committed before is in it;
  /// nil for who does not ask. Such a plan is not reported to the handler.
  package var currentWait: Int64?
  /// What the imported checkpoints said, by group.
  var currencies: [String: GroupCurrency] = [:]
  /// Its first status was reported.
  var isBegun = false
  /// A request of it is under way.
  package internal(set) var isUnderWay = false
  /// Operations that its request carries and that nobody has acknowledged.
  var uploads = 0
  /// `asyncReplayUploaded` was reported for the request.
  var isUploadReported = false
  var isDownloading = false
  /// Its request asks for rows.
  var pulls = false
  /// Nothing of its request has left: the app is still asked.
  package internal(set) var isUnsent = false
  /// Some request of it has left.
  var hasSent = false
  /// Of the operations that it sent.
  package internal(set) var batch: Int64?
  /// Operations of its request that an earlier batch had.
  var earlierBatches: [OperationID: Int64] = [:]
  /// Not before this time, where the answers are not here yet.
  var notBefore: Timestamp?
  var waits = 0
  var progress = SynchronizationProgress()

  package init(
    number: Int, groups: [String], isUploadOnly: Bool = false, awaitsAnswers: Bool = false,
    origin: Origin = .app, session: SynchronizationSession? = nil
  ) {
    self.number = number
    self.groups = groups
    self.isUploadOnly = isUploadOnly
    self.awaitsAnswers = awaitsAnswers
    self.origin = origin
    self.session = session
  }

  func context(
    _ status: SynchronizationContext.Status, _ error: FerryError? = nil
  ) -> SynchronizationContext {
    SynchronizationContext(
      status: status, error: error, userContext: session?.userContext, progress: progress)
  }

  /// What is reported before the first request leaves.
  var opening: [SynchronizationContext.Status] {
    switch origin {
    case .app: [.starting]
    case .completion: [.asyncReplayCompleted, .starting]
    case .notification: [.startingOnNotification]
    }
  }
}

/// A plan that has ended, and how.
package struct EndedPlan: Sendable {
  package let plan: SynchronizationPlan
  /// Nil where it ended well.
  package let error: FerryError?
}

/// What the server said of the rows of a group.
struct GroupCurrency: Sendable {
  let word: FerryWire.Currency
  /// How old they are if they are not current, in milliseconds.
  let age: Int64?
}
