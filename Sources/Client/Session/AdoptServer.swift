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

extension Session {
  package func adoptServer() throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      try ServerAdoption(transaction).run()
    }
    // What is still under way with the old server is of an era that nothing here is of any more.
    machine.channelWentAstray()
  }
}

/// Another server is asked from now on.
package struct ServerAdoption {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  /// As if it had never heard of a server, but for what the old one may have done.
  package func run() throws(FerryError) {
    let names: [Settings.Name] = [
      .server, .accessToken, .accessTokenExpires, .refreshToken, .rightsVersion, .takes,
    ]
    for name in names { try transaction.set(name, nil) }
    try Eras(transaction).forget()
    try OperationQueue(transaction).mayHaveRun()
    for parameter in transaction.model.parameters where parameter.kind == .server {
      try transaction.run(
        "UPDATE ferry_personalization SET changed = 1 WHERE name = ? AND value IS NOT NULL",
        .text(parameter.name))
    }
  }
}
