import FerryModel
public import FerryWorld

/// What the app hears of the synchronization: the reference's callbacks (sync/M2, P22, facts/1.7).
///
/// They are made one after the other, on the actor that was given with the handler or on the
/// session's thread, never on the main thread by themselves, and always after the database shows
/// what they tell of. Every callback has an empty default.
///
/// Owed are `onImport`, `onImportSuccess`, `onReplaySuccess`, `onReplayFailure` and
/// `onReplayUnknown`: they wait until there is a handler of the database, and after a crash they are
/// made at the next start, so a handler may hear the same twice. The handler of an entity hears what
/// is owed of it if it is registered before the database's; so register those of entities first, and
/// the database's last. Of everything else nothing is kept: it is told to who is there, and
/// what a crash comes in between of is not told again (`onResetSuccess` among it: what it tells of
/// is visible all the same). `onRecoverSuccess` alone is told again where a crash came while a
/// handler on the session's thread heard it; on an actor it may be lost while it waits for that.
///
/// With a handler on an actor of the app's the synchronization does not wait for it, but for its
/// answer to `onSynchronize`. While that actor is behind by more than 1,000 calls the oldest are let
/// go: first those that tell how something goes on (messages, progress), then the others, and login
/// and subscription last. What is owed is never let go.
///
/// A handler that belongs to the main actor is registered with it, and may say so:
///
/// ```swift
/// func onReplayFailure(_ object: ReplayedObject) {
///   MainActor.assumeIsolated { screen.show(object) }
/// }
/// database.registerCallbackHandler(handler, on: MainActor.shared)
/// ```
public protocol CallbackHandler: Sendable {
  // The line.

  /// The server answered, after the start or after it could not be reached.
  func onConnect()
  /// The server cannot be reached; what is pending waits.
  func onDisconnect(_ error: FerryError)
  /// Both of the above, in the reference's form. An app that calls `registerApplication` or
  /// `startConnection` hears each step, and `connectionError` in place of `disconnected`.
  func onConnectionStatusChange(_ status: ConnectionStatus)
  /// How far the registration of the application is; with `registrationError` the reason.
  func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?)
  /// A message of the server is about to be worked on: of each one, with the bytes in which it came.
  /// An answer holds several; an open channel brings one after the other, signs of life among them.
  func onMessageStart(sizeBytes: Int)
  /// A message of the server could not be worked on; nothing of it was done, and it is asked for
  /// again where that helps.
  func onMessageException(_ error: FerryError)

  /// The server's connection template gives this device other settings: `names` are those that
  /// differ. `Database.applicationSettings` has them.
  func onApplicationSettingsChanged(names: [String])

  // Login and subscription; only for the handler of the database.

  func onLoginSuccess()
  /// Where the code is `notLoggedIn`, ask the user for the password and call `beginOnlineLogin` again.
  /// Where `isTransient` is true, as without a network, the login goes on by itself, and this is told
  /// once for each. What is pending is untouched.
  func onLoginFailure(_ error: FerryError)
  /// The user has to log in again at `moment`, in seven days or less: a session ends 60 days after its
  /// login, however often it is renewed. What is pending stays.
  func onSessionEnd(at moment: Timestamp)
  /// The data closes at `moment` unless the server answers before, or is closed where `isOver`: its
  /// operator allows a device only so long without the server. Objects then throw `leaseEnded`.
  func onLeaseEnd(at moment: Timestamp, isOver: Bool)
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
  public func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?) {}
  public func onMessageStart(sizeBytes: Int) {}
  public func onMessageException(_ error: FerryError) {}
  public func onApplicationSettingsChanged(names: [String]) {}
  public func onLoginSuccess() {}
  public func onLoginFailure(_ error: FerryError) {}
  public func onSessionEnd(at moment: Timestamp) {}
  public func onLeaseEnd(at moment: Timestamp, isOver: Bool) {}
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
  public func onImport(_ changes: EntityChanges) {}
  public func onImportSuccess(group: String) {}
  public func onResetSuccess(group: String) {}
  public func onBigValueProgress(_ progress: BigValueProgress) {}
  public func onReplaySuccess(_ object: ReplayedObject) {}
  public func onReplayFailure(_ object: ReplayedObject) {}
  public func onReplayUnknown(_ object: ReplayedObject) {}
  public func onTransactionCommit() {}
  public func onTransactionRollback() {}
  public func onStorageSpaceLow() {}
  public func onStorageSpaceRecovered() {}
}

/// Whether the server can be reached.
public enum ConnectionStatus: Int, Sendable, Hashable {
  /// The numbers are the reference's (facts/1.3).
  case connectionError = 101
  case connecting = 102
  case connected = 103
  case disconnecting = 104
  case disconnected = 105
  case notificationWait = 106
}

/// Whether this device's application is registered with the server.
public enum RegistrationStatus: Int, Sendable, Hashable {
  /// The numbers are the reference's (facts/1.3).
  case registrationError = 201
  case registering = 202
  case registered = 203
  case unregistering = 204
  case unregistered = 205
}

/// An object whose operation was answered.
public struct ReplayedObject: Sendable {
  /// Name of the entity.
  public let entity: String
  /// The object's key when the answer came.
  public let key: Key
  public let operation: OperationKind
  /// The object as it is now; nil when it is gone, as after an accepted delete.
  public let record: Record?

  /// For the tests of an app's handler; Ferry makes its own.
  public init(entity: String, key: Key, operation: OperationKind, record: Record?) {
    self.entity = entity
    self.key = key
    self.operation = operation
    self.record = record
  }

  /// The same of an object at hand: `handler.onReplayFailure(ReplayedObject(booking, .create))`.
  public init(_ object: some BusinessObject, _ operation: OperationKind) {
    self.init(
      entity: object.record.entity.name, key: object.record.key, operation: operation,
      record: object.record)
  }

  /// The object under its generated type.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? { record?.as(type) }
}
