import Ferry

extension FerryDatabase {
  /// Sets the handler that hears every callback from now on, in place of the one before, and those
  /// that were owed while there was none.
  ///
  /// Its functions are called on `actor`, one after the other. nil is the session's own thread;
  /// there a slow callback delays the synchronization.
  public func registerCallbackHandler(
    _ handler: any CallbackHandler, on actor: (any Actor)? = nil
  ) { register(handler, on: actor) }

  /// Adds a handler for imports and replays of one entity, besides the handler of the database.
  /// Register it before the database's handler: then it hears what is owed of its entity, once.
  public func registerCallbackHandler<Object: BusinessObject>(
    _ handler: any CallbackHandler, of type: Object.Type, on actor: (any Actor)? = nil
  ) { register(handler, of: type, on: actor) }
}
