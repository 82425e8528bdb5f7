extension FerryDatabase {
  /// Connects this database to the new server at its address, after the old server and its store
  /// were lost for good. Without this call another server is refused with `otherOwner`: a test
  /// server must not wipe a device or receive its changes. So let a person decide, and do not call
  /// it from a handler of that error.
  ///
  /// Nothing on the device is lost. The visible data stays until the new server's data is complete
  /// on the device. Pending changes go to the new server. Changes that the old server had received
  /// without an answer are sent again, marked as possibly performed: the new server checks in the
  /// business system before it performs them, and answers `unknown` if it cannot find out. Refused
  /// and unknown changes keep their state.
  ///
  /// Nobody is logged in afterwards: call `onlineLogin`. A database without a server stays as it
  /// is. Throws `store` or `diskFull` if the change cannot be saved; then nothing has changed.
  public func adoptServer() async throws(FerryError) {
    try await runner.act { session throws(FerryError) in try session.adoptServer() }
  }
}
