import Ferry

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The callbacks of the synchronization, as in the reference.
///
/// They are called one after the other, on the actor that was given with the handler, or on the
/// session's thread; never on the main thread by default. They are called after the database shows
/// the reported change. Every callback has an empty default.
///
/// `onImport`, `onImportSuccess`, `onReplaySuccess`, `onReplayFailure` and `onReplayUnknown` are
/// *owed*: they wait until the database has a handler, and after a crash they are called at the
/// next start. So a handler may receive the same call twice. An entity's handler receives the owed
/// calls of its entity only if it is registered before the database's handler: register the
/// handlers of entities first. Other callbacks are not kept: only a registered handler receives
/// them, and a crash may lose them. This includes `onResetSuccess`; its effect is visible all the
/// same. `onRecoverSuccess` is repeated if the app crashed while a handler on the session's thread
/// received it; a handler on an actor may miss it.
///
/// The synchronization does not wait for a handler on an actor of the app, except for the answer to
/// `onSynchronize`. If that actor has more than 1,000 calls waiting, the oldest are dropped: first
/// messages and progress, then other calls, and calls about login and subscription last. Owed calls
/// are never dropped.
///
/// A handler that belongs to the main actor is registered with it, and may assume it:
/// ```swift
/// func onReplayFailure(_ object: ReplayedObject) {
///   MainActor.assumeIsolated { screen.show(object) }
/// }
/// database.registerCallbackHandler(handler, on: MainActor.shared)
/// ```
public protocol CallbackHandler: StepHandler {
  // The line.

  /// The server answered, after the start or after it could not be reached.
  func onConnect()
  /// The server cannot be reached; what is pending waits.
  func onDisconnect(_ error: FerryError)
  /// Both of the above, in the reference's form. An app that calls `registerApplication` or
  /// `startConnection` hears each step, and `connectionError` in place of `disconnected`.
  func onConnectionStatusChange(_ status: ConnectionStatus)
  /// Nothing arrives or is sent until somebody acts: `error.reaction` says who. It comes once, not at
  /// each attempt.
  func onHelpNeeded(_ error: FerryError)
  /// How far the registration of the application is; with `registrationError` the reason.
  func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?)
  /// A message of the server is about to be worked on: of each one, with the bytes in which it came.
  /// An answer holds several; an open channel brings one after the other, signs of life among them.
  func onMessageStart(sizeBytes: Int)
  /// A message of the server could not be worked on; nothing of it was done, and it is asked for
  /// again where that helps.
  func onMessageException(_ error: FerryError)

  /// The server's connection template gives this device other settings: `names` are those that
  /// differ. `FerryDatabase.applicationSettings` has them.
  func onApplicationSettingsChanged(names: [String])

  // Login and subscription; only for the handler of the database.

  func onLoginSuccess()
  /// Where the code is `notLoggedIn`, ask the user for the password and call `beginOnlineLogin` again.
  /// Where `isTransient` is true, as without a network, the login goes on by itself, and this is told
  /// once for each. What is pending is untouched.
  func onLoginFailure(_ error: FerryError)
  /// The user has to log in again at `moment`, in seven days or less: a session ends 60 days after its
  /// login, however often it is renewed. What is pending stays.
  func onSessionEnd(at moment: Date)
  /// The data closes at `moment` unless the server answers before, or is closed where `isOver`: its
  /// operator allows a device only so long without the server. Objects then throw `leaseEnded`.
  func onLeaseEnd(at moment: Date, isOver: Bool)
  func onSubscribeSuccess()
  /// The login was refused, or the server refuses the subscription: the error says why. It is not asked
  /// for again before `subscribe` is called.
  func onSubscribeFailure(_ error: FerryError)
  /// `unsubscribe` has ended the subscription; what was downloaded is still here.
  func onUnsubscribeSuccess()
  /// There was no subscription to end.
  func onUnsubscribeFailure(_ error: FerryError)
  func onSuspendSubscriptionSuccess()
  func onSuspendSubscriptionFailure(_ error: FerryError)
  func onResumeSubscriptionSuccess()
  func onResumeSubscriptionFailure(_ error: FerryError)
  /// Everything that `recover` asked for afresh is visible.
  func onRecoverSuccess()
  func onRecoverFailure(_ error: FerryError)
  /// Nothing more will come: the app called `unsubscribe`, or the server no longer serves this user.
  func onSubscriptionEnd()

  // Synchronization.

  /// Called repeatedly while a synchronization goes on; `groups` are those that it is of.
  ///
  /// Return `cancel` to end it. At `starting`, `startingOnNotification` and `asyncReplayCompleted`
  /// nothing was sent. Later, operations that were sent stay sent, pages that arrived are kept for
  /// the next synchronization, and what is visible stays a whole state. At `finishing` and `error`
  /// the answer changes nothing. A synchronization that background work began by itself in a
  /// message-based database is only cancelled at `starting`.
  func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction
  func onSynchronizeSuccess(groups: [String])
  func onSynchronizeFailure(groups: [String], _ error: FerryError)

  // Imports.

  /// A page more is on the device; after the last one the import follows, which the app sees at
  /// once. Pages of up to 5,000 rows; a download goes on where it was stopped.
  func onImportProgress(_ progress: ImportProgress)
  /// Everything of this synchronization group has come, and the transaction that shows it begins.
  ///
  /// The import waits for a handler that has no actor of its own. On an actor of the app's this is
  /// told in order and the import does not wait for it: it may be visible by then.
  func beforeImport(group: String)
  /// One call for each object that an import brought, new or with other values, when the database
  /// shows it; `onImport` of its entity follows. Only where `hearsEachObject` is true.
  func onImport(_ object: ImportedObject)
  /// One call for each entity that an import changed, then `onImportSuccess`.
  func onImport(_ changes: EntityChanges)
  /// Everything up to a checkpoint of this synchronization group is visible.
  func onImportSuccess(group: String)
  /// Partitions of this group were downloaded from their start, and are visible again.
  func onResetSuccess(group: String)

  // Big values.

  /// The content of a big value is on its way: value, bytes done and bytes in all, no more than once
  /// for each percent. Told in the process that sends or fetches it.
  func onBigValueProgress(_ progress: BigValueProgress)

  // Replay.

  /// The change was accepted and the object shows what the business system made of it.
  func onReplaySuccess(_ object: ReplayedObject)
  /// The change was refused; it is still pending and its log records tell why.
  func onReplayFailure(_ object: ReplayedObject)
  /// Nobody knows yet whether the change was done.
  func onReplayUnknown(_ object: ReplayedObject)
  /// The change waits for what somebody else must bring; nothing is refused.
  func onReplayWaiting(_ object: ReplayedObject, _ reason: WaitReason)

  // The local database.

  /// A transaction of the app was committed.
  func onTransactionCommit()
  /// A transaction of the app was undone: its body threw, or could not be committed.
  func onTransactionRollback()
  /// There was no space for an import; what was saved before is safe, and it is tried again.
  func onStorageSpaceLow()
  /// An import found space again.
  func onStorageSpaceRecovered()
}

