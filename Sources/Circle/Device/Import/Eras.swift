/// Which server each group was downloaded from.
struct Eras {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// What was downloaded is of no server's era any more: whichever is asked next begins afresh, and
  /// what is still on its way from another is thrown away. What is shown stays until the import.
  func forget() throws(FerryError) {
    try transaction.run(
      "UPDATE ferry_checkpoint SET era = iif(era IS NULL, NULL, ''), staged_era = NULL")
  }
}
