import FerryModel
import FerrySQLite

/// Synchronizations of everything, and of chosen groups: each is one upload and one download, in this
/// order.
extension FerryDatabase {
  /// Sends what is submitted and fetches what is new, without waiting. If `asyncReplay` is off, it
  /// also asks for the answers to the sent operations, until they have come.
  ///
  /// In a replication-based database it synchronizes all groups, see
  /// `beginSynchronize(groups:context:uploadOnly:)`.
  public func beginSynchronize() {
    let awaits = (try? !asyncReplay) ?? !settings.asyncReplay
    let kind = (try? synchronizationKind) ?? settings.synchronization
    guard kind == .messageBased else {
      // Only a closed database cannot begin it.
      _ = try? beginSynchronizeAll(awaitingAnswers: awaits)
      return
    }
    act { session in session.requestExchange(awaitingAnswers: awaits) }
  }

  /// Sends what is submitted, fetches what is new and returns when it is visible.
  ///
  /// With `awaitingAnswers` it also waits for the answers to the sent operations. If it is nil,
  /// `asyncReplay` decides: on, the default, it does not wait; off, it does. It also waits while
  /// the server loads; `states` reports that.
  ///
  /// Errors: `notSubscribed` before `subscribe` was called; `timedOut` after `limit`, by default
  /// `SessionSettings.patience`; `cancelled` if the task is cancelled. After the last two the
  /// synchronization continues. `closed` if the database is closed meanwhile.
  public func synchronize(
    awaitingAnswers: Bool? = nil, within limit: Duration? = nil
  ) async throws(FerryError) {
    let (wantsData, isSuspended) = try store.withSnapshot { transaction throws(FerryError) in
      let settings = SubscriptionSettings(transaction)
      return (try settings.wantsData(), try settings.isSuspended())
    }
    guard wantsData else {
      throw FerryError(
        .notSubscribed,
        isSuspended
          ? "the subscription of this device is suspended" : "nothing is subscribed on this device",
        hint: isSuspended ? "Call resumeSubscription first." : "Call subscribe first.")
    }
    let awaits = if let awaitingAnswers { awaitingAnswers } else { try !asyncReplay }
    let patience = limit ?? settings.patience
    guard try synchronizationKind == .messageBased else {
      try await beginSynchronizeAll(awaitingAnswers: awaits).value(within: patience)
      return
    }
    try await runner.synchronize(awaitsAnswers: awaits, within: patience)
  }

  /// Sends what is submitted on entities of these groups, then fetches what is new in them; returns
  /// at once.
  ///
  /// `groups` are downloaded in this order, and each one is visible when it is complete. Other
  /// groups are neither sent, fetched nor reported; only what is replayed as one with an operation
  /// of these groups goes with it. An operation that depends on the answer to one of another group
  /// waits until that group was synchronized.
  ///
  /// With `uploadOnly` nothing is fetched. Where `asyncReplay` is on, the server then replays the
  /// operations by itself; when it has ended, a second synchronization of the same groups begins by
  /// itself and fetches the results, also after a restart of the app. `statuses` of the returned
  /// session, or `StepHandler.answer` of the callback handler with `context`, report each step.
  ///
  /// Synchronizations run one after the other, in the order of the calls. Throws `invalidQuery` for
  /// a group that the model does not have, or no group at all. Everything else is reported by the
  /// session: `notSubscribed` before `subscribe` unless it only uploads, `notLoggedIn`, `offline`.
  @discardableResult
  public func beginSynchronize(
    groups: [String], context: (any Sendable)? = nil, uploadOnly: Bool = false
  ) throws(FerryError) -> SynchronizationSession {
    try beginSynchronize(
      groups: groups, context: context, uploadOnly: uploadOnly, awaitingAnswers: !asyncReplay)
  }

  /// The same, and returns when it has ended.
  ///
  /// With `awaitingAnswers` the server holds its answer until the operations were replayed, so their
  /// results are visible on return; with `uploadOnly` they are decided on return and fetched by the
  /// next synchronization. If it is nil, `asyncReplay` decides. `timedOut` after `limit`, which is
  /// `SessionSettings.patience` if it is nil; the synchronization goes on then.
  public func synchronize(
    groups: [String], context: (any Sendable)? = nil, uploadOnly: Bool = false,
    awaitingAnswers: Bool? = nil, within limit: Duration? = nil
  ) async throws(FerryError) {
    let awaits = if let awaitingAnswers { awaitingAnswers } else { try !asyncReplay }
    let session = try beginSynchronize(
      groups: groups, context: context, uploadOnly: uploadOnly, awaitingAnswers: awaits)
    try await session.value(within: limit ?? settings.patience)
  }

  func beginSynchronize(
    groups: [String], context: (any Sendable)?, uploadOnly: Bool, awaitingAnswers: Bool
  ) throws(FerryError) -> SynchronizationSession {
    guard !store.isClosed else { throw Store.closed(store.path) }
    let known = store.model.groups.map(\.name)
    var names: [String] = []
    for group in groups where !names.contains(group) {
      guard known.contains(group) else {
        throw FerryError(
          .invalidQuery, "\(store.model.id) has no synchronization group \(group)",
          hint: NearestWord.cure(group, among: known))
      }
      names.append(group)
    }
    guard !names.isEmpty else {
      throw FerryError(
        .invalidQuery, "the list of synchronization groups is empty",
        hint: "Name at least one of \(known.joined(separator: ", ")).")
    }
    let session = SynchronizationSession(groups: names, userContext: context)
    act { [runner] owner in
      let number = owner.nextPlanNumber()
      owner.begin(
        SynchronizationPlan(
          number: number, groups: session.groups, isUploadOnly: uploadOnly,
          awaitsAnswers: awaitingAnswers,
          session: session))
      session.onCancel {
        runner.enqueue { owner throws(FerryError) in try owner.cancelPlan(number) }
        Task { await runner.drain() }
      }
    }
    return session
  }

  /// All groups, in the order of the model.
  func beginSynchronizeAll(awaitingAnswers: Bool) throws(FerryError) -> SynchronizationSession {
    try beginSynchronize(
      groups: store.model.groups.map(\.name), context: nil, uploadOnly: false,
      awaitingAnswers: awaitingAnswers)
  }

  /// Whether synchronizations go on without waiting for the replay of what they sent; true unless
  /// `SessionSettings.asyncReplay` or `setAsyncReplay` say otherwise.
  public var asyncReplay: Bool {
    get throws(FerryError) {
      let stored = try store.read { connection throws(SQLiteError) in
        try Settings.get(.asyncReplay, connection)
      }
      return stored.map { $0 == "yes" } ?? settings.asyncReplay
    }
  }

  /// Saves the choice in the database, for this and later starts of the app.
  public func setAsyncReplay(_ isOn: Bool) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      try Settings.set(.asyncReplay, isOn ? "yes" : "no", connection)
    }
  }
}