extension CallbackHandler {
  public func onConnect() {}
  public func onDisconnect(_ error: FerryError) {}
  public func onConnectionStatusChange(_ status: ConnectionStatus) {}
  public func onHelpNeeded(_ error: FerryError) {}
  public func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?) {}
  public func onMessageStart(sizeBytes: Int) {}
  public func onMessageException(_ error: FerryError) {}
  public func onApplicationSettingsChanged(names: [String]) {}
  public func onLoginSuccess() {}
  public func onLoginFailure(_ error: FerryError) {}
  public func onSessionEnd(at moment: Date) {}
  public func onLeaseEnd(at moment: Date, isOver: Bool) {}
  public func onSubscribeSuccess() {}
  public func onSubscribeFailure(_ error: FerryError) {}
  public func onUnsubscribeSuccess() {}
  public func onUnsubscribeFailure(_ error: FerryError) {}
  public func onSuspendSubscriptionSuccess() {}
  public func onSuspendSubscriptionFailure(_ error: FerryError) {}
  public func onResumeSubscriptionSuccess() {}
  public func onResumeSubscriptionFailure(_ error: FerryError) {}
  public func onRecoverSuccess() {}
  public func onRecoverFailure(_ error: FerryError) {}
  public func onSubscriptionEnd() {}
  public func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction { .proceed }
  public func onSynchronizeSuccess(groups: [String]) {}
  public func onSynchronizeFailure(groups: [String], _ error: FerryError) {}
  public func onImportProgress(_ progress: ImportProgress) {}
  public func beforeImport(group: String) {}
  public func onImport(_ object: ImportedObject) {}
  public func onImport(_ changes: EntityChanges) {}
  public func onImportSuccess(group: String) {}
  public func onResetSuccess(group: String) {}
  public func onBigValueProgress(_ progress: BigValueProgress) {}
  public func onReplaySuccess(_ object: ReplayedObject) {}
  public func onReplayFailure(_ object: ReplayedObject) {}
  public func onReplayUnknown(_ object: ReplayedObject) {}
  public func onReplayWaiting(_ object: ReplayedObject, _ reason: WaitReason) {}
  public func onTransactionCommit() {}
  public func onTransactionRollback() {}
  public func onStorageSpaceLow() {}
  public func onStorageSpaceRecovered() {}
}
