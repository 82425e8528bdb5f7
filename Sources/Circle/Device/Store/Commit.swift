import FerrySQLite

/// What a transaction has done that somebody may wait for.
package struct Commit: Sendable {
  /// The visible rows that it changed, of the entities that somebody watches.
  package var rows = RowChanges()
  /// How operations ended.
  package var ended: [AnsweredOperation] = []
  /// Something that waited may be sent now.
  package var releases = false

  /// What came after this many ends is undone.
  mutating func undo(to before: (ended: Int, releases: Bool)) {
    ended.removeSubrange(before.ended...)
    releases = before.releases
  }
}

/// Hears of every transaction of this process, in the order of the store's list.
package protocol CommitListener: Sendable {
  /// At the end of the transaction, which its error undoes.
  func willCommit(_ connection: Connection, _ store: Store) throws(FerryError)
  /// Before another transaction can begin: whoever has it next finds here what this one did.
  func didCommit(_ commit: Commit)
  /// When others may write again.
  func afterCommit(_ commit: Commit)
}

extension CommitListener {
  package func willCommit(_ connection: Connection, _ store: Store) throws(FerryError) {}
  package func didCommit(_ commit: Commit) {}
  package func afterCommit(_ commit: Commit) {}
}

extension AnswerBoard: CommitListener {
  package func didCommit(_ commit: Commit) { post(commit.ended) }
}

extension RowWatch: CommitListener {
  package func afterCommit(_ commit: Commit) { tell(commit.rows) }
}

extension Bell: CommitListener {
  package func afterCommit(_ commit: Commit) { if commit.releases { ring() } }
}

/// Other processes find the changes in the file.
extension SharedChanges: CommitListener {
  func willCommit(_ connection: Connection, _ store: Store) throws(FerryError) {
    let changes = store.rowWatch.seen(by: connection)
    try store.sql { () throws(SQLiteError) in try self.leave(changes, connection) }
  }
}
