import FerryModel
import FerrySQLite

extension PendingStore {
  /// What was not tried of a refused chain is sent again by itself once nothing refused is left in it:
  /// the app submitted it, and has not changed it since (Decision 0082).
  func submitNotTried(with removed: PendingOperation) throws(SQLiteError) {
    // Most chains have no other member, or one that is not concerned: its first member shows that.
    let chain = SQLiteValue.text(removed.chain.text)
    guard
      try connection.value("SELECT 1 FROM ferry_operation WHERE chain = ? LIMIT 1", chain) != nil,
      try connection.value(
        """
        SELECT 1 FROM ferry_operation
        WHERE chain = ? AND NOT (\(PendingStore.isNotTried) AND failure = counter) LIMIT 1
        """, chain) == nil
    else { return }
    let seeds = try operations.select("WHERE chain = ?", [chain])
    let others = try Chains(store, connection).of(seeds)
    guard PendingMachine.goAgain(others) else { return }
    for var member in others {
      member.wanted = .again
      try operations.update(member)
    }
  }

  /// The test for what was submitted and was not tried.
  private static let isNotTried = "(state = 'waiting' AND wanted = 0 AND failure > 0)"

  /// What was submitted of an object, or of what it owns, and was not tried.
  func notTried(of object: LocalObject) throws(SQLiteError) -> [PendingOperation] {
    try operations.select(
      "WHERE ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))"
        + " AND \(PendingStore.isNotTried)",
      [.text(object.entity), .integer(object.object)])
  }
}

extension Refusal {
  /// Of a change that was not tried, where nothing says which other change was refused.
  static let notTried = Refusal(
    code: 424, message: "A change before this one was refused, so this one was not tried.")

  /// Why the change of an object was not tried: it names what was refused of the same transaction.
  /// Nil where it was tried, or was not submitted.
  static func instead(of object: LocalObject, in store: Store) throws(FerryError) -> Refusal? {
    let (isNotTried, found) = try store.withSnapshot { transaction throws(FerryError) in
      try transaction.sql { connection throws(SQLiteError) -> (Bool, PendingOperation?) in
        let own = try PendingStore(store, connection).notTried(of: object)
        guard !own.isEmpty else { return (false, nil) }
        return (true, try Chains(store, connection).of(own).first { $0.state == .replayFailed })
      }
    }
    guard isNotTried else { return nil }
    guard let found, let entity = store.model.entity(named: found.entity) else {
      return notTried
    }
    let reason = Refusal(try LogRecords(store).of(entity, found.object), of: nil)
    let title = found.title.prefix(1).uppercased() + found.title.dropFirst()
    return Refusal(
      code: 424, message: "\(title) of the same transaction was refused: \(reason.message)")
  }
}
