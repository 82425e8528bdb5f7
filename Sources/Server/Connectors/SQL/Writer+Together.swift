import FerryConnector
import FerryModel
import FerrySQLite

/// Several groups in one transaction, each in a savepoint: the disk is waited for once.
///
/// What each group does and is told is what it would be alone, in the same order. Where the common
/// transaction ends otherwise than by its commit nothing of any group is there.
extension Writer {
  func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    do throws(ConnectorError) {
      try begin()
    } catch {
      rollBack()
      return [.notDone(reason: error.description)]
    }
    let run = SQLSavepoints(groups, while: goesOn) { group in
      do throws(SQLiteError) {
        let (result, isEffective) = try inSavepoint(group)
        return SQLSavepoints.End(
          result: result, isEffective: isEffective, isTransactionOpen: true)
      } catch {
        return SQLSavepoints.End(
          result: .notDone(reason: error.message), isEffective: false, isTransactionOpen: false)
      }
    }
    guard run.isTransactionOpen else {
      // The rule of a group, or the disk, ended the transaction of all: each for itself then.
      rollBack()
      return groups.prefix(run.results.count).map { perform($0) }
    }
    guard !run.effective.isEmpty else {
      rollBack()
      return run.results
    }
    do { try commit() } catch {
      return notCommitted(
        error, run.effective.flatMap { groups[$0].map(\.id) }, done: run.results)
    }
    return run.results
  }

  /// Throws where the savepoint is gone, and the transaction with it.
  private func inSavepoint(
    _ group: [ConnectorOperation]
  ) throws(SQLiteError) -> (result: PerformResult, isEffective: Bool) {
    try connection.run("SAVEPOINT ferry_group")
    var work = work(group)
    if work.isEffective, connection.hasBrokenForeignKeys {
      // Alone its commit would fail.
      let (index, refusal) = deferredRefusal(.brokenForeignKey, group, work.result)
      work = (PerformResult.refused(refusal, at: index, of: group.count), false)
    }
    if !work.isEffective { try connection.run("ROLLBACK TO ferry_group") }
    try connection.run("RELEASE ferry_group")
    return work
  }

  /// All of them are there, or none; where none is, a refusal is none either, for it may have been
  /// because of what another one did.
  private func notCommitted(
    _ error: SQLiteError, _ effective: [OperationID], done results: [PerformResult]
  ) -> [PerformResult] {
    let reason = ConnectorError(error, connection.path).description
    let wasOpen = connection.isInTransaction
    rollBack()
    let isUndone = error.isBusy && wasOpen && !connection.isInTransaction
    do {
      let fresh = try Connection(path: connection.path, mode: .readWrite)
      let recalled = isUndone ? [] : try AppliedOperations.recall(effective, fresh)
      if !recalled.isEmpty, recalled.allSatisfy({ $0 != nil }) { return results }
      return results.map { _ in .notDone(reason: reason) }
    } catch {
      return results.map { _ in .unknown(reason: "\(reason) Afterwards: \(error.message)") }
    }
  }
}
