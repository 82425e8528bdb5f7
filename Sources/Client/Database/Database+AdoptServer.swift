extension Database {
  /// Lets this database follow the server that stands at its address now, where the one it belonged
  /// to was replaced for good, its store lost with it. Until then such a server is refused with
  /// `otherOwner`: a test server must not wipe a device, nor receive what waits on it. So this is for
  /// a person to decide, not for a handler of that error.
  ///
  /// Nothing on the device is lost. What is shown stays until the data of the new server is whole
  /// here; what waits goes to it. What was sent to the old one and is not answered goes again, marked
  /// as perhaps done: the new server looks in the business system before it performs it, and answers
  /// `unknown` where that cannot tell. What was refused, and what is unknown already, stays so.
  ///
  /// Nobody is logged in afterwards: call `onlineLogin`. A database that has met no server yet stays
  /// as it is. Throws `store` or `diskFull` where it cannot be written down; then nothing has changed.
  public func adoptServer() async throws(FerryError) {
    try await runner.act { session throws(FerryError) in try session.adoptServer() }
  }
}
