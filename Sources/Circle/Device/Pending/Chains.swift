import FerryModel
import FerrySQLite
import FerryWire

/// Which pending operations are replayed as one.
struct Chains {
  private let store: Store
  private let operations: OperationTable

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    operations = OperationTable(store, connection)
  }

  /// The test for what is replayed as one with an operation that is submitted and waits: what was
  /// changed since is not submitted, and what was refused waits for the app.
  static let isHeld = "(wanted > 0 OR state = 'replayFailed')"

  /// What waits of the object itself, else of what it owns.
  func unsealed(_ object: LocalObject) throws(SQLiteError) -> [PendingOperation] {
    let own = try operations.select(
      "WHERE entity = ? AND object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)])
    guard own.isEmpty, store.model.entity(named: object.entity)?.ownsChildren == true else {
      return own
    }
    return try operations.select(
      "WHERE root_entity = ? AND root_object = ? AND \(OperationTable.isUnsealed)",
      [.text(object.entity), .integer(object.object)])
  }

  /// Everything that waits and is replayed with these: other changes of their transactions and of
  /// their composite graphs, and so on. In the order of the changes.
  ///
  /// `test` says what is asked for of what waits.
  func of(
    _ seeds: [PendingOperation], where test: String = OperationTable.isUnsealed
  ) throws(SQLiteError) -> [PendingOperation] {
    var members: [Int64: PendingOperation] = [:]
    var chains: Set<OperationID> = []
    var roots: Set<LocalObject> = []
    var queue = seeds
    while let next = queue.popLast() {
      guard members.updateValue(next, forKey: next.sequence) == nil else { continue }
      if chains.insert(next.chain).inserted {
        queue += try operations.select("WHERE chain = ? AND \(test)", [.text(next.chain.text)])
      }
      if roots.insert(next.root).inserted {
        queue += try operations.select(
          "WHERE root_entity = ? AND root_object = ? AND \(test)",
          [.text(next.root.entity), .integer(next.root.object)])
      }
    }
    return members.values.sorted { $0.sequence < $1.sequence }
  }
}
