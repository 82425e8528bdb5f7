/// Where an app keeps the key of a sealed database, for the case that it must be destroyed.
public protocol KeyKeeper: AnyObject, Sendable {
  /// Destroys the key of the database at `path`, so that nothing opens it any more. Does nothing where
  /// it is destroyed already. Any thread.
  func destroyKey(path: String) throws
}

extension KeyKeeper {
  var destroyKey: (String) throws -> Void { { path in try self.destroyKey(path: path) } }
}
