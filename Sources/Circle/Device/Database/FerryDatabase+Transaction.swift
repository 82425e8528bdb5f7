/// Several changes that are saved and replayed as one.
extension FerryDatabase {
  /// Runs `body` in one transaction: all of its changes are saved, or none where it throws.
  ///
  /// What it changed is replayed as one, too: the business system takes all of it or refuses all of
  /// it, where it has transactions. Inside another transaction it is a savepoint, undone alone where
  /// it throws and else part of the outer one. Other threads' changes wait meanwhile. To save,
  /// submit or cancel an object of another database in `body` throws `wrongState`.
  ///
  /// Only what leaves `body` undoes it. An error that `body` catches leaves the rest to be committed:
  /// the call that threw changed nothing, those before and after it are saved. Let it through, or
  /// call `rollback`, where all belongs together.
  ///
  /// `diskFull` and `diskFailing` (and no memory left, `store`) may undo the whole transaction on
  /// the spot, the outer ones with it: then whatever `body` reads or saves afterwards fails with the
  /// same error, and so does the transaction, even where `body` catches them all.
  ///
  /// At the end of the outermost one its changes are submitted as one, unless `submitting` is `.later`,
  /// a save inside says so, or `submitsAutomatically` is false. If they cannot be sent, as with too many
  /// changes, nothing is saved and the error says why: `tooLarge`,
  /// `invalidReference` or `notDownloaded`.
  @discardableResult
  public func transaction<Result>(
    submitting: Submitting? = nil, _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    let isOutermost = !store.isInTransaction
    let outbox = Outbox(store)
    let ended: (result: Result, isRolledBack: Bool)
    do throws(FerryError) {
      ended = try store.endedTransaction { () throws(FerryError) -> Result in
        if let submitting { outbox.collect(submitting) }
        let result = try body()
        if isOutermost { try outbox.submitSaved() }
        return result
      }
    } catch {
      if isOutermost { tellTransaction(isCommitted: false) }
      throw error
    }
    // What was submitted inside can be seen by the session only now.
    store.bell.ring()
    if isOutermost { tellTransaction(isCommitted: !ended.isRolledBack) }
    return ended.result
  }

  /// The same for a body that throws any error, also the app's own: everything is undone and that very
  /// error is thrown. A closure that does not say what it throws comes here; one that begins with
  /// `() throws(FerryError) in` has the typed form above.
  ///
  /// Where the disk undid the transaction, that `FerryError` is thrown instead.
  @discardableResult
  public func transaction<Result>(
    submitting: Submitting? = nil, _ body: () throws -> Result
  ) throws -> Result {
    do throws(FerryError) {
      return try transaction(submitting: submitting) { () throws(FerryError) -> Result in
        do { return try body() } catch let error as FerryError { throw error } catch {
          throw FerryError(
            .cancelled, "the transaction was undone, for its body threw \(error)",
            hint: "Nothing of it was saved.", cause: ErrorOfBody(error: error))
        }
      }
    } catch {
      throw (error.cause as? ErrorOfBody)?.error ?? error
    }
  }

  private func tellTransaction(isCommitted: Bool) {
    guard observers.isHeard else { return }
    act { [observers] _ in
      observers.tell(isCommitted ? .committed : .rolledBack)
    }
  }

  /// Inside a transaction: undoes what this transaction (or savepoint) changed when its body
  /// returns, without an error (facts/1.4).
  ///
  /// On a thread that is in no transaction it undoes nothing and throws `wrongState`: another
  /// thread's transaction is not its own.
  public func rollback() throws(FerryError) { try store.rollback() }
}

/// What the body of a transaction threw that is none of Ferry's; never leaves this file.
private struct ErrorOfBody: Error { let error: any Error }
