import FerryModel

/// What the app hears of the synchronization: the reference's callbacks (sync/M2, P22).
///
/// All are made one after the other on the session's thread, never on the main thread, and always
/// after the database shows what they tell of. Those that tell of stored things are owed: after a
/// crash they are made at the next start, so a handler may hear the same twice. Every callback has
/// an empty default.
public protocol CallbackHandler: Sendable {
  /// The server answered, after the start or after it could not be reached.
  func onConnect()
  /// The server cannot be reached; what is pending waits.
  func onDisconnect(_ error: FerryError)
  func onLoginSuccess()
  /// Ask the user for the password and call `beginOnlineLogin` again; what is pending is untouched.
  func onLoginFailure(_ error: FerryError)
  func onSubscribeSuccess()
  func onSubscribeFailure(_ error: FerryError)
  /// Rows are on their way; `expectedRows` is 0 when it is not known.
  func onImportProgress(receivedRows: Int, expectedRows: Int)
  /// One call for each entity that an import changed, then `onImportSuccess`.
  func onImport(_ changes: EntityChanges)
  /// Everything up to a checkpoint of this synchronization group is visible.
  func onImportSuccess(group: String)
  /// The change was accepted and the object shows what the business system made of it.
  func onReplaySuccess(_ object: ReplayedObject)
  /// The change was refused; it is still pending and its log records tell why.
  func onReplayFailure(_ object: ReplayedObject)
  /// Nobody knows yet whether the change was done.
  func onReplayUnknown(_ object: ReplayedObject)
}

extension CallbackHandler {
  public func onConnect() {}
  public func onDisconnect(_ error: FerryError) {}
  public func onLoginSuccess() {}
  public func onLoginFailure(_ error: FerryError) {}
  public func onSubscribeSuccess() {}
  public func onSubscribeFailure(_ error: FerryError) {}
  public func onImportProgress(receivedRows: Int, expectedRows: Int) {}
  public func onImport(_ changes: EntityChanges) {}
  public func onImportSuccess(group: String) {}
  public func onReplaySuccess(_ object: ReplayedObject) {}
  public func onReplayFailure(_ object: ReplayedObject) {}
  public func onReplayUnknown(_ object: ReplayedObject) {}
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

  /// The object under its generated type.
  public func `as`<Object: BusinessObject>(_ type: Object.Type) -> Object? { record?.as(type) }
}
