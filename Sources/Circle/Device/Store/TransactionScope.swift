import FerryModel
import FerrySQLite

/// Which changes belong to the transaction that is open: they are replayed as one.
package struct TransactionScope: Sendable {
  /// 0: no transaction of the app is open.
  package var depth: Int = 0
  /// The chain of its changes; nil before the first.
  package var chain: OperationID?
  /// The app wants the innermost one undone.
  package var isRolledBack: Bool = false
  /// What it created so far; nil outside.
  var creations: Creations?
  /// What was saved in it and may be submitted at its end.
  var saved: [LocalObject] = []
  /// What the app says of when its changes are sent; nil: the database decides.
  var submitting: Submitting?
}

/// The database whose transaction runs on this thread, the innermost of several.
private enum OpenTransaction {
  @TaskLocal static var store: Store?

  static func run<Result>(
    of store: Store, _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    try $store.withValue(store) { () -> Swift.Result<Result, FerryError> in
      do throws(FerryError) { return .success(try body()) } catch { return .failure(error) }
    }.get()
  }
}

/// Ends a transaction that the app wants undone; never leaves this file.
private struct RolledBack: Error {}

extension Store {
  /// How many transactions of the app this thread is in.
  package var transactionDepth: Int {
    writer.withHeldConnection { _ in self.scope.withLock { $0.depth } } ?? 0
  }

  package var isInTransaction: Bool { transactionDepth > 0 }

  /// Refuses a change while this thread is in a transaction of another database alone: that one could
  /// not undo it.
  func checkTransaction(of entity: Entity) throws(FerryError) {
    // A task that was begun in a transaction keeps the value and is on another thread.
    guard let other = OpenTransaction.store, other !== self, other.isInTransaction, !isInTransaction
    else { return }
    throw FerryError(
      .wrongState,
      "the \(entity.name) is of the database \(path), and the transaction of \(other.path)",
      hint: "Change it outside of this transaction, or in one of its own database.",
      entity: entity.name)
  }

  /// Runs `body` in one transaction whose changes become one chain. Inside another one it is a
  /// savepoint: what it changed is undone alone, or belongs to the outer one.
  package func transaction<Result>(
    _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    try endedTransaction(body).result
  }

  /// The same, and whether the app undid it with `rollback`.
  package func endedTransaction<Result>(
    _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> (result: Result, isRolledBack: Bool) {
    var undone: Result?
    do throws(FerryError) {
      return (try scoped(body) { undone = $0 }, false)
    } catch {
      guard error.cause is RolledBack, let undone else { throw error }
      return (undone, true)
    }
  }

  /// Undoes the innermost transaction of this thread when its body has returned.
  package func rollback() throws(FerryError) {
    guard isInTransaction else {
      throw FerryError(
        .wrongState, "rollback was called outside a transaction of this thread",
        hint: "Call it inside the body that is given to `transaction`, on the thread that runs it; "
          + "nothing was undone.")
    }
    scope.withLock { $0.isRolledBack = true }
  }

  /// What the transaction that this thread is in created; nil outside of one.
  var creations: Creations? {
    writer.withHeldConnection { _ in self.scope.withLock { $0.creations } } ?? nil
  }

  /// The chain of a change: that of the transaction that is open, which is `own` from its first
  /// change on; outside of one `own`.
  func chain(else own: OperationID) -> OperationID {
    scope.withLock { scope in
      guard scope.depth > 0 else { return own }
      if scope.chain == nil { scope.chain = own }
      return scope.chain ?? own
    }
  }

  /// The objects in the app's hands are new again if the transaction that is open is undone.
  func noteCreation(_ entity: Entity, _ object: Int64, isTemporary: Bool) {
    creations?.note(LocalObject(entity.name, object), isTemporary: isTemporary)
  }

  private func scoped<Result>(
    _ body: () throws(FerryError) -> Result, keep: (Result) -> Void
  ) throws(FerryError) -> Result {
    let creations = Creations(inside: self.creations)
    do throws(FerryError) { return try scoped(creations, body, keep: keep) } catch {
      let undone = creations.undo()
      spent.withLock { spent in
        for object in undone {
          spent[object.entity] = max(spent[object.entity] ?? 0, object.object)
        }
      }
      throw error
    }
  }

  /// Before an object is created: a number of one whose creation was undone is not its.
  func passSpent(_ entity: Entity, _ connection: Connection) throws(SQLiteError) {
    guard let last = spent.withLock({ $0[entity.name] }) else { return }
    try connection.run(
      """
      INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0
      WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
      """, .text(entity.name))
    try connection.run(
      "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", .text(entity.name),
      .integer(last))
  }

  private func scoped<Result>(
    _ creations: Creations, _ body: () throws(FerryError) -> Result, keep: (Result) -> Void
  ) throws(FerryError) -> Result {
    try write { _ throws(FerryError) in
      // Only the thread that holds the writing connection gets here.
      let before = self.scope.withLock { scope in
        let before = scope
        scope.depth += 1
        scope.isRolledBack = false
        scope.creations = creations
        return before
      }
      let result: Result
      do throws(FerryError) { result = try OpenTransaction.run(of: self, body) } catch {
        self.scope.withLock { $0 = before }
        throw error
      }
      let isRolledBack = self.scope.withLock { scope in
        let isRolledBack = scope.isRolledBack
        let ended = scope
        scope = before
        if !isRolledBack {
          (scope.chain, scope.saved) = (ended.chain, ended.saved)
          scope.submitting = ended.submitting
        }
        if scope.depth == 0 { scope = TransactionScope() }
        return isRolledBack
      }
      guard isRolledBack else { return result }
      keep(result)
      throw FerryError(
        .cancelled, "the transaction was rolled back",
        hint: "rollback() was called; nothing was saved.",
        cause: RolledBack())
    }
  }
}
