import FerryCrypto
import FerryModel
import FerryServer
import FerryWire

/// What a store brings along to be tested.
package protocol StoreStage: AnyObject {
  /// Opens the stage's store, or opens it anew as after a crash; the value given before is not used
  /// any more.
  func open(_ package: Package) throws -> any Store
  /// The clock by which the store counts days goes on.
  func advance(days: Int64)
}

/// One thing that every store must do.
package struct StoreCase: Sendable, CustomStringConvertible {
  /// A sentence that is true of a good store.
  package let description: String
  private let body: @Sendable (StoreProof) throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (StoreProof) throws -> Void) {
    self.description = description
    self.body = body
  }

  /// What is wrong with the store; empty when it keeps the contract. The stage is used up.
  package func failures(on stage: any StoreStage) -> [String] {
    do {
      let proof = StoreProof(stage, try stage.open(StoreSuite.package))
      try body(proof)
      return proof.failures
    } catch { return ["threw: \(error)"] }
  }
}

/// A running case: the words in which cases are written.
final class StoreProof {
  let stage: any StoreStage
  private(set) var store: any Store
  private(set) var failures: [String] = []
  private var numberOfIDs: UInt64 = 0

  init(_ stage: any StoreStage, _ store: any Store) {
    self.stage = stage
    self.store = store
  }

  func expect(_ condition: Bool, _ what: String) {
    if !condition { failures.append(what) }
  }

  func expectEqual<Answer: Equatable>(_ found: Answer, _ wanted: Answer, _ what: String) {
    if found != wanted { failures.append("\(what): \(found), not \(wanted)") }
  }

  /// As after a crash; perhaps by a server with another version of the package.
  func reopen(as package: Package = StoreSuite.package) throws {
    store = try stage.open(package)
  }

  func newID() -> OperationID {
    numberOfIDs += 1
    let digits = String(numberOfIDs, radix: 16)
    guard
      let id = OperationID(String(repeating: "0", count: 32 - digits.count) + digits)
    else { preconditionFailure("32 digits are an id") }
    return id
  }

  // Rows.

  /// A row of the suite's entity, as it is now; its number is asked for.
  func change(
    _ key: Int64, _ text: String?, from before: CacheChanges.Partition? = nil,
    to partition: CacheChanges.Partition?, _ changes: inout CacheChanges
  ) throws {
    let name = StoreSuite.name(key)
    let body = text.map { Array("[\(key),\"\($0)\"]".utf8) } ?? []
    let known = try store.row(name)
    let hash = text == nil ? 0 : StoreSuite.hash(body)
    if changes.rows[name] == nil { changes.order.append(name) }
    changes.rows[name] = CacheChanges.Row(
      name: name, id: known?.id, parentKey: nil, partition: partition, body: body, hash: hash,
      isDeleted: text == nil, isChanged: true)
    func note(_ partition: CacheChanges.Partition, hasLeft: Bool) {
      let member = CacheChanges.Member(row: name, partition: partition)
      if changes.members[member] == nil { changes.memberOrder.append(member) }
      changes.members[member] = hasLeft
    }
    if let before {
      changes.totals[before, default: CacheChanges.Total()].sum &-=
        UInt64(bitPattern: known?.hash ?? 0)
      changes.totals[before, default: CacheChanges.Total()].count -= 1
      if before != partition { note(before, hasLeft: true) }
    }
    if let partition {
      changes.totals[partition, default: CacheChanges.Total()].sum &+= UInt64(bitPattern: hash)
      changes.totals[partition, default: CacheChanges.Total()].count += 1
      note(partition, hasLeft: false)
    }
  }

  /// One numbered transaction with these changes; gives its number.
  @discardableResult
  func apply(_ changes: CacheChanges) throws -> Int64 {
    let store = store
    return try store.numbered { transaction throws(StoreError) in
      _ = try store.apply(changes, transaction)
      return transaction.version
    }
  }

  /// Rows with these keys in one new partition of the place.
  @discardableResult
  func put(_ keys: ClosedRange<Int64>, in place: Place) throws -> Int64 {
    var changes = CacheChanges()
    let partition: CacheChanges.Partition
    if let known = try store.partition(at: place) {
      partition = .known(known)
    } else {
      changes.places = [place]
      partition = .new(0)
    }
    for key in keys { try change(key, "row \(key)", to: partition, &changes) }
    try apply(changes)
    guard let number = try store.partition(at: place) else {
      throw StoreError(.other, "the partition was not made")
    }
    return number
  }

  // Operations.

  func operation(
    _ id: OperationID, chain: OperationID? = nil, position: Int = 0, count: Int = 1,
    owner: Owner = StoreSuite.ada
  ) -> NewOperation {
    let operation = Operation(
      id: id, chain: chain ?? id, position: position, count: count, entity: "Item", kind: .update,
      key: ObjectKey([.integer(1)]), changed: [1: .text("new")], base: [:])
    let bytes = operation.encoded(for: StoreSuite.item)
    return NewOperation(
      operation: operation, bytes: bytes, hash: SHA256Digest.hash(bytes), owner: owner,
      roles: ["clerk"], claims: ["depot": ["A"]], mayHaveRun: false)
  }

  func answer(
    _ id: OperationID, _ version: Int64, _ outcome: Answer.Outcome = .replayResult
  ) -> Answer {
    Answer(id: id, version: version, outcome: outcome, newKey: nil, logRecords: [])
  }

  /// One numbered transaction that answers these.
  @discardableResult
  func answer(_ ids: [OperationID], _ outcome: Answer.Outcome = .replayResult) throws -> Int64 {
    let store = store
    return try store.numbered { transaction throws(StoreError) in
      try store.answer(ids.map { answer($0, transaction.version, outcome) }, transaction)
      return transaction.version
    }
  }

  func answers(
    to owner: Owner = StoreSuite.ada, open: [OperationID] = [], upTo: Int64 = .max
  ) throws -> [OperationID] {
    try store.snapshot { view throws(StoreError) in
      try view.answers(group: "all", owner, open: open, upTo: upTo).map(\.id)
    }
  }
}
