#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a database does, step by step, for a `StepHandler`.
///
/// More cases may come with later versions: write a `default`.
public enum DatabaseStep: Sendable {
  // The connection.

  /// The server answered, after the start or after it could not be reached.
  case connected
  /// The server cannot be reached. Pending changes are kept and sent later.
  case disconnected(FerryError)
  /// Both of the above by their status. An app that calls `registerApplication` or
  /// `startConnection` hears each step, and `connectionError` in place of `disconnected`.
  case connectionChanged(ConnectionStatus)
  /// How far the registration of the application is; with `registrationError` the reason.
  case registrationChanged(RegistrationStatus, FerryError?)
  /// A message of the server is about to be processed: of each one, with the bytes in which it came.
  /// An answer holds several; an open channel brings one after the other.
  case messageBegan(sizeBytes: Int)
  /// A message of the server could not be processed. Nothing of it was applied, and it is asked for
  /// again where that helps.
  case messageFailed(FerryError)
  /// Data does not arrive or changes are not sent until somebody acts: `error.reaction` says who.
  /// Reported once, and again after it was better.
  case helpNeeded(FerryError)
  /// The server's connection template gives this device other settings: `names` are those that
  /// differ. `FerryDatabase.applicationSettings` has them.
  case settingsChanged(names: [String])

  // Login and subscription; only for the handler of the database.

  /// The login succeeded.
  case signedIn
  /// Where the code is `notLoggedIn`, ask the user for the password and sign in again. Where
  /// `isTransient` is true, as without a network, the login goes on by itself, and this is reported
  /// once for each. Pending changes are kept.
  case signInFailed(FerryError)
  /// The user has to log in again by then, in seven days or less: a session ends 60 days after its
  /// login, however often it is renewed. Pending changes are kept.
  case sessionEnds(at: Date)
  /// The data closes then unless the server answers before, or is closed where `isOver`: its operator
  /// allows a device only so long without the server. Objects then throw `leaseEnded`.
  case leaseEnds(at: Date, isOver: Bool)
  /// The server accepted the subscription.
  case subscribed
  /// The login was refused, or the server refuses the subscription. It is not asked for again before
  /// `subscribe` is called.
  case subscribeFailed(FerryError)
  /// `unsubscribe` has ended the subscription; downloaded rows stay.
  case unsubscribed
  /// There was no subscription to end.
  case unsubscribeFailed(FerryError)
  /// `suspendSubscription` took effect.
  case suspended
  /// There was no subscription to suspend.
  case suspendFailed(FerryError)
  /// `resumeSubscription` took effect.
  case resumed
  /// There was no subscription to resume.
  case resumeFailed(FerryError)
  /// Everything that `recover` asked for again is visible.
  case recovered
  /// `recover` could not begin, or the server refused it.
  case recoverFailed(FerryError)
  /// Nothing more will come: the app called `unsubscribe`, or the server no longer serves this user.
  case subscriptionEnded

  // Synchronization.

  /// A synchronization of these groups ended well.
  case synchronized(groups: [String])
  /// A synchronization of these groups ended early.
  case synchronizeFailed(groups: [String], FerryError)

  // Imports.

  /// Another page is on the device; after the last one the import follows. Pages have up to 5,000
  /// rows; a download goes on where it was stopped.
  case downloading(ImportProgress)
  /// Everything of this synchronization group has come, and the transaction that shows it begins.
  ///
  /// The import waits for a handler that has no actor of its own. On an actor of the app's this is
  /// reported in order and the import does not wait for it: it may be visible by then.
  case importBegins(group: String)
  /// An import brought this object, new or with other values; `imported` of its entity follows. Only
  /// for a handler with `hearsEachObject`.
  case importedObject(ImportedObject)
  /// An import changed objects of this entity; `importEnded` follows.
  case imported(EntityChanges)
  /// Everything up to a checkpoint of this synchronization group is visible.
  case importEnded(group: String)
  /// Partitions of this group were downloaded from their start, and are visible again.
  case downloadedAgain(group: String)
  /// The content of a big value is on its way, at most once for each percent. Reported in the process
  /// that sends or fetches it.
  case bigValue(BigValueProgress)

  // Answers.

  /// The change was accepted, and the object shows what the business system made of it.
  case accepted(ReplayedObject)
  /// The change was refused. It is kept; its log records have the reason.
  case refused(ReplayedObject)
  /// It is not known whether the change was performed.
  case unknown(ReplayedObject)
  /// The change waits for what somebody else must bring, such as a login at the business system. Nothing
  /// is refused. Reported once, and again after a start while it still waits.
  case waiting(ReplayedObject, WaitReason)

  // The local database.

  /// A transaction of the app was committed.
  case committed
  /// A transaction of the app was undone: its body threw, or it could not be committed.
  case rolledBack
  /// An import found no space on the disk. Saved changes are safe, and the import is tried again.
  case storageLow
  /// An import has space again.
  case storageRecovered
}
