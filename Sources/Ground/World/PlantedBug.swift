/// A bug that a simulation switches on by name, to show that its checkers find it.
public enum PlantedBug: String, Sendable, Hashable, CaseIterable {
  /// The last downloaded image is not kept when an object becomes pending.
  case forgottenOriginal
  /// A row that leaves a partition is deleted without asking in which partition it is now.
  case leaveIgnoresPartition
  /// What waits behind an accepted operation stays based on what that one had changed.
  case baseNotMoved
  /// A load overwrites rows that were changed after it had begun.
  case noMark
  /// A transaction's number is drawn when its work begins, not when it commits.
  case sequence
  /// A download goes on to the clock that it began with, although rows have moved beyond it since.
  case fixedBound
  /// An operation gets its id when it is submitted.
  case idAtSubmit
  /// A checkpoint carries only the answers that are older than itself.
  case answerAfterCheckpoint
  /// Pages that wait on a device are continued below the floor.
  case stagedFloor
  /// A round reads from a snapshot that may be older than the one before.
  case olderSnapshot
  /// An unknown outcome is taken for one that was certainly not done.
  case retryUnknown
  /// A channel's interest is registered only after it has read.
  case interestAfterRead
  /// A server goes on in the era of its last start.
  case eraNotOpened
  /// A load applies rows of objects that somebody is changing.
  case loadIgnoresClaim
  /// A download keeps what comes without comparing it with what the row names.
  case contentUnchecked
  /// Of several values that one update changes, the last is not kept.
  case saveDropsValue
  /// What a transaction changed stays although the app took it back.
  case rollbackKeeps
  /// A callback that tells of a refusal is not made, and stays owed for ever.
  case callbackKept
  /// Of several values that an update changed, the last is not sent.
  case lostAttribute
  /// A group is performed operation by operation, whatever becomes of the others.
  case groupInParts
  /// A session is renewed with the rights that its user had at the first operation.
  case staleClaims
  /// A refresh token that is presented again ends its session, though its successor was never used.
  case familyTooStrict
  /// A refresh token that is in two hands ends nothing.
  case familyNeverEnds
  /// What is pending goes with its row when a partition is downloaded anew or taken away.
  case resetSweepsPending
  /// A round has no end but that of the partitions.
  case endlessRound
  /// Answers are numbered as if they came with the next transaction.
  case numberAhead
  /// A time-out ends in an unknown outcome although the business system knows what it did.
  case unknownAlways
  /// Operations are performed without asking for the rights of the user.
  case rightsIgnored
  /// Whose a row is, is asked of the server's cache alone, not in the business transaction.
  case rightsFromCache
  /// The row from which another has its partition is not read in the business transaction.
  case parentUnread
  /// Others may change a row between its judgement and the write of an operation.
  case rowsNotHeld
  /// Operations are judged by the rights with which they arrived alone.
  case rightsOfThen
  /// What refers to a new object by a key that the app gave does not wait for its create.
  case referenceAhead
  /// Partitions are told apart by canonical equivalence of their names, not by bytes.
  case equivalentNames
  /// A create may name a key that the business system gives.
  case chosenKey
  /// A synchronization that is cancelled takes what it has sent for stored.
  case cancelHalf
  /// What waits for an operation of another synchronization group does not wait.
  case groupOvertakes
  /// Operations are performed though the newest token of their user's issuer is too old.
  case oldRightsOfIssuer
  /// The place in the business system's changes is kept before the cache has what came before it.
  case cursorBeforeCache
  /// Changes are noted from the end of the first comparison on, not from its beginning.
  case captureAfterCompare
  /// If others give a row another key, nobody learns that the old one was deleted.
  case oldKeyUnseen
  /// The business system says "not performed" while the transaction is still running.
  case recallTooEarly
  /// A business system that was set back to a backup is followed on as if nothing had happened.
  case markIgnored
  /// A device counts as wiped once the order was sent to it, before it has sent the receipt.
  case wipeWithoutReceipt
  /// A look for changes of others counts for questions that came after it had begun.
  case currentTooEarly
  /// A leader writes as long as it takes its lease for its own; the store does not compare its term.
  case leaseWithoutTerm
  /// The fence of a term that is over raises no error: what was sent behind it is committed.
  case fenceWithoutError
  /// What a new leader has refused an earlier one may still perform.
  case refusedThenPerformed
  /// A node that follows answers from what it remembers though the device has seen later states.
  case nodeBehind
  /// A numbered transaction takes its number from a clock that was read before the lock.
  case readBeforeLock
  /// A finished batch is forgotten when the synchronization for its results begins, not when it ends.
  case batchForgotten
  /// What a device chooses for a parameter is not compared with what its user's claims allow.
  case claimUnasked
  /// Of several saved sets of parameters, the last is not sent.
  case setForgotten
  /// The later pieces of a big value leave without asking whether the user may still see the row.
  case pieceUnasked
  /// An answer that one copy of a device has confirmed is not told to the other.
  case answeredOnce
  /// What a restored server has forgotten of a batch counts as stored there on the device.
  case batchBelieved
  /// The values of a notice are written over an object that an operation may be changing.
  case noticeOverClaim
  /// A notice that may be older than what is known is written all the same.
  case olderNoticeWins
  /// A row that pages by offset have passed over counts as deleted.
  case offsetSkips
  /// The days of a window move, and its rows stay where they are.
  case windowForgotten
  /// What a service has answered to a request counts for another one with the same number.
  case idempotencyOtherBody

  /// Whether it is about a service of REST and the notices of its changes: only a run with such a
  /// business meets it.
  public var isOfREST: Bool {
    switch self {
    case .noticeOverClaim, .olderNoticeWins, .offsetSkips, .idempotencyOtherBody: true
    default: false
    }
  }

  /// Whether it is about servers that share a store: only a run with several nodes meets it.
  public var isOfNodes: Bool {
    switch self {
    case .leaseWithoutTerm, .fenceWithoutError, .refusedThenPerformed, .nodeBehind, .readBeforeLock:
      true
    default: false
    }
  }
}
