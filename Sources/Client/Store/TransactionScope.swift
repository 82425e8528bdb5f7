import FerryModel

/// Which changes belong to the transaction that is open: they are replayed as one.
package struct TransactionScope: Sendable, Equatable {
  /// 0: no transaction of the app is open.
  package var depth: Int = 0
  /// The chain of its changes; nil before the first.
  package var chain: OperationID?
  /// The app wants the innermost one undone.
  package var isRolledBack: Bool = false
}

/// Ends a transaction that the app wants undone; never leaves this file.
private struct RolledBack: Error {}

extension Store {
  /// How many transactions of the app this thread is in.
  package var transactionDepth: Int {
    writer.withHeldConnection { _ in self.scope.withLock { $0.depth } } ?? 0
  }

  package var isInTransaction: Bool { transactionDepth > 0 }

  /// Runs `body` in one transaction whose changes become one chain. Inside another one it is a
  /// savepoint: what it changed is undone alone, or belongs to the outer one.
  package func transaction<Result>(
    _ body: () throws(FerryError) -> Result
  ) throws(FerryError) -> Result {
    var undone: Result?
    do throws(FerryError) {
      return try scoped(body) { undone = $0 }
    } catch {
      guard error.cause is RolledBack, let undone else { throw error }
      return undone
    }
  }

  /// Undoes the innermost transaction when its body has returned.
  package func rollback() {
    let depth = scope.withLock { scope in
      scope.isRolledBack = true
      return scope.depth
    }
    precondition(depth > 0, "rollback is called inside a transaction's body")
  }

  private func scoped<Result>(
    _ body: () throws(FerryError) -> Result, keep: (Result) -> Void
  ) throws(FerryError) -> Result {
    try write { _ throws(FerryError) in
      // Only the thread that holds the writing connection gets here.
      let before = self.scope.withLock { scope in
        let before = scope
        scope.depth += 1
        scope.isRolledBack = false
        return before
      }
      let result: Result
      do throws(FerryError) { result = try body() } catch {
        self.scope.withLock { $0 = before }
        throw error
      }
      let isRolledBack = self.scope.withLock { scope in
        let isRolledBack = scope.isRolledBack
        scope = isRolledBack ? before : TransactionScope(depth: before.depth, chain: scope.chain)
        if scope.depth == 0 { scope = TransactionScope() }
        return isRolledBack
      }
      guard isRolledBack else { return result }
      keep(result)
      throw FerryError(
        .cancelled, "the transaction was rolled back", hint: "The app wanted it.",
        cause: RolledBack())
    }
  }
}
