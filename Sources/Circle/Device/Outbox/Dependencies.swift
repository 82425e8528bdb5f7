import FerryModel
import FerrySQLite

/// What holds up a change that is submitted. Nothing of it is kept: each time it is derived from the
/// operations, the images and the keys, by one rule.
///
/// A change waits for each unfinished one of another chain that is an earlier one of its object, or of
/// its key; that creates what it refers to; and, where it deletes its object, that ends a reference to
/// it. What is replayed as one waits as one.
struct Dependencies {
  /// What is replayed as one, and how far it was looked at.
  private struct Chain {
    let members: [PendingOperation]
    var place = 0
    /// Of the member at this place: the last of those that end references to its object.
    var last: Int64?
  }

  private let store: Store
  private let connection: Connection
  private let operations: OperationTable
  private let references: References
  /// By the sequence of their first member.
  private var chains: [Int64: Chain] = [:]
  private var chainOf: [Int64: Int64] = [:]

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
    operations = OperationTable(store, connection)
    references = References(store, connection)
  }

  enum Verdict {
    /// These may be sealed, as one: those that were asked for, and what is in a circle with them.
    case ready([PendingOperation])
    case waits
    /// These may go first.
    case behind([PendingOperation])
  }

  /// Whether changes that are submitted as one may be sealed.
  mutating func verdict(on members: [PendingOperation]) throws(SQLiteError) -> Verdict {
    guard let first = members.first else { return .ready([]) }
    meet(members, as: first.sequence)
    let verdict = try SealMachine.judge(first.sequence) { chain throws(SQLiteError) in
      try next(chain)
    }
    switch verdict {
    case .waits: return .waits
    case .behind(let others):
      return .behind(others.sorted().compactMap { chains[$0]?.members.first })
    case .ready(let circle):
      guard circle.count > 1 else { return .ready(members) }
      let all = circle.flatMap { chains[$0]?.members ?? [] }
      return .ready(all.sorted { $0.sequence < $1.sequence })
    }
  }

  private mutating func meet(_ members: [PendingOperation], as chain: Int64) {
    chains[chain] = Chain(members: members)
    for member in members { chainOf[member.sequence] = chain }
  }

  /// The next of what a chain waits for.
  private mutating func next(_ number: Int64) throws(SQLiteError) -> SealMachine.Awaited {
    guard var chain = chains[number], chain.place < chain.members.count else { return .nothingMore }
    let member = chain.members[chain.place]
    var found: [PendingOperation] = []
    if chain.last == nil {
      found = try earlier(member)
      assert(
        !found.contains { PendingMachine.areApart($0, member) },
        "the create of \(member.title) is not of the object whose delete waits")
      // Nobody is here who will give it its key.
      if member.isTemporary, member.kind != .create, found.isEmpty { return .blocked }
      found += try creates(member)
    }
    let leaving = try leavers(member, after: chain.last ?? 0)
    if leaving.isEmpty { chain.place += 1 }
    chain.last = leaving.last?.sequence
    chains[number] = chain
    for operation in leaving where try isLeft(by: operation, member) { found.append(operation) }
    var others: [Int64] = []
    for operation in found where chainOf[operation.sequence] != number {
      if store.world.has(.groupOvertakes), isOfOtherGroup(operation, member) { continue }
      if let known = chainOf[operation.sequence] {
        others.append(known)
      } else if let other = try met(operation) {
        others.append(other)
      } else {
        return .blocked
      }
    }
    return .others(others)
  }

  private func isOfOtherGroup(_ operation: PendingOperation, _ member: PendingOperation) -> Bool {
    store.model.entity(named: operation.entity)?.group
      != store.model.entity(named: member.entity)?.group
  }

  /// The chain of an operation that is submitted and waits; nil for any other.
  private mutating func met(_ operation: PendingOperation) throws(SQLiteError) -> Int64? {
    guard operation.wanted != .no else { return nil }
    let members = try Chains(store, connection).of([operation], where: Chains.isHeld)
    guard let first = members.first, !members.contains(where: { $0.state == .replayFailed })
    else { return nil }
    meet(members, as: first.sequence)
    return first.sequence
  }

  /// Of the same object; or of another one that had its key.
  private func earlier(_ member: PendingOperation) throws(SQLiteError) -> [PendingOperation] {
    try operations.select(
      """
      WHERE sequence IN (
        SELECT sequence FROM ferry_operation WHERE entity = ?1 AND object = ?2 AND sequence < ?3
        UNION ALL
        SELECT sequence FROM ferry_operation WHERE entity = ?1 AND key = ?4 AND sequence < ?3)
      ORDER BY sequence
      """,
      [
        .text(member.entity), .integer(member.object), .integer(member.sequence),
        .text(member.key.text),
      ])
  }

  /// The creates of what it makes its object refer to.
  private func creates(_ member: PendingOperation) throws(SQLiteError) -> [PendingOperation] {
    var creates: [PendingOperation] = []
    for target in try references.made(by: member)
    where target.isTemporary || !store.world.has(.referenceAhead) {
      creates += try operations.select(
        "WHERE entity = ? AND key = ? AND kind = 'create'",
        [.text(target.entity.name), .text(ObjectKey(target.key).text)])
    }
    return creates
  }

  /// Some of those that may end references to the object of a delete.
  private func leavers(
    _ member: PendingOperation, after last: Int64
  ) throws(SQLiteError) -> [PendingOperation] {
    guard member.kind == .delete else { return [] }
    return try operations.select(
      """
      WHERE sequence IN (SELECT sequence FROM ferry_reference
        WHERE entity = ? AND key = ? AND ends = 1 AND sequence > ? ORDER BY sequence LIMIT 64)
      ORDER BY sequence
      """, [.text(member.entity), .text(member.key.text), .integer(last)])
  }

  private func isLeft(
    by operation: PendingOperation, _ member: PendingOperation
  ) throws(SQLiteError) -> Bool {
    guard operation.sequence != member.sequence,
      let entity = store.model.entity(named: member.entity),
      let key = member.key.values(of: entity)
    else { return false }
    return try references.ends(operation, entity, key)
  }
}
