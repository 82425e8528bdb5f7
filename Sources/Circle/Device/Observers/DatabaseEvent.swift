/// What happens to a database while the app follows `FerryDatabase.events`.
///
/// More cases may come with later versions: write a `default`.
public enum DatabaseEvent: Sendable {
  /// The server answered, after the start or after it could not be reached.
  case connected
  /// The server cannot be reached. Pending changes are kept and sent later.
  case disconnected(FerryError)
  /// The server needs user and password: show the sign-in screen. `DatabaseStatus.isSignInNeeded` is
  /// true then. Pending changes are kept.
  case signInNeeded(FerryError)
  /// Data does not arrive or changes are not sent until somebody acts: `error.reaction` says who.
  /// With `updateApp` the server has only newer models. Where `error.code` is `deviceLocked` or `wiped`
  /// the operator did it, and the message has the reason; a login does not help. Reported once, and
  /// again after it was better.
  case helpNeeded(FerryError)
  /// Another page of rows is on the device.
  case downloading(ImportProgress)
  /// An import is visible; it changed objects of these entities.
  case imported(entities: Set<String>)
  /// The business system accepted a change, and the object shows the result.
  case accepted(ObjectReference)
  /// The business system refused a change. The change is kept: save the object again, or cancel it.
  case refused(ObjectReference, Refusal)
  /// It is not known whether a change was performed.
  case unknown(ObjectReference)
  /// A change waits for what somebody else must bring, such as a login at the business system. Nothing is
  /// refused, and it is performed once that is there.
  case waiting(ObjectReference, WaitReason)
  /// An import found no space on the disk. Saved changes are safe, and the import is tried again.
  case storageLow
  /// An import has space again.
  case storageRecovered
}
