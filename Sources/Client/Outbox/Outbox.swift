import FerryModel
import FerrySQLite
import FerryWire

extension Store {
  /// Fixes the bytes of what is pending of an object and of everything that is replayed with it, or
  /// remembers the wish where something must be answered first (sync/P2).
  ///
  /// Returns what it submitted of the object and of what it owns, nothing where together that left
  /// nothing to send; nil when nothing is pending (sync/P4).
  package func submit(
    _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Set<OperationID>? {
    let found = try write { connection throws(FerryError) in
      try self.submit(entity, object, connection)
    }
    if found != nil { bell.ring() }
    return found
  }

  private func submit(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(FerryError) -> Set<OperationID>? {
    let own = ObjectReference(entity.name, object)
    let seeds = try sql { () throws(SQLiteError) in try self.unsealed(own, connection) }
    guard !seeds.isEmpty else { return nil }
    let members = try sql { () throws(SQLiteError) in try self.chain(of: seeds, connection) }
    try seal(members, connection)
    let places = Set(
      members.filter { $0.root == own || ObjectReference($0.entity, $0.object) == own }
        .map(\.sequence))
    let submitted = try sql { () throws(SQLiteError) in
      try self.submitted(entity, object, connection)
    }
    return Set(submitted.filter { places.contains($0.sequence) }.map(\.id))
  }

  /// What waits of the object itself, else of what it owns.
  func unsealed(
    _ object: ObjectReference, _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    let own = try operations.select(
      "WHERE entity = ? AND object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
    guard own.isEmpty, model.entity(named: object.entity)?.ownsChildren == true else { return own }
    return try operations.select(
      "WHERE root_entity = ? AND root_object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)], connection)
  }

  /// Everything that waits and is replayed with these: the rest of their transactions, the rest of
  /// their composite graphs, and so on. In the order of the changes.
  ///
  /// `test` says what is asked for of what waits.
  func chain(
    of seeds: [PendingOperation], where test: String = OperationTable.isUnsealed,
    _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    var members: [Int64: PendingOperation] = [:]
    var chains: Set<OperationID> = []
    var roots: Set<ObjectReference> = []
    var queue = seeds
    while let next = queue.popLast() {
      guard members.updateValue(next, forKey: next.sequence) == nil else { continue }
      if chains.insert(next.chain).inserted {
        queue += try operations.select(
          "WHERE chain = ? AND \(test)", [.text(next.chain.text)], connection)
      }
      if roots.insert(next.root).inserted {
        queue += try operations.select(
          "WHERE root_entity = ? AND root_object = ? AND \(test)",
          [.text(next.root.entity), .integer(next.root.object)], connection)
      }
    }
    return members.values.sorted { $0.sequence < $1.sequence }
  }
}
