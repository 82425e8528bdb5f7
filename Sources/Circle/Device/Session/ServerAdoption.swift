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
